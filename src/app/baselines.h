/* SPDX-License-Identifier: MIT
 *
 * Finds and names baselines, and reads stored results for comparisons. Accepts only complete,
 * unaltered results.
 */
#ifndef AB_APP_BASELINES_H
#define AB_APP_BASELINES_H

#include "app/request_parts.h"
#include "document/read_result.h"
#include "document/suite_document.h"

enum { AB_BASELINE_NAME_MAX = 64 };
#define AB_BASELINE_LABEL "baseline " /* prefix of a label if the baseline was found by name */

/* Subcommands of `baseline`; ends with NULL. */
extern const char *const ab_baseline_commands[];

struct ab_base { /* a stored result that others are compared with */
    struct ab_stored stored;
    char *label; /* file, or name of the baseline; printable */
};

/* Sets *out to RESULTS/baselines, malloc'ed. Fails with AB_USAGE if there is no folder for
 * results. */
enum ab_status ab_baseline_folder(const struct ab_store_wanted *store, char **out,
                                  struct ab_err *err);
/* Sets *out to the file of a baseline, malloc'ed. Fails with AB_USAGE unless the name has 1 to 64
 * letters, digits, '.', '_' and '-', and begins with a letter or digit. */
enum ab_status ab_baseline_path(const struct ab_store_wanted *store, const char *name, char **out,
                                struct ab_err *err);
/* Lists the names in the folder, sorted; release them with ab_baseline_names_fini(). A missing
 * folder has no names. */
enum ab_status ab_baseline_names(const char *folder, char ***out, size_t *n, struct ab_err *err);
void ab_baseline_names_fini(char **names, size_t n);
/* Prints a note if the result is unsealed: it has no checksum, or was made from a result without a
 * checksum. */
void ab_unsealed_tell(const struct ab_talk *talk, const char *shown, enum ab_checksum checksum,
                      bool is_unsealed);
/* Reads the result of one workload, `item`, from a stored suite. `of` names the suite in the
 * label. */
struct ab_base ab_base_of_item(const struct ab_suite_item *item, const char *of);
/* Reads a baseline by its name, or a result by its file. Fails with AB_INPUT if it is missing,
 * unreadable or was altered after it was written. Prints a note if it is unsealed. */
enum ab_status ab_base_find(const struct ab_store_wanted *store, const struct ab_talk *talk,
                            const char *name_or_file, struct ab_base *out, struct ab_err *err);
/* Fails with AB_INPUT if the result is incomplete or has too few rounds for any verdict. Fails with
 * AB_BACKEND if no back end has numbers. */
enum ab_status ab_base_check(const struct ab_base *base, struct ab_err *err);
void ab_base_fini(struct ab_base *base);

/* True if the file, or the baseline with this name, is a suite. */
bool ab_base_is_suite(const struct ab_store_wanted *store, const char *name_or_file);
/* Reads a stored suite by the name of its baseline or by its file. Fails if it was altered after it
 * was written. */
enum ab_status ab_base_find_suite(const struct ab_store_wanted *store, const struct ab_talk *talk,
                                  const char *name_or_file, struct ab_suite *out,
                                  struct ab_err *err);

struct ab_kept_baseline {
    const char *path, *from;    /* path: file of the baseline; from: the result that was copied */
    const struct ab_base *base; /* the stored result; NULL = a suite was stored */
    bool has_control;           /* True if the result has a system library, as a control */
    /* the stored suite, with n_results results; NULL = a single result */
    const struct ab_suite *suite;
    uint32_t n_results;
};

struct ab_baseline_request {
    struct ab_talk talk;
    struct ab_store_wanted store;
    const char *name, *result; /* result: the result to store; NULL = the newest */
    bool is_new;               /* False to replace an existing baseline */
    double limit;              /* allowed change against the replaced baseline */
    /* Shows the comparison with the old baseline before it is replaced. `c` NULL = the comparison
     * cannot be made, for the reason `why`. */
    void (*show_change)(void *user, const struct ab_comparison *c, const struct ab_err *why);
    void (*show_kept)(void *user, const struct ab_kept_baseline *kept);
    void *user;
};
/* Stores a copy of a result under the name, with a checksum. Refuses the newest result if a named
 * back end failed in it. */
enum ab_status ab_baseline_keep(const struct ab_baseline_request *r, struct ab_err *err);
enum ab_status ab_baseline_drop(const struct ab_store_wanted *store, const char *name,
                                struct ab_err *err);

#endif
