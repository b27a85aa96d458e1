/* SPDX-License-Identifier: MIT
 *
 * One mistake with one allocator, both by name, for scripts/misuse-table: what notices it in which
 * build. Exit code 77 where an allocator has no such mistake; "refused" where a call said no.
 *   usage: misuse_cells MISTAKE ALLOCATOR      (the mistake `none`: much work and no mistake)
 */
#include "allocators/arena/arena_shared.h"
#include "allocators/handle/handle.h"
#include "allocators/paged/paged_arena.h"
#include "allocators/paged/paged_locked.h"
#include "allocators/pool/pool_lockfree.h"
#include "allocators/pool/pool_shared.h"
#include "allocators/slab/slab_shared.h"

#include <stdio.h>
#include <time.h>

enum { HEAPS = 2, SIZE = 64, SHORT_SIZE = 40, WORK = 3000, HELD = 50, NO_SUCH_MISTAKE = 77 };
enum { NO_HEAP = -1, LARGE = 20000, RACE_SECONDS = 60 };

/* The heap of that number; of NO_HEAP NULL. */
#define AT(heaps) (which < 0 ? NULL : &(heaps)[which])

/* Of an arena, which frees no block, `give` is a resize that moves it. `which` is 0 or 1: two heaps
 * of a kind; get takes NO_HEAP too. */
struct kind {
    const char *name;
    bool (*open)(int which, size_t size);
    char *(*get)(int which, size_t size);
    bool (*give)(int which, char *block, size_t size);
    void (*reset)(int which);
    void (*purge)(int which);
    void (*close)(int which);
    bool (*restore_stale)(int which);
    bool (*resize_dead)(char *block, size_t new_size); /* of what frees and resizes */
    bool (*grow_over_dead)(void); /* of what grows in place: the memory behind was written to */
    bool frees, takes_sizes;
    size_t largest;
    bool is_alone; /* one thread at a time */
};

/* ---- the allocators ---- */

static struct ab_arena arenas[HEAPS];

static bool arena_open(int which, size_t size)
{
    struct ab_arena_options options = {.reserve_bytes = (size_t)1 << 24};
    (void)size;
    return ab_arena_init(&arenas[which], &options) == 0;
}

static char *arena_get(int which, size_t size)
{
    return ab_arena_alloc(AT(arenas), size);
}

static bool arena_give(int which, char *block, size_t size)
{
    return ab_arena_resize(&arenas[which], block, size, 10 * size) != NULL;
}

static void arena_reset(int which)
{
    ab_arena_reset(&arenas[which]);
}

static void arena_purge(int which)
{
    ab_arena_purge(&arenas[which]);
}

static void arena_close(int which)
{
    ab_arena_fini(&arenas[which]);
}

static bool arena_restore_stale(int which)
{
    struct ab_arena_mark mark = ab_arena_save(&arenas[which]);
    ab_arena_reset(&arenas[which]);
    ab_arena_alloc(&arenas[which], 1000);
    ab_arena_restore(&arenas[which], mark);
    return true;
}

static bool arena_grow_over_dead(void)
{
    char *block = ab_arena_alloc(&arenas[0], SIZE);
    struct ab_arena_mark mark = ab_arena_save(&arenas[0]);
    volatile char *dead = ab_arena_alloc(&arenas[0], SIZE);
    ab_arena_restore(&arenas[0], mark);
    dead[SHORT_SIZE] = 3;
    return ab_arena_resize(&arenas[0], block, SIZE, 10 * SIZE) == block;
}

static struct ab_pool pools[HEAPS];

static bool pool_open(int which, size_t size)
{
    struct ab_pool_options options = {.slot_bytes = SIZE + 32, .grows = true};
    (void)size;
    return ab_pool_init(&pools[which], &options) == 0;
}

static char *pool_get(int which, size_t size)
{
    return ab_pool_alloc(AT(pools), size);
}

