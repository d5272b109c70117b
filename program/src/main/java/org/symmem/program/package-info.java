/**
 * Host programs: what a rank's host does with memory and communication, as a value that can be printed, checked and run. Begin with
 * {@link org.symmem.program.ProgramBuilder} or {@link org.symmem.program.ProgramText#parse}, and run with
 * {@link org.symmem.program.Evaluator}.
 */
@NullMarked
package org.symmem.program;

import org.jspecify.annotations.NullMarked;
