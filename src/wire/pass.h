/* SPDX-License-Identifier: MIT
 *
 * What a worker does with the tape: one pass a process.
 */
#ifndef AB_WIRE_PASS_H
#define AB_WIRE_PASS_H

enum ab_pass {
    AB_PASS_VERIFY,       /* pre-flight: contents, alignment, zeroing; nothing is timed */
    AB_PASS_THROUGHPUT,   /* untimed ops, wall and CPU time a phase */
    AB_PASS_LATENCY,      /* a fenced pair around sampled ops, deltas to a ring */
    AB_PASS_TAIL,         /* every op by one chained reading, only what is slow is kept */
    AB_PASS_MEMORY,       /* footprint beside live bytes; nothing is timed, lanes in strict order */
    AB_PASS_CHECK,        /* one check of `verify` instead of a tape */
    AB_PASS_INSTRUCTIONS, /* untimed ops, instructions of the lane a phase; one lane only */
    AB_PASS_SYSTEM_CALLS, /* untimed ops, system calls are told to the parent */
    AB_PASS_COUNT
};

#endif
