package org.symmem.examples.jcuda;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import jcuda.driver.JCudaDriver;

/**
 * Loads JCuda's driver binding safely where several ranks start at once. JCuda copies its native library to a fixed name in the
 * temporary folder if there is none, without a lock, and a rank that loads a copy which another has not finished is ended by SIGBUS. So
 * each rank lets it copy into a folder of its own, which is removed again as soon as the library is loaded.
 */
final class JCudaNatives {
    private static final String PLACE = "java.io.tmpdir";

    private JCudaNatives() {}

    /** Call it before anything else of JCuda, and before other threads ask for the temporary folder. */
    static void load() throws IOException {
        Path own = Files.createTempDirectory("jcuda-natives");
        String before = System.getProperty(PLACE);
        try {
            System.setProperty(PLACE, own.toString());
            // Its first use loads the library; the framework reads the codes, so no exceptions.
            JCudaDriver.setExceptionsEnabled(false);
        } finally {
            System.setProperty(PLACE, before);
            try (Stream<Path> copies = Files.list(own)) {
                for (Path copy : copies.toList()) {
                    Files.delete(copy);
                }
            }
            Files.delete(own);
        }
    }
}
