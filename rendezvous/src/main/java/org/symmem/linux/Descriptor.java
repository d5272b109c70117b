package org.symmem.linux;

import java.util.concurrent.atomic.AtomicBoolean;

/** A file descriptor and the duty to close it, once. */
public final class Descriptor implements AutoCloseable {
    static {
        // A process that has run out of descriptors could load nothing any more, and so never close one.
        LibC.prepareToClose();
    }

    private final int number;
    private final String what;
    private final boolean owned;
    private final AtomicBoolean closed = new AtomicBoolean();

    /**
     * @param number the descriptor, from now on owned by this
     * @param what   it in words, for errors
     */
    public Descriptor(int number, String what) {
        this(number, what, true);
    }

    private Descriptor(int number, String what, boolean owned) {
        this.number = number;
        this.what = what;
        this.owned = owned;
    }

    /** {@return a descriptor that somebody else closes} */
    public static Descriptor borrowed(int number) {
        return new Descriptor(number, "the user's", false);
    }

    /**
     * {@return the number}
     *
     * @throws IllegalStateException if it is closed
     */
    public int fd() {
        if (closed.get()) {
            throw new IllegalStateException("closed: " + this);
        }
        return number;
    }

    /** Closes the descriptor. Closing twice is fine. */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true) && owned) {
            LibC.close(number);
        }
    }

    @Override
    public String toString() {
        return "Descriptor[" + number + ", " + what + "]";
    }
}
