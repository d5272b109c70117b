package org.symmem.cuda;

import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.symmem.ProcessGroup;
import org.symmem.linux.Descriptor;
import org.symmem.rendezvous.DescriptorExchange;
import org.symmem.spi.Agreement;
import org.symmem.spi.Closers;

/** Memory as POSIX descriptors, among the ranks of one host. Each descriptor is closed on both sides when it has been used. */
record DescriptorHandles(CudaDevice device, DescriptorExchange exchange) implements HandleExchange {
    @Override
    public void exchange(Agreement agreement, String step, Supplier<List<PhysicalMemory>> own, byte[] note, Consumer<List<Received>> use) {
        try (Closers exported = new Closers()) {
            exchange.exchange(agreement, step, () -> {
                try (CudaDevice.Current current = device.makeCurrent()) {
                    return own.get().stream().map(memory -> exported.add(memory.export(step + ": exporting"))).collect(Collectors.toList());
                }
            }, note, received -> {
                try (CudaDevice.Current current = device.makeCurrent()) {
                    use.accept(received.stream().<Received>map(one -> new FromDescriptors(one.note(), one.descriptors())).toList());
                }
            });
        }
    }

    private record FromDescriptors(byte[] note, List<Descriptor> descriptors) implements Received {
        @Override
        public PhysicalMemory memory(int index, long sizeBytes, String purpose) {
            return PhysicalMemory.imported(descriptors.get(index).fd(), sizeBytes, purpose);
        }
    }

    @Override
    public int handleType() {
        return CudaStructures.POSIX_DESCRIPTOR;
    }

    @Override
    public Set<Integer> lostRanks() {
        return exchange.lostRanks();
    }

    @Override
    public ProcessGroup meetingGroup(ProcessGroup joined) {
        return exchange.meetingGroup(joined);
    }

    @Override
    public String describe() {
        return "POSIX descriptors by " + exchange.describe();
    }

    @Override
    public void close() {
        exchange.close();
    }
}
