/** Backends that are wrong on purpose, so that the kit can be tested: each breaks one rule, and that rule must catch it. */
@NullMarked
package org.symmem.tck.mutant;

import org.jspecify.annotations.NullMarked;
