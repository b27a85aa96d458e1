/* SPDX-License-Identifier: MIT
 *
 * Blocks larger than runs. Each is a mapping, found by address in a hash table. So nothing is
 * stored in front of a block, one of 2 MiB takes 2 MiB, and a wrong free is recognized without
 * touching the memory. Growing moves pages, not bytes. A few freed mappings are kept for
 * AB_DECAY_MS, because a new mapping costs two system calls and a fault per page.
 */
#include "allocators/common/pages.h"
#include "allocators/slab_malloc/slab_malloc.h"

struct mapping {
    char *at; /* NULL = unused */
    size_t bytes;
};

struct spare {
    struct mapping map;
    uint32_t since_ms;
};

enum { N_SPARE = 8, FIRST_SLOTS = 128 };
#define SPARE_BYTES ((size_t)32 << 20) /* limit for all spare mappings together */

pthread_mutex_t ab_large_mutex = PTHREAD_MUTEX_INITIALIZER; /* protects all data below */
static struct mapping first_slots[FIRST_SLOTS],
    /* slots of the hash table; at most half are used */
    *slots = first_slots;
static size_t n_slots = FIRST_SLOTS, n_mappings; /* n_slots is a power of two */
static struct spare spares[N_SPARE];
static size_t spare_bytes;

/* ---- the table ---- */

