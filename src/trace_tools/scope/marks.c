/* SPDX-License-Identifier: MIT
 *
 * Counts for several names at once how many blocks die in the scope they were made in.
 */
#include "trace_tools/scope/marks.h"

#include "core/grow.h"
#include "trace_tools/scope/stats.h"

#include <stdio.h>
#include <stdlib.h>

struct one { /* name */
    uint32_t name;
    size_t cap;
    struct ab_scopes scopes;
    struct ab_scope_stats stats;
};

struct state {
    struct one names[AB_SCOPE_MARKS_TRIED];
    size_t n;
};

static bool take_mark(struct one *o, uint64_t call)
{
    if (call == 0 || (o->scopes.n > 0 && o->scopes.ends[o->scopes.n - 1] == call))
        return true;
    if (!AB_GROW(o->scopes.ends, o->cap, o->scopes.n))
        return false;
    o->scopes.ends[o->scopes.n++] = call;
    return true;
}

/* The names with the most marks, the most first. False = out of memory. */
static bool pick_names(struct state *s, const struct ab_mark_table *t)
{
    size_t *counts = calloc(t->n_names + 1, sizeof counts[0]);
    if (counts == NULL)
        return false;
    for (size_t i = 0; i < t->n; i++)
        counts[t->marks[i].name]++;
    for (; s->n < AB_SCOPE_MARKS_TRIED; s->n++) {
        uint32_t best = 0;
        for (uint32_t i = 1; i < t->n_names; i++)
            best = counts[i] > counts[best] ? i : best;
        if (counts[best] == 0)
            break;
        counts[best] = 0;
        s->names[s->n].name = best;
    }
    free(counts);
    return true;
}

static bool gather(struct state *s, const struct ab_mark_table *t)
{
    if (!pick_names(s, t))
        return false;
    for (size_t k = 0; k < s->n; k++) {
        s->names[k].stats.scopes = &s->names[k].scopes;
        for (size_t i = 0; i < t->n; i++)
            if (t->marks[i].name == s->names[k].name && !take_mark(&s->names[k], t->marks[i].call))
                return false;
    }
    return true;
}

static enum ab_status visit(void *user, const struct ab_walk_batch *batch, struct ab_err *err)
{
    struct state *s = user;
    for (size_t i = 0; i < s->n; i++)
        AB_TRY(ab_scope_stats_visit(&s->names[i].stats, batch, err));
    return AB_OK;
}

static struct one *choose(struct state *s)
{
    struct one *chosen = NULL;
    uint64_t best = 0;
    for (size_t i = 0; i < s->n; i++)
        best = s->names[i].stats.gone > best ? s->names[i].stats.gone : best;
    for (size_t i = 0; i < s->n; i++) {
        struct one *o = &s->names[i];
        if (o->scopes.n > 0 && o->stats.gone + o->stats.allocs / 20 >= best &&
            (chosen == NULL || o->scopes.n > chosen->scopes.n))
            chosen = o;
    }
    return chosen;
}

/* False = out of memory. */
static bool hand_over(struct state *s, const struct ab_mark_table *t, struct ab_scopes *out)
{
    struct one *chosen = choose(s);
    size_t n = 0;
    *out = (struct ab_scopes){0};
    if (chosen == NULL)
        return true;
    for (size_t k = 0; k < s->n; k++)
        n += s->names[k].scopes.n;
    uint64_t *more = malloc((n + 1) * sizeof more[0]);
    if (more == NULL)
        return false;
    *out = chosen->scopes;
    chosen->scopes = (struct ab_scopes){0};
    out->from = AB_SCOPES_MARKS;
    snprintf(out->mark, sizeof out->mark, "%s", t->names[chosen->name]);
    out->more = more;
    for (size_t k = 0; k < s->n; k++)
        for (size_t i = 0; i < s->names[k].scopes.n; i++)
            more[out->n_more++] = s->names[k].scopes.ends[i];
    return true;
}

enum ab_status ab_scopes_of_marks(const char *trace_path, bool is_partial,
                                  const struct ab_mark_table *table, struct ab_scopes *out,
                                  struct ab_err *err)
{
    struct state s = {.n = 0};
    struct ab_walk walk = {.path = trace_path,
                           .is_partial = is_partial,
                           .end = UINT64_MAX,
                           .visit = visit,
                           .user = &s};
    enum ab_status status = gather(&s, table)
                                ? ab_trace_walk(&walk, NULL, err)
                                : ab_fail(err, AB_SYSTEM, "out of memory for the marks");
    if (status == AB_OK && !hand_over(&s, table, out))
        status = ab_fail(err, AB_SYSTEM, "out of memory for the marks");
    for (size_t i = 0; i < s.n; i++) {
        free(s.names[i].scopes.ends);
        ab_scope_stats_fini(&s.names[i].stats);
    }
    return status;
}
