/* SPDX-License-Identifier: MIT
 *
 * A workload file: read, checked, compiled to a tape. The three steps are separate so that
 * `allocbench check` can stop after the second.
 */
#ifndef AB_WORKLOAD_WORKLOAD_H
#define AB_WORKLOAD_WORKLOAD_H

#include "base/limits.h"
#include "core/status.h"
#include "tape/tape.h"

#include <stdio.h>

struct ab_workload; /* opaque; workload/config.h has the records */
struct ab_diag;

struct ab_workload_options {
    /* Another combination of the values of params, of a workload that was loaded with the same
     * options; NULL = the first of the file. Its text is read again, not the file. */
    const struct ab_workload *of;
    size_t combination;
    const char *const *sets; /* "name=value" of --set, ends with NULL; may be NULL */
    bool has_seed;
    uint64_t seed; /* --seed */
    bool has_window;
    uint32_t window;   /* --window; else AB_WINDOW_AUTO */
    bool wants_groups; /* the tape is to say which set each request is for: group i is set i. A file
                          with `via` has it so in any case */
    /* Where there are errors, adds those of others to them, of what could be read: gates. May be NULL. */
    void (*inspect)(const void *user, const struct ab_workload *w, struct ab_diag *diag);
    const void *user;
};

/* Reads and validates `path` ("-" = stdin). On failure err->text is empty and `*messages` holds
 * every error as `file:line:col: error: …` with the source line and a caret, ready to print
 * (malloc'ed); status AB_CONFIG, or AB_INPUT when the file cannot be read. */
enum ab_status ab_workload_load(const char *path, const struct ab_workload_options *options,
                                struct ab_workload **out, char **messages, struct ab_err *err);
void ab_workload_free(struct ab_workload *w);

/* Params with a list of values make combinations of them, at most AB_COMBINATIONS_MAX; the first
 * param's values change last. */
size_t ab_workload_combinations(const struct ab_workload *w); /* 1 = no param has a list */
/* "n=1000 m=4": the values of this combination, of params that have a list; "" = none has. */
const char *ab_workload_values(const struct ab_workload *w);

/* AB_CONFIG with `file:line:col: …`, the source line and a caret in err->text when a verb cannot be
 * carried out (alloc at an occupied position, a loop that never ends, too many ops). */
enum ab_status ab_workload_compile(struct ab_workload *w, struct ab_tape *out, struct ab_err *err);

/* A tape that is longer than `most_bytes` is made in bursts, each of which has all phases, those of
 * other bursts without ops. A burst does not end inside of a scope. */
struct ab_workload_bursts {
    uint64_t most_bytes;
    /* is_only: there is no other. The tape is lent for the call. */
    enum ab_status (*take)(void *user, const struct ab_tape *burst, bool is_only,
                           struct ab_err *err);
    void *user;
    uint32_t n; /* set: how many were taken */
};
/* total: as one tape of all bursts, without ops. End it with ab_tape_fini. */
enum ab_status ab_workload_compile_bursts(struct ab_workload *w, struct ab_workload_bursts *bursts,
                                          struct ab_tape *total, struct ab_err *err);

/* While it is compiled, `progress` is called from time to time with the number of ops so far. */
void ab_workload_watch(struct ab_workload *w, void (*progress)(void *user, uint64_t n_ops),
                       void *user);

const char *ab_workload_name(const struct ab_workload *w);
const char *ab_workload_about(const struct ab_workload *w);
const char *ab_workload_text(const struct ab_workload *w); /* the file as read */
uint64_t ab_workload_seed(const struct ab_workload *w);
/* `backends:` of the file, names as -b would take them; *n may be 0. */
const char *const *ab_workload_backends(const struct ab_workload *w, size_t *n);
/* Params with their final values as "name=value", ends with NULL; the other has the whole list where
 * there is one, "n=100,1000", and is the same for all combinations. */
const char *const *ab_workload_params(const struct ab_workload *w);
const char *const *ab_workload_settings(const struct ab_workload *w);

/* Sets by index, and the back end that `via` names for it, NULL = none. *at: "FILE:LINE:COL" of that,
 * malloc'ed. */
size_t ab_workload_count_sets(const struct ab_workload *w);
const char *ab_workload_set_name(const struct ab_workload *w, size_t set);
const char *ab_workload_set_via(const struct ab_workload *w, size_t set);
char *ab_workload_set_via_place(const struct ab_workload *w, size_t set);

/* The lines of `gates:` and `claims:`, of which workload/config.h has the records; the file as named and
 * as read, for messages about them. */
struct ab_remarks;
struct ab_source_text;
const struct ab_remarks *ab_workload_gates(const struct ab_workload *w);
const struct ab_remarks *ab_workload_claims(const struct ab_workload *w);
struct ab_source_text ab_workload_source(const struct ab_workload *w);

/* Prints what `allocbench check` shows: seed, params, sets, phases with their ops by kind, totals, live
 * peak, size and digest of the tape. */
void ab_workload_print_plan(FILE *f, const struct ab_workload *w, const struct ab_tape *tape);

#endif
