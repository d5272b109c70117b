#ifndef FAILURE_H
#define FAILURE_H

/* What a call is to answer instead of doing its work, or 0: SYMMEM_EMULATION_FAIL as the emulated driver reads it. */
int failure_of(const char *call);

#endif
