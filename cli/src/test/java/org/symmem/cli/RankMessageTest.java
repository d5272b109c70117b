package org.symmem.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class RankMessageTest {
    @Test
    void messagesSurviveWhatElseIsPrinted() {
        RankMessage message = new RankMessage.Result(7, "a", "host", "host memory", 1L << 40, 2.5, "", 0, "ab", 9.75, 80_000);

        RankMessage.Line line = RankMessage.in("half a line" + printed(message));

        assertThat(line.text()).isEqualTo("half a line");
        assertThat(line.message()).contains(message);
        assertThat(RankMessage.in(printed(new RankMessage.Failure("why", "where"))).message())
                .contains(new RankMessage.Failure("why", "where"));
        assertThat(RankMessage.in(printed(new RankMessage.Progress(3, 4))).message()).contains(new RankMessage.Progress(3, 4));
    }

    @Test
    void otherOutputIsOutput() {
        assertThat(RankMessage.in("plain").message()).isEmpty();
        assertThat(RankMessage.in(RankMessage.MARK + "not base 64").text()).isEqualTo(RankMessage.MARK + "not base 64");
        assertThat(RankMessage.in(RankMessage.MARK).message()).isEmpty();
    }

    private static String printed(RankMessage message) {
        PrintStream out = System.out;
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try {
            System.setOut(new PrintStream(bytes, true, StandardCharsets.UTF_8));
            message.print();
        } finally {
            System.setOut(out);
        }
        return bytes.toString(StandardCharsets.UTF_8).strip();
    }
}
