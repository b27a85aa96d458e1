/* SPDX-License-Identifier: MIT
 *
 * The live bytes of a site at the peak of the trace are updated lazily: at the first change of the
 * site after the peak, or at the end. A new peak therefore costs nothing.
 */
#include "trace_tools/site_stats.h"

#include "base/bits.h"
#include "core/alloc.h"

#include <stdlib.h>

void ab_site_stats_fini(struct ab_site_stats *s)
{
    free(s->sites);
    free(s->site_of_slot);
    free(s->last_block);
    *s = (struct ab_site_stats){0};
}

/* Stores the live bytes and blocks of a site at the last peak, unless that was done already. */
static void settle(const struct ab_site_stats *s, struct ab_site_stat *site)
{
    if (site->peak_number == s->peak_number)
        return;
    site->peak_number = s->peak_number;
    site->peak_bytes = site->live_bytes;
    site->peak_blocks = site->live_blocks;
}

static void give(struct ab_site_stats *s, const struct ab_event *e)
{
    struct ab_site_stat *site = &s->sites[e->site];
    settle(s, site);
    bool is_first = site->calls++ == 0;
    site->resizes += e->kind == AB_EVENT_RESIZE;
    site->bytes += e->size;
    site->live_bytes += e->size;
    site->live_blocks++;
    site->size_least = is_first || e->size < site->size_least ? e->size : site->size_least;
    site->size_most = e->size > site->size_most ? e->size : site->size_most;
    s->live_bytes += e->size;
    s->live_by_size[ab_class_of(e->size)]++;
    s->site_of_slot[e->slot] = e->site;
    s->last_block[e->thread] = e->block + 1;
}

static struct ab_site_stat *take_back(struct ab_site_stats *s, const struct ab_event *e,
                                      const struct ab_live_block *block)
{
    struct ab_site_stat *site = &s->sites[s->site_of_slot[e->slot]];
    settle(s, site);
    site->live_bytes -= block->size;
    site->live_blocks--;
    s->live_bytes -= block->size;
    s->live_by_size[ab_class_of(block->size)]--;
    return site;
}

static void end_life(struct ab_site_stats *s, const struct ab_event *e,
                     const struct ab_live_block *block)
{
    struct ab_site_stat *site = take_back(s, e, block);
    uint64_t life = s->n_events - block->born_event - 1;
    unsigned class = life == 0 ? 0 : ab_log2(life) + 1;
    class = class < AB_SITE_LIVES ? class : AB_SITE_LIVES - 1;
    site->frees++;
    s->lives[ab_class_of(block->size)][class]++;
    site->lives[class] += site->lives[class] < UINT32_MAX;
    if (s->last_block[e->thread] == e->block + 1) {
        site->temporary++;
        s->last_block[e->thread] = 0;
    }
}

static void make_room(struct ab_site_stats *s, const struct ab_event *e)
{
    AB_GROW_ZEROED(s->sites, s->cap, e->site);
    AB_GROW_ZEROED(s->site_of_slot, s->cap_slots, e->slot);
    AB_GROW_ZEROED(s->last_block, s->cap_threads, e->thread);
    s->n = e->site >= s->n ? e->site + 1 : s->n;
}

static void take(struct ab_site_stats *s, const struct ab_event *e,
                 const struct ab_live_block *block)
{
    if (e->kind == AB_EVENT_FREE || e->released) {
        end_life(s, e, block);
    } else if (e->failed) {
        s->sites[e->site].failed++;
    } else {
        if (e->kind == AB_EVENT_RESIZE)
            take_back(s, e, block);
        give(s, e);
    }
    s->n_events++;
    if (s->live_bytes > s->peak_bytes) {
        s->peak_bytes = s->live_bytes;
        s->peak_number++;
    }
}

enum ab_status ab_site_stats_visit(void *user, const struct ab_walk_batch *batch,
                                   struct ab_err *err)
{
    struct ab_site_stats *s = user;
    (void)err;
    for (size_t i = 0; i < batch->n; i++) {
        make_room(s, &batch->events[i]);
        take(s, &batch->events[i], &batch->blocks[i]);
    }
    for (size_t i = 0; batch->where == AB_WALK_END && i < s->n; i++)
        settle(s, &s->sites[i]);
    return AB_OK;
}

uint64_t ab_site_stat_median_life(const struct ab_site_stat *s)
{
    uint64_t all = 0, passed = 0;
    for (unsigned i = 0; i < AB_SITE_LIVES; i++)
        all += s->lives[i];
    if (all == 0)
        return UINT64_MAX;
    for (unsigned i = 0; i < AB_SITE_LIVES; i++)
        if ((passed += s->lives[i]) * 2 >= all)
            return (UINT64_C(1) << i) - 1;
    return UINT64_MAX;
}
