/* SPDX-License-Identifier: MIT */
#include "trace/block.h"

#include "trace/format.h"

#include <stdlib.h>

bool ab_block_codec_init(struct ab_block_codec *c)
{
    *c = (struct ab_block_codec){
        .runs = malloc(AB_TRACE_BLOCK_EVENTS_MAX * sizeof c->runs[0]),
        .numbers = malloc(AB_TRACE_BLOCK_EVENTS_MAX * sizeof c->numbers[0]),
        .order = malloc(AB_TRACE_BLOCK_EVENTS_MAX * sizeof c->order[0]),
        .groups = malloc(AB_TRACE_BLOCK_EVENTS_MAX * sizeof c->groups[0]),
        .group_of = calloc(AB_TRACE_THREADS_MAX, sizeof c->group_of[0]), /* few pages are touched */
    };
    return c->runs != NULL && c->numbers != NULL && c->order != NULL && c->groups != NULL &&
           c->group_of != NULL;
}

void ab_block_codec_fini(struct ab_block_codec *c)
{
    free(c->runs);
    free(c->numbers);
    free(c->order);
    free(c->groups);
    free(c->group_of);
    *c = (struct ab_block_codec){0};
}

/* Counts the events of each thread in `end`. */
static void count_groups(struct ab_block_codec *c)
{
    c->n_groups = 0;
    for (size_t k = 0; k < c->n_runs; k++) {
        uint32_t *group = &c->group_of[c->runs[k].thread];
        if (*group == 0) {
            c->groups[c->n_groups++] = (struct ab_block_group){.thread = c->runs[k].thread};
            *group = (uint32_t)c->n_groups;
        }
        c->groups[*group - 1].end += c->runs[k].n;
    }
}

void ab_block_order(struct ab_block_codec *c)
{
    uint32_t place = 0, event = 0;
    count_groups(c);
    for (size_t g = 0; g < c->n_groups; g++) {
        uint32_t n_events = c->groups[g].end;
        c->groups[g].end = place; /* moves on to the end while events are put in */
        place += n_events;
    }
    for (size_t k = 0; k < c->n_runs; k++) {
        uint32_t *at = &c->groups[c->group_of[c->runs[k].thread] - 1].end;
        for (uint32_t left = c->runs[k].n; left > 0; left--)
            c->order[(*at)++] = event++;
    }
    for (size_t g = 0; g < c->n_groups; g++)
        c->group_of[c->groups[g].thread] = 0;
}