static bool pool_give(int which, char *block, size_t size)
{
    ab_pool_free_sized(&pools[which], block, size);
    return true;
}

static void pool_reset(int which)
{
    ab_pool_reset(&pools[which]);
}

static void pool_purge(int which)
{
    ab_pool_purge(&pools[which]);
}

static void pool_close(int which)
{
    ab_pool_fini(&pools[which]);
}

static struct ab_slabs slabs[HEAPS];

static bool slab_open(int which, size_t size)
{
    struct ab_slabs_options options = {.reserve_bytes = (size_t)1 << 24, .keep_max = 4};
    (void)size;
    return ab_slabs_init(&slabs[which], &options) == 0;
}

static char *slab_get(int which, size_t size)
{
    return ab_slabs_alloc(AT(slabs), size);
}

static bool slab_give(int which, char *block, size_t size)
{
    ab_slabs_free_sized(&slabs[which], block, size);
    return true;
}

static void slab_reset(int which)
{
    ab_slabs_reset(&slabs[which]);
}

static void slab_purge(int which)
{
    ab_slabs_purge(&slabs[which]);
}

static void slab_close(int which)
{
    ab_slabs_fini(&slabs[which]);
}

static bool slab_resize_dead(char *block, size_t new_size)
{
    ab_slabs_free(&slabs[0], block);
    return ab_slabs_resize(&slabs[0], block, SIZE, new_size) != NULL;
}

static struct ab_paged_pool paged_pools[HEAPS];

static bool paged_pool_open(int which, size_t size)
{
    (void)size;
    return ab_paged_pool_init(&paged_pools[which], "level", (size_t)1 << 24) == 0;
}

static char *paged_pool_get(int which, size_t size)
{
    return ab_paged_pool_alloc(AT(paged_pools), size, 0);
}

/* The sized one says nothing, so it is asked where the size is in order. */
static bool paged_pool_give(int which, char *block, size_t size)
{
    if (size == SIZE || size == SHORT_SIZE)
        return ab_paged_pool_free(&paged_pools[which], block);
    ab_paged_pool_free_sized(&paged_pools[which], block, size);
    return true;
}

static void paged_pool_reset(int which)
{
    ab_paged_pool_reset(&paged_pools[which]);
}

static void paged_pool_purge(int which)
{
    ab_paged_pool_purge(&paged_pools[which]);
}

static void paged_pool_close(int which)
{
    ab_paged_pool_fini(&paged_pools[which]);
}

static bool paged_pool_resize_dead(char *block, size_t new_size)
{
    ab_paged_pool_free(&paged_pools[0], block);
    return ab_paged_pool_resize(&paged_pools[0], block, new_size) != NULL;
}

static bool paged_pool_grow_over_dead(void)
{
    char *block = ab_paged_pool_alloc(&paged_pools[0], SIZE, 0);
    volatile char *dead = ab_paged_pool_alloc(&paged_pools[0], SIZE, 0);
    ab_paged_pool_free(&paged_pools[0], (char *)dead);
    dead[SHORT_SIZE] = 3;
    return ab_paged_pool_resize_in_place(&paged_pools[0], block, 10 * SIZE);
}

static struct ab_paged_arena paged_arenas[HEAPS];

static bool paged_arena_open(int which, size_t size)
{
    return paged_pool_open(which, size) &&
           ab_paged_arena_init(&paged_arenas[which], &paged_pools[which], 4096, 0) == 0;
}

static char *paged_arena_get(int which, size_t size)
{
    return ab_paged_arena_alloc(AT(paged_arenas), size);
}

static bool paged_arena_give(int which, char *block, size_t size)
{
    return ab_paged_arena_resize(&paged_arenas[which], block, size, 10 * size, 0) != NULL;
}

static void paged_arena_reset(int which)
{
    ab_paged_arena_clear(&paged_arenas[which]);
}

static void paged_arena_close(int which)
{
    ab_paged_arena_fini(&paged_arenas[which]);
    paged_pool_close(which);
}

