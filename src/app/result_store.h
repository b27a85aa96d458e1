/* SPDX-License-Identifier: MIT
 *
 * Stores the result of every command as one JSON file, in --results DIR, else
 * $ALLOCBENCH_RESULTS, else results/ in the current directory. The file is there from the first
 * round on and grows with each, so that a process that is killed loses one round at most; no other
 * file is ever replaced.
 */
#ifndef AB_APP_RESULT_STORE_H
#define AB_APP_RESULT_STORE_H

#include "app/options.h"
#include "result/result.h"
#include "result/verify.h"

#include <sys/types.h>
#include <time.h>

struct ab_suite;

struct ab_store {
    const char *folder; /* NULL = nothing is stored */
    bool is_made;       /* by us, and empty so far */
    char name[160];     /* of the file in it, once there is one */
    dev_t device;       /* … and which file that is: one of others is not replaced */
    ino_t inode;
    const struct ab_suite *suite; /* is stored in place of a session; NULL = there is none */
    uint64_t saved_ns, cost_ns;   /* by ab_store_save: when it ended last, how long it took */
};

/* Where stored results are read: --results, else $ALLOCBENCH_RESULTS, else results; NULL where the
 * variable is empty. And where one is written: NULL with --no-store, too. */
const char *ab_results_folder(const struct ab_options *o);
const char *ab_store_folder(const struct ab_options *o);

/* Makes the folder where it is missing and tries that it can be written to: before measuring. A
 * folder that was asked for by --results has to work; for the others a warning will do, and the
 * store is off. */
enum ab_status ab_store_open(const struct ab_options *o, struct ab_store *out, struct ab_err *err);

/* Between rounds: stores what is complete. Not where rounds are so short that saving would take
 * more than a tenth of the time. */
void ab_store_save(struct ab_store *store, const struct ab_session *session);
/* Stores the session as NAME-YYYYMMDDTHHMMSS-DIGEST8.json, in place of what was saved of it.
 * Nothing where the store is off. */
enum ab_status ab_store_write(struct ab_store *store, const struct ab_session *session,
                              struct ab_err *err);
/* Tells the place, when there is one. */
void ab_store_tell(const struct ab_store *store, FILE *to);

/* Removes a folder that was made for nothing. */
void ab_store_close(struct ab_store *store);

/* NAME-YYYYMMDDTHHMMSS-DIGEST8: characters other than [A-Za-z0-9._-] become '_', at most 64 of the
 * name; UTC; the first digits of the tape's digest. */
void ab_store_stem(const struct ab_session *session, time_t when, char *buf, size_t cap);

/* @last, @last~1, …: the results that were stored last, newest first. "Stored last" is when the file
 * was last written: a result that was resumed is new again. */

/* `back` results before the newest in the folder for results (ab_store_folder; --no-store does not
 * matter here); malloc'ed. AB_INPUT where there are not so many, AB_USAGE where there is no folder.
 * Calibrations and other JSON files are no results, nor are baselines, which are in a folder. */
enum ab_status ab_last_result(const struct ab_options *o, unsigned back, char **out,
                              struct ab_err *err);
/* The newest; AB_BACKEND where every back end failed in a newer one. */
enum ab_status ab_last_result_strictly(const struct ab_options *o, char **out, struct ab_err *err);

/* "@last", "@last~N": true, and N. Anything else that begins with '@' is AB_USAGE. */
enum ab_status ab_last_result_parse(const char *text, unsigned *back, struct ab_err *err);

/* Results of `verify` are kept as RESULTS/verified/BUILD-ID, so that a later run of the same library says
 * which checks it failed, or that it passed. */

/* Keeps that a library passed all checks, or the names of those of the `n_lines` that it failed. Without
 * a build id, with settings of its own, or where nothing can be stored, nothing is kept. */
void ab_verified_keep(const struct ab_options *o, const struct ab_verify_backend *v,
                      uint32_t n_lines);
/* Sets is_verified and verify_failed of the libraries of which something is kept. */
void ab_verified_find(const struct ab_options *o, struct ab_session *session);

#endif
