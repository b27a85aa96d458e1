/* SPDX-License-Identifier: MIT
 *
 * Measures a tape, of a workload or of a trace, under back ends that workers open.
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

struct ab_subject {   /* what is to be measured; strings are borrowed */
    const char *kind; /* "workload" or "trace" */
    const char *name, *about, *path, *text;
    const char *file;            /* where it can be read again, if that is not `path`; else NULL */
    const char *const *settings; /* ends with NULL */
    const char *const *backends; /* of the workload, n_backends */
    size_t n_backends;
    const char *values; /* of its combination, "n=1000"; "" = no param has a list */
    uint64_t seed;
    const struct ab_tape *tape; /* what is known of it; its ops are the map's */
    const struct ab_tape_map *map;
    const struct ab_workload *workload; /* for its gates and claims; NULL for a trace */
    const struct ab_overview *overview; /* of a trace; NULL = none */
    const struct ab_stacks *stacks;     /* of a trace, for a report; NULL = none */
    const struct ab_scopes *scopes;     /* of a trace; NULL = not looked for yet */
    const struct ab_owners *owners;     /* of its blocks; NULL = not measured */
    uint64_t thread_ends_left_out;      /* as in struct ab_session */
    uint64_t program_cpu_ns, program_calls, anonymous_bytes, unasked_bytes; /* as there */
    bool is_part;               /* true if only the beginning of the trace is replayed */
    struct ab_session *resumed; /* a partial session to go on with, --resume; NULL = none */
    ab_take_session *take;      /* as struct ab_measurement */
    void *user;
};

/* Several are the combinations of values of one workload, whose back ends run in the same rounds; they
 * differ in nothing but values, tape and map. */
enum ab_status ab_measure_tape(const struct ab_options *o, const struct ab_subject *subjects,
                               uint32_t n, int *exit_code, struct ab_err *err);

#endif
