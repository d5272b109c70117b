package org.symmem;

/**
 * One backend that was found, and whether it can be used.
 *
 * @param name         its name
 * @param priority     its preference; the highest available wins
 * @param availability whether it can be used by this process
 */
public record ProviderReport(String name, int priority, Availability availability) {}
