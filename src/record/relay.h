/* SPDX-License-Identifier: MIT
 *
 * The side of `record` while a command is being recorded: it makes the control file, does for the
 * recorded processes what they may no longer do for themselves, and can end the recording while
 * they go on.
 */
#ifndef AB_RECORD_RELAY_H
#define AB_RECORD_RELAY_H

#include "core/status.h"
#include "record/preload/spool.h"

#include <stdbool.h>
#include <stddef.h>

struct ab_relay;

struct ab_relay_options {        /* what is to be recorded */
    uint64_t most_events;        /* 0 = any number */
    uint64_t most_bytes;         /* of the spool; 0 = any number */
    enum ab_spool_stop why_full; /* the reason where it would be larger */
    uint32_t site_depth;         /* calls of each stack; 0 = no call sites */
    bool has_time;               /* a time for each event */
};
/* Before the command starts: makes the control file in `folder`. */
enum ab_status ab_relay_open(const char *folder, struct ab_relay_options options,
                             struct ab_relay **out, struct ab_err *err);
/* Once it has started: a thread that serves requests until close. */
enum ab_status ab_relay_serve(struct ab_relay *r, struct ab_err *err);
/* Ends the recording in all processes, for this reason; waits, for a second at most, until none of
 * them is in the middle of writing. */
void ab_relay_stop(struct ab_relay *r, enum ab_spool_stop why);
/* Was there a mark of this name? */
bool ab_relay_has_mark(const struct ab_relay *r, const char *name);

struct ab_relay_view {
    uint64_t n_calls;     /* of all processes */
    uint64_t n_events;    /* the same, as the converter counts them */
    uint64_t spool_bytes; /* of all files, without what was given back */
    bool is_ended;        /* at --max-events, --max-spool …: nothing is recorded any more */
};
/* Looks at what has been recorded so far. The recorded processes do nothing for it and do not notice. */
struct ab_relay_view ab_relay_look(const struct ab_relay *r);

/* How large the spool is, as it is held against the bound. */
uint64_t ab_relay_bytes(const struct ab_relay *r);
/* So much of it was given back. */
void ab_relay_give_back(struct ab_relay *r, uint64_t bytes);

/* The processes that go on are on their own from here on. r may be NULL. */
void ab_relay_close(struct ab_relay *r);

#endif
