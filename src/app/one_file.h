/* SPDX-License-Identifier: MIT
 *
 * Takes the single file of a command from its arguments, loads a workload and makes its tape.
 */
#ifndef AB_APP_ONE_FILE_H
#define AB_APP_ONE_FILE_H

#include "app/request_parts.h"
#include "core/output.h"
#include "tape/tape_file.h"
#include "workload/workload.h"

/* Sets *out to the single argument of the command. Fails with AB_USAGE, naming the missing or extra
 * argument. */
enum ab_status ab_one_file(const char *const *args, size_t n_args, const char *what,
                           const char *command, const char **out, struct ab_err *err);

/* Returns the options to load a workload with --set, --seed and --window. `conditions` NULL =
 * without a window. `wants_groups`: True if the sets of blocks are needed. */
struct ab_workload_options ab_workload_options_of(const struct ab_settings_wanted *settings,
                                                  const struct ab_run_conditions *conditions,
                                                  bool wants_groups);
/* Loads a workload and reports its errors. */
enum ab_status ab_load_workload(const struct ab_talk *talk,
                                const struct ab_workload_options *options, const char *path,
                                struct ab_workload **out, struct ab_err *err);

/* Refuses params with lists of values, for commands that need a single combination. */
enum ab_status ab_one_combination(const char *path, const struct ab_workload *w,
                                  struct ab_err *err);
/* Loads the workload again with the next combination of the values of params that have lists. */
enum ab_status ab_combine_workload(const struct ab_talk *talk,
                                   const struct ab_workload_options *options,
                                   const struct ab_workload *first, size_t combination,
                                   struct ab_workload **out, struct ab_err *err);
/* Compiles the workload to a tape, and reports progress. */
enum ab_status ab_compile_workload(const struct ab_talk *talk, const char *path,
                                   struct ab_workload *workload, struct ab_tape *out,
                                   struct ab_err *err);

/* Returns the number of bytes of a tape that may be in memory at a time (--tape-mem). */
uint64_t ab_tape_memory(const struct ab_settings_wanted *settings);

struct ab_laid_down {
    struct ab_tape tape; /* facts about the tape, without ops */
    struct ab_tape_map map;
    uint32_t n_bursts;
    uint64_t tape_memory; /* bytes for the tapes of all combinations; each gets an equal share */
};
/* Compiles the workload into a tape file that runs can map. A tape longer than --tape-mem is
 * written in bursts. */
enum ab_status ab_lay_down_workload(const struct ab_talk *talk,
                                    const struct ab_settings_wanted *settings, const char *path,
                                    struct ab_workload *workload, struct ab_laid_down *out,
                                    struct ab_err *err);
void ab_laid_down_fini(struct ab_laid_down *tape);

/* Files that a command reads. */
struct ab_inputs {
    const char *const *files;
    size_t n;
    const char *others[3];    /* NULL = none */
    const char *const *rules; /* n_rules rules of --map; "@FILE" names a file that is read */
    size_t n_rules;
};
/* Fails with AB_USAGE if writing `out` to `path` would replace an input. */
enum ab_status ab_spare_inputs(const struct ab_inputs *inputs, const struct ab_output *out,
                               const char *path, struct ab_err *err);

#endif
