/* SPDX-License-Identifier: MIT
 *
 * What a placement may ask of the allocations of a trace (tape/tape.h), in one pass over the file:
 * which patterns their call sites fit, whether they die in their scope, and which of two heaps taken in
 * turn is that scope's. A byte an allocation, and memory O(live blocks) while it is made.
 */
#ifndef AB_TRACE_TOOLS_SCOPE_ORIGINS_H
#define AB_TRACE_TOOLS_SCOPE_ORIGINS_H

#include "tape/tape.h"
#include "trace_tools/scopes.h"
#include "trace_tools/walk.h"

struct ab_origins_wish {
    const char *path;
    bool is_partial;                /* as in struct ab_walk */
    const struct ab_scopes *scopes; /* NULL = not asked for */
    /* Bit i: pattern i fits the stack, which is ≥ 1; asked once a stack. NULL = sites are not asked
     * for. */
    uint64_t (*match)(void *user, const struct ab_site_table *table, uint32_t stack);
    void *user;
};

struct ab_origins {
    uint8_t *bytes; /* n; owned */
    size_t n, cap;
    uint64_t patterns[AB_ORIGIN_CLASSES]; /* that fit the sites of each class; class 0: none does */
    unsigned n_classes;
    uint64_t n_without_site; /* allocations of which the file does not say where they come from */
};

/* AB_USAGE where the patterns tell more than AB_ORIGIN_CLASSES classes apart. Free it with
 * ab_origins_fini in any case. */
enum ab_status ab_origins_find(const struct ab_origins_wish *wish, struct ab_site_table *sites,
                               struct ab_origins *out, struct ab_err *err);
void ab_origins_fini(struct ab_origins *o);

#endif
