package org.symmem;

import org.jspecify.annotations.Nullable;

/** What a backend answers, checked where it comes in, so that a backend's mistake is named as one. */
final class Answer {
    private Answer() {}

    /**
     * @param answer  what the backend returned
     * @param backend its name
     * @param call    the method that was called
     * @return the answer
     * @throws SymmetricMemoryException if there is none
     */
    static <T> T of(@Nullable T answer, String backend, String call) {
        if (answer == null) {
            throw new SymmetricMemoryException(ErrorCode.BACKEND_BROKEN, "backend " + backend + " returned null from " + call
                    + ", which its interface does not allow: tell the backend's author");
        }
        return answer;
    }
}
