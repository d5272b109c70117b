package org.symmem;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ErrorCodeTest {
    @Test
    void everyCodeIsUniqueAndExplainedInTheDocument() throws IOException, IllegalAccessException {
        String document = Files.readString(Path.of("..", "docs", "errors.md"));
        Set<String> ids = new HashSet<>();
        for (Field field : ErrorCode.class.getFields()) {
            if (Modifier.isStatic(field.getModifiers()) && field.get(null) instanceof ErrorCode code) {
                assertThat(ids.add(code.id())).as("used once: %s", code.id()).isTrue();
                assertThat(document).as("docs/errors.md").contains("<a name=\"" + code.id() + "\"></a>" + code.id() + " |");
            }
        }
        assertThat(ids).hasSizeGreaterThan(10);
    }
}
