/* SPDX-License-Identifier: MIT
 *
 * Deadly signals: what the process was about is written into the run page, then the signal does what
 * it would have done. A signal that has a handler already is left to it.
 */
#ifndef AB_WORKER_CRASH_FAULT_H
#define AB_WORKER_CRASH_FAULT_H

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

#endif
