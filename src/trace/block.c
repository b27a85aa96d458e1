/* SPDX-License-Identifier: MIT */
#include "trace/block.h"

#include "trace/format.h"

#include <stdlib.h>

bool ab_block_codec_init(struct ab_block_codec *c)
{
    *c = (struct ab_block_codec){
        .order = malloc(AB_TRACE_BLOCK_EVENTS_MAX * sizeof c->order[0]),
        .groups = calloc(AB_TRACE_THREADS_MAX, sizeof c->groups[0]), /* few pages are ever touched */
        .places = malloc((AB_TRACE_BLOCK_EVENTS_MAX + 1) * sizeof c->places[0]),
    };
    return c->order != NULL && c->groups != NULL && c->places != NULL;
}

void ab_block_codec_fini(struct ab_block_codec *c)
{
    free(c->order);
    free(c->groups);
    free(c->places);
    *c = (struct ab_block_codec){0};
}

static size_t run_end(const struct ab_trace_record *r, size_t i, size_t n)
{
    size_t end = i + 1;
    while (end < n && r[end].thread == r[i].thread)
        end++;
    return end;
}

static uint32_t count_groups(struct ab_block_codec *c, const struct ab_trace_record *r, size_t n)
{
    uint32_t n_groups = 0;
    for (size_t i = 0, end; i < n; i = end) {
        end = run_end(r, i, n);
        uint32_t *group = &c->groups[r[i].thread];
        if (*group == 0) {
            *group = ++n_groups;
            c->places[*group] = 0;
        }
        c->places[*group] += (uint32_t)(end - i);
    }
    return n_groups;
}

void ab_block_order(struct ab_block_codec *c, const struct ab_trace_record *r, size_t n)
{
    uint32_t n_groups = count_groups(c, r, n), place = 0;
    for (uint32_t g = 1; g <= n_groups; g++) {
        uint32_t n_events = c->places[g];
        c->places[g] = place;
        place += n_events;
    }
    for (size_t i = 0; i < n; i++)
        c->order[c->places[c->groups[r[i].thread]]++] = (uint32_t)i;
    for (size_t i = 0; i < n; i++)
        c->groups[r[i].thread] = 0;
}
