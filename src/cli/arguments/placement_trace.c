/* SPDX-License-Identifier: MIT
 *
 * From the rules of a mapping to the origins of a trace's allocations.
 */
#include "cli/arguments/placement_trace.h"

static bool asks_scope(const struct ab_placement *p)
{
    bool asks = false;
    for (size_t i = 0; i < p->n_rules; i++)
        asks = asks || p->rules[i].asks_scope || p->rules[i].heap != p->rules[i].odd_heap;
    return asks;
}

static enum ab_status find_scopes(struct ab_placement_trace *trace, const char *where,
                                  struct ab_err *err)
{
    enum ab_status status = AB_OK;
    if (!trace->has_scopes)
        status = ab_scopes_find(trace->path, trace->is_partial, &trace->scopes, err);
    trace->has_scopes = status == AB_OK;
    if (status != AB_OK || trace->scopes.from != AB_SCOPES_NONE)
        return status;
    return ab_fail(
        err, AB_USAGE,
        "%s: this trace has no scopes: no marks, and no moments, again and again, at which "
        "all that was allocated lately is dead. Rules without `scope` and `2*` need none",
        where);
}

enum ab_status ab_placement_ask_trace(struct ab_placement *p, struct ab_placement_trace *trace,
                                      const char *where, struct ab_origins *out, struct ab_err *err)
{
    bool wants_scopes = asks_scope(p);
    *out = (struct ab_origins){0};
    if (wants_scopes)
        AB_TRY(find_scopes(trace, where, err));
    else
        return AB_OK;
    const struct ab_origins_wish wish = {.path = trace->path,
                                         .is_partial = trace->is_partial,
                                         .scopes = wants_scopes ? &trace->scopes : NULL};
    struct ab_site_table sites = {0};
    enum ab_status status = ab_origins_find(&wish, &sites, out, err);
    ab_site_table_fini(&sites);
    return status;
}

void ab_placement_trace_fini(struct ab_placement_trace *trace)
{
    ab_scopes_fini(&trace->scopes);
    *trace = (struct ab_placement_trace){0};
}
