package org.symmem.cuda;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.symmem.ErrorCode;
import org.symmem.NativeCallException;
import org.symmem.RanksDisagreeException;
import org.symmem.SymmetricMemoryException;
import org.symmem.rendezvous.DescriptorExchange;
import org.symmem.spi.Agreement;
import org.symmem.spi.HostIdentity;
import org.symmem.spi.Wire;

/**
 * Chooses how handles go among the ranks: descriptors on one host, fabric handles among hosts where creating memory with one
 * succeeds on every rank. {@code symmem.cuda.handles} (or {@code SYMMEM_CUDA_HANDLES}) insists: {@code posix} or {@code fabric}.
 */
final class HandleChoice {
    static final String PROPERTY = "symmem.cuda.handles";
    private static final String VARIABLE = "SYMMEM_CUDA_HANDLES";

    private HandleChoice() {}

    /** What one rank says: its host, what it insists on, and why fabric handles do not work, if they do not. */
    private record Answer(String host, String bootId, String wanted, String noFabric) {}

    /** Compares hosts, settings and devices. Collective; all ranks get the same way or the same error. */
    static HandleExchange among(Agreement agreement, CudaDevice device) {
        return among(agreement, device, HostIdentity.local());
    }

    static HandleExchange among(Agreement agreement, CudaDevice device, HostIdentity host) {
        List<Answer> answers = agreement.step("comparing ways to hand over memory", () -> {
            String wanted = wanted();
            String noFabric = wanted.equals("posix") ? PROPERTY + " is posix" : whyNoFabric(device);
            return Wire.write(out -> {
                for (String field : List.of(host.name(), host.bootId(), wanted, noFabric)) {
                    out.writeUTF(field);
                }
            });
        }).stream().map(bytes -> Wire.read(bytes, in -> new Answer(in.readUTF(), in.readUTF(), in.readUTF(), in.readUTF()))).toList();
        if (answers.stream().map(Answer::wanted).distinct().count() > 1) {
            throw new RanksDisagreeException("ranks want to hand over memory in different ways: "
                    + answers.stream().map(Answer::wanted).collect(Collectors.joining(", ")) + ", in rank order. Give all the same "
                    + PROPERTY);
        }
        boolean oneHost = answers.stream().map(Answer::bootId).distinct().count() == 1;
        if (oneHost && !answers.getFirst().wanted().equals("fabric")) {
            return new DescriptorHandles(device, DescriptorExchange.open(agreement));
        }
        for (int rank = 0; rank < answers.size(); rank++) {
            if (!answers.get(rank).noFabric().isEmpty()) {
                throw new RanksDisagreeException((oneHost ? PROPERTY + " is fabric"
                        : "ranks are on different hosts ("
                                + answers.stream().map(Answer::host).distinct().collect(Collectors.joining(", "))
                                + "), between which POSIX descriptors cannot be handed over")
                        + ", and rank " + rank + " on host "
                        + answers.get(rank).host() + " has no fabric handles: " + answers.get(rank).noFabric()
                        + (oneHost ? "" : ". Use a group for each host"));
            }
        }
        return new FabricHandles(device);
    }

    private static String wanted() {
        String setting = System.getProperty(PROPERTY, System.getenv(VARIABLE));
        String wanted = setting == null ? "auto" : setting.toLowerCase(Locale.ROOT);
        if (!List.of("auto", "posix", "fabric").contains(wanted)) {
            throw new SymmetricMemoryException(ErrorCode.SETTING,
                    PROPERTY + " (or " + VARIABLE + ") is \"" + setting + "\"; it is auto, posix or fabric");
        }
        return wanted;
    }

    /** Tried, since an attribute is not a promise: seen to be 1 on an H200 where creating was refused with 800. */
    private static String whyNoFabric(CudaDevice device) {
        try (CudaDevice.Current current = device.makeCurrent();
                PhysicalMemory granule = PhysicalMemory.create(device, CudaBackend.granularityOf(device), CudaStructures.FABRIC,
                        "trying a fabric handle")) {
            granule.exportToFabric("trying a fabric handle");
            return "";
        } catch (NativeCallException e) {
            return String.valueOf(e.getMessage());
        }
    }
}
