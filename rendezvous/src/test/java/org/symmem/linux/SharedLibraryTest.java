package org.symmem.linux;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SharedLibraryTest {
    /** One that every Java has, for this processor. */
    private static final Path LIBRARY = Path.of(System.getProperty("java.home"), "lib", "libjava.so");

    @TempDir
    private Path folder;

    private Path file(byte... bytes) throws IOException {
        return Files.write(folder.resolve("lib.so"), bytes);
    }

    @Test
    void aLibraryIsSuitable() {
        assertThat(SharedLibrary.unsuitable(LIBRARY)).isEmpty();
    }

    @Test
    void textAFolderAndAProgramAreNone() throws IOException {
        assertThat(SharedLibrary
                .unsuitable(file("/* GNU ld script */ INPUT(libnccl.so.2) and more than a header has, so all of it".getBytes())))
                .hasValueSatisfying(why -> assertThat(why).contains("lib.so is no library"));
        assertThat(SharedLibrary.unsuitable(file())).hasValueSatisfying(why -> assertThat(why).contains("lib.so is no library"));
        assertThat(SharedLibrary.unsuitable(folder)).hasValueSatisfying(why -> assertThat(why).contains("cannot be read"));
        byte[] program = Files.readAllBytes(LIBRARY);
        program[16] = 2;
        assertThat(SharedLibrary.unsuitable(file(program))).hasValueSatisfying(why -> assertThat(why).contains("no shared library"));
    }

    @Test
    void anotherProcessorIsNamed() throws IOException {
        byte[] other = Files.readAllBytes(LIBRARY);
        other[18] = 21;
        assertThat(SharedLibrary.unsuitable(file(other)))
                .hasValueSatisfying(why -> assertThat(why).contains("is for 64-bit PowerPC, this process runs on"));
    }

    /** The loader would map what is not there, and end the process when it looks. */
    @Test
    void whatIsCutOffIsNeverLoaded() throws IOException {
        byte[] whole = Files.readAllBytes(LIBRARY);
        for (int length : new int[]{64, 4000, whole.length / 2}) {
            assertThat(SharedLibrary.unsuitable(file(Arrays.copyOf(whole, length))))
                    .hasValueSatisfying(why -> assertThat(why).contains("is cut off: it has " + length + " bytes of at least"));
        }
    }

    @Test
    void theLoadersOwnWordsAreKept() {
        assertThat(SharedLibrary.loaderError("libsymmem-of-nowhere.so.9"))
                .contains("libsymmem-of-nowhere.so.9: cannot open shared object file: No such file or directory");
    }
}