static bool paged_arena_restore_stale(int which)
{
    struct ab_paged_mark mark = ab_paged_arena_save(&paged_arenas[which]);
    ab_paged_arena_clear(&paged_arenas[which]);
    ab_paged_arena_alloc(&paged_arenas[which], 1000);
    ab_paged_arena_restore(&paged_arenas[which], mark);
    return true;
}

static bool paged_arena_grow_over_dead(void)
{
    char *block = ab_paged_arena_alloc(&paged_arenas[0], SIZE);
    struct ab_paged_mark mark = ab_paged_arena_save(&paged_arenas[0]);
    volatile char *dead = ab_paged_arena_alloc(&paged_arenas[0], SIZE);
    ab_paged_arena_restore(&paged_arenas[0], mark);
    dead[SHORT_SIZE] = 3;
    return ab_paged_arena_resize(&paged_arenas[0], block, SIZE, 10 * SIZE, 0) == block;
}

/* The handles of all values, by address: what was given last counts. */
static struct ab_handle_arena tables[HEAPS];
static struct ab_handle handles[2 * HELD];
static const char *values[2 * HELD];
static unsigned n_handles;

static bool handle_open(int which, size_t size)
{
    struct ab_handle_options options = {.value_bytes = size, .capacity = 100};
    return ab_handle_arena_init(&tables[which], &options) == 0;
}

static char *handle_get(int which, size_t size)
{
    struct ab_handle handle;
    (void)size;
    if (ab_handle_insert(AT(tables), &handle) != 0)
        return NULL;
    char *value = ab_handle_get_mut(&tables[which], handle);
    unsigned at = 0;
    while (at < n_handles && values[at] != value)
        at++;
    n_handles += at == n_handles;
    handles[at] = handle;
    values[at] = value;
    return value;
}

static bool handle_give(int which, char *block, size_t size)
{
    unsigned at = 0;
    (void)size;
    while (at < n_handles && values[at] != block)
        at++;
    return ab_handle_remove(&tables[which], handles[at]);
}

static void handle_reset(int which)
{
    ab_handle_flush(&tables[which]);
}

static void handle_purge(int which)
{
    ab_handle_purge(&tables[which]);
}

static void handle_close(int which)
{
    ab_handle_arena_fini(&tables[which]);
}

/* ---- those for several threads: of the two heaps each thread has one of its own ---- */

static struct ab_arena_shared *shared_arenas[HEAPS], *own_arenas[HEAPS];

static bool shared_arena_open(int which, size_t size)
{
    struct ab_arena_shared_options options = {.arena = {.reserve_bytes = (size_t)1 << 24},
                                              .threads = {.mode = AB_SHARDS_LOCAL, .n = 2}};
    (void)size;
    shared_arenas[which] = ab_arena_shared_open(&options);
    own_arenas[which] = ab_arena_shared_enter(shared_arenas[which], 0);
    return own_arenas[which] != NULL;
}

static char *shared_arena_get(int which, size_t size)
{
    return ab_arena_shared_alloc(which < 0 ? NULL : own_arenas[which], size);
}

static bool shared_arena_give(int which, char *block, size_t size)
{
    return ab_arena_shared_resize(own_arenas[which], block, size, 10 * size) != NULL;
}

static bool shared_arena_restore_stale(int which)
{
    struct ab_arena_mark mark = ab_arena_shared_save(own_arenas[which]);
    ab_arena_shared_reset(shared_arenas[which]);
    ab_arena_shared_alloc(own_arenas[which], 1000);
    ab_arena_shared_restore(own_arenas[which], mark);
    return true;
}

static struct ab_pool_shared *shared_pools[HEAPS], *own_pools[HEAPS];

