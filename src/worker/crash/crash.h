/* SPDX-License-Identifier: MIT
 *
 * Deadly signals: the handler writes the state of the process into the run page; then the signal
 * takes its normal course. Signals that already have a handler are left alone.
 */
#ifndef AB_WORKER_CRASH_CRASH_H
#define AB_WORKER_CRASH_CRASH_H

#include "wire/crash_report.h"

#include <stdbool.h>

/* Installs the handlers; once in a process, as early as possible. */
void ab_fault_watch(struct ab_crash_report *report);

/* Function that finds the block near an address. Called in a signal handler; returns false if it
 * cannot tell. */
typedef bool ab_fault_lookup(void *user, uint64_t address, struct ab_near_block *out);
void ab_fault_set_lookup(ab_fault_lookup *lookup, void *user);

/* Gives the calling thread a signal stack of its own, because its normal stack may be the thing
 * that is broken. */
enum { AB_FAULT_STACK_BYTES = 65536 };
void ab_fault_use_stack(void *memory);

/* ---- notes of calls ----
 *
 * Each call is noted before it is made, so that the parent knows the last call of a process that
 * died or hangs. For proofs only: in a run that is timed, no call is noted. */

/* Starts noting calls, in `log`. */
void ab_call_note_open(struct ab_call_log *log);

/* ab_call_note_begin() notes a call of the calling thread before it is made; ab_call_note_end()
 * notes that it has returned. The arguments are those of AB_CALLED_MAP, without those marked
 * `o`. */
void ab_call_note_begin(enum ab_called called, uint64_t first, uint64_t second, uint64_t third);
void ab_call_note_end(void);

/* Like begin and end, for a mere query (usable_size, resolve). A query gets no number, and
 * afterwards the note shows the call before it again. */
struct ab_call_note ab_call_note_ask(enum ab_called called, uint64_t ref);
void ab_call_note_answered(const struct ab_call_note *before);

/* Notes that the calling thread has found an error. */
void ab_call_note_fail(void);
/* Notes that this process is a child; there is only one child at a time. */
void ab_call_note_child(void);
/* Returns 1 + index of the calling thread's note; 0 = none. */
uint32_t ab_call_note_index(void);

#endif
