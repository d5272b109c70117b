/**
 * The compatibility kit. A backend's author extends {@link org.symmem.tck.BackendTck}, names the backend, and gets every rule of
 * {@code docs/SPEC.md} as a test. Each rank is a process of its own that stays up between rules.
 */
@NullMarked
package org.symmem.tck;

import org.jspecify.annotations.NullMarked;
