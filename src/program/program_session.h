/* SPDX-License-Identifier: MIT
 *
 * Runs a real program under all allocators: first once each, which proves that it works and what it
 * prints; then rounds, each allocator once in an order drawn anew. What a round draws depends on
 * the seed and its number alone.
 */
#ifndef AB_PROGRAM_PROGRAM_SESSION_H
#define AB_PROGRAM_PROGRAM_SESSION_H

#include "program/program_run.h"
#include "runner/session/session.h"

struct ab_program_plan {
    struct ab_program program;
    const struct ab_program_case *cases; /* one a back end of the session, same order */
    uint32_t base;                       /* its output is the one that others are held against */
    uint32_t rounds;
    const char *prepare; /* a shell command before each run; NULL = none */
    int prepare_fd;      /* where its output goes */
    bool is_output_free; /* outputs may differ */
    void (*progress)(void *user, const struct ab_progress *p); /* may be NULL */
    bool (*round_done)(void *user, const struct ab_session *session);
    void *user;
};

struct ab_program_summary {
    struct ab_output_digest output; /* of the base */
    unsigned n_left;                /* processes that outlived a run, most of all runs */
};

/* Fills session->results and rounds, and the status of each back end. AB_OK also where some failed;
 * AB_BACKEND where the program's output depends on more than the allocator; AB_INTERRUPTED leaves
 * the rounds that are complete. */
enum ab_status ab_program_session_run(const struct ab_program_plan *plan,
                                      struct ab_session *session, struct ab_program_summary *out,
                                      struct ab_err *err);

#endif
