/* SPDX-License-Identifier: MIT
 *
 * Tracks which blocks of a lane are younger than which save point. Going back to a save point ends
 * every younger block, so a scope may do so only if all of them die with it. The counts kept here
 * show whether they do, for each heap of one lane. A block counts as born at its last allocation or
 * resize, because a resize may move it. A block that another lane frees counts as live, because it
 * may be freed later.
 */
#ifndef AB_BASE_SAVE_POINTS_H
#define AB_BASE_SAVE_POINTS_H

#include <stdint.h>
#include <string.h>

/* maximum number of save points that are open at once in a lane; deeper scopes get none */
#define AB_SAVE_POINTS_MAX 32
#define AB_SAVE_HEAPS 16

struct ab_save_point {
    uint32_t id; /* number of the save point in its lane, from 1 */
    uint32_t depth;
    /* bit h: a block was born in heap h after this save point and before the next one */
    uint32_t used;
    /* bit h: heap h was reset after this save point. The caller sets `gone` and `bytes`. */
    uint32_t gone;
    uint64_t at, bytes;
    /* for each heap: live blocks born after this save point and before the next one */
    uint64_t n_live[AB_SAVE_HEAPS];
};

struct ab_save_points { /* save points of one lane; initialize with {0} */
    struct ab_save_point open[AB_SAVE_POINTS_MAX];
    uint32_t n;
    uint32_t n_ever;
};

/* Takes a save point. Returns NULL if too many are open. */
static inline struct ab_save_point *ab_save_begin(struct ab_save_points *s, uint64_t at)
{
    uint32_t depth = s->n > 0 ? s->open[s->n - 1].depth + 1 : 1;
    if (depth > AB_SAVE_POINTS_MAX)
        return NULL;
    s->open[s->n] = (struct ab_save_point){.id = ++s->n_ever, .depth = depth, .at = at};
    return &s->open[s->n++];
}

/* Counts a new block and returns its birth, the number of save points taken so far; 0 = none
 * yet. */
static inline uint32_t ab_save_born(struct ab_save_points *s, uint32_t heap)
{
    if (s->n > 0) {
        s->open[s->n - 1].n_live[heap]++;
        s->open[s->n - 1].used |= 1u << heap;
    }
    return s->n_ever;
}

static inline void ab_save_gone(struct ab_save_points *s, uint32_t born, uint32_t heap)
{
    for (uint32_t i = s->n; i-- > 0;)
        if (s->open[i].id <= born) {
            s->open[i].n_live[heap]--;
            return;
        }
}

/* Returns the save point of this depth if it is the last one taken. Otherwise returns NULL, because
 * going back to it would end blocks of another scope. */
static inline struct ab_save_point *ab_save_last(struct ab_save_points *s, uint32_t depth)
{
    return s->n > 0 && s->open[s->n - 1].depth == depth ? &s->open[s->n - 1] : NULL;
}

/* Ends the save point of this depth; its live blocks then belong to the save point before it. */
static inline void ab_save_end(struct ab_save_points *s, uint32_t depth)
{
    uint32_t i = s->n;
    while (i > 0 && s->open[i - 1].depth != depth)
        i--;
    if (i-- == 0)
        return;
    for (uint32_t h = 0; h < AB_SAVE_HEAPS && i > 0; h++)
        s->open[i - 1].n_live[h] += s->open[i].n_live[h];
    if (i > 0)
        s->open[i - 1].used |= s->open[i].used;
    memmove(&s->open[i], &s->open[i + 1], (--s->n - i) * sizeof s->open[0]);
}

#endif
