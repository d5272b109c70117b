import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Compiles the shim against the headers of the JDK that runs this: {@code CompileShim.java shim.c folder} makes
 * {@code folder/linux-<architecture>/libsymmem_nvshmem.so}, unless it is newer than its source.
 */
final class CompileShim {
    private CompileShim() {}

    public static void main(String[] arguments) throws IOException, InterruptedException {
        Path source = Path.of(arguments[0]);
        Path headers = Path.of(System.getProperty("java.home"), "include");
        if (!Files.exists(headers.resolve("jni.h"))) {
            System.err.println(headers + " has no jni.h: a JDK is needed, not a runtime alone");
            System.exit(1);
        }
        String architecture = System.getProperty("os.arch").equals("amd64") ? "x86_64" : System.getProperty("os.arch");
        Path folder = Files.createDirectories(Path.of(arguments[1], "linux-" + architecture));
        Path library = folder.resolve("libsymmem_nvshmem.so");
        if (Files.exists(library) && Files.getLastModifiedTime(library).compareTo(Files.getLastModifiedTime(source)) > 0) {
            return;
        }
        Path unfinished = folder.resolve("unfinished.so");
        List<String> command = List.of("gcc", "-std=c11", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra", "-Werror", "-fvisibility=hidden",
                "-fPIC", "-shared", "-Wl,-z,defs", "-Wl,-z,now", "-I" + headers, "-I" + headers.resolve("linux"), "-o",
                unfinished.toString(), source.toString(), "-ldl");
        int status = new ProcessBuilder(command).inheritIO().start().waitFor();
        if (status != 0) {
            System.err.println("gcc gave " + status + "; the command was " + String.join(" ", command));
            System.exit(1);
        }
        Files.move(unfinished, library, java.nio.file.StandardCopyOption.REPLACE_EXISTING);
    }
}
