/* SPDX-License-Identifier: MIT
 *
 * Stores the result of every command as one JSON file. The folder is --results DIR, else
 * $ALLOCBENCH_RESULTS, else results/ in the current directory. The file exists from the first round
 * on and grows with each round, so that a killed process loses one round at most. No other file is
 * ever replaced.
 */
#ifndef AB_APP_RESULT_STORE_H
#define AB_APP_RESULT_STORE_H

#include "app/request_parts.h"
#include "result/result.h"
#include "result/verify_record.h"

#include <sys/types.h>
#include <time.h>

struct ab_suite;

struct ab_store {
    const char *folder; /* folder for results; NULL = store nothing */
    bool is_made;       /* True if this command made the folder and the folder is still empty */
    char name[160];     /* name of the file in `folder`; "" until there is one */
    dev_t device;       /* device and inode of the file, so that no other file is replaced */
    ino_t inode;
    const struct ab_suite *suite; /* suite to store instead of a session; NULL = none */
    uint64_t saved_ns, cost_ns;   /* end and duration of the last ab_store_save() */
};

/* ab_results_folder() returns the folder to read results from: --results, else $ALLOCBENCH_RESULTS,
 * else results; NULL if the variable is empty. ab_store_folder() returns the folder to write to,
 * which is NULL with --no-store too. */
const char *ab_results_folder(const struct ab_store_wanted *wanted);
const char *ab_store_folder(const struct ab_store_wanted *wanted);

/* Creates the folder if it is missing, and checks before measuring that it is writable. An error is
 * fatal for a folder of --results. For other folders, prints a warning and stores nothing. */
enum ab_status ab_store_open(const struct ab_store_wanted *wanted, const struct ab_talk *talk,
                             struct ab_store *out, struct ab_err *err);

/* Stores the complete rounds. Does nothing if rounds are so short that saving would take more than
 * a tenth of the time. */
void ab_store_save(struct ab_store *store, const struct ab_session *session);
/* Stores the session as NAME-YYYYMMDDTHHMMSS-DIGEST8.json, in place of the file that
 * ab_store_save() wrote for it. Does nothing if the store is off. */
enum ab_status ab_store_write(struct ab_store *store, const struct ab_session *session,
                              struct ab_err *err);

/* Removes the folder if this command made it and it is empty. */
void ab_store_close(struct ab_store *store);

/* Writes NAME-YYYYMMDDTHHMMSS-DIGEST8 to buf. NAME has at most 64 characters, and characters
 * outside [A-Za-z0-9._-] become '_'. The time is UTC. DIGEST8 is the first 8 digits of the tape's
 * digest. */
void ab_store_stem(const struct ab_session *session, time_t when, char *buf, size_t cap);

/* @last, @last~1, … name the stored results, the newest first. Results are ordered by the time when
 * their files were last written, so a resumed result is the newest again. */

/* Finds the result that `text` names in ab_results_folder(), and says its path. *out is malloc'ed.
 * Fails with AB_INPUT if there are fewer results. Fails with AB_USAGE if there is no folder or the
 * text is not @last or @last~N. With `text` NULL it finds the newest result with numbers, but fails
 * with AB_BACKEND if every back end failed in a newer one. Calibrations, baselines and other JSON
 * files do not count. */
enum ab_status ab_last_result(const struct ab_store_wanted *wanted, const struct ab_talk *talk,
                              const char *text, char **out, struct ab_err *err);
/* Results of `verify` are stored as RESULTS/verified/BUILD-ID, so that a later run of the same
 * library can show that it passed, or which checks it failed. */

/* Stores that a library passed all checks, or which of the `n_lines` checks it failed. Stores
 * nothing if the library has no build id or has settings, or if the folder cannot be written. */
void ab_verified_keep(const struct ab_store_wanted *wanted, const struct ab_verify_backend *v,
                      uint32_t n_lines);
/* Sets is_verified and verify_failed of libraries with a stored result of `verify`. */
void ab_verified_find(const struct ab_store_wanted *wanted, struct ab_session *session);

#endif
