/* SPDX-License-Identifier: MIT
 *
 * Takes the one file of a command from its arguments, and loads a workload.
 */
#ifndef AB_APP_ONE_FILE_H
#define AB_APP_ONE_FILE_H

#include "app/options.h"
#include "report/output.h"
#include "tape/tape_file.h"
#include "workload/workload.h"

/* The command's one argument; else AB_USAGE that says what is missing or too much. */
enum ab_status ab_one_file(const struct ab_options *o, const char *what, const char *command,
                           const char **out, struct ab_err *err);

/* Loads a workload with --set and --seed; has its errors said. */
enum ab_status ab_load_workload(const struct ab_options *o, const char *path,
                                struct ab_workload **out, struct ab_err *err);

/* Refuses params that have lists of values, where one combination of them is needed. */
enum ab_status ab_one_combination(const char *path, const struct ab_workload *w,
                                  struct ab_err *err);
/* Another combination of the values of params that have lists. */
enum ab_status ab_combine_workload(const struct ab_options *o, const struct ab_workload *first,
                                   size_t combination, struct ab_workload **out,
                                   struct ab_err *err);
/* Makes its tape, saying how far it is. */
enum ab_status ab_compile_workload(const struct ab_options *o, const char *path,
                                   struct ab_workload *workload, struct ab_tape *out,
                                   struct ab_err *err);

/* How much of a tape may be in memory at a time: --tape-mem. */
uint64_t ab_tape_memory(const struct ab_options *o);

struct ab_laid_down {
    struct ab_tape tape; /* what is known of it; no ops */
    struct ab_tape_map map;
    uint32_t n_bursts;
    uint64_t tape_memory; /* of all combinations: each has its share, as no burst is longer than */
};
/* The same, to where runs map it: a tape that is longer than --tape-mem in bursts. */
enum ab_status ab_lay_down_workload(const struct ab_options *o, const char *path,
                                    struct ab_workload *workload, struct ab_laid_down *out,
                                    struct ab_err *err);
void ab_laid_down_fini(struct ab_laid_down *tape);

/* AB_USAGE when `out`, to be written to `path`, would replace what is read: one of o->args from
 * `first` on, rules of --map @FILE, or what --baseline, --trace and --stdin name. */
enum ab_status ab_spare_inputs(const struct ab_options *o, size_t first,
                               const struct ab_output *out, const char *path, struct ab_err *err);

#endif
