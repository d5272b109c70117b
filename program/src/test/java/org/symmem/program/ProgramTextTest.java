package org.symmem.program;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.symmem.DataType;

class ProgramTextTest {
    private static final String EVERYTHING = """
            input x symmetric float32[2, 4]
            input g global int8[]
            allocate s global bfloat16[2, 3] strides [8, 1]
            allocate all symmetric float32[world, 2, 4]
            broadcast x from 1 to y
            wait y
            loop 3
                allgather x to all
                loop 2
                    barrier
                end
                wait all
            end
            copy x to z
            view v of x
            allgather x as w
            deallocate s
            output all symmetric
            """;

    @Test
    void whatIsPrintedIsReadBackEqual() {
        Program program = ProgramText.parse(EVERYTHING);

        assertThat(ProgramText.print(program)).isEqualTo(EVERYTHING);
        assertThat(ProgramText.parse(program.toString())).isEqualTo(program);
        assertThat(program.statements().get(5).line()).isEqualTo(6);
    }

    @Test
    void commentsAndSpaceSayNothing() {
        Program program = ProgramText.parse("# a program\n\n  input x   symmetric  float32 [ 4 ]# four\n\tbarrier\n");

        assertThat(program).isEqualTo(ProgramText.parse("input x symmetric float32[4]\nbarrier"));
        assertThat(program.statements().getFirst().line()).isEqualTo(3);
    }

    @Test
    void aBuilderMakesTheProgramOfTheText() {
        Program built = new ProgramBuilder().addInput("x", TensorType.symmetric(DataType.FLOAT32, 4))
                .allocate("y", TensorType.global(DataType.FLOAT32, 2, 2).withStrides(4, 1))
                .loop(2, body -> body.allocate("t", TensorType.symmetric(DataType.FLOAT32, 4))
                        .broadcast("x", 0, "t")
                        .await("t")
                        .barrier()
                        .deallocate("t"))
                .allGatherView("x", "v")
                .addOutput("v")
                .build();

        assertThat(built).isEqualTo(ProgramText.parse("""
                input x symmetric float32[4]
                allocate y global float32[2, 2] strides [4, 1]
                loop 2
                  allocate t symmetric float32[4]
                  broadcast x from 0 to t
                  wait t
                  barrier
                  deallocate t
                end
                allgather x as v
                output v symmetric
                """));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "inptu x symmetric float32[4]        | 1 | a statement begins with",
        "input x shared float32[4]           | 9 | symmetric or global is needed here, not \"shared\"",
        "input x symmetric float31[4]        | 19 | a data type is needed here: bool",
        "input x symmetric float32[0]        | 27 | extents and strides are positive",
        "input x symmetric float32[4         | 28 | \",\" is needed here, not the end of the line",
        "input 7 symmetric float32[4]        | 7 | the name of a tensor",
        "input x symmetric float32[99999999999999999999] | 27 | a whole number",
        "broadcast x from -1 to y            | 18 | the rank that is the root is needed here: a whole number from 0, not \"-1\"",
        "broadcast x to y                    | 13 | \"from\" is needed here",
        "wait y now                          | 8 | the statement ends before this, not \"now\"",
        "copy x % y                          | 8 | no statement has a '%' here",
        "end                                 | 1 | \"end\" without a loop",
        "  loop 2                            | 1 | the loop has no \"end\"",
        "loop 0                              | 6 | a number of times is needed here: a whole number from 1"})
    void aWrongLineIsNamedWithColumnAndReason(String line, int column, String reason) {
        assertThatThrownBy(() -> ProgramText.parse("# first\n" + line.strip())).isInstanceOf(ProgramException.class)
                .hasMessageStartingWith("line 2, column " + column + ": ")
                .hasMessageContaining(reason)
                .hasMessageEndingWith("[SM-E-PROGRAM-1]");
    }

    @Test
    void loopsAreNotNestedWithoutEnd() {
        assertThat(ProgramText.parse("loop 2\n".repeat(8) + "end\n".repeat(8)).statements()).hasSize(1);

        assertThatThrownBy(() -> ProgramText.parse("loop 2\n".repeat(9) + "end\n".repeat(9))).isInstanceOf(ProgramException.class)
                .hasMessageStartingWith("line 9, column 1: loops stand at most 8 deep");
    }

    @Test
    void outputsKeepTheirMemory() {
        ProgramBuilder builder = new ProgramBuilder().addInput("x", TensorType.symmetric(DataType.FLOAT32, 4))
                .addInput("g", TensorType.global(DataType.FLOAT32, 4))
                .addInput("z", TensorType.symmetric(DataType.FLOAT32, 4))
                .addOutput("x");
        assertThat(builder.build().outputs()).containsExactly(new Step.Output("x", MemoryType.SYMMETRIC));

        assertThatThrownBy(() -> builder.replaceOutput("x", "g"))
                .hasMessageContaining("output x is in symmetric memory and g in global");
        assertThat(builder.build().outputs()).containsExactly(new Step.Output("x", MemoryType.SYMMETRIC));

        assertThat(builder.replaceOutput("x", "g", ProgramBuilder.Conversion.COPY).build()).hasToString("""
                input x symmetric float32[4]
                input g global float32[4]
                input z symmetric float32[4]
                allocate g_symmetric symmetric float32[4]
                copy g to g_symmetric
                output g_symmetric symmetric
                """);
        assertThat(builder.replaceOutput("g_symmetric", "z").build().outputs())
                .containsExactly(new Step.Output("z", MemoryType.SYMMETRIC));
    }
}
