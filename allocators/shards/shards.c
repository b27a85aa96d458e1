/* SPDX-License-Identifier: MIT
 *
 * Members, their spans, and the way of a block back to its owner. None of it is a fast path.
 */
#include "allocators/shards/shards.h"

#include "allocators/os_map.h"

enum { CACHE_LINES = 128 }; /* a pair of lines: the prefetcher takes two */
enum { SPAN_LOG2_MAX = 42 };

static uint32_t count_members(const struct ab_team_options *o)
{
    if (o->mode == AB_TEAM_SHARDED)
        return o->shards > 0 ? o->shards : 1;
    if (o->mode != AB_TEAM_LOCAL)
        return 1;
    return o->lanes < AB_TEAM_MEMBERS_MAX ? o->lanes + 1 : UINT32_MAX;
}

static unsigned log2_above(size_t bytes)
{
    return bytes <= 1 ? 0 : (unsigned)(64 - __builtin_clzll(bytes - 1));
}

/* Addresses for all, at a multiple of a span; half as many each time that the system refuses. */
static int reserve_spans(struct ab_team *team, size_t span_bytes)
{
    unsigned least = log2_above(ab_os_page_bytes()) + 4, log2 = log2_above(span_bytes);
    for (log2 = log2 > SPAN_LOG2_MAX ? SPAN_LOG2_MAX : log2; log2 >= least; log2--) {
        size_t bytes = (size_t)team->n_members << log2;
        if (bytes >> log2 != team->n_members)
            continue;
        team->span_log2 = log2;
        team->range = ab_os_map(bytes, (size_t)1 << log2, PROT_NONE);
        if (team->range != NULL)
            return 0;
    }
    return ENOMEM;
}

static void init_member(struct ab_team *team, uint32_t index)
{
    struct ab_member *member = ab_team_at(team, index);
    member->team = team;
    member->mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    member->is_plain = team->mode == AB_TEAM_ONE || (team->mode == AB_TEAM_LOCAL && index > 0);
    if (!member->is_plain)
        return;
    member->own_base = team->range != NULL ? (uintptr_t)ab_team_span(team, member) : 1;
    member->own_bytes = team->range != NULL ? (size_t)1 << team->span_log2 : SIZE_MAX - 1;
}

struct ab_team *ab_team_open(const struct ab_team_options *o)
{
    size_t page = ab_os_page_bytes(), head = ab_os_round_up(sizeof(struct ab_team), CACHE_LINES);
    size_t each = ab_os_round_up(o->member_bytes, CACHE_LINES);
    uint32_t n = count_members(o);
    if (n > AB_TEAM_MEMBERS_MAX) {
        errno = EINVAL;
        return NULL;
    }
    size_t map_bytes = ab_os_round_up(head + n * each, page);
    struct ab_team *team = ab_os_map(map_bytes, page, PROT_READ | PROT_WRITE);
    if (team == NULL)
        return NULL;
    *team = (struct ab_team){.mode = o->mode,
                             .n_members = n,
                             .member_bytes = each,
                             .map_bytes = map_bytes,
                             .members = (char *)team + head,
                             .free_own = o->free_own};
    int error = o->span_bytes > 0 ? reserve_spans(team, o->span_bytes) : 0;
    if (error != 0) {
        ab_os_unmap(team, map_bytes);
        errno = error;
        return NULL;
    }
    for (uint32_t i = 0; i < team->n_members; i++)
        init_member(team, i);
    return team;
}

void ab_team_close(struct ab_team *team)
{
    if (team->range != NULL)
        munmap(team->range, (size_t)team->n_members << team->span_log2);
    munmap(team, team->map_bytes);
}

struct ab_member *ab_team_at(const struct ab_team *team, uint32_t index)
{
    return (struct ab_member *)(team->members + index * team->member_bytes);
}

static uint32_t index_of(const struct ab_member *member)
{
    const struct ab_team *team = member->team;
    return (uint32_t)((size_t)((const char *)member - team->members) / team->member_bytes);
}

struct ab_member *ab_team_next(const struct ab_member *whole, const struct ab_member *each)
{
    uint32_t next = index_of(each) + 1;
    return index_of(whole) == 0 && next < whole->team->n_members ? ab_team_at(whole->team, next)
                                                                 : NULL;
}

char *ab_team_span(const struct ab_team *team, const struct ab_member *member)
{
    return team->range + ((size_t)index_of(member) << team->span_log2);
}

struct ab_member *ab_team_enter(const struct ab_team *team, uint32_t lane)
{
    if (team->mode == AB_TEAM_SHARDED)
        return ab_team_at(team, lane % team->n_members);
    if (team->mode != AB_TEAM_LOCAL)
        return ab_team_at(team, 0);
    return lane < team->n_members - 1 ? ab_team_at(team, lane + 1) : NULL;
}

