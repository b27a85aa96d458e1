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

#include <sys/types.h>
#include <time.h>

struct ab_store {
    const char *folder; /* NULL = nothing is stored */
    bool is_made;       /* by us, and empty so far */
    char name[160];     /* of the file in it, once there is one */
    dev_t device;       /* … and which file that is: one of others is not replaced */
    ino_t inode;
    uint64_t saved_ns, cost_ns; /* by ab_store_save: when it ended last, how long it took */
};

/* --results, else $ALLOCBENCH_RESULTS, else results; NULL where it is switched off. */
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

#endif
