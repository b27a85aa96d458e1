/* SPDX-License-Identifier: MIT
 *
 * Deadly signals: what the process was about is written into the run page, then the signal does what
 * it would have done. A signal that has a handler already is left to it.
 */
#ifndef AB_WORKER_CRASH_CRASH_H
#define AB_WORKER_CRASH_CRASH_H

#include "wire/crash.h"

#include <stdbool.h>
#include <stddef.h>

/* Once a process, as early as can be. */
void ab_fault_watch(struct ab_crash_report *report);

/* Who knows which block is near an address. Called in a signal handler: false when it cannot tell. */
typedef bool ab_fault_lookup(void *user, uint64_t address, struct ab_near_block *out);
void ab_fault_set_lookup(ab_fault_lookup *lookup, void *user);

/* The calling thread handles its signals on memory of its own: its stack may be what is broken. */
enum { AB_FAULT_STACK_BYTES = 65536 };
void ab_fault_use_stack(void *memory);

/* Notes each call before it is made, so that who finds the process dead or hanging knows which one it
 * was. For proofs only: nothing that is timed is noted. */

/* From now on calls are noted there; before that nothing is. */
void ab_call_note_open(struct ab_call_log *log);

/* Around a call of the calling thread. Arguments as AB_CALLED_MAP lists them, less those with `o`. */
void ab_call_note_begin(enum ab_called called, uint64_t first, uint64_t second, uint64_t third);
void ab_call_note_end(void);

/* The same around a mere question (usable_size, resolve): it has no number, and behind it the note is
 * what it was. */
struct ab_call_note ab_call_note_ask(enum ab_called called, uint64_t ref);
void ab_call_note_answered(const struct ab_call_note *before);

/* The calling thread has found something wrong. */
void ab_call_note_fail(void);
/* This process is a child, of which there is one at a time. */
void ab_call_note_child(void);
/* 1 + index of the calling thread's note; 0 = none. */
uint32_t ab_call_note_index(void);

#endif