static bool shared_pool_open(int which, size_t size)
{
    struct ab_pool_shared_options options = {.pool = {.slot_bytes = SIZE + 32, .grows = true},
                                             .threads = {.mode = AB_SHARDS_LOCAL, .n = 2}};
    (void)size;
    shared_pools[which] = ab_pool_shared_open(&options);
    own_pools[which] = ab_pool_shared_enter(shared_pools[which], 0);
    return own_pools[which] != NULL;
}

static char *shared_pool_get(int which, size_t size)
{
    return ab_pool_shared_alloc(which < 0 ? NULL : own_pools[which], size);
}

static bool shared_pool_give(int which, char *block, size_t size)
{
    ab_pool_shared_free_sized(own_pools[which], block, size);
    return true;
}

static struct ab_slab_shared *shared_slabs[HEAPS], *own_slabs[HEAPS];

static bool shared_slab_open(int which, size_t size)
{
    struct ab_slab_shared_options options = {.threads = {.mode = AB_SHARDS_LOCAL, .n = 2}};
    (void)size;
    shared_slabs[which] = ab_slab_shared_open(&options);
    own_slabs[which] = ab_slab_shared_enter(shared_slabs[which], 0);
    return own_slabs[which] != NULL;
}

static char *shared_slab_get(int which, size_t size)
{
    return ab_slab_shared_alloc(which < 0 ? NULL : own_slabs[which], size);
}

static bool shared_slab_give(int which, char *block, size_t size)
{
    ab_slab_shared_free_sized(own_slabs[which], block, size);
    return true;
}

static bool shared_slab_resize_dead(char *block, size_t new_size)
{
    ab_slab_shared_free(own_slabs[0], block);
    return ab_slab_shared_resize(own_slabs[0], block, SIZE, new_size) != NULL;
}

#define SHARED(name, heaps) \
    static void shared_##name##_reset(int which) \
    { \
        ab_##name##_shared_reset(heaps[which]); \
    } \
    static void shared_##name##_purge(int which) \
    { \
        ab_##name##_shared_purge(heaps[which]); \
    } \
    static void shared_##name##_close(int which) \
    { \
        ab_##name##_shared_close(heaps[which]); \
    }
SHARED(arena, shared_arenas)
SHARED(pool, shared_pools)
SHARED(slab, shared_slabs)

static struct ab_pool_lockfree lockfree_pools[HEAPS];

static bool lockfree_open(int which, size_t size)
{
    struct ab_pool_lockfree_options options = {.slot_bytes = SIZE + 32, .n_slots = 1000};
    (void)size;
    return ab_pool_lockfree_init(&lockfree_pools[which], &options) == 0;
}

static char *lockfree_get(int which, size_t size)
{
    return ab_pool_lockfree_alloc(AT(lockfree_pools), size);
}

static bool lockfree_give(int which, char *block, size_t size)
{
    ab_pool_lockfree_free_sized(&lockfree_pools[which], block, size);
    return true;
}

static void lockfree_reset(int which)
{
    ab_pool_lockfree_reset(&lockfree_pools[which]);
}

static void lockfree_purge(int which)
{
    ab_pool_lockfree_purge(&lockfree_pools[which]);
}

static void lockfree_close(int which)
{
    ab_pool_lockfree_fini(&lockfree_pools[which]);
}

static struct ab_paged_locked locked_pools[HEAPS];

static bool locked_open(int which, size_t size)
{
    (void)size;
    return ab_paged_locked_init(&locked_pools[which], "level", (size_t)1 << 24) == 0;
}

static char *locked_get(int which, size_t size)
{
    return ab_paged_locked_alloc(AT(locked_pools), size, 0);
}

static bool locked_give(int which, char *block, size_t size)
{
    if (size == SIZE || size == SHORT_SIZE)
        return ab_paged_locked_free(&locked_pools[which], block);
    ab_paged_locked_free_sized(&locked_pools[which], block, size);
    return true;
}

static void locked_reset(int which)
{
    ab_paged_locked_reset(&locked_pools[which]);
}

