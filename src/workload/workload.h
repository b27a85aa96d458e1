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

struct ab_workload; /* opaque; its fields are in workload/config.h */
struct ab_diag;

struct ab_workload_options {
    /* workload of which another combination of values is wanted, loaded with the same options; its
     * text is parsed again. NULL = read the file and take the first combination */
    const struct ab_workload *of;
    size_t combination;
    const char *const *sets; /* arguments of --set, "name=value"; ends with NULL; may be NULL */
    bool has_seed;
    uint64_t seed; /* --seed */
    bool has_window;
    uint32_t window; /* --window; AB_WINDOW_AUTO is used if has_window is false */
    /* True to record in the tape which set each request is for: group i = set i. Also recorded if a
     * set has `via` or a gate is about pins */
    bool wants_groups;
    /* called if the workload has errors, to add the errors of its gates to `diag`. May be NULL */
    void (*inspect)(const void *user, const struct ab_workload *w, struct ab_diag *diag);
    const void *user;
};

/* Reads and validates the file `path` ("-" = stdin). Returns AB_CONFIG if the workload has errors,
 * or AB_INPUT if the file cannot be read. For AB_CONFIG err->text is empty, and `*messages` is a
 * malloc'ed text with all errors, ready to print. Each error is `file:line:col: error: …` with the
 * source line and a caret. */
enum ab_status ab_workload_load(const char *path, const struct ab_workload_options *options,
                                struct ab_workload **out, char **messages, struct ab_err *err);
void ab_workload_free(struct ab_workload *w);

/* Returns the number of combinations of parameter values, at most AB_COMBINATIONS_MAX. Only
 * parameters with a list of values make combinations. From one combination to the next, the last
 * parameter changes first. */
size_t ab_workload_combinations(const struct ab_workload *w); /* 1 = no parameter has a list */
/* Returns the values of the current combination, "n=1000 m=4". Only parameters with a list are
 * named; "" = no parameter has a list. */
const char *ab_workload_values(const struct ab_workload *w);

/* Compiles the workload. Returns AB_CONFIG if a verb cannot be executed (alloc at an occupied
 * position, a loop that never ends, too many ops). err->text then has `file:line:col: …`, the
 * source line and a caret. */
enum ab_status ab_workload_compile(struct ab_workload *w, struct ab_tape *out, struct ab_err *err);

/* Options and result of ab_workload_compile_bursts(). A tape longer than `most_bytes` is made in
 * parts, called bursts. Each burst lists all phases; a phase that is not in the burst has no ops
 * there. A burst does not end inside a scope. */
struct ab_workload_bursts {
    uint64_t most_bytes;
    /* Receives a burst, which is valid only during the call. is_only is true if there is only one
     * burst */
    enum ab_status (*take)(void *user, const struct ab_tape *burst, bool is_only,
                           struct ab_err *err);
    void *user;
    uint32_t n; /* result: number of bursts that were made */
};
/* Compiles the workload in bursts and calls bursts->take() for each. *total describes all bursts as
 * one tape, without ops. Free it with ab_tape_fini(). */
enum ab_status ab_workload_compile_bursts(struct ab_workload *w, struct ab_workload_bursts *bursts,
                                          struct ab_tape *total, struct ab_err *err);

/* Sets a callback for compilation. It is called now and then with the number of ops made so far. */
void ab_workload_watch(struct ab_workload *w, void (*progress)(void *user, uint64_t n_ops),
                       void *user);

const char *ab_workload_name(const struct ab_workload *w);
const char *ab_workload_about(const struct ab_workload *w);
const char *ab_workload_text(const struct ab_workload *w); /* content of the file */
uint64_t ab_workload_seed(const struct ab_workload *w);
/* Returns the entries of `backends:` of the file, in the notation of -b. Sets *n to their number,
 * perhaps 0. */
const char *const *ab_workload_backends(const struct ab_workload *w, size_t *n);
/* Return the parameters as "name=value", in an array that ends with NULL. ab_workload_params()
 * gives the values of the current combination. ab_workload_settings() gives whole lists,
 * "n=100,1000", which are the same for all combinations. */
const char *const *ab_workload_params(const struct ab_workload *w);
const char *const *ab_workload_settings(const struct ab_workload *w);

/* Return the number of sets, and for the set with index `set`: its name, the back end that its
 * `via` names (NULL = none), and the place of `via` as malloc'ed text "FILE:LINE:COL". */
size_t ab_workload_count_sets(const struct ab_workload *w);
const char *ab_workload_set_name(const struct ab_workload *w, size_t set);
const char *ab_workload_set_via(const struct ab_workload *w, size_t set);
char *ab_workload_set_via_place(const struct ab_workload *w, size_t set);

/* Return the entries of `gates:`, the entries of `claims:`, and the source text, for messages about
 * entries. The records are in workload/config.h. */
struct ab_remarks;
struct ab_source_text;
const struct ab_remarks *ab_workload_gates(const struct ab_workload *w);
const struct ab_remarks *ab_workload_claims(const struct ab_workload *w);
struct ab_source_text ab_workload_source(const struct ab_workload *w);

/* Prints the plan that `allocbench check` shows: seed, parameters, sets, phases with their ops by
 * kind, totals, peak of live bytes, size and digest of the tape. */
void ab_workload_print_plan(FILE *f, const struct ab_workload *w, const struct ab_tape *tape);

#endif
