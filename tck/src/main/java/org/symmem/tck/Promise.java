package org.symmem.tck;

import java.util.Optional;
import java.util.stream.Stream;

/**
 * That a backend is there, given by whoever starts the kit: where it is not, the kit fails rather than skips.
 *
 * @param backend the backend's name
 * @param ranks   how many ranks, at least, the machine was promised to carry
 */
record Promise(String backend, int ranks) {
    /** {@return what a property such as {@code cuda:2,host} promises of a backend} */
    static Optional<Promise> of(String backend, String property) {
        return Stream.of(property.split(","))
                .map(String::strip)
                .filter(promise -> !promise.isEmpty())
                .map(Promise::parse)
                .filter(promise -> promise.backend().equals(backend))
                .findFirst();
    }

    private static Promise parse(String text) {
        String[] parts = text.split(":", -1);
        if (parts.length > 2 || !parts[0].matches("[a-z0-9-]+") || parts.length == 2 && !parts[1].matches("[1-9]\\d{0,5}")) {
            throw new IllegalArgumentException(TckSettings.REQUIRE + " should name backends, with the number of ranks if it matters,"
                    + " for instance cuda:2,host; it has \"" + text + "\"");
        }
        return new Promise(parts[0], parts.length == 2 ? Integer.parseInt(parts[1]) : 1);
    }
}
