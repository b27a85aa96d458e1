/* SPDX-License-Identifier: MIT
 *
 * Calls an allocator through either boundary, with every kind of request, and writes calls as text
 * for messages.
 */
#include "worker/checks/target.h"

#include "base/digits.h"
#include "worker/crash/crash.h"

#include <string.h>

static void words_number(struct ab_words *w, uint64_t n);

_Static_assert(AB_CALLED_MALLOC + AB_CALL_POSIX == (int)AB_CALLED_POSIX_MEMALIGN &&
                   AB_CALLED_ALLOC + AB_CALL_ALIGNED == (int)AB_CALLED_ALLOC_ALIGNED,
               "the order of enum ab_call");

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

/* Returns the unit with which calloc is called. Some requests are split into several units, because
 * an allocator may compute the product wrongly. */
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

static ab_ref ask_heap(const struct ab_target *t, struct ab_heap *heap, const struct ab_ask *ask)
{
    switch (ask->call) {
    case AB_CALL_ZEROED:
        return t->hooks->alloc_zeroed(heap, ask->size);
    case AB_CALL_ALIGNED:
        return t->hooks->alloc_aligned(heap, ask->align, ask->size);
    default:
        return t->hooks->alloc(heap, ask->size);
    }
}

static void note_ask(const struct ab_target *t, const struct ab_ask *ask)
{
    bool is_malloc = ab_target_is_malloc(t);
    enum ab_called called = (is_malloc ? AB_CALLED_MALLOC : AB_CALLED_ALLOC) + (unsigned)ask->call;
    if (called == AB_CALLED_CALLOC)
        ab_call_note_begin(called, ask->size / calloc_unit(ask->size), calloc_unit(ask->size), 0);
    else if (ask->call >= AB_CALL_ALIGNED)
        ab_call_note_begin(called, ask->align, ask->size, 0);
    else
        ab_call_note_begin(called, ask->size, 0, 0);
}

ab_ref ab_target_ask(const struct ab_target *t, struct ab_heap *heap, const struct ab_ask *ask)
{
    note_ask(t, ask);
    ab_ref ref = ab_target_is_malloc(t) ? ask_malloc(&t->calls, ask) : ask_heap(t, heap, ask);
    ab_call_note_end();
    return ref;
}

ab_ref ab_target_calloc(const struct ab_target *t, size_t n, size_t size)
{
    ab_call_note_begin(AB_CALLED_CALLOC, n, size, 0);
    ab_ref ref = (ab_ref)t->calls.calloc(n, size);
    ab_call_note_end();
    return ref;
}

ab_ref ab_target_resize(const struct ab_target *t, struct ab_heap *heap, ab_ref ref,
                        const size_t sizes[2])
{
    ab_ref moved;
    if (ab_target_is_malloc(t)) {
        ab_call_note_begin(AB_CALLED_REALLOC, ref, sizes[1], 0);
        moved = (ab_ref)t->calls.realloc((void *)ref, sizes[1]);
    } else {
        ab_call_note_begin(AB_CALLED_RESIZE, ref, sizes[0], sizes[1]);
        moved = t->hooks->resize(heap, ref, sizes[0], sizes[1]);
    }
    ab_call_note_end();
    return moved;
}

void ab_target_free(const struct ab_target *t, struct ab_heap *heap, ab_ref ref, size_t size)
{
    ab_call_note_begin(ab_target_is_malloc(t) ? AB_CALLED_FREE : AB_CALLED_HEAP_FREE, ref, size, 0);
    if (ab_target_is_malloc(t))
        t->calls.free((void *)ref);
    else if (t->hooks->free != NULL)
        t->hooks->free(heap, ref, size);
    ab_call_note_end();
}

void ab_malloc_free_aligned(const struct ab_malloc_calls *face, void *block, size_t size,
                            unsigned align_log2)
{
    typedef void two_numbers(void *, size_t, size_t);
    typedef void number_and_flags(void *, size_t, int);
    size_t align = (size_t)1 << align_log2;
    two_numbers *by_numbers;
    number_and_flags *by_flags;
    memcpy(&by_numbers, &face->free_aligned, sizeof by_numbers);
    memcpy(&by_flags, &face->free_aligned, sizeof by_flags);
    if (by_numbers == NULL)
        face->free(block);
    else if (face->aligned_shape == AB_SIZED_FLAGS)
        by_flags(block, size, (int)align_log2);
    else if (face->aligned_shape == AB_SIZED_ALIGN_FIRST)
        by_numbers(block, align, size);
    else
        by_numbers(block, size, align);
}

