/* SPDX-License-Identifier: MIT
 *
 * Follows the blocks of a trace. A free before the end of the block's scope sets a bit in the
 * byte of its allocation.
 */
#include "trace_tools/origins.h"

#include "core/alloc.h"

#include <stdlib.h>

enum { UNKNOWN_CLASS = 0xff };
#define NO_BIRTH UINT64_MAX

struct state {
    const struct ab_origins_wish *wish;
    struct ab_origins *out;
    const struct ab_site_table *sites;
    uint8_t *classes; /* by stack; UNKNOWN_CLASS = not looked up yet */
    size_t cap_classes;
    /* number of the allocation of a slot's block, by slot; NO_BIRTH = the block is in no scope */
    uint64_t *births;
    size_t cap_births;
    size_t scope; /* scope of the next event */
};

void ab_origins_fini(struct ab_origins *o)
{
    free(o->bytes);
    *o = (struct ab_origins){0};
}

static enum ab_status find_class(struct state *s, uint64_t patterns, uint8_t *class,
                                 struct ab_err *err)
{
    struct ab_origins *out = s->out;
    unsigned c = 0;
    while (c < out->n_classes && out->patterns[c] != patterns)
        c++;
    if (c == AB_ORIGIN_CLASSES)
        return ab_fail(err, AB_USAGE,
                       "the patterns of call sites overlap in more than %d ways: use fewer",
                       AB_ORIGIN_CLASSES);
    out->patterns[c] = patterns;
    out->n_classes += c == out->n_classes;
    *class = (uint8_t)c;
    return AB_OK;
}

static enum ab_status class_of(struct state *s, uint32_t stack, uint8_t *class, struct ab_err *err)
{
    size_t known = s->cap_classes;
    *class = 0;
    if (s->wish->match == NULL || stack == 0)
        return AB_OK;
    AB_GROW(s->classes, s->cap_classes, stack);
    for (; known < s->cap_classes; known++)
        s->classes[known] = UNKNOWN_CLASS;
    if (s->classes[stack] == UNKNOWN_CLASS)
        AB_TRY(
            find_class(s, s->wish->match(s->wish->user, s->sites, stack), &s->classes[stack], err));
    *class = s->classes[stack];
    return AB_OK;
}

/* True if blocks of this thread take part in scopes. If scopes are of one thread, blocks of other
 * threads do not. */
static bool is_seen(const struct ab_scopes *scopes, uint32_t thread)
{
    return scopes != NULL && (!scopes->is_of_thread || scopes->thread == thread);
}

static enum ab_status take_birth(struct state *s, const struct ab_event *e, struct ab_err *err)
{
    struct ab_origins *out = s->out;
    uint8_t class;
    AB_TRY(class_of(s, e->site, &class, err));
    AB_GROW(out->bytes, out->cap, out->n);
    AB_GROW(s->births, s->cap_births, e->slot);
    out->n_without_site += e->site == 0;
    if (!e->failed)
        s->births[e->slot] = is_seen(s->wish->scopes, e->thread) ? out->n : NO_BIRTH;
    out->bytes[out->n++] = (uint8_t)(class | (s->scope % 2 != 0 ? AB_ORIGIN_ODD : 0));
    return AB_OK;
}

/* Moves to the scope that contains call `at`, and sets *begin to its first call. */
static void enter_scope(struct state *s, uint64_t at, uint64_t *begin)
{
    const struct ab_scopes *scopes = s->wish->scopes;
    *begin = 0;
    if (scopes == NULL)
        return;
    while (s->scope < scopes->n && scopes->ends[s->scope] <= at)
        s->scope++;
    if (s->scope > 0)
        *begin = scopes->ends[s->scope - 1];
}

static enum ab_status visit(void *user, const struct ab_walk_batch *batch, struct ab_err *err)
{
    struct state *s = user;
    uint64_t begin;
    for (size_t i = 0; i < batch->n; i++) {
        const struct ab_event *e = &batch->events[i];
        enter_scope(s, batch->first + i, &begin);
        if (e->kind == AB_EVENT_FREE || e->released) {
            if (s->births[e->slot] != NO_BIRTH && batch->blocks[i].born_event >= begin)
                s->out->bytes[s->births[e->slot]] |= AB_ORIGIN_SCOPED;
        } else if (e->kind != AB_EVENT_RESIZE) {
            AB_TRY(take_birth(s, e, err));
        }
    }
    return AB_OK;
}

enum ab_status ab_origins_find(const struct ab_origins_wish *wish, struct ab_site_table *sites,
                               struct ab_origins *out, struct ab_err *err)
{
    struct state s = {.wish = wish, .out = out, .sites = sites};
    const struct ab_walk walk = {.path = wish->path,
                                 .is_partial = wish->is_partial,
                                 .sites = wish->match != NULL ? sites : NULL,
                                 .visit = visit,
                                 .user = &s};
    *out = (struct ab_origins){.n_classes = 1};
    enum ab_status status = ab_trace_walk(&walk, NULL, err);
    free(s.classes);
    free(s.births);
    return status;
}
