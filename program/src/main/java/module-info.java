/** Host programs: tensors with a memory type, allocation and communication as steps, and their evaluation on a process group. */
module org.symmem.program {
    requires transitive org.symmem;
    requires org.symmem.collectives;
    requires static org.jspecify;

    exports org.symmem.program;
}
