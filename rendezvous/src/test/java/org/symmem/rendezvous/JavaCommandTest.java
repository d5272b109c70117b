package org.symmem.rendezvous;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class JavaCommandTest {
    private static final String PROPERTY = "symmem.test.of.the.command";

    /** What the started processes run. */
    static final class Printer {
        private Printer() {}

        public static void main(String[] arguments) {
            System.out.print(System.getProperty(PROPERTY) + " " + String.join(" ", arguments));
        }
    }

    @AfterEach
    void forget() {
        System.clearProperty(PROPERTY);
    }

    private static String printed(List<String> command) throws Exception {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(output).isZero();
        return output;
    }

    @Test
    void ranksGetThePropertiesOfThisProcessAndFlagsWinOverThem() throws Exception {
        System.setProperty(PROPERTY, "of this process");
        assertThat(printed(JavaCommand.of(List.of(), Printer.class, List.of("a", "b")))).isEqualTo("of this process a b");
        assertThat(printed(JavaCommand.of(List.of("-D" + PROPERTY + "=of the flag"), Printer.class, List.of()))).isEqualTo("of the flag ");
    }

    @Test
    void aClassOfANamedModuleIsStartedFromIt() throws Exception {
        List<String> command = JavaCommand.of(List.of(), Class.forName("com.sun.tools.javac.Main"), List.of("-version"));
        assertThat(command).containsSequence("-m", "jdk.compiler/com.sun.tools.javac.Main", "-version");
        assertThat(printed(command)).startsWith("javac ");
    }
}
