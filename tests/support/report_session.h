/* SPDX-License-Identifier: MIT
 *
 * A session written by hand for the tests of sinks: two phases, three rounds, and one back end of
 * each fate. Every number in it is made up and deterministic.
 */
#ifndef AB_TESTS_REPORT_SESSION_H
#define AB_TESTS_REPORT_SESSION_H

#include "result/numbers.h"
#include "result/result.h"

#include <stdio.h>

enum fake_backend {
    FAKE_GLIBC,
    FAKE_JEMALLOC, /* a little faster than glibc, its tail is worse */
    FAKE_ARENA,    /* much faster, never frees, p50 under the floor */
    FAKE_POOL,     /* partial: no resize, looks fastest of all */
    FAKE_BROKEN,   /* crashed, but numbers of it are still in the session */
    FAKE_SCUDO,    /* absent */
    FAKE_COUNT
};

enum { FAKE_ROUNDS_MAX = 12 };

struct fake_session {
    struct ab_session s;
    struct ab_backend_info backends[FAKE_COUNT];
    struct ab_round rounds[FAKE_ROUNDS_MAX];
    struct ab_result results[400];
    struct ab_null_cost nulls[4 * FAKE_ROUNDS_MAX];
    struct ab_memory memory[4 * FAKE_ROUNDS_MAX];
};

struct fake_session *fake_session_new(void);
/* The same with another number of rounds, whose numbers repeat those of the first three. */
struct fake_session *fake_session_of(uint32_t n_rounds);
void fake_session_free(struct fake_session *f);

/* Keeps the numbers and sets back ends [first, FAKE_COUNT) to absent, not asked for by name. */
void fake_session_keep(struct fake_session *f, unsigned first);
/* Sets ns_per_op of a back end in every phase: `ns` in rounds 0, 1, 2, and again from 3 on. */
void fake_session_set_ns(struct fake_session *f, unsigned backend, const double ns[3]);

/* One memory record a round and back end, whose phase took `peak_bytes` at most. */
void fake_session_set_peak(struct fake_session *f, unsigned backend, double peak_bytes);

/* What `write` puts into a stream, as a malloc'ed string. */
char *fake_capture(void (*write)(FILE *to, const struct ab_session *s, void *user),
                   const struct ab_session *s, void *user);
/* Fails the test unless `text` is what tests/golden/report/NAME holds; with AB_UPDATE_GOLDEN in
 * the environment it writes the file instead. */
void fake_assert_golden(const char *name, const char *text);

#endif
