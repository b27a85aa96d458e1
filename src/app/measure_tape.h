/* SPDX-License-Identifier: MIT
 *
 * Measures the tape of a workload or trace under back ends. Each runs in worker processes.
 */
#ifndef AB_APP_MEASURE_TAPE_H
#define AB_APP_MEASURE_TAPE_H

#include "app/measure.h"
#include "tape/tape.h"

struct ab_workload;
struct ab_tape_map;
struct ab_owners;
struct ab_scopes;
struct ab_stacks;

struct ab_subject {            /* a workload or trace to measure; its strings are borrowed */
    enum ab_session_kind kind; /* a workload or a trace */
    const char *name, *about, *path, *text;
    /* path of a copy that can be read again, if `path` is standard input; else NULL */
    const char *file;
    /* settings of the workload or replay, "NAME=VALUE"; ends with NULL */
    const char *const *settings;
    const char *const *backends; /* n_backends names that the workload gives */
    size_t n_backends;
    const char *values; /* params of this combination, "n=1000"; "" = no param has a list */
    uint64_t seed;
    const struct ab_tape *tape; /* facts about the tape; the ops themselves are in `map` */
    const struct ab_tape_map *map;
    const struct ab_workload *workload; /* source of gates and claims; NULL for a trace */
    const struct ab_overview *overview; /* sizes and lifetimes in a trace; NULL = none */
    const struct ab_stacks *stacks;     /* call stacks of a trace, for a report; NULL = none */
    const struct ab_scopes *scopes;     /* scopes of a trace; NULL = not searched for yet */
    const struct ab_owners *owners;     /* which call site or set owns each block; NULL = unknown */
    /* The members from here to unasked_bytes are copied to struct ab_session, which explains
     * them. */
    uint64_t thread_ends_left_out;
    uint64_t program_cpu_ns, program_calls, anonymous_bytes, unasked_bytes;
    bool is_part;               /* true if only the beginning of the trace is replayed */
    struct ab_session *resumed; /* partial session that --resume continues; NULL = none */
};

/* Measures n subjects in one session and sets *exit_code. Several subjects are the combinations of
 * values of one workload. They share everything except values, tape and map, and their back ends
 * run in the same rounds. */
enum ab_status ab_measure_tape(const struct ab_measure_request *asked,
                               const struct ab_subject *subjects, uint32_t n, int *exit_code,
                               struct ab_err *err);

#endif
