package org.symmem.spi;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * The name of a {@link BackendProvider}, the same as {@link BackendProvider#name()}, where it can be read without making one: so
 * that a provider whose constructor fails is reported by the name that users ask for.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
public @interface BackendName {
    /** {@return lower-case letters, digits and hyphens} */
    String value();
}