static void locked_purge(int which)
{
    ab_paged_locked_purge(&locked_pools[which]);
}

static void locked_close(int which)
{
    ab_paged_locked_fini(&locked_pools[which]);
}

static bool locked_resize_dead(char *block, size_t new_size)
{
    ab_paged_locked_free(&locked_pools[0], block);
    return ab_paged_locked_resize(&locked_pools[0], block, new_size) != NULL;
}

static const struct kind kinds[] = {
    {"shared arena", shared_arena_open, shared_arena_get, shared_arena_give, shared_arena_reset,
     shared_arena_purge, shared_arena_close, shared_arena_restore_stale, NULL, NULL, false, true,
     3000, false},
    {"shared pool", shared_pool_open, shared_pool_get, shared_pool_give, shared_pool_reset,
     shared_pool_purge, shared_pool_close, NULL, NULL, NULL, true, true, SIZE, false},
    {"shared slab", shared_slab_open, shared_slab_get, shared_slab_give, shared_slab_reset,
     shared_slab_purge, shared_slab_close, NULL, shared_slab_resize_dead, NULL, true, true, 9000,
     false},
    {"lock-free pool", lockfree_open, lockfree_get, lockfree_give, lockfree_reset, lockfree_purge,
     lockfree_close, NULL, NULL, NULL, true, true, SIZE, false},
    {"locked paged pool", locked_open, locked_get, locked_give, locked_reset, locked_purge,
     locked_close, NULL, locked_resize_dead, NULL, true, true, 9000, false},
    {"arena", arena_open, arena_get, arena_give, arena_reset, arena_purge, arena_close,
     arena_restore_stale, NULL, arena_grow_over_dead, false, true, 3000, true},
    {"paged arena", paged_arena_open, paged_arena_get, paged_arena_give, paged_arena_reset,
     paged_pool_purge, paged_arena_close, paged_arena_restore_stale, NULL,
     paged_arena_grow_over_dead, false, true, 3000, true},
    {"pool", pool_open, pool_get, pool_give, pool_reset, pool_purge, pool_close, NULL, NULL, NULL,
     true, true, SIZE, true},
    {"slab", slab_open, slab_get, slab_give, slab_reset, slab_purge, slab_close, NULL,
     slab_resize_dead, NULL, true, true, 9000, true},
    {"paged pool", paged_pool_open, paged_pool_get, paged_pool_give, paged_pool_reset,
     paged_pool_purge, paged_pool_close, NULL, paged_pool_resize_dead, paged_pool_grow_over_dead,
     true, true, 9000, true},
    {"handle", handle_open, handle_get, handle_give, handle_reset, handle_purge, handle_close, NULL,
     NULL, NULL, true, false, 0, true},
};

/* ---- the mistakes ---- */

static const struct kind *kind;
static const char *mistake;

static bool is(const char *name)
{
    return strcmp(mistake, name) == 0;
}

static char *get(size_t size)
{
    char *block = kind->get(0, size);
    if (block != NULL)
        memset(block, 1, size);
    return block;
}

static int refused_unless(bool is_done)
{
    if (!is_done)
        puts("refused");
    return 0;
}

/* Blocks of all sizes come and go, all of them at last; pages go back while a few live. */
static int work(void)
{
    static char *held[HELD];
    static size_t sizes[HELD];
    unsigned random = 1;
    for (int i = 0; i < WORK; i++) {
        random = random * 1103515245u + 12345u;
        unsigned k = (random >> 16 & 0x7fff) % HELD;
        if (i % 1000 == 999) {
            kind->reset(0);
            memset(held, 0, sizeof held);
        }
        if (i % 1000 == 20)
            kind->purge(0);
        if (held[k] != NULL && kind->frees && !kind->give(0, held[k], sizes[k]))
            return 1;
        sizes[k] = kind->largest == 0 ? SIZE : 1 + (random >> 8) % kind->largest;
        held[k] = get(sizes[k]);
        if (held[k] == NULL)
            return 1;
    }
    kind->reset(0);
    return 0;
}

