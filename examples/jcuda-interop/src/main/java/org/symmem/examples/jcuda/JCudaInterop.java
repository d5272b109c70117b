package org.symmem.examples.jcuda;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.time.Duration;
import jcuda.Pointer;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdevice;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUresult;
import jcuda.driver.CUstream;
import jcuda.driver.CUstream_flags;
import jcuda.driver.JCudaDriver;
import org.symmem.DataType;
import org.symmem.MemoryRegion;
import org.symmem.ProcessGroup;
import org.symmem.Shape;
import org.symmem.Stream;
import org.symmem.SymmetricMemory;
import org.symmem.SymmetricTensor;

/**
 * A program that has its own device memory and its own stream, both from JCuda, and makes the memory symmetric: each rank fills its
 * buffer by JCuda, and reads its neighbour's through the framework on the same stream. Start it as several ranks of one host.
 */
public final class JCudaInterop {
    private static final int ELEMENTS = 1 << 18;

    private JCudaInterop() {}

    /** A device pointer of JCuda whose address can be seen. */
    private static final class VisiblePointer extends CUdeviceptr {
        long address() {
            return getNativePointer() + getByteOffset();
        }
    }

    /** A stream of JCuda whose handle can be seen. */
    private static final class VisibleStream extends CUstream {
        long handle() {
            return getNativePointer();
        }
    }

    /** @param arguments none; the launcher's variables say which rank this is */
    public static void main(String[] arguments) throws Exception {
        JCudaNatives.load();
        try (ProcessGroup group = ProcessGroup.fromEnvironment()) {
            int ordinal = useDevice(group.localRank());
            long granularity = DriverMemory.granularity(ordinal);
            long sizeBytes = Math.ceilDiv(4L * ELEMENTS, granularity) * granularity;
            VisiblePointer buffer = new VisiblePointer();
            check("cuMemAddressReserve", JCudaDriver.cuMemAddressReserve(buffer, sizeBytes, 0, new CUdeviceptr(), 0));
            DriverMemory.populate(buffer.address(), sizeBytes, ordinal);
            VisibleStream stream = new VisibleStream();
            check("cuStreamCreate", JCudaDriver.cuStreamCreate(stream, CUstream_flags.CU_STREAM_NON_BLOCKING));

            share(group, buffer, sizeBytes, stream);

            check("cuStreamDestroy", JCudaDriver.cuStreamDestroy(stream));
            check("cuMemUnmap", JCudaDriver.cuMemUnmap(buffer, sizeBytes));
            check("cuMemAddressFree", JCudaDriver.cuMemAddressFree(buffer, sizeBytes));
        }
    }

    /** {@return the ordinal of the device, whose primary context is this thread's from now on} */
    private static int useDevice(int localRank) {
        check("cuInit", JCudaDriver.cuInit(0));
        int[] count = new int[1];
        check("cuDeviceGetCount", JCudaDriver.cuDeviceGetCount(count));
        int ordinal = localRank % count[0];
        CUdevice device = new CUdevice();
        check("cuDeviceGet", JCudaDriver.cuDeviceGet(device, ordinal));
        CUcontext context = new CUcontext();
        check("cuDevicePrimaryCtxRetain", JCudaDriver.cuDevicePrimaryCtxRetain(context, device));
        check("cuCtxSetCurrent", JCudaDriver.cuCtxSetCurrent(context));
        return ordinal;
    }

    private static void share(ProcessGroup group, VisiblePointer buffer, long sizeBytes, VisibleStream jcudaStream) {
        try (SymmetricMemory memory = SymmetricMemory.open(group, SymmetricMemory.Options.defaults().withBackend("cuda"));
                SymmetricTensor tensor = memory.wrap(MemoryRegion.of(buffer.address(), sizeBytes), Shape.of(ELEMENTS), DataType.FLOAT32);
                SymmetricTensor copy = memory.allocate(Shape.of(ELEMENTS), DataType.FLOAT32);
                Stream stream = memory.wrapStream(jcudaStream.handle())) {
            tensor.rendezvous();
            copy.rendezvous();
            FloatBuffer values = floats();
            for (int i = 0; i < ELEMENTS; i++) {
                values.put(i, valueOf(group.rank(), i));
            }
            // JCuda's copy and the framework's barrier, copy and JCuda's copy back: all in the order of one stream.
            check("cuMemcpyHtoDAsync", JCudaDriver.cuMemcpyHtoDAsync(buffer, Pointer.to(values), 4L * ELEMENTS, jcudaStream));
            tensor.signals().barrier(0, stream, Duration.ofSeconds(10));
            int neighbour = (group.rank() + 1) % group.worldSize();
            copy.local().copyFrom(tensor.remote(neighbour), stream);
            tensor.signals().barrier(0, stream, Duration.ofSeconds(10));
            FloatBuffer read = floats();
            CUdeviceptr copied = new CUdeviceptr().withByteOffset(copy.local().address());
            check("cuMemcpyDtoHAsync", JCudaDriver.cuMemcpyDtoHAsync(Pointer.to(read), copied, 4L * ELEMENTS, jcudaStream));
            check("cuStreamSynchronize", JCudaDriver.cuStreamSynchronize(jcudaStream));
            for (int i = 0; i < ELEMENTS; i++) {
                if (read.get(i) != valueOf(neighbour, i)) {
                    throw new IllegalStateException(
                            "element " + i + " of rank " + neighbour + " is " + read.get(i) + ", not " + valueOf(neighbour, i));
                }
            }
            System.out.println(
                    "rank " + group.rank() + " of " + group.worldSize() + ": JCuda's buffer of rank " + neighbour + " is right, on "
                            + memory.device());
        }
    }

    /** Off the heap: with a Java array, JCuda gives the driver memory that need not outlive the call, and the copy comes later. */
    private static FloatBuffer floats() {
        return ByteBuffer.allocateDirect(4 * ELEMENTS).order(ByteOrder.nativeOrder()).asFloatBuffer();
    }

    private static float valueOf(int rank, int index) {
        return rank * 1000 + index % 997;
    }

    private static void check(String call, int result) {
        if (result != 0) {
            throw new IllegalStateException(call + " failed: " + CUresult.stringFor(result) + " (" + result + ")");
        }
    }
}
