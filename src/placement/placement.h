/* SPDX-License-Identifier: MIT
 *
 * Makes a placement (wire/placement.h): walks a tape in its common order, asks the rules which heap
 * serves each request, and sums up what each heap has to serve.
 */
#ifndef AB_PLACEMENT_PLACEMENT_H
#define AB_PLACEMENT_PLACEMENT_H

#include "core/status.h"
#include "tape/tape.h"
#include "tape/tape_file.h"
#include "wire/placement.h"

enum ab_placement_range {
    AB_PLACEMENT_GROUP,
    AB_PLACEMENT_SIZE,
    AB_PLACEMENT_LANE,
    AB_PLACEMENT_RANGES
};

struct ab_placement_rule { /* fits where all that it asks for does; {0} fits all */
    struct {
        bool is_asked;
        uint64_t least, most; /* group, size in bytes or lane; both included */
    } ranges[AB_PLACEMENT_RANGES];
    bool asks_site, asks_scope; /* of origins: one of `classes`; AB_ORIGIN_SCOPED */
    uint64_t classes;           /* bit c: class c */
    uint32_t heap;
    uint32_t odd_heap; /* of blocks born in odd scopes; as `heap` where there is one for all */
};

/* A heap with `renews` is renewed where one lane alone uses it, unless its frees depend on what it
 * refuses. */
struct ab_placement_plan {
    const struct ab_placement_rule *rules; /* the first that fits decides; the last one fits all */
    size_t n_rules;
    const struct ab_placement_heap *heaps; /* without what the walk finds */
    uint32_t n_heaps;                      /* 1 … AB_PLACEMENT_HEAPS_MAX */
    const uint8_t *origins;                /* tape/tape.h; NULL = no rule asks for them */
    size_t n_origins;
    bool is_part; /* the tape ends before the work that they are of */
};

/* Counts of what a heap serves in a phase. */
struct ab_placement_use {
    uint64_t n_calls[AB_OP_KIND_COUNT];         /* as in struct ab_phase.n_ops */
    uint64_t live_peak_blocks, live_peak_bytes; /* most that lived in it within the phase */
};

struct ab_placement { /* a mapped file that nobody can write to, kept as that of its tape is */
    int fd;
    const struct ab_placement_image *image;      /* NULL = there is none */
    uint64_t n_requests[AB_PLACEMENT_RULES_MAX]; /* that each rule decided on; refused ones not */
    /* Further results of the walk, for the parent alone; owned. NULL for the null back end. Heaps
     * are those that are shown: heaps of one name count as one (ab_placement_shown). */
    const uint8_t *heap_of; /* each op of the tape, or AB_PLACEMENT_NO_HEAP; a mapping of n_bytes */
    uint64_t n_bytes;
    struct ab_placement_use (*uses)[AB_PLACEMENT_HEAPS_MAX]; /* one a phase of the tape */
    char sha256
        [65]; /* of all that the null has of it: placements of one digest have the same null; ""
                        of a null itself */
};
/* Touches and guards, and a RESET whose blocks are in several heaps. A resize from heap to heap is
 * the new one's. */
#define AB_PLACEMENT_NO_HEAP UINT8_MAX

/* `groups` is struct ab_tape's, NULL = all are of group 0, as those of a tape in bursts are.
 * AB_INPUT for origins of another work. Memory: a matter of the slots and of one burst. */
enum ab_status ab_placement_make(const struct ab_placement_plan *plan,
                                 const struct ab_tape_map *tape, uint8_t *const *groups,
                                 struct ab_placement *out, struct ab_err *err);
/* The same with all heaps null: the price of the harness. */
enum ab_status ab_placement_make_null(const struct ab_placement *of, struct ab_placement *out,
                                      struct ab_err *err);
void ab_placement_close(struct ab_placement *placement);
/* Gives memory back that reading heap_of has brought in, where it can be read again. */
void ab_placement_forget(const struct ab_placement *placement);
/* Is one of its heaps the null back end, of which nothing can be proven? */
bool ab_placement_has_null(const struct ab_placement *placement);
/* Does the worker load a library for one of them? */
bool ab_placement_loads(const struct ab_placement *placement);

/* So much of a heap's name is shown: all but the number of one of two that are taken in turn. */
int ab_placement_shown_name(const char *name);
/* As which heap heaps[h] is shown: the how many-th name its own is, from 0. */
uint32_t ab_placement_shown(const struct ab_placement_heap *heaps, uint32_t h);

#endif
