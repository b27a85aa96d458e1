/* SPDX-License-Identifier: MIT
 *
 * Reports progress, notes and results of a use case to a listener. A use case prints nothing
 * itself: its caller sets `listener` in the request (NULL = none), and shows as much as the user
 * requested.
 */
#ifndef AB_APP_SAY_H
#define AB_APP_SAY_H

#include "app/decision.h"
#include "app/request.h"
#include "app/result_store.h"
#include "runner/run_session.h"

struct ab_measured {
    const struct ab_measure_request *asked;
    const struct ab_session *session;
    /* exec --trace: session of the first replay of the trace; NULL = none */
    const struct ab_session *replay;
    const struct ab_decision *decision;
    const struct ab_store *store;
    enum ab_status status; /* outcome of measuring and writing */
    uint32_t n_left;       /* processes that outlived the program */
};

struct ab_listener { /* receiver of the messages of one use case at a time */
    /* Shows one or more lines, without the last newline. */
    void (*say)(const char *text);
    /* Tells that reading and preparing of `what` begins; NULL = it has ended. While preparing, the
     * process may be ended after talk->prepare_ns (0 = no limit), because nothing needs to be
     * undone. */
    void (*prepare)(const struct ab_talk *talk, const char *what);
    /* Shows progress of a long step: `done` of `total`; total 0 = unknown. */
    void (*count)(const char *what, const char *unit, uint64_t done, uint64_t total);
    /* Shows the current step in a line that the next call replaces; text NULL removes the line. */
    void (*doing)(const struct ab_talk *talk, const char *text);
    /* Called when a session begins, progresses, completes a round, and ends. n_expected: number of
     * expected rounds; 0 = unknown. */
    void (*begin)(const struct ab_talk *talk, const struct ab_session *session);
    void (*progress)(const struct ab_progress *p);
    void (*round)(const struct ab_session *session, uint32_t n_expected);
    void (*end)(void);
};

/* ab_say() passes a note to the listener, unless talk->is_quiet. ab_complain() always passes an
 * error. */
void ab_say(const struct ab_talk *talk, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void ab_complain(const struct ab_talk *talk, const char *text);

/* Passes the current step to the listener's `doing`; fmt NULL removes the line of the step. */
void ab_say_doing(const struct ab_talk *talk, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Calls `prepare` and `count` of the listener, if there is one. */
void ab_say_prepare(const struct ab_talk *talk, const char *what);
void ab_say_count(const struct ab_talk *talk, const char *what, const char *unit, uint64_t done,
                  uint64_t total);

#endif
