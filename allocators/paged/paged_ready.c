/* SPDX-License-Identifier: MIT
 *
 * Opens, finds, resets and reports the three arenas of a game and their pools.
 */
#include "paged_ready.h"

static const char *const ready_names[AB_READY_COUNT] = {"engine", "game", "scratch"};
static const size_t ready_bytes[AB_READY_COUNT] = {(size_t)256 << 20, (size_t)512 << 20,
                                                   (size_t)64 << 20};

int ab_ready_open(struct ab_ready *ready, const size_t bytes[AB_READY_COUNT])
{
    memset(ready, 0, sizeof *ready);
    for (int i = 0; i < AB_READY_COUNT; i++) {
        size_t budget = bytes == NULL || bytes[i] == 0 ? ready_bytes[i] : bytes[i];
        int error = ab_paged_pools_add(&ready->pools, &ready->pool[i], ready_names[i], budget);
        if (error == 0)
            error = ab_paged_arena_init(&ready->arena[i], &ready->pool[i], 0, 0);
        if (error != 0) {
            ab_ready_close(ready);
            return error;
        }
    }
    return 0;
}

void ab_ready_close(struct ab_ready *ready)
{
    for (int i = 0; i < AB_READY_COUNT; i++)
        if (ready->arena[i].top != NULL)
            ab_paged_arena_fini(&ready->arena[i]);
    ab_paged_pools_fini(&ready->pools);
}

struct ab_paged_arena *ab_ready_arena(struct ab_ready *ready, const char *name)
{
    for (int i = 0; i < AB_READY_COUNT; i++)
        if (strcmp(name, ready_names[i]) == 0)
            return &ready->arena[i];
    return NULL;
}

bool ab_ready_reset(struct ab_ready *ready, const char *name)
{
    struct ab_paged_arena *arena = ab_ready_arena(ready, name);
    if (arena == NULL)
        return false;
    ab_paged_arena_clear(arena);
    return true;
}

void ab_ready_report(const struct ab_ready *ready, ab_paged_write *write, void *context)
{
    for (int i = 0; i < AB_READY_COUNT; i++) {
        ab_paged_pool_report(&ready->pool[i], write, context);
        ab_paged_arena_report(&ready->arena[i], write, context);
    }
}
