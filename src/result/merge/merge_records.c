/* SPDX-License-Identifier: MIT
 *
 * Joins lists of records: each is sorted by round and keeps its order otherwise, as if one session
 * had measured it.
 */
#include "result/merge/merge_records.h"

#include "base/bits.h"
#include "core/memory.h"
#include "result/merge/shard.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint32_t ab_merge_round(const struct ab_session *part, uint32_t round)
{
    return ab_shard_merged_round(part->shard, part->n_rounds_planned, round);
}

#define NO_PHASE SIZE_MAX

/* A list of the session: where it is, and where in its records round and phase are. */
struct list {
    size_t items, n, cap, size, round, phase;
};

#define RECORD(list) __typeof__(((struct ab_session *)NULL)->list[0])
#define LIST(list, phase_at) \
    {offsetof(struct ab_session, list),       offsetof(struct ab_session, n_##list), \
     offsetof(struct ab_session, cap_##list), sizeof(RECORD(list)), \
     offsetof(RECORD(list), round),           phase_at},
#define PHASE_LIST(list) LIST(list, offsetof(RECORD(list), phase))
static const struct list lists[] = {AB_SESSION_PHASE_LISTS(PHASE_LIST) LIST(timelines, NO_PHASE)};

static void *at(const void *base, size_t offset)
{
    return (char *)(uintptr_t)base + offset;
}

static char *items_of(const struct list *l, const struct ab_session *s)
{
    return *(char **)at(s, l->items);
}

static uint32_t count_of(const struct list *l, const struct ab_session *s)
{
    return *(uint32_t *)at(s, l->n);
}

static void set_list(const struct list *l, struct ab_session *s, char *items, uint32_t n)
{
    *(char **)at(s, l->items) = items;
    *(uint32_t *)at(s, l->n) = n;
    *(size_t *)at(s, l->cap) = n;
}

/* The round of a record in the merged result. */
static uint32_t round_of(const struct list *l, const struct ab_session *s, const char *record)
{
    return ab_merge_round(s, *(uint32_t *)at(record, l->round));
}

/* The first part's string for a phase: all lists of phases are the same. */
static const char *own_phase(const struct ab_session *out, const char *phase)
{
    for (uint32_t i = 0; i < out->n_phases; i++)
        if (strcmp(out->phases[i], phase) == 0)
            return out->phases[i];
    return "";
}

/* next[r]: where the first record of round r goes. */
static uint32_t count_records(const struct ab_merge *m, const struct list *l, uint32_t *next)
{
    for (uint32_t p = 0; p < m->n; p++) {
        const struct ab_session *s = m->parts[p].session;
        for (uint32_t i = 0; i < count_of(l, s); i++)
            next[round_of(l, s, items_of(l, s) + i * l->size) + 1]++;
    }
    for (uint32_t r = 0; r < m->n_rounds; r++)
        next[r + 1] += next[r];
    return next[m->n_rounds];
}

static void place_records(const struct ab_merge *m, const struct list *l, uint32_t *next, char *all)
{
    for (uint32_t p = 0; p < m->n; p++) {
        const struct ab_session *s = m->parts[p].session;
        for (uint32_t i = 0; i < count_of(l, s); i++) {
            const char *record = items_of(l, s) + i * l->size;
            uint32_t round = round_of(l, s, record);
            char *to = all + next[round]++ * l->size;
            memcpy(to, record, l->size);
            *(uint32_t *)at(to, l->round) = round;
            if (l->phase != NO_PHASE)
                *(const char **)at(to, l->phase) = own_phase(m->out,
                                                             *(const char **)at(to, l->phase));
        }
    }
}

static void join_list(const struct ab_merge *m, const struct list *l)
{
    uint32_t *next = ab_alloc_zeroed((size_t)m->n_rounds + 1, sizeof next[0]);
    uint32_t n = count_records(m, l, next);
    char *all = ab_alloc_zeroed((size_t)n + 1, l->size);
    place_records(m, l, next, all);
    set_list(l, m->out, all, n);
    free(next);
}

static void join_rounds(const struct ab_merge *m)
{
    struct ab_session *out = m->out;
    out->rounds = ab_alloc_zeroed(m->n_rounds, sizeof out->rounds[0]);
    for (uint32_t r = 0; r < m->n_rounds; r++) {
        const struct ab_session *s = m->owner[r] != AB_MERGE_NOBODY ? m->parts[m->owner[r]].session
                                                                    : NULL;
        for (uint32_t i = 0; s != NULL && i < s->n_rounds; i++) {
            if (ab_merge_round(s, s->rounds[i].index) != r)
                continue;
            struct ab_round *round = &out->rounds[out->n_rounds++];
            *round = s->rounds[i];
            round->index = r;
            round->host = m->host_map[m->host_of[m->owner[r]] + round->host];
        }
    }
    out->cap_rounds = out->n_rounds;
}

static void list_parts(const struct ab_merge *m)
{
    struct ab_session *out = m->out;
    out->parts = ab_alloc_zeroed(m->n, sizeof out->parts[0]);
    out->n_parts = m->n;
    for (uint32_t i = 0; i < m->n; i++) {
        struct ab_part *part = &out->parts[i];
        part->file = m->parts[i].file;
        snprintf(part->sha256, sizeof part->sha256, "%.64s", m->parts[i].sha256);
        part->shard = m->parts[i].session->shard;
        part->host = m->host_map[m->host_of[i]];
        part->n_rounds = m->parts[i].session->n_rounds;
    }
}

void ab_merge_records(const struct ab_merge *m)
{
    join_rounds(m);
    for (size_t i = 0; i < AB_ARRAY_LEN(lists); i++)
        join_list(m, &lists[i]);
    list_parts(m);
}

/* Frees the lists themselves, not what their records own. */
static void drop_lists(struct ab_session *s)
{
    for (size_t i = 0; i < AB_ARRAY_LEN(lists); i++) {
        free(items_of(&lists[i], s));
        set_list(&lists[i], s, NULL, 0);
    }
    s->n_rounds = 0;
}

void ab_merge_begin_lists(struct ab_session *out)
{
    for (size_t i = 0; i < AB_ARRAY_LEN(lists); i++)
        set_list(&lists[i], out, NULL, 0);
    out->rounds = NULL;
    out->n_rounds = 0;
}

void ab_merge_take(const struct ab_merge *m)
{
    for (uint32_t i = 0; i < m->n; i++)
        drop_lists(m->parts[i].session);
}

void ab_merge_abandon(const struct ab_merge *m)
{
    drop_lists(m->out);
}
