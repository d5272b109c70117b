package org.symmem.rendezvous;

import java.lang.module.ModuleReference;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The command that starts a rank as a Java process like this one: same Java, same class path or module path. */
public final class JavaCommand {
    /**
     * The property that names an archive of classes for ranks to start with, made for this Java and this class path. One that does
     * not fit, or is not there, is passed over without a word.
     */
    public static final String CLASS_ARCHIVE = "symmem.classArchive";

    private JavaCommand() {}

    /**
     * @param flags     for the JVM; they win over the properties named {@code symmem.*} of this process, which every rank gets
     * @param mainClass what to run; if it is in a named module, the rank is started from that module
     * @param arguments for it
     * @return the command
     */
    public static List<String> of(List<String> flags, Class<?> mainClass, List<String> arguments) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        // One thread of collection and little heap: what a rank shares lies outside the heap.
        command.addAll(List.of("--enable-native-access=" + nativeAccess(), "-XX:+UseSerialGC", "-Xshare:auto"));
        Optional.ofNullable(System.getProperty(CLASS_ARCHIVE)).ifPresent(archive -> command.addAll(archived(archive)));
        System.getProperties().forEach((name, value) -> {
            if (name.toString().startsWith("symmem.")) {
                command.add("-D" + name + "=" + value);
            }
        });
        command.addAll(flags);
        command.addAll(program(mainClass));
        command.addAll(arguments);
        return command;
    }

    /** A damaged archive is found by its checksums before it is used, and is no more worth a line than one that is too old. */
    private static List<String> archived(String archive) {
        return List.of("-XX:SharedArchiveFile=" + archive, "-XX:+VerifySharedSpaces", "-Xlog:cds*=off,aot*=off");
    }

    private static List<String> program(Class<?> mainClass) {
        List<String> program = new ArrayList<>();
        String modulePath = System.getProperty("jdk.module.path", "");
        if (!modulePath.isEmpty()) {
            program.addAll(List.of("-p", modulePath));
        }
        String classPath = System.getProperty("java.class.path", "");
        if (!classPath.isEmpty()) {
            program.addAll(List.of("-cp", classPath));
        }
        if (mainClass.getModule().isNamed()) {
            program.addAll(List.of("-m", mainClass.getModule().getName() + "/" + mainClass.getName()));
        } else {
            program.add(mainClass.getName());
        }
        return program;
    }

    /** What may call native code in this process, the JDK's own modules apart, may in a rank. */
    private static String nativeAccess() {
        Stream<String> named = ModuleLayer.boot()
                .modules()
                .stream()
                .filter(module -> module.isNativeAccessEnabled() && !isOfTheJdk(module))
                .map(Module::getName)
                .sorted();
        return Stream.concat(Stream.of("ALL-UNNAMED"), named).collect(Collectors.joining(","));
    }

    private static boolean isOfTheJdk(Module module) {
        Optional<URI> location = module.getLayer()
                .configuration()
                .findModule(module.getName())
                .map(java.lang.module.ResolvedModule::reference)
                .flatMap(ModuleReference::location);
        return location.map(URI::getScheme).filter("jrt"::equals).isPresent();
    }
}
