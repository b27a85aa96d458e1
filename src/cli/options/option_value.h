/* SPDX-License-Identifier: MIT
 *
 * Reads the values of options: words, and what is neither word nor number. `name` is the option's,
 * for the error.
 */
#ifndef AB_CLI_OPTIONS_OPTION_VALUE_H
#define AB_CLI_OPTIONS_OPTION_VALUE_H

#include "app/options.h"

/* AB_USAGE: "--NAME VALUE: WHY". */
enum ab_status ab_option_bad_value(const char *name, const char *value, const char *why,
                                   struct ab_err *err);

/* Its index in `words`, which ends with NULL; else AB_USAGE with the list and the nearest. */
enum ab_status ab_option_word(const char *name, const char *value, const char *const *words,
                              size_t *out, struct ab_err *err);

/* For rows of the table, as `read`. */
enum ab_status ab_option_touch(const char *name, const char *value, struct ab_options *o,
                               struct ab_err *err);
enum ab_status ab_option_tape_mem(const char *name, const char *value, struct ab_options *o,
                                  struct ab_err *err);
enum ab_status ab_option_cpus(const char *name, const char *value, struct ab_options *o,
                              struct ab_err *err);
enum ab_status ab_option_shard(const char *name, const char *value, struct ab_options *o,
                               struct ab_err *err);
enum ab_status ab_option_events(const char *name, const char *value, struct ab_options *o,
                                struct ab_err *err);
enum ab_status ab_option_size(const char *name, const char *value, struct ab_options *o,
                              struct ab_err *err);
enum ab_status ab_option_time(const char *name, const char *value, struct ab_options *o,
                              struct ab_err *err);
enum ab_status ab_option_thread(const char *name, const char *value, struct ab_options *o,
                                struct ab_err *err);
enum ab_status ab_option_passes(const char *name, const char *value, struct ab_options *o,
                                struct ab_err *err);
enum ab_status ab_option_precision(const char *name, const char *value, struct ab_options *o,
                                   struct ab_err *err);
enum ab_status ab_option_limit(const char *name, const char *value, struct ab_options *o,
                               struct ab_err *err);

/* The values of --touch, in the order of enum ab_touch; ends with NULL. */
extern const char *const ab_option_touches[];

#endif
