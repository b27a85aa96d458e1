/* SPDX-License-Identifier: MIT
 *
 * Notes each call before it is made, so that who finds the process dead or hanging knows which one it
 * was. For proofs only: nothing that is timed is noted.
 */
#ifndef AB_WORKER_CRASH_CALL_NOTE_H
#define AB_WORKER_CRASH_CALL_NOTE_H

#include "wire/crash.h"

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
