package org.symmem.rendezvous;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The command that starts a rank as a Java process like this one: same Java, same class path or module path. */
public final class JavaCommand {
    private JavaCommand() {}

    /**
     * @param flags     for the JVM, besides those that every rank gets
     * @param mainClass what to run
     * @param arguments for it
     * @return the command
     */
    public static List<String> of(List<String> flags, Class<?> mainClass, List<String> arguments) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        // One thread of collection and little heap: what a rank shares lies outside the heap.
        command.addAll(List.of("--enable-native-access=ALL-UNNAMED", "-XX:+UseSerialGC", "-Xshare:auto"));
        command.addAll(flags);
        System.getProperties().forEach((name, value) -> {
            if (name.toString().startsWith("symmem.")) {
                command.add("-D" + name + "=" + value);
            }
        });
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), mainClass.getName()));
        command.addAll(arguments);
        return command;
    }
}
