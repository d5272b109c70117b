package org.symmem.cuda;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import org.symmem.ErrorCode;
import org.symmem.NativeCallException;

/**
 * The CUDA driver, one method a call; the names are the driver's without "cu". Each turns an error into a
 * {@link NativeCallException} with the error's name and what the call was for. Handles, contexts, streams and device addresses are
 * {@code long}. Source: CUDA Driver API Reference Manual 12 and 13; the layouts of structures were confirmed on an H200 with driver
 * 580.
 *
 * <p>A function is looked up when it is first called; one that the driver lacks is an error then, never the end of the process.
 */
final class CudaDriver {
    static final int SUCCESS = 0;
    static final int OUT_OF_MEMORY = 2;
    static final int NO_DEVICE = 100;
    static final int NOT_READY = 600;

    private static final Linker LINKER = Linker.nativeLinker();

    private CudaDriver() {}

    static void init(int flags, String purpose) {
        try {
            checked((int) Init.HANDLE.invokeExact(flags), "cuInit", purpose);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    static void driverGetVersion(MemorySegment version, String purpose) {
        try {
            checked((int) DriverGetVersion.HANDLE.invokeExact(version), "cuDriverGetVersion", purpose);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    static void deviceGetCount(MemorySegment count, String purpose) {
        try {
            checked((int) DeviceGetCount.HANDLE.invokeExact(count), "cuDeviceGetCount", purpose);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    static void deviceGet(MemorySegment device, int ordinal, String purpose) {
        try {
            checked((int) DeviceGet.HANDLE.invokeExact(device, ordinal), "cuDeviceGet", purpose);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    static void deviceGetName(MemorySegment name, int length, int device, String purpose) {
        try {
            checked((int) DeviceGetName.HANDLE.invokeExact(name, length, device), "cuDeviceGetName", purpose);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    static void deviceGetUuid(MemorySegment uuid, int device, String purpose) {
        try {
            checked((int) DeviceGetUuid.HANDLE.invokeExact(uuid, device), "cuDeviceGetUuid", purpose);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    static void deviceCanAccessPeer(MemorySegment can, int device, int peer, String purpose) {
        try {
            checked((int) DeviceCanAccessPeer.HANDLE.invokeExact(can, device, peer), "cuDeviceCanAccessPeer", purpose);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    static void deviceGetAttribute(MemorySegment value, int attribute, int device, String purpose) {
        try {
            checked((int) DeviceGetAttribute.HANDLE.invokeExact(value, attribute, device), "cuDeviceGetAttribute", purpose);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    static void devicePrimaryCtxRetain(MemorySegment context, int device, String purpose) {
        try {
            checked((int) DevicePrimaryCtxRetain.HANDLE.invokeExact(context, device), "cuDevicePrimaryCtxRetain", purpose);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    static void devicePrimaryCtxRelease(int device, String purpose) {
        try {
            checked((int) DevicePrimaryCtxRelease.HANDLE.invokeExact(device), "cuDevicePrimaryCtxRelease", purpose);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    static void ctxPushCurrent(long context, String purpose) {
        try {
            checked((int) CtxPushCurrent.HANDLE.invokeExact(context), "cuCtxPushCurrent", purpose);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    static void ctxPopCurrent(MemorySegment context, String purpose) {
        try {
            checked((int) CtxPopCurrent.HANDLE.invokeExact(context), "cuCtxPopCurrent", purpose);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    static void memGetInfo(MemorySegment freeBytes, MemorySegment totalBytes, String purpose) {
        try {
            checked((int) MemGetInfo.HANDLE.invokeExact(freeBytes, totalBytes), "cuMemGetInfo", purpose);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    static void memAlloc(MemorySegment address, long sizeBytes, String purpose) {
        try {
            checked((int) MemAlloc.HANDLE.invokeExact(address, sizeBytes), "cuMemAlloc", purpose);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    static void memFree(long address, String purpose) {
        try {
            checked((int) MemFree.HANDLE.invokeExact(address), "cuMemFree", purpose);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    static void memGetAllocationGranularity(MemorySegment granularity, MemorySegment properties, int option, String purpose) {
        try {
            checked((int) MemGetAllocationGranularity.HANDLE.invokeExact(granularity, properties, option), "cuMemGetAllocationGranularity",
                    purpose);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    static void memCreate(MemorySegment handle, long sizeBytes, MemorySegment properties, long flags, String purpose) {
        try {
            checked((int) MemCreate.HANDLE.invokeExact(handle, sizeBytes, properties, flags), "cuMemCreate", purpose);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    static void memRelease(long handle, String purpose) {
        try {
            checked((int) MemRelease.HANDLE.invokeExact(handle), "cuMemRelease", purpose);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    static void memAddressReserve(MemorySegment address, long sizeBytes, long alignment, long wanted, long flags, String purpose) {
        try {
            checked((int) MemAddressReserve.HANDLE.invokeExact(address, sizeBytes, alignment, wanted, flags), "cuMemAddressReserve",
                    purpose);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    static void memAddressFree(long address, long sizeBytes, String purpose) {
        try {
            checked((int) MemAddressFree.HANDLE.invokeExact(address, sizeBytes), "cuMemAddressFree", purpose);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    static void memMap(long address, long sizeBytes, long offsetBytes, long handle, long flags, String purpose) {
        try {
            checked((int) MemMap.HANDLE.invokeExact(address, sizeBytes, offsetBytes, handle, flags), "cuMemMap", purpose);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    static void memUnmap(long address, long sizeBytes, String purpose) {
        try {
            checked((int) MemUnmap.HANDLE.invokeExact(address, sizeBytes), "cuMemUnmap", purpose);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    static void memSetAccess(long address, long sizeBytes, MemorySegment descriptions, long count, String purpose) {
        try {
            checked((int) MemSetAccess.HANDLE.invokeExact(address, sizeBytes, descriptions, count), "cuMemSetAccess", purpose);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    static void memExportToShareableHandle(MemorySegment shareable, long handle, int type, long flags, String purpose) {
        try {
            checked((int) MemExportToShareableHandle.HANDLE.invokeExact(shareable, handle, type, flags), "cuMemExportToShareableHandle",
                    purpose);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    static void memImportFromShareableHandle(MemorySegment handle, long shareable, int type, String purpose) {
        try {
            checked((int) MemImportFromShareableHandle.HANDLE.invokeExact(handle, shareable, type), "cuMemImportFromShareableHandle",
                    purpose);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    static void memRetainAllocationHandle(MemorySegment handle, long address, String purpose) {
        try {
            checked((int) MemRetainAllocationHandle.HANDLE.invokeExact(handle, address), "cuMemRetainAllocationHandle", purpose);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    static void memGetAllocationPropertiesFromHandle(MemorySegment properties, long handle, String purpose) {
        try {
            checked((int) MemGetAllocationPropertiesFromHandle.HANDLE.invokeExact(properties, handle),
                    "cuMemGetAllocationPropertiesFromHandle", purpose);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    static void memGetAddressRange(MemorySegment base, MemorySegment sizeBytes, long address, String purpose) {
        try {
            checked((int) MemGetAddressRange.HANDLE.invokeExact(base, sizeBytes, address), "cuMemGetAddressRange", purpose);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    static void memGetAccess(MemorySegment flags, MemorySegment location, long address, String purpose) {
        try {
            checked((int) MemGetAccess.HANDLE.invokeExact(flags, location, address), "cuMemGetAccess", purpose);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    static void pointerGetAttribute(MemorySegment value, int attribute, long address, String purpose) {
        try {
            checked((int) PointerGetAttribute.HANDLE.invokeExact(value, attribute, address), "cuPointerGetAttribute", purpose);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    static void streamCreate(MemorySegment stream, int flags, String purpose) {
        try {
            checked((int) StreamCreate.HANDLE.invokeExact(stream, flags), "cuStreamCreate", purpose);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    static void streamDestroy(long stream, String purpose) {
        try {
            checked((int) StreamDestroy.HANDLE.invokeExact(stream), "cuStreamDestroy", purpose);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    static void streamSynchronize(long stream, String purpose) {
        try {
            checked((int) StreamSynchronize.HANDLE.invokeExact(stream), "cuStreamSynchronize", purpose);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    /** {@return whether everything on the stream is done} */
    static boolean streamQuery(long stream, String purpose) {
        try {
            int result = (int) StreamQuery.HANDLE.invokeExact(stream);
            if (result != NOT_READY) {
                checked(result, "cuStreamQuery", purpose);
            }
            return result == SUCCESS;
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    static void eventCreate(MemorySegment event, int flags, String purpose) {
        try {
            checked((int) EventCreate.HANDLE.invokeExact(event, flags), "cuEventCreate", purpose);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    static void eventRecord(long event, long stream, String purpose) {
        try {
            checked((int) EventRecord.HANDLE.invokeExact(event, stream), "cuEventRecord", purpose);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    /** {@return whether the event has come} */
    static boolean eventQuery(long event, String purpose) {
        try {
            int result = (int) EventQuery.HANDLE.invokeExact(event);
            if (result != NOT_READY) {
                checked(result, "cuEventQuery", purpose);
            }
            return result == SUCCESS;
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    static void eventDestroy(long event, String purpose) {
        try {
            checked((int) EventDestroy.HANDLE.invokeExact(event), "cuEventDestroy", purpose);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    static void streamBatchMemOp(long stream, int count, MemorySegment operations, int flags, String purpose) {
        try {
            checked((int) StreamBatchMemOp.HANDLE.invokeExact(stream, count, operations, flags), "cuStreamBatchMemOp", purpose);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    static void memcpyDtoDAsync(long target, long source, long sizeBytes, long stream, String purpose) {
        try {
            checked((int) MemcpyDtoDAsync.HANDLE.invokeExact(target, source, sizeBytes, stream), "cuMemcpyDtoDAsync", purpose);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    /** {@return whether the driver copies several ranges by one call: from CUDA 13.0 on; that of 12.8 and 12.9 is another one} */
    static boolean hasMemcpyBatchAsync() {
        return CudaLibrary.symbol(MemcpyBatchAsync.NAME).isPresent();
    }

    static void memcpyBatchAsync(MemorySegment targets, MemorySegment sources, MemorySegment sizes, long count, MemorySegment attributes,
            MemorySegment firstOfAttributes, long attributeCount, long stream, String purpose) {
        try {
            checked((int) MemcpyBatchAsync.HANDLE.invokeExact(targets, sources, sizes, count, attributes, firstOfAttributes,
                    attributeCount, stream), "cuMemcpyBatchAsync", purpose);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    static void memcpyHtoDAsync(long target, MemorySegment source, long sizeBytes, long stream, String purpose) {
        try {
            checked((int) MemcpyHtoDAsync.HANDLE.invokeExact(target, source, sizeBytes, stream), "cuMemcpyHtoDAsync", purpose);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    static void memcpyDtoHAsync(MemorySegment target, long source, long sizeBytes, long stream, String purpose) {
        try {
            checked((int) MemcpyDtoHAsync.HANDLE.invokeExact(target, source, sizeBytes, stream), "cuMemcpyDtoHAsync", purpose);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    static void memsetD8Async(long target, int value, long count, long stream, String purpose) {
        try {
            checked((int) MemsetD8Async.HANDLE.invokeExact(target, value, count, stream), "cuMemsetD8Async", purpose);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    static void memsetD16Async(long target, int value, long count, long stream, String purpose) {
        try {
            checked((int) MemsetD16Async.HANDLE.invokeExact(target, value, count, stream), "cuMemsetD16Async", purpose);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    static void memsetD32Async(long target, int value, long count, long stream, String purpose) {
        try {
            checked((int) MemsetD32Async.HANDLE.invokeExact(target, value, count, stream), "cuMemsetD32Async", purpose);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    static void memsetD2D32Async(long target, long pitchBytes, int value, long width, long height, long stream, String purpose) {
        try {
            checked((int) MemsetD2D32Async.HANDLE.invokeExact(target, pitchBytes, value, width, height, stream), "cuMemsetD2D32Async",
                    purpose);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    static void multicastGetGranularity(MemorySegment granularity, MemorySegment properties, int option, String purpose) {
        try {
            checked((int) MulticastGetGranularity.HANDLE.invokeExact(granularity, properties, option), "cuMulticastGetGranularity",
                    purpose);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    static void multicastCreate(MemorySegment handle, MemorySegment properties, String purpose) {
        try {
            checked((int) MulticastCreate.HANDLE.invokeExact(handle, properties), "cuMulticastCreate", purpose);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    static void multicastAddDevice(long multicast, int device, String purpose) {
        try {
            checked((int) MulticastAddDevice.HANDLE.invokeExact(multicast, device), "cuMulticastAddDevice", purpose);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    static void multicastBindMem(long multicast, long offsetBytes, long memory, long memoryOffsetBytes, long sizeBytes, long flags,
            String purpose) {
        try {
            checked((int) MulticastBindMem.HANDLE.invokeExact(multicast, offsetBytes, memory, memoryOffsetBytes, sizeBytes, flags),
                    "cuMulticastBindMem", purpose);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    static void multicastUnbind(long multicast, int device, long offsetBytes, long sizeBytes, String purpose) {
        try {
            checked((int) MulticastUnbind.HANDLE.invokeExact(multicast, device, offsetBytes, sizeBytes), "cuMulticastUnbind", purpose);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    private static void checked(int result, String call, String purpose) {
        if (result != SUCCESS) {
            throw new NativeCallException(result == OUT_OF_MEMORY ? ErrorCode.RESOURCE_LIMIT : ErrorCode.NATIVE_CALL, call,
                    errorName(result), result, purpose);
        }
    }

    /** {@return the driver's own name of an error} */
    static String errorName(int error) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment name = arena.allocate(ADDRESS);
            int result = (int) GetErrorName.HANDLE.invokeExact(error, name);
            return result == SUCCESS
                    ? name.get(ADDRESS.withTargetLayout(MemoryLayout.sequenceLayout(256, java.lang.foreign.ValueLayout.JAVA_BYTE)), 0)
                            .getString(0)
                    : "CUDA error";
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    private static RuntimeException rethrown(Throwable e) {
        if (e instanceof RuntimeException runtime) {
            return runtime;
        }
        if (e instanceof Error error) {
            throw error;
        }
        return new IllegalStateException(e);
    }

    private static MethodHandle function(String name, MemoryLayout... arguments) {
        MemorySegment symbol = CudaLibrary.symbol(name)
                .orElseThrow(() -> new NativeCallException(ErrorCode.NATIVE_CALL, name, "MISSING_SYMBOL", -1,
                        "the driver " + CudaLibrary.NAME + " lacks it: it is older than this backend needs"));
        return LINKER.downcallHandle(symbol, FunctionDescriptor.of(JAVA_INT, arguments));
    }

    private static final class GetErrorName {
        static final MethodHandle HANDLE = function("cuGetErrorName", JAVA_INT, ADDRESS);
    }

    private static final class Init {
        static final MethodHandle HANDLE = function("cuInit", JAVA_INT);
    }

    private static final class DriverGetVersion {
        static final MethodHandle HANDLE = function("cuDriverGetVersion", ADDRESS);
    }

    private static final class DeviceGetCount {
        static final MethodHandle HANDLE = function("cuDeviceGetCount", ADDRESS);
    }

    private static final class DeviceGet {
        static final MethodHandle HANDLE = function("cuDeviceGet", ADDRESS, JAVA_INT);
    }

    private static final class DeviceGetName {
        static final MethodHandle HANDLE = function("cuDeviceGetName", ADDRESS, JAVA_INT, JAVA_INT);
    }

    private static final class DeviceGetUuid {
        static final MethodHandle HANDLE = function("cuDeviceGetUuid_v2", ADDRESS, JAVA_INT);
    }

    private static final class DeviceCanAccessPeer {
        static final MethodHandle HANDLE = function("cuDeviceCanAccessPeer", ADDRESS, JAVA_INT, JAVA_INT);
    }

    private static final class DeviceGetAttribute {
        static final MethodHandle HANDLE = function("cuDeviceGetAttribute", ADDRESS, JAVA_INT, JAVA_INT);
    }

    private static final class DevicePrimaryCtxRetain {
        static final MethodHandle HANDLE = function("cuDevicePrimaryCtxRetain", ADDRESS, JAVA_INT);
    }

    private static final class DevicePrimaryCtxRelease {
        static final MethodHandle HANDLE = function("cuDevicePrimaryCtxRelease_v2", JAVA_INT);
    }

    private static final class CtxPushCurrent {
        static final MethodHandle HANDLE = function("cuCtxPushCurrent_v2", JAVA_LONG);
    }

    private static final class CtxPopCurrent {
        static final MethodHandle HANDLE = function("cuCtxPopCurrent_v2", ADDRESS);
    }

    private static final class MemGetInfo {
        static final MethodHandle HANDLE = function("cuMemGetInfo_v2", ADDRESS, ADDRESS);
    }

    private static final class MemAlloc {
        static final MethodHandle HANDLE = function("cuMemAlloc_v2", ADDRESS, JAVA_LONG);
    }

    private static final class MemFree {
        static final MethodHandle HANDLE = function("cuMemFree_v2", JAVA_LONG);
    }

    private static final class MemGetAllocationGranularity {
        static final MethodHandle HANDLE = function("cuMemGetAllocationGranularity", ADDRESS, ADDRESS, JAVA_INT);
    }

    private static final class MemCreate {
        static final MethodHandle HANDLE = function("cuMemCreate", ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG);
    }

    private static final class MemRelease {
        static final MethodHandle HANDLE = function("cuMemRelease", JAVA_LONG);
    }

    private static final class MemAddressReserve {
        static final MethodHandle HANDLE = function("cuMemAddressReserve", ADDRESS, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
    }

    private static final class MemAddressFree {
        static final MethodHandle HANDLE = function("cuMemAddressFree", JAVA_LONG, JAVA_LONG);
    }

    private static final class MemMap {
        static final MethodHandle HANDLE = function("cuMemMap", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
    }

    private static final class MemUnmap {
        static final MethodHandle HANDLE = function("cuMemUnmap", JAVA_LONG, JAVA_LONG);
    }

    private static final class MemSetAccess {
        static final MethodHandle HANDLE = function("cuMemSetAccess", JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_LONG);
    }

    private static final class MemExportToShareableHandle {
        static final MethodHandle HANDLE = function("cuMemExportToShareableHandle", ADDRESS, JAVA_LONG, JAVA_INT, JAVA_LONG);
    }

    private static final class MemImportFromShareableHandle {
        static final MethodHandle HANDLE = function("cuMemImportFromShareableHandle", ADDRESS, JAVA_LONG, JAVA_INT);
    }

    private static final class MemRetainAllocationHandle {
        static final MethodHandle HANDLE = function("cuMemRetainAllocationHandle", ADDRESS, JAVA_LONG);
    }

    private static final class MemGetAllocationPropertiesFromHandle {
        static final MethodHandle HANDLE = function("cuMemGetAllocationPropertiesFromHandle", ADDRESS, JAVA_LONG);
    }

    private static final class MemGetAddressRange {
        static final MethodHandle HANDLE = function("cuMemGetAddressRange_v2", ADDRESS, ADDRESS, JAVA_LONG);
    }

    private static final class MemGetAccess {
        static final MethodHandle HANDLE = function("cuMemGetAccess", ADDRESS, ADDRESS, JAVA_LONG);
    }

    private static final class PointerGetAttribute {
        static final MethodHandle HANDLE = function("cuPointerGetAttribute", ADDRESS, JAVA_INT, JAVA_LONG);
    }

    private static final class StreamCreate {
        static final MethodHandle HANDLE = function("cuStreamCreate", ADDRESS, JAVA_INT);
    }

    private static final class StreamDestroy {
        static final MethodHandle HANDLE = function("cuStreamDestroy_v2", JAVA_LONG);
    }

    private static final class StreamSynchronize {
        static final MethodHandle HANDLE = function("cuStreamSynchronize", JAVA_LONG);
    }

    private static final class EventCreate {
        static final MethodHandle HANDLE = function("cuEventCreate", ADDRESS, JAVA_INT);
    }

    private static final class EventRecord {
        static final MethodHandle HANDLE = function("cuEventRecord", JAVA_LONG, JAVA_LONG);
    }

    private static final class EventQuery {
        static final MethodHandle HANDLE = function("cuEventQuery", JAVA_LONG);
    }

    private static final class EventDestroy {
        static final MethodHandle HANDLE = function("cuEventDestroy_v2", JAVA_LONG);
    }

    private static final class StreamQuery {
        static final MethodHandle HANDLE = function("cuStreamQuery", JAVA_LONG);
    }

    private static final class StreamBatchMemOp {
        static final MethodHandle HANDLE = function("cuStreamBatchMemOp_v2", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_INT);
    }

    private static final class MemcpyDtoDAsync {
        static final MethodHandle HANDLE = function("cuMemcpyDtoDAsync_v2", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
    }

    private static final class MemcpyBatchAsync {
        static final String NAME = "cuMemcpyBatchAsync_v2";
        static final MethodHandle HANDLE = function(NAME, ADDRESS, ADDRESS, ADDRESS, JAVA_LONG, ADDRESS, ADDRESS, JAVA_LONG, JAVA_LONG);
    }

    private static final class MemcpyHtoDAsync {
        static final MethodHandle HANDLE = function("cuMemcpyHtoDAsync_v2", JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_LONG);
    }

    private static final class MemcpyDtoHAsync {
        static final MethodHandle HANDLE = function("cuMemcpyDtoHAsync_v2", ADDRESS, JAVA_LONG, JAVA_LONG, JAVA_LONG);
    }

    private static final class MemsetD8Async {
        static final MethodHandle HANDLE = function("cuMemsetD8Async", JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG);
    }

    private static final class MemsetD16Async {
        static final MethodHandle HANDLE = function("cuMemsetD16Async", JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG);
    }

    private static final class MemsetD32Async {
        static final MethodHandle HANDLE = function("cuMemsetD32Async", JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG);
    }

    private static final class MemsetD2D32Async {
        static final MethodHandle HANDLE = function("cuMemsetD2D32Async", JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG);
    }

    private static final class MulticastGetGranularity {
        static final MethodHandle HANDLE = function("cuMulticastGetGranularity", ADDRESS, ADDRESS, JAVA_INT);
    }

    private static final class MulticastCreate {
        static final MethodHandle HANDLE = function("cuMulticastCreate", ADDRESS, ADDRESS);
    }

    private static final class MulticastAddDevice {
        static final MethodHandle HANDLE = function("cuMulticastAddDevice", JAVA_LONG, JAVA_INT);
    }

    private static final class MulticastBindMem {
        static final MethodHandle HANDLE = function("cuMulticastBindMem", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
    }

    private static final class MulticastUnbind {
        static final MethodHandle HANDLE = function("cuMulticastUnbind", JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG);
    }
}
