/* SPDX-License-Identifier: MIT
 *
 * Counts blocks by size, lifetime and threads while the calls go by. Of each live block it keeps 24
 * bytes; the curve doubles the width of its steps whenever it is full.
 */
#include "tape/overview.h"

#include "core/grow.h"
#include "core/memory.h"

#include <stdlib.h>
#include <string.h>

/* Threads that are told apart while it is made; those beyond share the last number. */
enum { TOLD_APART = 256 };

struct block {
    uint64_t size, born;
    uint32_t thread; /* + 1: 0 is no live block */
};

struct ab_overview_maker {
    struct ab_overview o;
    struct block *blocks; /* by slot */
    size_t cap_blocks;
    uint64_t live_bytes;
    uint64_t freed[TOLD_APART][TOLD_APART + 1];
};

struct ab_overview_maker *ab_overview_begin(void)
{
    struct ab_overview_maker *m = ab_alloc_zeroed(1, sizeof *m);
    m->o.step_calls = 1;
    return m;
}

void ab_overview_abandon(struct ab_overview_maker *m)
{
    if (m == NULL)
        return;
    free(m->blocks);
    free(m);
}

static uint32_t known(struct ab_overview_maker *m, uint32_t thread)
{
    if (thread >= m->o.n_threads)
        m->o.n_threads = thread + 1;
    return thread < TOLD_APART ? thread : TOLD_APART - 1;
}

static void halve(struct ab_overview *o)
{
    for (uint32_t i = 0; i < AB_OVERVIEW_STEPS / 2; i++) {
        struct ab_overview_step a = o->live[2 * i], b = o->live[2 * i + 1];
        o->live[i].low = a.low < b.low ? a.low : b.low;
        o->live[i].high = a.high > b.high ? a.high : b.high;
    }
    o->n_steps = AB_OVERVIEW_STEPS / 2;
    o->step_calls *= 2;
}

/* The call is over; a step begins with its first call. */
static void tick(struct ab_overview_maker *m)
{
    struct ab_overview *o = &m->o;
    uint64_t live = m->live_bytes;
    if ((o->n_calls & (o->step_calls - 1)) == 0) {
        if (o->n_steps == AB_OVERVIEW_STEPS)
            halve(o); /* full at an even number of steps: one begins now all the same */
        o->live[o->n_steps++] = (struct ab_overview_step){live, live};
    }
    struct ab_overview_step *step = &o->live[o->n_steps - 1];
    step->low = live < step->low ? live : step->low;
    step->high = live > step->high ? live : step->high;
    o->n_calls++;
}

void ab_overview_alloc(struct ab_overview_maker *m, uint32_t slot, uint32_t thread, uint64_t size)
{
    AB_GROW_ZEROED(m->blocks, m->cap_blocks, slot);
    m->blocks[slot] = (struct block){size, m->o.n_calls, known(m, thread) + 1};
    m->live_bytes += size;
    tick(m);
}

void ab_overview_resize(struct ab_overview_maker *m, uint32_t slot, uint64_t size)
{
    struct block *b = &m->blocks[slot];
    m->live_bytes += size - b->size;
    b->size = size;
    tick(m);
}

void ab_overview_free(struct ab_overview_maker *m, uint32_t slot, uint32_t thread)
{
    struct block *b = &m->blocks[slot];
    m->o.blocks[ab_overview_class(b->size)][ab_overview_class(m->o.n_calls - b->born)]++;
    m->freed[b->thread - 1][known(m, thread)]++;
    m->live_bytes -= b->size;
    b->thread = 0;
    tick(m);
}

void ab_overview_idle(struct ab_overview_maker *m)
{
    tick(m);
}

void ab_overview_prefetch(const struct ab_overview_maker *m, uint32_t slot)
{
    if (slot < m->cap_blocks)
        __builtin_prefetch(&m->blocks[slot], 1);
}

/* ---- the end ---- */

static uint64_t blocks_of(const struct ab_overview_maker *m, uint32_t thread, uint32_t n)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += m->freed[thread][i] + m->freed[i][thread];
    return sum + m->freed[thread][TOLD_APART];
}

/* row[t]: the row of each thread that has one of its own. Where there are more than rows, the busiest
 * have one each and the others share the last. */
static void choose_rows(const struct ab_overview_maker *m, uint32_t n, struct ab_overview *out,
                        uint32_t *row)
{
    bool is_own[TOLD_APART] = {false};
    bool fits = m->o.n_threads <= AB_OVERVIEW_THREADS;
    uint32_t wanted = fits ? n : AB_OVERVIEW_THREADS - 1;
    uint32_t most = m->o.n_threads > TOLD_APART ? TOLD_APART - 1 : n; /* the last is many */
    for (uint32_t k = 0; k < wanted; k++) {
        uint32_t best = UINT32_MAX;
        for (uint32_t t = 0; t < most; t++)
            if (!is_own[t] && (best == UINT32_MAX || blocks_of(m, t, n) > blocks_of(m, best, n)))
                best = t;
        is_own[best] = true;
    }
    for (uint32_t t = 0; t < n; t++)
        if (is_own[t]) {
            row[t] = out->n_rows;
            out->thread[out->n_rows++] = (int32_t)t;
        } else
            row[t] = AB_OVERVIEW_THREADS - 1;
    if (!fits)
        out->thread[out->n_rows++] = AB_OVERVIEW_OTHERS;
}

/* What still lives was never freed. */
static void add_live(struct ab_overview_maker *m)
{
    for (size_t i = 0; i < m->cap_blocks; i++) {
        const struct block *b = &m->blocks[i];
        if (b->thread == 0)
            continue;
        m->o.blocks[ab_overview_class(b->size)][AB_OVERVIEW_CLASSES]++;
        m->freed[b->thread - 1][TOLD_APART]++;
    }
}

void ab_overview_end(struct ab_overview_maker *m, struct ab_overview *out)
{
    uint32_t row[TOLD_APART] = {0};
    uint32_t n = m->o.n_threads < TOLD_APART ? m->o.n_threads : TOLD_APART;
    add_live(m);
    *out = m->o;
    choose_rows(m, n, out, row);
    for (uint32_t a = 0; a < n; a++) {
        for (uint32_t f = 0; f < n; f++)
            out->freed[row[a]][row[f]] += m->freed[a][f];
        out->freed[row[a]][out->n_rows] += m->freed[a][TOLD_APART];
    }
}
