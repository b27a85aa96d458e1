/* SPDX-License-Identifier: MIT
 *
 * Calls an allocator by either boundary, with every kind of request, and spells the calls for
 * messages.
 */
#include "worker/checks/target.h"

bool ab_target_is_malloc(const struct ab_target *t)
{
    return t->hooks == NULL;
}

bool ab_target_has(const struct ab_target *t, enum ab_call call)
{
    bool is_malloc = ab_target_is_malloc(t);
    switch (call) {
    case AB_CALL_ALLOC:
        return true;
    case AB_CALL_ZEROED:
        return is_malloc ? t->calls.calloc != NULL : t->hooks->alloc_zeroed != NULL;
    case AB_CALL_ALIGNED:
        return is_malloc ? t->calls.memalign != NULL : t->hooks->alloc_aligned != NULL;
    case AB_CALL_C11:
        return t->calls.aligned_alloc != NULL;
    case AB_CALL_POSIX:
        return t->calls.posix_memalign != NULL;
    case AB_CALL_COUNT:
        break;
    }
    return false;
}

bool ab_target_can_resize(const struct ab_target *t)
{
    return ab_target_is_malloc(t) ? t->calls.realloc != NULL : t->hooks->resize != NULL;
}

bool ab_target_can_free(const struct ab_target *t)
{
    return ab_target_is_malloc(t) ||
           (t->hooks->free != NULL && (t->traits & AB_TRAIT_NO_FREE) == 0);
}

/* Both forms of calloc are used: its product is a thing to get wrong. */
static size_t calloc_unit(size_t size)
{
    return size % 8 == 0 && size > 0 ? 8 : size > 0 ? size : 1;
}

static ab_ref ask_malloc(const struct ab_malloc_calls *c, const struct ab_ask *ask)
{
    void *p = NULL;
    switch (ask->call) {
    case AB_CALL_ZEROED:
        return (ab_ref)c->calloc(ask->size / calloc_unit(ask->size), calloc_unit(ask->size));
    case AB_CALL_ALIGNED:
        return (ab_ref)c->memalign(ask->align, ask->size);
    case AB_CALL_C11:
        return (ab_ref)c->aligned_alloc(ask->align, ask->size);
    case AB_CALL_POSIX:
        return c->posix_memalign(&p, ask->align, ask->size) == 0 ? (ab_ref)p : 0;
    default:
        return (ab_ref)c->malloc(ask->size);
    }
}

ab_ref ab_target_ask(const struct ab_target *t, struct ab_heap *heap, const struct ab_ask *ask)
{
    if (ab_target_is_malloc(t))
        return ask_malloc(&t->calls, ask);
    switch (ask->call) {
    case AB_CALL_ZEROED:
        return t->hooks->alloc_zeroed(heap, ask->size);
    case AB_CALL_ALIGNED:
        return t->hooks->alloc_aligned(heap, ask->align, ask->size);
    default:
        return t->hooks->alloc(heap, ask->size);
    }
}

ab_ref ab_target_resize(const struct ab_target *t, struct ab_heap *heap, ab_ref ref,
                        const size_t sizes[2])
{
    return ab_target_is_malloc(t) ? (ab_ref)t->calls.realloc((void *)ref, sizes[1])
                                  : t->hooks->resize(heap, ref, sizes[0], sizes[1]);
}

void ab_target_free(const struct ab_target *t, struct ab_heap *heap, ab_ref ref, size_t size)
{
    if (ab_target_is_malloc(t))
        t->calls.free((void *)ref);
    else if (t->hooks->free != NULL)
        t->hooks->free(heap, ref, size);
}

size_t ab_target_usable(const struct ab_target *t, struct ab_heap *heap, ab_ref ref)
{
    if (ab_target_is_malloc(t))
        return t->calls.usable_size != NULL ? t->calls.usable_size((void *)ref) : SIZE_MAX;
    return t->hooks->usable_size != NULL ? t->hooks->usable_size(heap, ref) : SIZE_MAX;
}

void *ab_target_address(const struct ab_target *t, struct ab_heap *heap, ab_ref ref)
{
    return t->hooks != NULL && t->hooks->resolve != NULL ? t->hooks->resolve(heap, ref)
                                                         : (void *)ref;
}

void ab_words_ask(struct ab_words *w, const struct ab_target *t, const struct ab_ask *ask)
{
    static const char *const names[AB_CALL_COUNT][2] = {
        [AB_CALL_ALLOC] = {"alloc(", "malloc("},
        [AB_CALL_ZEROED] = {"alloc_zeroed(", "calloc("},
        [AB_CALL_ALIGNED] = {"alloc_aligned(", "memalign("},
        [AB_CALL_C11] = {"", "aligned_alloc("},
        [AB_CALL_POSIX] = {"", "posix_memalign("},
    };
    ab_words_add(w, names[ask->call][ab_target_is_malloc(t)]);
    if (ask->call >= AB_CALL_ALIGNED) {
        ab_words_number(w, ask->align);
        ab_words_add(w, ", ");
    }
    if (ask->call == AB_CALL_ZEROED && ab_target_is_malloc(t)) {
        ab_words_number(w, ask->size / calloc_unit(ask->size));
        ab_words_pair(w, ", ", calloc_unit(ask->size));
    } else {
        ab_words_number(w, ask->size);
    }
    ab_words_add(w, ")");
}

void ab_words_resize(struct ab_words *w, const struct ab_target *t, const size_t sizes[2])
{
    ab_words_pair(w, ab_target_is_malloc(t) ? "realloc(" : "resize(", sizes[0]);
    ab_words_pair(w, " -> ", sizes[1]);
    ab_words_add(w, ")");
}
