package org.symmem.program;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ValidatorTest {
    private static final String GIVEN = """
            input x symmetric float32[4]
            input g global float32[4]
            allocate y symmetric float32[4]
            allocate all symmetric float32[world, 4]
            """;

    /** Semicolons are ends of lines; the first of the program under test is line 5. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '~', value = {
        "allocate s symmetric float32[2, 4] strides [8, 1] | 5 | 36 | symmetric memory is contiguous: s (float32 2x4) has strides [8, 1] instead of [4, 1]",
        "allocate s global float32[2, 4] strides [3, 1]    | 5 | 33 | let elements share a place",
        "allocate s global float32[2, 4] strides [1]       | 5 | 33 | s (float32 2x4) needs 2 strides",
        "allocate x global float32[4]                      | 5 | 10 | there is a tensor x already, of line 1",
        "copy q to y                                       | 5 | 6 | there is no tensor q here",
        "copy x to x                                       | 5 | 6 | source and target share memory",
        "barrier; view v of x; copy v to all; copy all to v | 8 | 13 | v is a view, which is only read",
        "view v of x; allgather x to v                     | 6 | 16 | source and target share memory: x and v are one tensor's",
        "copy x to all                                     | 5 | 11 | copy needs one shape and data type: x (float32 4) is not like all (float32 3x4)",
        "deallocate y; copy x to y                         | 6 | 11 | y was deallocated in line 5",
        "view v of y; deallocate y; copy v to all          | 7 | 6 | y, which v shows, was deallocated in line 6",
        "deallocate x                                      | 5 | 12 | only what was allocated is deallocated; x is an input",
        "broadcast x from 3 to y; wait y                   | 5 | 18 | root 3 is not a rank: there are ranks 0 to 2",
        "broadcast x from 0 to g; wait g                   | 5 | 23 | g (float32 4) is in global memory",
        "broadcast x from 0 to x; wait x                   | 5 | 11 | source and target share memory",
        "broadcast x from 0 to all; wait all               | 5 | 23 | broadcast needs one shape",
        "allgather x to y; wait y                          | 5 | 16 | allgather of x (float32 4) fills a tensor of float32 3x4, not y (float32 4)",
        "wait y                                            | 5 | 6 | nothing was begun into y",
        "broadcast x from 0 to y                           | 5 | 23 | what this begins is never waited for: add `wait y`",
        "broadcast x from 0 to y; copy y to g; wait y      | 6 | 6 | line 5 fills y, which was not waited for",
        "broadcast x from 0 to y; copy g to x; wait y      | 6 | 11 | line 5 still reads x",
        "broadcast x from 0 to y; broadcast g from 0 to y; wait y | 6 | 23 | line 5 fills y",
        "broadcast x from 0 to y; loop 2; wait y; end      | 7 | 6 | outside of the loop is waited for once",
        "loop 2; broadcast x from 0 to y; end; wait y      | 6 | 23 | never waited for in the loop",
        "loop 2; allocate t global float32[4]; end         | 6 | 10 | each time the loop allocates another t",
        "loop 2; deallocate y; end                         | 6 | 12 | y is allocated outside of the loop",
        "loop 2; allocate t global float32[4]; deallocate t; end; copy x to t | 9 | 11 | there is no tensor t here",
        "view v of g                                       | 5 | 11 | g (float32 4) is in global memory",
        "view v of x; copy v to all                        | 6 | 6 | ranks may still be changing x, which v shows: add `barrier` before",
        "barrier; view v of x; copy v to all; copy g to x  | 8 | 11 | peers may still be looking at x through a view",
        "allgather x as v; loop 2; copy v to all; copy g to y; copy y to x; end | 9 | 11 | peers may still be looking at x",
        "output g symmetric                                | 5 | 10 | g (float32 4) is in global memory, not in symmetric",
        "output y symmetric; barrier                       | 6 | 1 | outputs are a program's last statements",
        "loop 2; output y symmetric; end                   | 6 | 1 | inputs and outputs are the program's",
        "allocate b global int64[4611686018427387904, 4]   | 5 | 10 | too many elements"})
    void whatIsWrongIsNamedWithLineAndColumn(String text, int line, int column, String reason) {
        Program program = ProgramText.parse(GIVEN + text.replaceAll(";\\s*", "\n"));

        assertThatThrownBy(() -> Validator.check(program, 3)).isInstanceOf(ProgramException.class)
                .hasMessageStartingWith("line " + line + ", column " + column + ": ")
                .hasMessageContaining(reason.replace('`', '"'));
    }

    @Test
    void whatIsRightIsNotRefused() {
        Validator.check(ProgramText.parse(GIVEN + """
                allocate s global float32[4, 2] strides [1, 4]
                allocate t symmetric float32[4, 2] strides [2, 1]
                copy s to t
                loop 3
                    broadcast g from 2 to y
                    copy g to x
                    wait y
                    barrier
                    view v of y
                    copy v to all
                    barrier
                end
                deallocate s
                allocate s global float32[world]
                allgather x as w
                output w symmetric
                output x symmetric
                output s global
                """), 3);
    }
}
