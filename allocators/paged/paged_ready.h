/* SPDX-License-Identifier: MIT
 *
 * The arenas of a game under fixed names, for one thread. Each has a pool with a budget of its own:
 *
 *     engine   256 MiB   memory that lives as long as the program
 *     game     512 MiB   memory of a level; reset with it
 *     scratch   64 MiB   memory of a frame; reset with it
 *
 * Until they are used, the pools take only addresses.
 *
 *     static struct ab_ready memory;
 *     if (ab_ready_open(&memory, NULL) != 0) …;
 *     char *text = ab_paged_arena_alloc(ab_ready_arena(&memory, "scratch"), 100);
 *     ab_ready_reset(&memory, "scratch");
 */
#ifndef AB_ALLOCATORS_PAGED_READY_H
#define AB_ALLOCATORS_PAGED_READY_H

#include "paged_report.h"

#ifdef __cplusplus
extern "C" {
#endif

enum ab_ready_name { AB_READY_ENGINE, AB_READY_GAME, AB_READY_SCRATCH, AB_READY_COUNT };

struct ab_ready { /* must not be moved while it is open */
    struct ab_paged_pools pools;
    struct ab_paged_pool pool[AB_READY_COUNT];
    struct ab_paged_arena arena[AB_READY_COUNT];
};

/* Opens the pools and arenas. `bytes` are the budgets in the order above; 0 or NULL = the default.
 * Returns 0 or an errno; on failure nothing is open. */
AB_MUST_USE int ab_ready_open(struct ab_ready *ready, const size_t bytes[AB_READY_COUNT]);
void ab_ready_close(struct ab_ready *ready);
/* Returns the arena of that name, or NULL if there is none. ready->arena[AB_READY_GAME] is the same
 * without a search. */
struct ab_paged_arena *ab_ready_arena(struct ab_ready *ready, const char *name);
/* Ends the life of all blocks of the arena. Returns false if there is no arena of that name. */
bool ab_ready_reset(struct ab_ready *ready, const char *name);
/* Reports the pools and the arenas with their tags. */
void ab_ready_report(const struct ab_ready *ready, ab_paged_write *write, void *context);

#ifdef __cplusplus
}
#endif

#endif