struct ab_member *ab_team_owner(const struct ab_team *team, const void *block)
{
    if (team->range == NULL)
        return ab_team_at(team, 0);
    size_t index = ((uintptr_t)block - (uintptr_t)team->range) >> team->span_log2;
    return index < team->n_members ? ab_team_at(team, (uint32_t)index) : NULL;
}

/* ---- blocks on their way ---- */

static void push_chain(struct ab_member *owner, struct ab_team_link *first,
                       struct ab_team_link *last)
{
    struct ab_team_link *head = __atomic_load_n(&owner->remote, __ATOMIC_RELAXED);
    do {
        AB_MARK_DEFINED(last, sizeof *last);
        last->next = head;
    } while (!__atomic_compare_exchange_n(&owner->remote, &head, first, true, __ATOMIC_RELEASE,
                                          __ATOMIC_RELAXED));
}

static void send_waiting(struct ab_member *from)
{
    if (from->n_waiting > 0)
        push_chain(from->to, from->first, from->last);
    from->n_waiting = 0;
}

static void send(struct ab_member *from, struct ab_member *owner, void *block, bool is_urgent)
{
    struct ab_team_link *link = block;
    AB_MARK_DEFINED(link, sizeof *link);
    if (is_urgent || !from->is_plain) { /* else several threads would write to one batch */
        push_chain(owner, link, link);
        return;
    }
    if (from->n_waiting > 0 && from->to != owner)
        send_waiting(from);
    link->next = from->first;
    if (from->n_waiting == 0)
        from->last = link;
    from->first = link;
    from->to = owner;
    if (++from->n_waiting == AB_TEAM_BATCH)
        send_waiting(from);
}

__attribute__((noinline)) void ab_team_free(struct ab_member *from, struct ab_member *owner,
                                            void *block, bool is_urgent)
{
    if (owner != from && owner->is_plain) {
        send(from, owner, block, is_urgent);
        return;
    }
    ab_member_lock(owner);
    owner->team->free_own(owner, block);
    ab_member_unlock(owner);
}

void ab_team_leave(struct ab_member *member)
{
    if (member->is_plain)
        send_waiting(member);
}

struct ab_team_link *ab_team_take(struct ab_member *member)
{
    if (__atomic_load_n(&member->remote, __ATOMIC_RELAXED) == NULL)
        return NULL;
    return __atomic_exchange_n(&member->remote, NULL, __ATOMIC_ACQUIRE);
}

void ab_team_forget(struct ab_member *member)
{
    member->n_waiting = 0;
    member->first = NULL;
    __atomic_store_n(&member->remote, NULL, __ATOMIC_RELAXED);
}

const void *ab_team_in_flight(const struct ab_member *member, struct ab_team_cursor *cursor)
{
    if (cursor->stage == 0) {
        cursor->next = __atomic_load_n(&member->remote, __ATOMIC_ACQUIRE);
        cursor->stage = 1;
    }
    if (cursor->stage == 1 && cursor->next == NULL) {
        cursor->next = member->first;
        cursor->n_left = member->n_waiting;
        cursor->stage = 2;
    }
    if (cursor->stage == 2 && cursor->n_left-- == 0)
        return NULL;
    const struct ab_team_link *link = cursor->next;
    cursor->next = link->next;
    return link;
}

void *ab_team_pop(struct ab_team_link **chain)
{
    struct ab_team_link *link = *chain;
    *chain = link->next;
    return link;
}

/* ---- hooks ---- */

int ab_team_thread_enter(struct ab_heap *heap, uint32_t lane, struct ab_heap **out)
{
    struct ab_member *member = ab_team_enter(((struct ab_member *)heap)->team, lane);
    if (member == NULL)
        return EINVAL;
    *out = (struct ab_heap *)member;
    return 0;
}

void ab_team_thread_leave(struct ab_heap *heap)
{
    ab_team_leave((struct ab_member *)heap);
}

ab_ref ab_team_special_alloc(const struct ab_guard_below *below, struct ab_heap *heap, size_t align,
                             size_t size, bool is_zeroed)
{
    bool is_guarded = ((struct ab_member *)heap)->is_guarded;
    return (ab_ref)(is_guarded ? ab_guard_alloc(below, heap, align, size, is_zeroed)
                               : below->alloc(heap, align, size, is_zeroed));
}

void ab_team_special_free(const struct ab_guard_below *below, struct ab_heap *heap, ab_ref ref)
{
    if (((struct ab_member *)heap)->is_guarded)
        ab_guard_free(below, heap, (void *)ref);
    else if (ref != 0)
        below->free(heap, (void *)ref);
}
