/* SPDX-License-Identifier: MIT
 *
 * System calls of a worker by kind and phase, as the kernel reports them (seccomp_unotify(2)): the
 * worker waits for each until it was counted, so that a run in which they are counted is never one
 * that is timed. Needs no privilege.
 */
#ifndef AB_RUNNER_SYSTEM_CALLS_H
#define AB_RUNNER_SYSTEM_CALLS_H

#include "core/status.h"
#include "wire/run.h"

#include <pthread.h>

/* Kinds that are told apart. X(name); the last is all others but readings of clocks. */
#define AB_CALL_KINDS(X) X(mmap) X(munmap) X(mremap) X(brk) X(madvise) X(futex) X(other)
enum ab_call_kind {
#define X(name) AB_CALL_##name,
    AB_CALL_KINDS(X)
#undef X
        AB_CALL_KIND_COUNT
};

struct ab_call_counts { /* fill with zeroes */
    uint64_t n[AB_PHASES_MAX][AB_CALL_KIND_COUNT];
    bool has_listener; /* the worker's came; without it there are no counts */
    /* its own */
    int ends[2]; /* ours, the worker's */
    pthread_t thread;
    bool is_running, is_over; /* is_over: atomic */
    const volatile struct ab_run_report *report;
};

/* Before the worker starts: ends[1] is for it. */
enum ab_status ab_call_counts_open(struct ab_call_counts *c, struct ab_err *err);
/* Once it has started. */
enum ab_status ab_call_counts_begin(struct ab_call_counts *c, const struct ab_run_report *report,
                                    struct ab_err *err);
/* Once it is gone; does nothing for what is not open. */
void ab_call_counts_end(struct ab_call_counts *c);

/* Kind of a system call by its number; AB_CALL_KIND_COUNT = not counted. */
enum ab_call_kind ab_call_kind_of(int number);

#endif