/* ---- threads ---- */

static time_t race_end;

/* Two threads do this at the same time: the heap may be in any state then. */
static void *race(void *context)
{
    while (time(NULL) < race_end) {
        struct ab_handle handle;
        if (kind->largest == 0) {
            if (ab_handle_insert(&tables[0], &handle) == 0)
                ab_handle_remove(&tables[0], handle);
            continue;
        }
        char *block = kind->get(0, SIZE);
        if (block == NULL)
            kind->reset(0);
        else if (kind->frees)
            kind->give(0, block, SIZE);
    }
    return context;
}

static void *use_once(void *context)
{
    kind->get(0, SIZE);
    return context;
}

/* The heap is this thread's. */
static int in_a_thread(void *(*work)(void *), bool is_race)
{
    pthread_t other;
    race_end = time(NULL) + RACE_SECONDS;
    if (pthread_create(&other, NULL, work, NULL) != 0)
        return 2;
    if (is_race)
        work(NULL);
    pthread_join(other, NULL);
    return 0;
}

/* ---- blocks beyond the size classes ---- */

static int with_large(void)
{
    if (kind->largest < LARGE / 4 || strstr(kind->name, "slab") == NULL)
        return NO_SUCH_MISTAKE;
    volatile char *block = kind->get(0, LARGE), *other = kind->get(1, LARGE);
    if (is("overflow of a large block"))
        block[LARGE] = 1;
    if (is("underflow of a large block"))
        block[-40] = 1;
    if (is("free of a large block in another heap"))
        kind->give(0, (char *)other, LARGE);
    else
        kind->give(0, (char *)block, LARGE);
    if (is("double free of a large block"))
        kind->give(0, (char *)block, LARGE);
    if (is("write after the free of a large block"))
        block[100] = 1;
    return 0;
}

/* A block of an allocator of another kind. */
static char *get_elsewhere(void)
{
    bool is_pool = strcmp(kind->name, "pool") == 0;
    if (is_pool ? !slab_open(0, SIZE) : !pool_open(0, SIZE))
        return NULL;
    return is_pool ? slab_get(0, SIZE) : pool_get(0, SIZE);
}

