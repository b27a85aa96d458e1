/* SPDX-License-Identifier: MIT
 *
 * The part of `record` that serves recorded processes: makes the control file, does work that a
 * process can no longer do itself, and can end the recording while the processes continue.
 */
#ifndef AB_RECORD_RELAY_H
#define AB_RECORD_RELAY_H

#include "core/status.h"
#include "record/preload/spool.h"

#include <stdbool.h>

struct ab_relay;

struct ab_relay_options {        /* options of a recording */
    uint64_t most_events;        /* 0 = no limit */
    uint64_t most_bytes;         /* limit of the spool; 0 = none */
    enum ab_spool_stop why_full; /* reason to give when the limit of the spool is reached */
    uint32_t site_depth;         /* frames of each stack; 0 = no call sites */
    bool has_time;               /* True if each event gets a time */
};
/* Makes the control file in `folder`. Call it before the command starts. */
enum ab_status ab_relay_open(const char *folder, struct ab_relay_options options,
                             struct ab_relay **out, struct ab_err *err);
/* Starts a thread that serves requests until ab_relay_close. Call it after the start of the
 * command. */
enum ab_status ab_relay_serve(struct ab_relay *r, struct ab_err *err);
/* Ends the recording in all processes with this reason. Waits for at most a second until no
 * process is writing. */
void ab_relay_stop(struct ab_relay *r, enum ab_spool_stop why);
/* True if a mark of this name was noted. */
bool ab_relay_has_mark(const struct ab_relay *r, const char *name);

struct ab_relay_view {
    uint64_t n_calls;     /* sum over all processes */
    uint64_t n_events;    /* the same, as the converter counts */
    uint64_t spool_bytes; /* size of all files, without freed space */
    bool is_ended;        /* True if a limit such as --max-events was reached */
};
/* Reads how much has been recorded. The recorded processes do not notice. */
struct ab_relay_view ab_relay_look(const struct ab_relay *r);

/* Returns the size of the spool that counts towards the limit. */
uint64_t ab_relay_bytes(const struct ab_relay *r);
/* Notes that `bytes` of the spool were freed. */
void ab_relay_give_back(struct ab_relay *r, uint64_t bytes);

/* Stops serving; running processes are on their own from here on. `r` may be NULL. */
void ab_relay_close(struct ab_relay *r);

#endif
