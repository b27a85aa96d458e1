/* SPDX-License-Identifier: MIT
 *
 * Reads a workload file, checks it and compiles it to a tape. The three steps are separate, so that
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
    /* Selects another combination of parameter values of a workload that was loaded with the same
     * options; its text is parsed again. NULL = the first combination, from the file */
    const struct ab_workload *of;
    size_t combination;
    const char *const *sets; /* "name=value" of --set; ends with NULL; may be NULL */
    bool has_seed;
    uint64_t seed; /* --seed */
    bool has_window;
    uint32_t window;   /* --window; else AB_WINDOW_AUTO */
    bool wants_groups; /* record in the tape which set each request is for: group i = set i. A file
                          with `via` always does */
    /* adds further errors, about what could be read (gates), if there are errors. May be NULL */
    void (*inspect)(const void *user, const struct ab_workload *w, struct ab_diag *diag);
    const void *user;
};

/* Reads and validates `path` ("-" = stdin). On failure err->text is empty, and `*messages` has
 * every error as `file:line:col: error: …` with the source line and a caret, ready to print
 * (malloc'ed). Returns AB_CONFIG, or AB_INPUT if the file cannot be read. */
enum ab_status ab_workload_load(const char *path, const struct ab_workload_options *options,
                                struct ab_workload **out, char **messages, struct ab_err *err);
void ab_workload_free(struct ab_workload *w);

/* Returns the number of combinations of the parameters that have lists of values, at most
 * AB_COMBINATIONS_MAX. The first parameter's values change last. */
size_t ab_workload_combinations(const struct ab_workload *w); /* 1 = no param has a list */
/* Returns the values of this combination, "n=1000 m=4", of parameters that have a list; "" = none
 * has. */
const char *ab_workload_values(const struct ab_workload *w);

/* Compiles the workload. Returns AB_CONFIG if a verb cannot be executed (alloc at an occupied
 * position, a loop that never ends, too many ops). err->text then has `file:line:col: …`, the
 * source line and a caret. */
enum ab_status ab_workload_compile(struct ab_workload *w, struct ab_tape *out, struct ab_err *err);

/* A tape longer than `most_bytes` is made in bursts. Each burst has all phases; those of other
 * bursts have no ops in it. A burst does not end inside a scope. */
struct ab_workload_bursts {
    uint64_t most_bytes;
    /* is_only: there is only this one. The tape is lent for the call */
    enum ab_status (*take)(void *user, const struct ab_tape *burst, bool is_only,
                           struct ab_err *err);
    void *user;
    uint32_t n; /* output: number of bursts taken */
};
/* Compiles in bursts. *total describes all bursts as one tape, without ops. Free it with
 * ab_tape_fini. */
enum ab_status ab_workload_compile_bursts(struct ab_workload *w, struct ab_workload_bursts *bursts,
                                          struct ab_tape *total, struct ab_err *err);

/* Sets a callback that is called from time to time during compilation with the number of ops so
 * far. */
void ab_workload_watch(struct ab_workload *w, void (*progress)(void *user, uint64_t n_ops),
                       void *user);

const char *ab_workload_name(const struct ab_workload *w);
const char *ab_workload_about(const struct ab_workload *w);
const char *ab_workload_text(const struct ab_workload *w); /* the file as read */
uint64_t ab_workload_seed(const struct ab_workload *w);
/* Returns `backends:` of the file, as names for -b; *n may be 0. */
const char *const *ab_workload_backends(const struct ab_workload *w, size_t *n);
/* Return the parameters as "name=value", ends with NULL. The first has their values in this
 * combination. The second has whole lists, "n=100,1000", and is the same for all combinations. */
const char *const *ab_workload_params(const struct ab_workload *w);
const char *const *ab_workload_settings(const struct ab_workload *w);

/* Return the number of sets, and by index: the name, the back end that `via` names (NULL = none),
 * and its place "FILE:LINE:COL", malloc'ed. */
size_t ab_workload_count_sets(const struct ab_workload *w);
const char *ab_workload_set_name(const struct ab_workload *w, size_t set);
const char *ab_workload_set_via(const struct ab_workload *w, size_t set);
char *ab_workload_set_via_place(const struct ab_workload *w, size_t set);

/* Return the lines of `gates:` and `claims:`, whose records are in workload/config.h, and the
 * source file for messages about them. */
struct ab_remarks;
struct ab_source_text;
const struct ab_remarks *ab_workload_gates(const struct ab_workload *w);
const struct ab_remarks *ab_workload_claims(const struct ab_workload *w);
struct ab_source_text ab_workload_source(const struct ab_workload *w);

/* Prints the plan that `allocbench check` shows: seed, params, sets, phases with their ops by kind,
 * totals, live peak, size and digest of the tape. */
void ab_workload_print_plan(FILE *f, const struct ab_workload *w, const struct ab_tape *tape);

#endif
