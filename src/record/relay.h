/* SPDX-License-Identifier: MIT
 *
 * The part of `record` that serves recorded processes. It makes the control file, does work that a
 * process can no longer do itself, and can end the recording while the processes continue.
 */
#ifndef AB_RECORD_RELAY_H
#define AB_RECORD_RELAY_H

#include "core/status.h"
#include "record/preload/spool.h"

#include <stdbool.h>

struct ab_relay;

struct ab_relay_options {        /* options of a recording */
    uint64_t most_events;        /* limit of the calls; 0 = none */
    uint64_t most_bytes;         /* limit of the spool; 0 = none */
    enum ab_spool_stop why_full; /* reason that is given when most_bytes is reached */
    uint32_t site_depth;         /* number of frames in each stack; 0 = no call sites */
    bool has_time;               /* True if each event gets a stamp of its own */
};
/* Creates the control file in `folder`. Call it before the command starts. */
enum ab_status ab_relay_open(const char *folder, struct ab_relay_options options,
                             struct ab_relay **out, struct ab_err *err);
/* Starts a thread that serves requests until ab_relay_close. Call it after the start of the
 * command. */
enum ab_status ab_relay_serve(struct ab_relay *r, struct ab_err *err);
/* Ends the recording in all processes, with reason `why`. Waits for at most a second until no
 * process is writing. */
void ab_relay_stop(struct ab_relay *r, enum ab_spool_stop why);
/* True if a recorded process has set a mark of this name. */
bool ab_relay_has_mark(const struct ab_relay *r, const char *name);

struct ab_relay_view {
    uint64_t n_calls;     /* number of calls in all processes */
    uint64_t n_events;    /* number of events in all processes, as the converter counts them */
    uint64_t spool_bytes; /* size of all files, without freed space */
    bool is_ended;        /* True if a limit such as --max-events was reached */
};
/* Reads how much has been recorded. The recorded processes do not notice. */
struct ab_relay_view ab_relay_look(const struct ab_relay *r);

/* Returns the size of the spool that counts towards the limit. */
uint64_t ab_relay_bytes(const struct ab_relay *r);
/* Notes that `bytes` of the spool were freed. */
void ab_relay_give_back(struct ab_relay *r, uint64_t bytes);

/* Stops serving requests. Processes that still run get no help any more. `r` may be NULL. */
void ab_relay_close(struct ab_relay *r);

#endif
