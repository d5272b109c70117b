package org.symmem;

/**
 * What one rank reported when its part of a collective step failed.
 *
 * @param rank    the rank in the group
 * @param host    its host's name
 * @param device  the device it uses, for instance {@code host memory} or {@code device 0 (NVIDIA H200)}
 * @param step    the step that failed
 * @param code    the {@link ErrorCode#id()} of its error, or the exception's class name
 * @param message its error's message
 */
public record RankFailure(int rank, String host, String device, String step, String code, String message) {
    @Override
    public String toString() {
        return "rank " + rank + " on host " + host + ", " + device + ", " + step + ": " + message;
    }
}
