/* SPDX-License-Identifier: MIT
 *
 * Parses --map and `via`, which say which back end serves which requests. Each mapping becomes a
 * row "@map" in addition to those of -b.
 */
#ifndef AB_PLACEMENT_RULES_H
#define AB_PLACEMENT_RULES_H

#include "backend/selection.h"
#include "core/text.h"
#include "placement/placement.h"
#include "symbols/site_match.h"

enum { AB_PLACEMENT_TEXT_MAX = 2048 };

struct ab_placement_rules {
    char name[80];                    /* name of the row: "@map", "@map2"; "@STEM" for a file */
    char text[AB_PLACEMENT_TEXT_MAX]; /* rules in effect: "frame=arena,*=glibc" */
    struct ab_placement_rule rules[AB_PLACEMENT_RULES_MAX];
    size_t n_rules;
    struct ab_selection_list heaps;       /* distinct heaps, in the order of the rules */
    char *patterns[AB_SITE_PATTERNS_MAX]; /* patterns of call sites, as typed; owned */
    size_t n_patterns;
    uint64_t sites[AB_PLACEMENT_RULES_MAX]; /* bit i: the rule requires pattern i. The caller
                                               derives `classes` from it */
};

/* Names that a rule may use. */
struct ab_placement_terms {
    const char *const *sets; /* sets of the workload; NULL = a trace, which has none */
    size_t n_sets;
    uint32_t n_lanes;
    const char *folders; /* as in ab_selection_parse() */
};

/* Parses "KEY=BACKEND,…" or "@FILE", a file with one such rule per line. A key is a set,
 * size:BYTES, size:FROM-TO or lane:N (thread:N); for a trace also site:PATTERN and scope. Several
 * keys may be joined by '&'. "*" stands for the rest, which glibc serves by default. "2*BACKEND" is
 * two heaps that the scopes of a trace use alternately. The first matching rule decides. Error
 * texts begin with `where`. Fails with AB_USAGE, or with AB_INPUT for the file. Call
 * ab_rules_fini() in any case. */
enum ab_status ab_rules_parse(const char *text, const struct ab_placement_terms *terms,
                              const char *where, struct ab_placement_rules *out,
                              struct ab_err *err);
void ab_rules_fini(struct ab_placement_rules *p);

/* Returns the length of the first rule in KEY=BACKEND,…, up to its comma or the end. */
size_t ab_rules_first_bytes(const char *rules);

/* Returns the heap whose malloc library is preloaded; NULL = none. */
const struct ab_selection *ab_rules_preload(const struct ab_placement_rules *p);

#endif
