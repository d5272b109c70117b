package org.symmem.nccl;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Optional;
import org.bytedeco.cuda.cudart.CUstream_st;
import org.bytedeco.cuda.global.nccl;
import org.bytedeco.cuda.nccl.ncclComm;
import org.bytedeco.cuda.nccl.ncclUniqueId;
import org.bytedeco.cuda.nccl.ncclWindow_vidmem;
import org.bytedeco.javacpp.BytePointer;
import org.bytedeco.javacpp.Pointer;
import org.bytedeco.javacpp.PointerPointer;
import org.jspecify.annotations.Nullable;
import org.symmem.ErrorCode;
import org.symmem.NativeCallException;

/**
 * NCCL's calls, one method each, through JavaCPP; a code becomes a {@link NativeCallException} with NCCL's own last error. All are
 * older than the oldest version that is allowed, or looked up: a missing function that JavaCPP calls ends the process.
 */
final class Nccl {
    static final int UNIQUE_ID_BYTES = 128;
    private static final int COLLECTIVE_SYMMETRIC = 1;
    private static final int REVOKE_DEFAULT = 0;
    private static final String PEER_POINTER = "ncclGetPeerDevicePointer";

    private final NcclLibrary library;
    private final Optional<MethodHandle> getPeerDevicePointer;
    private final Optional<MethodHandle> commRevoke;

