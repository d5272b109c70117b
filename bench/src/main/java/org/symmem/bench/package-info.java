/** Programs that measure, and what they share: operations, the schedule of their repetitions, results, charts and the page. */
@NullMarked
package org.symmem.bench;

import org.jspecify.annotations.NullMarked;
