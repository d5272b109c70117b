package org.symmem.cuda;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Collection;
import java.util.HexFormat;
import java.util.Optional;
import org.symmem.ErrorCode;
import org.symmem.NativeCallException;
import org.symmem.SymmetricMemoryException;

/** One device with its primary context, which is shared with every other user of the device in this process. */
public final class CudaDevice implements AutoCloseable {
    static final String ORDINAL_PROPERTY = "symmem.cuda.device";

    private static final int VMM_SUPPORTED = 102;
    private static final int POSIX_DESCRIPTOR_SUPPORTED = 103;
    private static final int MULTICAST_SUPPORTED = 132;
    private static final int WAIT_64_SUPPORTED = 122;
    /** Of an address. */
    private static final int MEMORY_TYPE = 2;
    private static final int DEVICE_MEMORY = 2;
    private static final int FLUSH_REMOTE_WRITES_SUPPORTED = 98;

    private final int ordinal;
    private final int device;
    private final String name;
    private final String uuid;
    private final long context;

    private CudaDevice(int ordinal, int device, String name, String uuid, long context) {
        this.ordinal = ordinal;
        this.device = device;
        this.name = name;
        this.uuid = uuid;
        this.context = context;
    }

    /** {@return the number of devices that this process sees; initialises the driver} */
    public static int count() {
        try {
            CudaDriver.init(0, "initialising the driver");
        } catch (NativeCallException e) {
            if (e.status() == CudaDriver.NO_DEVICE) {
                return 0;
            }
            throw e;
        }
        return intFrom(count -> CudaDriver.deviceGetCount(count, "counting devices"));
    }

    /** {@return the driver's version, for instance 13000 for 13.0} */
    public static int driverVersion() {
        return intFrom(version -> CudaDriver.driverGetVersion(version, "asking for the driver's version"));
    }

    /** {@return the device for a rank: the one that the settings name, else one after the other} */
    public static CudaDevice forLocalRank(int localRank) {
        int count = count();
        if (count == 0) {
            String visible = System.getenv("CUDA_VISIBLE_DEVICES");
            throw new SymmetricMemoryException(ErrorCode.BACKEND_UNAVAILABLE,
                    "no CUDA device is visible: " + (visible == null ? "the machine has none, or its driver shows none to this user"
                            : "CUDA_VISIBLE_DEVICES is \"" + visible + "\""));
        }
        String setting = System.getProperty(ORDINAL_PROPERTY, System.getenv("SYMMEM_CUDA_DEVICE"));
        if (setting == null) {
            return open(localRank % count);
        }
        if (!setting.matches("\\d{1,6}") || Integer.parseInt(setting) >= count) {
            throw new SymmetricMemoryException(ErrorCode.SETTING,
                    ORDINAL_PROPERTY + " (or SYMMEM_CUDA_DEVICE) is \"" + setting + "\"; it is a device ordinal from 0 to " + (count - 1));
        }
        return open(Integer.parseInt(setting));
    }

    private static CudaDevice open(int ordinal) {
        try (Arena arena = Arena.ofConfined()) {
            String purpose = "opening device " + ordinal;
            int device = intFrom(value -> CudaDriver.deviceGet(value, ordinal, purpose));
            MemorySegment name = arena.allocate(256);
            CudaDriver.deviceGetName(name, 255, device, purpose);
            String uuid = uuidOf(device, purpose);
            MemorySegment context = arena.allocate(ValueLayout.JAVA_LONG);
            CudaDriver.devicePrimaryCtxRetain(context, device, purpose);
            return new CudaDevice(ordinal, device, name.getString(0), uuid, context.get(ValueLayout.JAVA_LONG, 0));
        }
    }

    @FunctionalInterface
    private interface IntQuery {
        void ask(MemorySegment value);
    }

