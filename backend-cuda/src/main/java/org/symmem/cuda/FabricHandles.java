package org.symmem.cuda;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.symmem.ProcessGroup;
import org.symmem.spi.Agreement;
import org.symmem.spi.Wire;

/**
 * Memory as fabric handles: 64 bytes that any process in the devices' NVLink fabric can import, on other hosts too. They go with the
 * agreement's own messages, so there is no connection by which a rank's end would be seen: waits for it end at their deadline.
 */
record FabricHandles(CudaDevice device) implements HandleExchange {
    @Override
    public void exchange(Agreement agreement, String step, Supplier<List<PhysicalMemory>> own, byte[] note, Consumer<List<Received>> use) {
        List<Received> received = agreement.step(step + ": exporting", () -> {
            try (CudaDevice.Current current = device.makeCurrent()) {
                List<byte[]> handles = own.get().stream().map(memory -> memory.exportToFabric(step + ": exporting")).toList();
                return Wire.write(out -> {
                    out.writeInt(note.length);
                    out.write(note);
                    out.writeInt(handles.size());
                    for (byte[] handle : handles) {
                        out.write(handle);
                    }
                });
            }
        }).stream().map(bytes -> Wire.<Received>read(bytes, in -> {
            byte[] theirNote = in.readNBytes(in.readInt());
            List<byte[]> handles = new ArrayList<>();
            for (int left = in.readInt(); left > 0; left--) {
                handles.add(in.readNBytes(CudaStructures.FABRIC_HANDLE_BYTES));
            }
            return new FromFabric(theirNote, handles);
        })).toList();
        agreement.check(step, () -> {
            try (CudaDevice.Current current = device.makeCurrent()) {
                use.accept(received);
            }
        });
    }

    private record FromFabric(byte[] note, List<byte[]> handles) implements Received {
        @Override
        public PhysicalMemory memory(int index, long sizeBytes, String purpose) {
            return PhysicalMemory.importedFromFabric(handles.get(index), sizeBytes, purpose);
        }
    }

    @Override
    public int handleType() {
        return CudaStructures.FABRIC;
    }

    @Override
    public Set<Integer> lostRanks() {
        return Set.of();
    }

    @Override
    public ProcessGroup meetingGroup(ProcessGroup joined) {
        return joined;
    }

    @Override
    public String describe() {
        return "fabric handles";
    }

    @Override
    public void close() {
        // Nothing is kept between exchanges.
    }
}