static int hand_in_wrongly(char *block, char *other)
{
    bool is_handle = strcmp(kind->name, "handle") == 0;
    if (is("double free"))
        return refused_unless(kind->give(0, block, SIZE) && kind->give(0, block, SIZE));
    if (is("free in another heap"))
        return refused_unless(kind->give(0, other, SIZE));
    if (is("free in another allocator"))
        return is_handle ? NO_SUCH_MISTAKE : refused_unless(kind->give(0, get_elsewhere(), SIZE));
    if (is("free of an address on the stack") || is("free of an address that is nowhere")) {
        _Alignas(16) char bytes[512] = {0};
        char *at = is("free of an address on the stack") ? bytes + 256 : (char *)0x123456780;
        return is_handle ? NO_SUCH_MISTAKE : refused_unless(kind->give(0, at, SIZE));
    }
    if (is("free of a pointer into a block"))
        return is_handle ? NO_SUCH_MISTAKE : refused_unless(kind->give(0, block + 16, SIZE));
    if (is("wrong size"))
        return kind->takes_sizes ? refused_unless(kind->give(0, block, SIZE - 1)) : NO_SUCH_MISTAKE;
    if (is("resize after free") || is("resize in place after free")) {
        size_t new_size = is("resize after free") ? 10 * SIZE : SIZE - 8;
        return kind->resize_dead == NULL ? NO_SUCH_MISTAKE
                                         : refused_unless(kind->resize_dead(block, new_size));
    }
    if (is("growth over a write after free"))
        return kind->grow_over_dead == NULL ? NO_SUCH_MISTAKE : !kind->grow_over_dead();
    if (is("stale handle")) {
        if (!is_handle)
            return NO_SUCH_MISTAKE;
        struct ab_handle stale = handles[1];
        ab_handle_remove(&tables[0], stale);
        return refused_unless(ab_handle_get(&tables[0], stale) != NULL);
    }
    if (is("stale save point"))
        return kind->restore_stale == NULL ? NO_SUCH_MISTAKE
                                           : refused_unless(kind->restore_stale(0));
    if (is("tag that is none") && strcmp(kind->name, "paged arena") == 0)
        return refused_unless(ab_paged_arena_alloc_tagged(&paged_arenas[0], SIZE, 99) != NULL);
    if (is("tag that is none"))
        return strcmp(kind->name, "paged pool") != 0
                   ? NO_SUCH_MISTAKE
                   : refused_unless(ab_paged_pool_alloc(&paged_pools[0], SIZE, 99) != NULL);
    if (is("alignment that is none"))
        return strcmp(kind->name, "slab") != 0 && strcmp(kind->name, "arena") != 0 ? NO_SUCH_MISTAKE
               : strcmp(kind->name, "slab") == 0
                   ? refused_unless(ab_slabs_alloc_aligned(&slabs[0], 24, SIZE) != NULL)
                   : refused_unless(ab_arena_alloc_aligned(&arenas[0], 24, SIZE) != NULL);
    if (is("heap that is NULL")) {
        kind->get(NO_HEAP, SIZE);
        return 0;
    }
    if (is("heap of another thread"))
        return strncmp(kind->name, "shared", 6) != 0 ? NO_SUCH_MISTAKE
                                                     : in_a_thread(use_once, false);
    if (is("two threads at the same time"))
        return kind->is_alone ? in_a_thread(race, true) : NO_SUCH_MISTAKE;
    if (strstr(mistake, "large block") != NULL)
        return with_large();
    return 2; /* no such word */
}

/* `block` has a neighbour before and behind it. */
static int blunder(volatile char *block, char *other)
{
    if (is("overflow"))
        block[SHORT_SIZE] = 64;
    else if (is("overflow into the next block"))
        block[SIZE] = 64;
    else if (is("overflow by 16 bytes"))
        block[SIZE + 15] = 64;
    else if (is("underflow"))
        block[-1] = 64;
    else if (is("underflow by 40 bytes"))
        block[-40] = 64;
    else if (is("write after free")) {
        if (!kind->frees)
            return NO_SUCH_MISTAKE;
        kind->give(0, (char *)block, SIZE);
        block[SHORT_SIZE] = 3;
        return get(SIZE) == NULL;
    } else if (is("use after reset")) {
        kind->reset(0);
        block[SHORT_SIZE] = 3;
        for (int i = 0; i < 4; i++)
            get(SIZE);
        return 0;
    } else if (is("heap that is closed")) {
        return 0;
    } else if (is("leak")) {
        return kind->frees ? 0 : NO_SUCH_MISTAKE;
    } else {
        return hand_in_wrongly((char *)block, other);
    }
    return kind->frees && !kind->give(0, (char *)block, is("overflow") ? SHORT_SIZE : SIZE);
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    mistake = argv[1];
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(kinds[i].name, argv[2]) == 0)
            kind = &kinds[i];
    size_t size = is("overflow") ? SHORT_SIZE : SIZE;
    if (kind == NULL || !kind->open(0, size) || !kind->open(1, size))
        return 2;
    char *first = get(size), *block = get(size), *third = get(size), *other = kind->get(1, SIZE);
    if (first == NULL || block == NULL || third == NULL || other == NULL)
        return 2;
    int code = is("none") ? work() : blunder(block, other);
    if (code != 0)
        return code;
    if (!is("leak"))
        kind->reset(0);
    kind->close(0);
    if (is("heap that is closed"))
        kind->get(0, SIZE);
    kind->reset(1);
    kind->close(1);
    return 0;
}