    private static int intFrom(IntQuery query) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment value = arena.allocate(ValueLayout.JAVA_INT);
            query.ask(value);
            return value.get(ValueLayout.JAVA_INT, 0);
        }
    }

    private boolean has(int attribute) {
        return intFrom(value -> CudaDriver.deviceGetAttribute(value, attribute, device,
                "asking device " + ordinal + " for attribute " + attribute)) != 0;
    }

    public boolean hasVirtualMemory() {
        return has(VMM_SUPPORTED) && has(POSIX_DESCRIPTOR_SUPPORTED);
    }

    public boolean hasMulticast() {
        return has(MULTICAST_SUPPORTED);
    }

    public boolean hasStreamMemoryOperations() {
        return has(WAIT_64_SUPPORTED);
    }

    public boolean canFlushRemoteWrites() {
        return has(FLUSH_REMOTE_WRITES_SUPPORTED);
    }

    /** {@return whether an address is one of a device's memory, as far as the driver knows} */
    public boolean knowsAsDeviceMemory(long address) {
        try (Current current = makeCurrent()) {
            return intFrom(
                    type -> CudaDriver.pointerGetAttribute(type, MEMORY_TYPE, address, "asking whose memory that is")) == DEVICE_MEMORY;
        } catch (NativeCallException e) {
            // It is none that the driver gave.
            return false;
        }
    }

    /**
     * {@return which of some devices this one cannot load from and store to, in words, as far as this process sees them}
     *
     * @param uuids of the devices, this one's own perhaps among them
     */
    public Optional<String> outOfReach(Collection<String> uuids) {
        for (int other = 0; other < count(); other++) {
            int ordinalThere = other;
            String purpose = "asking for the peers of device " + ordinal;
            int there = intFrom(value -> CudaDriver.deviceGet(value, ordinalThere, purpose));
            if (there != device && uuids.contains(uuidOf(there, purpose))
                    && intFrom(can -> CudaDriver.deviceCanAccessPeer(can, device, there, purpose)) == 0) {
                return Optional.of(this + " has no peer access to device " + other + " (cuDeviceCanAccessPeer)");
            }
        }
        return Optional.empty();
    }

    private static String uuidOf(int device, String purpose) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment uuid = arena.allocate(16);
            CudaDriver.deviceGetUuid(uuid, device, purpose);
            return HexFormat.of().formatHex(uuid.toArray(ValueLayout.JAVA_BYTE));
        }
    }

    /** {@return the device as the driver's structures name it} */
    public int device() {
        return device;
    }

    /** {@return what tells devices apart, also among processes that see them in another order} */
    public String uuid() {
        return uuid;
    }

    /** Makes the device's context the thread's, until it is closed; what was current before is current again then. */
    public Current makeCurrent() {
        CudaDriver.ctxPushCurrent(context, "making device " + ordinal + " current");
        return Current.INSTANCE;
    }

    /** A context that is to be left. */
    public static final class Current implements AutoCloseable {
        private static final Current INSTANCE = new Current();
        private static final ThreadLocal<MemorySegment> POPPED = ThreadLocal
                .withInitial(() -> Arena.ofAuto().allocate(ValueLayout.JAVA_LONG));

        @Override
        public void close() {
            CudaDriver.ctxPopCurrent(POPPED.get(), "leaving a context");
        }
    }

    /** {@return free and total memory in words} */
    public String memory() {
        try (Arena arena = Arena.ofConfined(); Current current = makeCurrent()) {
            MemorySegment free = arena.allocate(ValueLayout.JAVA_LONG);
            MemorySegment total = arena.allocate(ValueLayout.JAVA_LONG);
            CudaDriver.memGetInfo(free, total, "asking for free memory");
            return free.get(ValueLayout.JAVA_LONG, 0) + " bytes free of " + total.get(ValueLayout.JAVA_LONG, 0);
        }
    }

    /** {@return free memory, in bytes} */
    public long freeBytes() {
        try (Arena arena = Arena.ofConfined(); Current current = makeCurrent()) {
            MemorySegment free = arena.allocate(ValueLayout.JAVA_LONG);
            CudaDriver.memGetInfo(free, arena.allocate(ValueLayout.JAVA_LONG), "asking for free memory");
            return free.get(ValueLayout.JAVA_LONG, 0);
        }
    }

    @Override
    public void close() {
        CudaDriver.devicePrimaryCtxRelease(device, "closing device " + ordinal);
    }

    @Override
    public String toString() {
        return "device " + ordinal + " (" + name + ")";
    }
}
