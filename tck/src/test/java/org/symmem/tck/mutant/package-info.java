/** Backends made from the host backend so that the kit can be tested: wrong ones, which a rule must catch, and right ones. */
@NullMarked
package org.symmem.tck.mutant;

import org.jspecify.annotations.NullMarked;
