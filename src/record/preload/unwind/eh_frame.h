/* SPDX-License-Identifier: MIT
 *
 * Where the frame of a function is, by the tables that compilers write for exceptions (.eh_frame,
 * Linux Standard Base, and DWARF 4, section 6.4): what a caller's registers are at one address.
 * x86-64; elsewhere there is never a rule. Compiled into the recorder too: no libc, no state.
 */
#ifndef AB_RECORD_PRELOAD_UNWIND_EH_FRAME_H
#define AB_RECORD_PRELOAD_UNWIND_EH_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#define AB_EH_HIDDEN __attribute__((visibility("hidden")))

enum ab_frame_base { /* the canonical frame address (CFA): the stack pointer before the call */
                     AB_CFA_UNKNOWN,   /* no table, or a rule that is not known here */
                     AB_CFA_OUTERMOST, /* no caller: the begin of a thread */
                     AB_CFA_SP,        /* stack pointer + offset */
                     AB_CFA_FP,        /* frame pointer (rbp) + offset */
                     AB_CFA_AT_FP,     /* what lies at frame pointer + offset */
                     AB_CFA_PLT,       /* sp + 8, in the second half of a 16-byte stub sp + 16 */
                     AB_CFA_SIGNAL,    /* the kernel's frame: the registers lie there */
};

enum ab_frame_pointer { /* the caller's frame pointer */
                        AB_FP_SAME,
                        AB_FP_AT_CFA, /* it lies at CFA + offset */
                        AB_FP_AT_FP,  /* at our frame pointer + offset */
                        AB_FP_LOST,
};

struct ab_frame_rule {
    int32_t cfa_offset;
    int16_t fp_offset;
    uint8_t cfa, fp; /* of the two enums */
};

/* The rule at `pc`, an address within the instruction. `table`: the .eh_frame_hdr of its module;
 * nothing outside low ≤ address < high is read. */
struct ab_frame_rule ab_eh_frame_rule(uintptr_t table, uintptr_t low, uintptr_t high,
                                      uintptr_t pc) AB_EH_HIDDEN;

#endif
