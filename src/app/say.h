/* SPDX-License-Identifier: MIT
 *
 * What a use case has to say while it runs, and what it has found at its end. It prints nothing
 * itself: whoever starts it sets `listener` of the options (NULL = nobody looks) and shows as much as
 * people asked for.
 */
#ifndef AB_APP_SAY_H
#define AB_APP_SAY_H

#include "app/decision.h"
#include "app/options.h"
#include "app/result_store.h"
#include "runner/session.h"

struct ab_measured {
    const struct ab_options *options;
    const struct ab_session *session;
    const struct ab_session *replay; /* exec --trace: what the trace's replay gave; NULL = none */
    const struct ab_decision *decision;
    const struct ab_store *store;
    enum ab_status status; /* of measuring and writing */
    uint32_t n_left;       /* processes of a program that ran on after its end */
};

struct ab_listener { /* one use case runs at a time */
    /* A line or more for people, without the last line end. */
    void (*say)(const char *text);
    /* `what` is read and prepared from here on; NULL: that is over. Nothing that has to be undone is
     * under way: the process may be ended once o->timeout_ns is over (0 = no limit). */
    void (*prepare)(const struct ab_options *o, const char *what);
    /* Something long is so far; total 0 = not known. */
    void (*count)(const char *what, const char *unit, uint64_t done, uint64_t total);
    /* What is done now, a line that the next one replaces; NULL: that is over. */
    void (*doing)(const struct ab_options *o, const char *text);
    /* A session begins, goes on, has one more round (of `n_expected`; 0 = not known), ends. */
    void (*begin)(const struct ab_options *o, const struct ab_session *session);
    void (*progress)(const struct ab_progress *p);
    void (*round)(const struct ab_session *session, uint32_t n_expected);
    void (*end)(void);
    /* All is measured and its files are written. */
    void (*show)(const struct ab_measured *m);
};

/* Has a note said, unless o->is_quiet; or an error, which is said in any case. */
void ab_say(const struct ab_options *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void ab_complain(const struct ab_options *o, const char *text);

/* fmt NULL: that is over. */
void ab_say_doing(const struct ab_options *o, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* The brackets of `prepare`, and `count`, where somebody looks. */
void ab_say_prepare(const struct ab_options *o, const char *what);
void ab_say_count(const struct ab_options *o, const char *what, const char *unit, uint64_t done,
                  uint64_t total);

#endif
