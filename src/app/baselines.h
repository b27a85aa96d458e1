/* SPDX-License-Identifier: MIT
 *
 * Finds and names baselines, and reads stored results as a comparison needs them: whole and
 * unaltered.
 */
#ifndef AB_APP_BASELINES_H
#define AB_APP_BASELINES_H

#include "app/options.h"
#include "report/read_result.h"

enum { AB_BASELINE_NAME_MAX = 64 };
#define AB_BASELINE_LABEL "baseline " /* begins the label of one that was found by its name */

/* The commands of baseline; ends with NULL. */
extern const char *const ab_baseline_commands[];

struct ab_base { /* a stored result that others are compared with */
    struct ab_stored stored;
    char *label; /* the file, or the name of the baseline; printable */
};

/* RESULTS/baselines, malloc'ed. AB_USAGE where there is no folder for results. */
enum ab_status ab_baseline_folder(const struct ab_options *o, char **out, struct ab_err *err);
/* 1 to 64 letters, digits, '.', '_' and '-', the first a letter or a digit; else AB_USAGE. */
enum ab_status ab_baseline_check_name(const char *name, struct ab_err *err);
/* FOLDER/NAME.json, malloc'ed. */
char *ab_baseline_path(const char *folder, const char *name);
/* The names in the folder, sorted; free each and the list. A folder that is not there has none. */
enum ab_status ab_baseline_names(const char *folder, char ***out, size_t *n, struct ab_err *err);
void ab_baseline_names_fini(char **names, size_t n);
/* AB_INPUT that there is no such baseline, with the nearest name. */
enum ab_status ab_baseline_fail_missing(const char *folder, const char *name, struct ab_err *err);

/* Says that a result is unsealed, if it is: it has no checksum, or was made from one without. */
void ab_unsealed_tell(const struct ab_options *o, const char *shown, enum ab_checksum checksum,
                      bool is_unsealed);
/* A result that may be compared: readable, and not altered since it was written (AB_INPUT). One
 * that is unsealed is taken with a word on standard error. */
enum ab_status ab_base_read(const struct ab_options *o, const char *path, struct ab_base *out,
                            struct ab_err *err);
/* A file, and not the name of a baseline: what has a '/' or ends in .json or .html. */
bool ab_base_is_file(const char *name_or_file);
/* The same of a baseline's name, or of a file. */
enum ab_status ab_base_find(const struct ab_options *o, const char *name_or_file,
                            struct ab_base *out, struct ab_err *err);
/* AB_INPUT for one that is incomplete or has too few rounds for any verdict, AB_BACKEND for one
 * without numbers. */
enum ab_status ab_base_check(const struct ab_base *base, struct ab_err *err);
void ab_base_fini(struct ab_base *base);

#endif
