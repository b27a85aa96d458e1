/* SPDX-License-Identifier: MIT
 *
 * Parses --map and `via`, which say which back end serves which requests. A mapping becomes a row
 * of its own, `@map`, in addition to those of -b.
 */
#ifndef AB_PLACEMENT_RULES_H
#define AB_PLACEMENT_RULES_H

#include "backend/selection.h"
#include "core/text.h"
#include "placement/placement.h"
#include "symbols/site_match.h"

enum { AB_PLACEMENT_TEXT_MAX = 2048 };

struct ab_placement_rules {
    char name[80];                    /* of the row: "@map", "@map2", "@STEM" of a file */
    char text[AB_PLACEMENT_TEXT_MAX]; /* the rules as they apply: "frame=arena,*=glibc" */
    struct ab_placement_rule rules[AB_PLACEMENT_RULES_MAX];
    size_t n_rules;
    struct ab_selection_list heaps;       /* each once, in the order of the rules */
    char *patterns[AB_SITE_PATTERNS_MAX]; /* of call sites, as they were typed; owned */
    size_t n_patterns;
    uint64_t sites[AB_PLACEMENT_RULES_MAX]; /* bit i: the rule asks for pattern i. What that makes
                                               its `classes` is for the caller to find */
};

/* The names that a rule may use. */
struct ab_placement_terms {
    const char *const *sets; /* of the workload, NULL = a trace, which has none */
    size_t n_sets;
    uint32_t n_lanes;
    const char *folders; /* as for ab_selection_parse */
};

/* `text` is "KEY=BACKEND,…" or "@FILE", a file of such rules, one a line. Keys: a set, size:BYTES,
 * size:FROM-TO, lane:N (thread:N), of a trace site:PATTERN and scope, several of these joined by
 * '&'; "*" for the rest, which is glibc's unless it is said. "2*BACKEND" is two heaps, taken in
 * turn by the scopes of a trace. The first rule that fits decides. `where` begins error messages.
 * AB_USAGE, or AB_INPUT for the file. End it with ab_placement_fini in any case. */
enum ab_status ab_rules_parse(const char *text, const struct ab_placement_terms *terms,
                              const char *where, struct ab_placement_rules *out,
                              struct ab_err *err);
void ab_rules_fini(struct ab_placement_rules *p);

/* Returns the length of the first of the rules KEY=BACKEND,…: it ends at its comma or with the
 * text. */
size_t ab_rules_first_bytes(const char *rules);

/* The heap that a malloc library is preloaded for; NULL = none is. */
const struct ab_selection *ab_rules_preload(const struct ab_placement_rules *p);

#endif