void ab_target_free_sized(const struct ab_target *t, struct ab_heap *heap, ab_ref ref,
                          const struct ab_sized *sized)
{
    if (!ab_target_is_malloc(t)) { /* the free of a heap always takes the size */
        ab_target_free(t, heap, ref, sized->size);
        return;
    }
    ab_call_note_begin(AB_CALLED_FREE_SIZED, ref, sized->size, 0);
    ab_malloc_free_sized(&t->calls, (void *)ref, sized->size, sized->align_log2);
    ab_call_note_end();
}

void ab_target_reset(const struct ab_target *t, struct ab_heap *heap)
{
    ab_call_note_begin(AB_CALLED_RESET, 0, 0, 0);
    t->hooks->reset(heap);
    ab_call_note_end();
}

bool ab_target_has_marks(const struct ab_target *t)
{
    return t->hooks != NULL && t->hooks->mark != NULL && t->hooks->release != NULL;
}

uint64_t ab_target_mark(const struct ab_target *t, struct ab_heap *heap)
{
    ab_call_note_begin(AB_CALLED_MARK, 0, 0, 0);
    uint64_t mark = t->hooks->mark(heap);
    ab_call_note_end();
    return mark;
}

void ab_target_release(const struct ab_target *t, struct ab_heap *heap, uint64_t mark)
{
    ab_call_note_begin(AB_CALLED_RELEASE, mark, 0, 0);
    t->hooks->release(heap, mark);
    ab_call_note_end();
}

size_t ab_target_usable(const struct ab_target *t, struct ab_heap *heap, ab_ref ref)
{
    bool is_malloc = ab_target_is_malloc(t);
    if (is_malloc ? t->calls.usable_size == NULL : t->hooks->usable_size == NULL)
        return SIZE_MAX;
    struct ab_call_note before = ab_call_note_ask(
        is_malloc ? AB_CALLED_MALLOC_USABLE_SIZE : AB_CALLED_USABLE_SIZE, ref);
    size_t size = is_malloc ? t->calls.usable_size((void *)ref) : t->hooks->usable_size(heap, ref);
    ab_call_note_answered(&before);
    return size;
}

void *ab_target_address(const struct ab_target *t, struct ab_heap *heap, ab_ref ref)
{
    if (t->hooks == NULL || t->hooks->resolve == NULL)
        return (void *)ref;
    struct ab_call_note before = ab_call_note_ask(AB_CALLED_RESOLVE, ref);
    void *p = t->hooks->resolve(heap, ref);
    ab_call_note_answered(&before);
    return p;
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
        words_number(w, ask->align);
        ab_words_add(w, ", ");
    }
    if (ask->call == AB_CALL_ZEROED && ab_target_is_malloc(t)) {
        words_number(w, ask->size / calloc_unit(ask->size));
        ab_words_pair(w, ", ", calloc_unit(ask->size));
    } else {
        words_number(w, ask->size);
    }
    ab_words_add(w, ")");
}

void ab_words_resize(struct ab_words *w, const struct ab_target *t, const size_t sizes[2])
{
    ab_words_pair(w, ab_target_is_malloc(t) ? "realloc(" : "resize(", sizes[0]);
    ab_words_pair(w, " -> ", sizes[1]);
    ab_words_add(w, ")");
}

/* ---- texts without stdio ---- */

void ab_words_add(struct ab_words *w, const char *text)
{
    while (*text != 0 && w->n + 1 < sizeof w->text)
        w->text[w->n++] = *text++;
    w->text[w->n] = 0;
}

static void words_number(struct ab_words *w, uint64_t n)
{
    char buf[AB_DIGITS_BYTES];
    ab_words_add(w, ab_digits(buf, n, 10));
}

void ab_words_hex(struct ab_words *w, uint64_t n)
{
    char buf[AB_DIGITS_BYTES];
    ab_words_add(w, "0x");
    ab_words_add(w, ab_digits(buf, n, 16));
}

void ab_words_pair(struct ab_words *w, const char *text, uint64_t n)
{
    ab_words_add(w, text);
    words_number(w, n);
}
