/* SPDX-License-Identifier: MIT
 *
 * Finds and names baselines, and reads stored results for comparisons: only complete, unaltered
 * ones.
 */
#ifndef AB_APP_BASELINES_H
#define AB_APP_BASELINES_H

#include "app/request_parts.h"
#include "document/read_result.h"

enum { AB_BASELINE_NAME_MAX = 64 };
#define AB_BASELINE_LABEL "baseline " /* prefix of a label if the baseline was found by name */

/* Subcommands of `baseline`; ends with NULL. */
extern const char *const ab_baseline_commands[];

struct ab_base { /* a stored result that others are compared with */
    struct ab_stored stored;
    char *label; /* file or name of the baseline, printable */
};

/* Sets *out to RESULTS/baselines, malloc'ed. Fails with AB_USAGE if there is no folder for
 * results. */
enum ab_status ab_baseline_folder(const struct ab_store_wanted *store, char **out,
                                  struct ab_err *err);
/* Fails with AB_USAGE unless the name has 1 to 64 letters, digits, '.', '_' and '-', and begins
 * with a letter or digit. */
enum ab_status ab_baseline_check_name(const char *name, struct ab_err *err);
/* Returns FOLDER/NAME.json, malloc'ed. */
char *ab_baseline_path(const char *folder, const char *name);
/* Lists the names in the folder, sorted; release them with ab_baseline_names_fini(). A missing
 * folder has no names. */
enum ab_status ab_baseline_names(const char *folder, char ***out, size_t *n, struct ab_err *err);
void ab_baseline_names_fini(char **names, size_t n);
/* Fails with AB_INPUT: no such baseline. The error suggests the nearest name. */
enum ab_status ab_baseline_fail_missing(const char *folder, const char *name, struct ab_err *err);

/* Prints a note if the result is unsealed: it has no checksum, or was made from a result without
 * one. */
void ab_unsealed_tell(const struct ab_talk *talk, const char *shown, enum ab_checksum checksum,
                      bool is_unsealed);
/* Reads a result for a comparison. Fails with AB_INPUT if it is unreadable or was altered after it
 * was written. Prints a note if it is unsealed. */
enum ab_status ab_base_read(const struct ab_talk *talk, const char *path, struct ab_base *out,
                            struct ab_err *err);
/* True if the text is a file and not the name of a baseline: it contains '/' or ends in .json or
 * .html. */
bool ab_base_is_file(const char *name_or_file);
/* Reads the result of one workload, `item`, from a stored suite. `of` names the suite in the
 * label. */
struct ab_base ab_base_of_item(const struct ab_suite_item *item, const char *of);
/* Reads a baseline by its name, or a file, as ab_base_read() does. */
enum ab_status ab_base_find(const struct ab_store_wanted *store, const struct ab_talk *talk,
                            const char *name_or_file, struct ab_base *out, struct ab_err *err);
/* Fails with AB_INPUT if the result is incomplete or has too few rounds for any verdict, with
 * AB_BACKEND if it has no numbers. */
enum ab_status ab_base_check(const struct ab_base *base, struct ab_err *err);
void ab_base_fini(struct ab_base *base);

#endif
