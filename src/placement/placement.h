/* SPDX-License-Identifier: MIT
 *
 * Makes a placement (wire/placement_file.h): walks a tape in its common order, decides by rules
 * which heap serves each request, and sums up what each heap must serve.
 */
#ifndef AB_PLACEMENT_PLACEMENT_H
#define AB_PLACEMENT_PLACEMENT_H

#include "core/status.h"
#include "tape/tape.h"
#include "tape/tape_file.h"
#include "wire/placement_file.h"

enum ab_placement_range {
    AB_PLACEMENT_GROUP,
    AB_PLACEMENT_SIZE,
    AB_PLACEMENT_LANE,
    AB_PLACEMENT_RANGES
};

struct ab_placement_rule { /* matches if all its conditions do; {0} matches everything */
    struct {
        bool is_asked;
        uint64_t least, most; /* group, size in bytes or lane; inclusive */
    } ranges[AB_PLACEMENT_RANGES];
    bool asks_site, asks_scope; /* True to require an origin in `classes`; AB_ORIGIN_SCOPED */
    uint64_t classes;           /* bit c: the rule matches class c */
    uint32_t heap;
    uint32_t odd_heap; /* heap for blocks born in odd scopes; equal to `heap` without alternation */
};

/* Input of a placement. A heap with `renews` is renewed if only one lane uses it, unless its frees
 * depend on what it refuses. */
struct ab_placement_plan {
    const struct ab_placement_rule *rules; /* the first match decides; the last matches
                                              everything */
    size_t n_rules;
    const struct ab_placement_heap *heaps; /* without the fields that the walk sets */
    uint32_t n_heaps;                      /* number of heaps, 1 to AB_PLACEMENT_HEAPS_MAX */
    /* origins of the blocks (tape/tape.h); NULL = no rule needs them */
    const uint8_t *origins;
    size_t n_origins;
    bool is_part; /* True if the tape ends before the work of the origins */
};

/* Calls and peaks of a heap in one phase. */
struct ab_placement_use {
    uint64_t n_calls[AB_OP_KIND_COUNT]; /* calls by kind, as in struct ab_phase.n_ops */
    /* peaks of the live blocks and bytes within the phase */
    uint64_t live_peak_blocks, live_peak_bytes;
};

struct ab_placement { /* a mapped, read-only file, kept like that of its tape */
    int fd;
    const struct ab_placement_image *image; /* NULL = none */
    /* number of requests that each rule decided, without refused ones */
    uint64_t n_requests[AB_PLACEMENT_RULES_MAX];
    /* Further results of the walk, for the parent process only; owned. NULL for the null back end.
     * Heaps of one name count as one (ab_placement_shown()). */
    const uint8_t *heap_of; /* heap of each op of the tape, or AB_PLACEMENT_NO_HEAP; a mapping of
                               n_bytes */
    uint64_t n_bytes;
    /* use of each heap, for each phase of the tape */
    struct ab_placement_use (*uses)[AB_PLACEMENT_HEAPS_MAX];
    char sha256
        [65]; /* digest of the parts that the null placement uses: equal digests share one null
                 placement; "" for a null placement itself */
};
/* Heap of touches and guards, and of a RESET whose blocks are in several heaps. A resize from heap
 * to heap counts for the new heap. */
#define AB_PLACEMENT_NO_HEAP UINT8_MAX

/* Creates a placement. `groups` is that of struct ab_tape; NULL = all requests are in group 0, as
 * for a tape in bursts. Fails with AB_INPUT if the origins belong to other work. Memory depends on
 * the slots and on one burst. */
enum ab_status ab_placement_make(const struct ab_placement_plan *plan,
                                 const struct ab_tape_map *tape, uint8_t *const *groups,
                                 struct ab_placement *out, struct ab_err *err);
/* Creates the placement with null heaps, to measure harness overhead. */
enum ab_status ab_placement_make_null(const struct ab_placement *of, struct ab_placement *out,
                                      struct ab_err *err);
void ab_placement_close(struct ab_placement *placement);
/* Releases the pages of heap_of that were read, if they can be read again. */
void ab_placement_forget(const struct ab_placement *placement);
/* True if a heap is the null back end, whose results cannot be verified. */
bool ab_placement_has_null(const struct ab_placement *placement);
/* True if the worker loads a library for one of the heaps. */
bool ab_placement_loads(const struct ab_placement *placement);

/* Returns the length of a heap's name to show: without the number of one of two alternating
 * heaps. */
int ab_placement_shown_name(const char *name);
/* Returns the number under which heaps[h] is shown: the index of its name among the distinct
 * names. */
uint32_t ab_placement_shown(const struct ab_placement_heap *heaps, uint32_t h);

#endif
