package org.symmem.host;

import java.util.ArrayList;
import java.util.List;
import org.symmem.linux.Descriptor;
import org.symmem.linux.LibC;

/** Makes and judges the memory that ranks share: memfds, sealed so that no holder of the descriptor can make another's loads fault. */
final class SharedMemory {
    private SharedMemory() {}

    /**
     * @param sizeBytes whole pages
     * @param purpose   for errors
     * @return a sealed memfd of zeros, which takes physical memory only where it is touched
     */
    static Descriptor create(long sizeBytes, String purpose) {
        Descriptor memfd = LibC.memfdCreate("symmem", LibC.MFD_CLOEXEC | LibC.MFD_ALLOW_SEALING, purpose);
        try {
            LibC.ftruncate(memfd.fd(), sizeBytes, purpose + " of " + sizeBytes + " bytes");
            LibC.addSeals(memfd.fd(), LibC.F_SEAL_SHRINK | LibC.F_SEAL_GROW | LibC.F_SEAL_SEAL, purpose);
            return memfd;
        } catch (Throwable e) {
            memfd.close();
            throw e;
        }
    }

    /** {@return the size rounded up to whole pages, in bytes} */
    static long wholePages(long sizeBytes) {
        long page = LibC.pageSize();
        return Math.multiplyExact(Math.ceilDiv(sizeBytes, page), page);
    }

    /** {@return every reason why a range of a file cannot be shared, each a full phrase} */
    static List<String> unsuitable(int fd, long offsetBytes, long sizeBytes) {
        List<String> reasons = new ArrayList<>();
        if (offsetBytes % LibC.pageSize() != 0) {
            reasons.add("it begins at byte " + offsetBytes + " of its descriptor, not at a multiple of the page size " + LibC.pageSize());
        }
        int seals = LibC.seals(fd);
        if (seals < 0) {
            reasons.add("its descriptor is not a memfd made with MFD_ALLOW_SEALING");
        } else if ((seals & LibC.F_SEAL_SHRINK) == 0) {
            reasons.add("its memfd is not sealed against shrinking (F_SEAL_SHRINK), so any holder could make the others' loads fault");
        }
        long fileBytes = LibC.fileSize(fd, "looking at the size of a descriptor");
        if (fileBytes - offsetBytes < wholePages(sizeBytes)) {
            reasons.add("its descriptor has " + Math.max(0, fileBytes - offsetBytes) + " bytes from there on, fewer than the "
                    + wholePages(sizeBytes) + " of whole pages that " + sizeBytes + " bytes take");
        }
        return reasons;
    }
}
