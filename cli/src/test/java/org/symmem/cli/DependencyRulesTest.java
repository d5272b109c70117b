package org.symmem.cli;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideOutsideOfPackages;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** Which module may know which: data flows downward, and a module knows only those below it. */
@AnalyzeClasses(packages = "org.symmem", importOptions = ImportOption.DoNotIncludeTests.class)
class DependencyRulesTest {
    private static final String[] JDK = {"java..", "javax..", "jdk..", "org.jspecify.."};
    private static final String[] API = {"org.symmem", "org.symmem.spi"};
    private static final String[] RENDEZVOUS = {"org.symmem.rendezvous..", "org.symmem.linux.."};
    private static final String[] BACKENDS = {"org.symmem.host..", "org.symmem.cuda..", "org.symmem.nccl..", "org.symmem.nvshmem.."};

    @ArchTest
    static final ArchRule theApiKnowsTheJdkAlone = classes().that()
            .resideInAnyPackage(API)
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage(all(JDK, API));

    @ArchTest
    static final ArchRule rendezvousKnowsTheApiAlone = classes().that()
            .resideInAnyPackage(RENDEZVOUS)
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage(all(JDK, API, RENDEZVOUS));

    @ArchTest
    static final ArchRule theHostBackendKnowsApiAndRendezvousAlone = classes().that()
            .resideInAPackage("org.symmem.host..")
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage(all(JDK, API, RENDEZVOUS, new String[]{"org.symmem.host.."}));

    @ArchTest
    static final ArchRule backendsKnowNothingOfTheProjectButApiAndRendezvous = classes().that()
            .resideInAnyPackage(BACKENDS)
            .should()
            .onlyDependOnClassesThat(resideOutsideOfPackages("org.symmem..").or(resideInAnyPackage(all(API, RENDEZVOUS, BACKENDS))));

    @ArchTest
    static final ArchRule noBackendKnowsAnother = com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices()
            .matching("org.symmem.(host|cuda|nccl|nvshmem)..")
            .should()
            .notDependOnEachOther()
            // Those whose memory is on CUDA devices share the engine.
            .ignoreDependency(resideInAnyPackage("org.symmem.nccl..", "org.symmem.nvshmem.."), resideInAnyPackage("org.symmem.cuda.."));

    @ArchTest
    static final ArchRule theKitKnowsNoBackend = classes().that()
            .resideInAPackage("org.symmem.tck..")
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage(all(JDK, API, RENDEZVOUS,
                    new String[]{"org.symmem.tck..", "org.symmem.collectives..", "org.junit.jupiter..", "org.opentest4j..",
                        "org.apiguardian.."}));

    @ArchTest
    static final ArchRule collectivesKnowTheApiAlone = classes().that()
            .resideInAPackage("org.symmem.collectives..")
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage(all(JDK, API, new String[]{"org.symmem.collectives.."}));

    @ArchTest
    static final ArchRule programsKnowTheApiAndCollectivesAlone = classes().that()
            .resideInAPackage("org.symmem.program..")
            .should()
            .onlyDependOnClassesThat(resideOutsideOfPackages("org.symmem..")
                    .or(resideInAnyPackage(all(API, new String[]{"org.symmem.program..", "org.symmem.collectives.."}))));

    @ArchTest
    static final ArchRule nobodyKnowsTheCommandLine = noClasses().that()
            .resideOutsideOfPackage("org.symmem.cli..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("org.symmem.cli..");

    private static String[] all(String[]... groups) {
        return java.util.Arrays.stream(groups).flatMap(java.util.Arrays::stream).toArray(String[]::new);
    }
}
