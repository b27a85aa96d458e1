/* SPDX-License-Identifier: MIT
 *
 * A session as a whole run has it, for screens: four back ends, up to four phases, eight rounds, with
 * latencies, memory, slow calls and the harness. Every number is made up and deterministic.
 */
#ifndef AB_TESTS_REPORT_SCREEN_H
#define AB_TESTS_REPORT_SCREEN_H

#include "result/numbers.h"
#include "result/result.h"

enum { SCREEN_BACKENDS = 4, SCREEN_PHASES = 4, SCREEN_ROUNDS = 8 };

struct screen {
    struct ab_session s;
    struct ab_backend_info backends[SCREEN_BACKENDS];
    struct ab_round rounds[SCREEN_ROUNDS];
    struct ab_result results[SCREEN_BACKENDS * SCREEN_PHASES * SCREEN_ROUNDS * 4];
    struct ab_null_cost nulls[SCREEN_PHASES * SCREEN_ROUNDS];
    struct ab_memory memory[SCREEN_BACKENDS * SCREEN_PHASES * SCREEN_ROUNDS * 2];
};

struct screen *screen_new(uint32_t n_phases);
/* The same back ends as allocators of a real program. */
struct screen *screen_new_exec(void);
/* Latencies by size of allocations and frees of the second phase; freed with the screen. */
void screen_add_sizes(struct screen *screen);
void screen_free(struct screen *screen);

#endif
