/* SPDX-License-Identifier: MIT
 *
 * The arenas of a game, ready under their names, each over a pool with a budget of its own:
 *
 *     engine   256 MiB   what lives as long as the program
 *     game     512 MiB   what a level needs; reset with it
 *     scratch   64 MiB   what a frame needs; reset with it
 *
 * Addresses only, until they are used. One thread at a time.
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

struct ab_ready { /* in its place as long as it is open */
    struct ab_paged_pools pools;
    struct ab_paged_pool pool[AB_READY_COUNT];
    struct ab_paged_arena arena[AB_READY_COUNT];
};

/* bytes: the budgets in the order above, 0 or NULL for the usual one. 0, or an errno; nothing is
 * open then. */
AB_MUST_USE int ab_ready_open(struct ab_ready *ready, const size_t bytes[AB_READY_COUNT]);
void ab_ready_close(struct ab_ready *ready);
/* By name; NULL when there is none of that name. ready->arena[AB_READY_GAME] is the same. */
struct ab_paged_arena *ab_ready_arena(struct ab_ready *ready, const char *name);
/* All blocks of that arena die; false when there is none of that name. */
bool ab_ready_reset(struct ab_ready *ready, const char *name);
/* Pools and arenas with their tags. */
void ab_ready_report(const struct ab_ready *ready, ab_paged_write *write, void *context);

#ifdef __cplusplus
}
#endif

#endif
