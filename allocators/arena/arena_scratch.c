/* SPDX-License-Identifier: MIT
 *
 * Opens the scratch arenas of each thread, and closes them when the thread ends.
 */
#include "arena_scratch.h"

#include <pthread.h>

__thread struct ab_arena *ab_scratch_arenas[AB_SCRATCHES];
static pthread_once_t scratch_once = PTHREAD_ONCE_INIT;
static pthread_key_t scratch_key;
static int scratch_key_error;

static void scratch_close_arenas(struct ab_arena **arenas)
{
    for (int i = 0; i < AB_SCRATCHES; i++) {
        struct ab_arena *arena = arenas[i];
        arenas[i] = NULL;
        ab_arena_close(arena);
    }
}

static void scratch_thread_ends(void *arenas)
{
    scratch_close_arenas((struct ab_arena **)arenas);
}

static void scratch_make_key(void)
{
    scratch_key_error = pthread_key_create(&scratch_key, scratch_thread_ends);
}

/* Opens a scratch arena; the size of its first region is halved each time the system refuses.
 * Returns NULL if the end of the thread cannot be observed, because the arena would leak. */
static struct ab_arena *scratch_open(void)
{
    struct ab_arena_options options;
    if (pthread_once(&scratch_once, scratch_make_key) != 0 || scratch_key_error != 0 ||
        pthread_setspecific(scratch_key, (void *)ab_scratch_arenas) != 0)
        return NULL;
    memset(&options, 0, sizeof options);
    options.keep_bytes = AB_SCRATCH_KEEP_BYTES;
    options.chain_bytes = AB_SCRATCH_KEEP_BYTES;
    struct ab_arena *arena = NULL;
    size_t bytes = AB_SCRATCH_RESERVE_BYTES;
    for (; arena == NULL && bytes >= AB_SCRATCH_KEEP_BYTES; bytes /= 2) {
        options.reserve_bytes = bytes;
        arena = ab_arena_open(&options);
    }
    return arena;
}

static bool scratch_is_conflict(const struct ab_arena *arena, struct ab_arena *const *conflicts,
                                size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (conflicts[i] == arena)
            return true;
    return false;
}

struct ab_scratch ab_scratch_begin_slow(struct ab_arena *const *conflicts, size_t n)
{
    struct ab_scratch scratch;
    memset(&scratch, 0, sizeof scratch);
    for (int i = 0; i < AB_SCRATCHES && scratch.arena == NULL; i++) {
        if (ab_scratch_arenas[i] == NULL)
            ab_scratch_arenas[i] = scratch_open();
        if (ab_scratch_arenas[i] != NULL &&
            !scratch_is_conflict(ab_scratch_arenas[i], conflicts, n))
            scratch.arena = ab_scratch_arenas[i];
    }
    if (scratch.arena != NULL)
        scratch.mark = ab_arena_save(scratch.arena);
    return scratch;
}

void ab_scratch_close(void)
{
    scratch_close_arenas(ab_scratch_arenas);
}
