/* SPDX-License-Identifier: MIT
 *
 * What encoding and decoding share: the memory of a chunk, and the order of its events by threads.
 */
#include "trace/chunk/chunk.h"

#include "core/grow.h"

#include <stdlib.h>

void ab_chunk_codec_fini(struct ab_chunk_codec *c)
{
    free(c->runs);
    free(c->numbers);
    free(c->order);
    free(c->groups);
    free(c->group_of);
    *c = (struct ab_chunk_codec){0};
}

bool ab_chunk_codec_fit(struct ab_chunk_codec *c, size_t n)
{
    if (n <= c->cap)
        return true;
    c->cap = 0; /* what they hold is of one chunk only */
    free(c->runs);
    free(c->numbers);
    free(c->order);
    free(c->groups);
    c->runs = malloc(n * sizeof c->runs[0]);
    c->numbers = malloc(n * sizeof c->numbers[0]);
    c->order = malloc(n * sizeof c->order[0]);
    c->groups = malloc(n * sizeof c->groups[0]);
    if (c->runs == NULL || c->numbers == NULL || c->order == NULL || c->groups == NULL)
        return false;
    c->cap = n;
    return true;
}

bool ab_chunk_codec_know(struct ab_chunk_codec *c, uint32_t thread)
{
    return AB_GROW_ZEROED(c->group_of, c->cap_group_of, thread);
}

/* Counts the events of each thread in `end`. */
static void count_groups(struct ab_chunk_codec *c)
{
    c->n_groups = 0;
    for (size_t k = 0; k < c->n_runs; k++) {
        uint32_t *group = &c->group_of[c->runs[k].thread];
        if (*group == 0) {
            c->groups[c->n_groups++] = (struct ab_chunk_group){.thread = c->runs[k].thread};
            *group = (uint32_t)c->n_groups;
        }
        c->groups[*group - 1].end += c->runs[k].n;
    }
}

void ab_chunk_order(struct ab_chunk_codec *c)
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
