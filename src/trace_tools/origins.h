/* SPDX-License-Identifier: MIT
 *
 * Finds facts about the allocations of a trace that a placement can use (tape/tape.h), in one pass:
 * the patterns that match the call site, whether the block dies in its scope, and the parity of the
 * scope (for two alternating heaps). One byte per allocation; memory O(live blocks) during the
 * pass.
 */
#ifndef AB_TRACE_TOOLS_SCOPE_ORIGINS_H
#define AB_TRACE_TOOLS_SCOPE_ORIGINS_H

#include "tape/tape.h"
#include "trace_tools/scopes.h"
#include "trace_tools/walk.h"

struct ab_origins_wish {
    const char *path;
    bool is_partial;                /* as in struct ab_walk */
    const struct ab_scopes *scopes; /* NULL = scopes are not needed */
    /* Function that returns the patterns that match stack `stack` (≥ 1), one bit per pattern;
     * called once per stack. NULL = call sites are not needed. */
    uint64_t (*match)(void *user, const struct ab_site_table *table, uint32_t stack);
    void *user;
};

struct ab_origins {
    uint8_t *bytes; /* facts of allocation i in byte i; owned */
    size_t n, cap;
    /* patterns that match the call sites of each class; class 0 = no pattern matches */
    uint64_t patterns[AB_ORIGIN_CLASSES];
    unsigned n_classes;
    uint64_t n_without_site; /* number of allocations whose call site the file does not have */
};

/* Finds the facts. Returns AB_USAGE if the patterns need more than AB_ORIGIN_CLASSES classes. Call
 * ab_origins_fini in any case. */
enum ab_status ab_origins_find(const struct ab_origins_wish *wish, struct ab_site_table *sites,
                               struct ab_origins *out, struct ab_err *err);
void ab_origins_fini(struct ab_origins *o);

#endif