    Nccl(NcclLibrary library) {
        this.library = library;
        this.commRevoke = handle(library, "ncclCommRevoke", NcclVersion.REVOKE,
                FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT));
        this.getPeerDevicePointer = handle(library, PEER_POINTER, NcclVersion.PEER_POINTERS,
                FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT,
                        ValueLayout.ADDRESS));
    }

    private static Optional<MethodHandle> handle(NcclLibrary library, String function, NcclVersion since, FunctionDescriptor descriptor) {
        return library.version().isAtLeast(since)
                ? library.lookup().find(function).map(found -> Linker.nativeLinker().downcallHandle(found, descriptor))
                : Optional.empty();
    }

    NcclLibrary library() {
        return library;
    }

    byte[] getUniqueId(String purpose) {
        try (ncclUniqueId id = new ncclUniqueId()) {
            checked(nccl.ncclGetUniqueId(id), "ncclGetUniqueId", null, purpose);
            byte[] bytes = new byte[UNIQUE_ID_BYTES];
            new BytePointer(id).capacity(UNIQUE_ID_BYTES).get(bytes);
            return bytes;
        }
    }

    ncclComm commInitRank(int ranks, byte[] uniqueId, int rank, String purpose) {
        try (ncclUniqueId id = new ncclUniqueId()) {
            new BytePointer(id).capacity(UNIQUE_ID_BYTES).put(uniqueId);
            ncclComm comm = new ncclComm();
            checked(nccl.ncclCommInitRank(comm, ranks, id, rank), "ncclCommInitRank", null, purpose);
            return comm;
        }
    }

    void commDestroy(ncclComm comm, String purpose) {
        checked(nccl.ncclCommDestroy(comm), "ncclCommDestroy", null, purpose);
    }

    void commAbort(ncclComm comm, String purpose) {
        checked(nccl.ncclCommAbort(comm), "ncclCommAbort", null, purpose);
    }

    /** {@return whether a communicator's calls can be ended without ending its windows} */
    boolean canRevoke() {
        return commRevoke.isPresent();
    }

    /** Ends what is under way in a communicator, on the device too. Its windows stay, until it is aborted. */
    void commRevoke(ncclComm comm, String purpose) {
        try {
            int status = (int) commRevoke.orElseThrow().invokeExact(comm.address(), REVOKE_DEFAULT);
            checked(status, "ncclCommRevoke", comm, purpose);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    long memAlloc(long sizeBytes, String purpose) {
        try (PointerPointer<Pointer> address = new PointerPointer<>(1)) {
            address.put(0, (Pointer) null);
            checked(nccl.ncclMemAlloc(address, sizeBytes), "ncclMemAlloc", null, purpose);
            return address.get().address();
        }
    }

    void memFree(long address, String purpose) {
        checked(nccl.ncclMemFree(at(address)), "ncclMemFree", null, purpose);
    }

    /** {@return the window; its address is 0 where NCCL answers success and gives none} Collective. */
    ncclWindow_vidmem commWindowRegister(ncclComm comm, long address, long sizeBytes, String purpose) {
        // Null before, since versions before 2.29 do not write it where they give none.
        ncclWindow_vidmem window = new ncclWindow_vidmem();
        int status = nccl.ncclCommWindowRegister(comm, at(address), sizeBytes, window, COLLECTIVE_SYMMETRIC);
        // What NCCL answers where the space is used up differs from version to version.
        boolean perhapsFull = status == nccl.ncclSystemError || status == nccl.ncclInternalError;
        checked(status, "ncclCommWindowRegister", comm, purpose + (perhapsFull
                ? " (if there are many, NCCL's symmetric address space is used up: close tensors, or set NCCL_WIN_STRIDE to more bytes)"
                : ""));
        return window;
    }

    void commWindowDeregister(ncclComm comm, ncclWindow_vidmem window, String purpose) {
        checked(nccl.ncclCommWindowDeregister(comm, window), "ncclCommWindowDeregister", comm, purpose);
    }

    /** Copies the root's bytes to all ranks, in the order of a stream. Collective. */
    void broadcast(ncclComm comm, long address, long sizeBytes, int root, long stream, String purpose) {
        Pointer buffer = at(address);
        checked(nccl.ncclBroadcast(buffer, buffer, sizeBytes, nccl.ncclUint8, root, comm, new CUstream_st(at(stream))), "ncclBroadcast",
                comm, purpose);
    }

    /** Copies all ranks' bytes to all ranks, in the order of a stream. Collective. */
    void allGather(ncclComm comm, long source, long target, long sizeBytes, long stream, String purpose) {
        checked(nccl.ncclAllGather(at(source), at(target), sizeBytes, nccl.ncclUint8, comm, new CUstream_st(at(stream))),
                "ncclAllGather", comm, purpose);
    }

    /**
     * {@return whether peers' addresses may be NCCL's} The library must have the host getter. It must also be able to revoke a
     * communicator: to abort one, which is all that others can do, takes the addresses from whoever still uses them.
     */
    boolean hasPeerPointers() {
        return getPeerDevicePointer.isPresent() && canRevoke();
    }

    /** {@return where a peer's part of a window is mapped, or 0 if it is not within reach of loads and stores} */
    long getPeerDevicePointer(ncclComm comm, ncclWindow_vidmem window, int peer, String purpose) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment address = arena.allocate(ValueLayout.JAVA_LONG);
            int status = (int) getPeerDevicePointer.orElseThrow().invokeExact(window.address(), 0L, peer, address);
            checked(status, PEER_POINTER, comm, purpose);
            return address.get(ValueLayout.JAVA_LONG, 0);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    private static Pointer at(long place) {
        return new Pointer() {
            {
                address = place;
            }
        };
    }

    private void checked(int status, String call, @Nullable ncclComm comm, String purpose) {
        if (status != nccl.ncclSuccess) {
            BytePointer text = nccl.ncclGetLastError(comm);
            String detail = text == null || text.isNull() ? "" : text.getString();
            throw new NativeCallException(ErrorCode.NATIVE_CALL, call, name(status), status,
                    purpose + (detail.isBlank() ? "" : ": " + detail.strip()) + ". NCCL_DEBUG=INFO says more; " + library);
        }
    }

    private static String name(int status) {
        return switch (status) {
            case nccl.ncclUnhandledCudaError -> "ncclUnhandledCudaError";
            case nccl.ncclSystemError -> "ncclSystemError";
            case nccl.ncclInternalError -> "ncclInternalError";
            case nccl.ncclInvalidArgument -> "ncclInvalidArgument";
            case nccl.ncclInvalidUsage -> "ncclInvalidUsage";
            case nccl.ncclRemoteError -> "ncclRemoteError";
            case nccl.ncclInProgress -> "ncclInProgress";
            default -> "ncclResult_t";
        };
    }
}
