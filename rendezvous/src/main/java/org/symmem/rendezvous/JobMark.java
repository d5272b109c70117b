package org.symmem.rendezvous;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/**
 * What the processes of one job on this host have in common, whoever their parents are by now: a variable that each got from its
 * parent. So a process that outlives the rank which started it is found, and no other is. One that takes the variable away is not.
 *
 * @param value the variable's
 */
record JobMark(String value) {
    static final String VARIABLE = "TORCHELASTIC_RUN_ID";

    static JobMark unique() {
        return new JobMark(
                "local-" + ProcessHandle.current().pid() + "-" + HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextInt()));
    }

    /** {@return the job's processes that run now} Empty where the system does not show the variables of processes. */
    List<ProcessHandle> processes() {
        byte[] mark = (VARIABLE + "=" + value + "\0").getBytes(StandardCharsets.UTF_8);
        return ProcessHandle.allProcesses().filter(process -> has(process.pid(), mark)).toList();
    }

    private static boolean has(long pid, byte[] mark) {
        try {
            byte[] variables = Files.readAllBytes(Path.of("/proc", Long.toString(pid), "environ"));
            for (int at = 0; at + mark.length <= variables.length; at++) {
                if ((at == 0 || variables[at - 1] == 0) && Arrays.equals(variables, at, at + mark.length, mark, 0, mark.length)) {
                    return true;
                }
            }
            return false;
        } catch (IOException e) {
            // It has ended, or is another user's.
            return false;
        }
    }
}