static size_t home_of(const void *p)
{
    return (size_t)(((uintptr_t)p >> 12) * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (n_slots - 1);
}

/* Returns the slot of a mapping, or the empty slot where it would be inserted. */
static struct mapping *slot_of(const void *p)
{
    size_t i = home_of(p);
    while (slots[i].at != NULL && slots[i].at != p)
        i = (i + 1) & (n_slots - 1);
    return &slots[i];
}

static bool grow_table(void)
{
    struct mapping *old = slots;
    size_t n_old = n_slots;
    struct mapping *more = ab_pages_map(ab_round_up(2 * n_old * sizeof *more, ab_page_size()), 0);
    if (more == NULL)
        return false;
    slots = more;
    n_slots = 2 * n_old;
    for (size_t i = 0; i < n_old; i++)
        if (old[i].at != NULL)
            *slot_of(old[i].at) = old[i];
    if (old != first_slots)
        ab_pages_release(old, ab_round_up(n_old * sizeof *old, ab_page_size()));
    return true;
}

static void add(char *at, size_t bytes)
{
    *slot_of(at) = (struct mapping){at, bytes};
    n_mappings++;
}

/* Removes a slot. Moves up the slots that follow, so that no search ends too early. */
static void take_out(struct mapping *slot)
{
    size_t mask = n_slots - 1, hole = (size_t)(slot - slots);
    for (size_t i = (hole + 1) & mask; slots[i].at != NULL; i = (i + 1) & mask)
        if (((i - home_of(slots[i].at)) & mask) >= ((i - hole) & mask)) {
            slots[hole] = slots[i];
            hole = i;
        }
    slots[hole] = (struct mapping){0};
    n_mappings--;
}

/* ---- spare mappings ---- */

static struct mapping drop(struct spare *spare)
{
    struct mapping map = spare->map;
    spare_bytes -= map.bytes;
    spare->map = (struct mapping){0};
    return map;
}

/* Takes the smallest spare mapping that fits and is at most an eighth larger. */
static struct mapping take_spare(size_t bytes, size_t align)
{
    struct spare *best = NULL;
    for (struct spare *s = spares; s < spares + N_SPARE; s++)
        if (s->map.at != NULL && s->map.bytes >= bytes && s->map.bytes - bytes <= bytes / 8 &&
            ((uintptr_t)s->map.at & (align - 1)) == 0 &&
            (best == NULL || s->map.bytes < best->map.bytes))
            best = s;
    return best != NULL ? drop(best) : (struct mapping){0};
}

/* Keeps a freed mapping as a spare. Returns the mapping that has to be unmapped instead, if any. */
static struct mapping keep(struct mapping map)
{
    struct spare *place = spares;
    if (map.bytes > SPARE_BYTES / 2)
        return map;
    for (struct spare *s = spares; s < spares + N_SPARE && place->map.at != NULL; s++)
        if (s->map.at == NULL || (int32_t)(s->since_ms - place->since_ms) < 0)
            place = s;
    struct mapping old = {0};
    if (place->map.at != NULL)
        old = drop(place);
    if (spare_bytes + map.bytes > SPARE_BYTES) { /* no room: only the oldest spare is unmapped */
        if (old.at != NULL)
            ab_pages_release(old.at, old.bytes);
        return map;
    }
    *place = (struct spare){map, ab_clock_ms()};
    spare_bytes += map.bytes;
    return old;
}

void ab_large_purge(uint32_t now_ms, bool all)
{
    ab_lock_take(&ab_large_mutex);
    for (struct spare *s = spares; s < spares + N_SPARE; s++)
        if (s->map.at != NULL && (all || ab_clock_is_due(s->since_ms, now_ms))) {
            struct mapping map = drop(s);
            ab_pages_release(map.at, map.bytes);
        }
    ab_lock_release(&ab_large_mutex);
}

/* ---- blocks ---- */

void *ab_large_alloc(size_t size, size_t align, bool *is_zero)
{
    size_t bytes = ab_round_up(size, ab_page_size());
    ab_lock_take(&ab_large_mutex);
    bool has_room = 2 * (n_mappings + 1) <= n_slots || grow_table();
    struct mapping map = has_room ? take_spare(bytes, align) : (struct mapping){0};
    *is_zero = map.at == NULL;
    if (has_room && map.at == NULL)
        map = (struct mapping){ab_pages_map(bytes, align), bytes};
    if (map.at != NULL)
        add(map.at, map.bytes);
    ab_lock_release(&ab_large_mutex);
    return map.at;
}

void ab_large_free(void *p)
{
    ab_lock_take(&ab_large_mutex);
    struct mapping *slot = slot_of(p), gone = *slot;
    bool is_block = gone.at != NULL;
    if (is_block) {
        take_out(slot);
        gone = keep(gone);
    }
    ab_lock_release(&ab_large_mutex);
    if (!is_block) /* the lock is released before this, because a handler of SIGABRT may allocate */
        ab_fail_free(p, "it is no block, or was freed already");
    if (gone.at != NULL)
        ab_pages_release(gone.at, gone.bytes);
}

size_t ab_large_usable(const void *p)
{
    ab_lock_take(&ab_large_mutex);
    const struct mapping *slot = slot_of(p);
    size_t bytes = slot->at != NULL ? slot->bytes : 0;
    ab_lock_release(&ab_large_mutex);
    return bytes;
}

/* Resizes a mapping. Holds the lock throughout: otherwise another thread could map and enter an
 * address that the system has just freed. */
void *ab_large_resize(void *p, size_t size)
{
    size_t bytes = ab_round_up(size, ab_page_size());
    ab_lock_take(&ab_large_mutex);
    struct mapping *slot = slot_of(p);
    char *moved = p;
    if (bytes != slot->bytes) {
        moved = ab_pages_remap(p, slot->bytes, bytes);
        if (moved == NULL)
            moved = bytes < slot->bytes ? p : NULL;
        else {
            take_out(slot);
            add(moved, bytes);
        }
    }
    ab_lock_release(&ab_large_mutex);
    return moved;
}

/* ---- giving memory back over time ----
 *
 * No thread exists for this. Every call that frees or takes spans or mappings looks at the clock.
 * Once per period, one of these calls gives back the memory that was not taken again. */

static uint32_t last_ms; /* atomic */

void ab_decay_tick(void)
{
    uint32_t now = ab_clock_ms(), last = __atomic_load_n(&last_ms, __ATOMIC_RELAXED);
    if (!ab_clock_is_due(last, now) ||
        !__atomic_compare_exchange_n(&last_ms, &last, now, false, __ATOMIC_RELAXED,
                                     __ATOMIC_RELAXED))
        return;
    ab_page_heap_purge(now, false);
    ab_large_purge(now, false);
}
