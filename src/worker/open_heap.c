/* SPDX-License-Identifier: MIT
 *
 * Opens the back end of a heap boundary: a built-in by its name, or a plug-in by dlopen. Checks the
 * table of hooks once, here; the loops trust it.
 */
#include "allocators/builtin.h"
#include "base/limits.h"
#include "base/nearest.h"
#include "base/param_read.h"
#include "worker/aged_heap.h"
#include "worker/checks/checks.h"
#include "worker/checks/target.h"
#include "worker/inline_backend.h"
#include "worker/memory.h"
#include "worker/worker.h"

#include <dlfcn.h>
#include <string.h>

static const struct ab_backend *load_plugin(struct ab_worker *w)
{
    void *object = dlopen(w->page->request.path, RTLD_NOW | RTLD_LOCAL);
    if (object == NULL)
        ab_worker_fail(w, AB_FAILURE_LIBRARY, "cannot be loaded: ", dlerror(), NULL);
    const struct ab_backend *table = dlsym(object, AB_BACKEND_SYMBOL);
    if (table == NULL)
        ab_worker_fail(w, AB_FAILURE_LIBRARY, "defines no " AB_BACKEND_SYMBOL, NULL);
    ab_worker_identify_object(w, table, true);
    return table;
}

static void check_table(struct ab_worker *w, const struct ab_backend *b)
{
    char buf[24];
    if (b->abi != AB_BACKEND_ABI)
        ab_worker_fail(w, AB_FAILURE_LIBRARY, AB_BACKEND_SYMBOL ": abi ",
                       ab_worker_number(buf, b->abi), ", this allocbench supports 1", NULL);
    if (b->size < AB_BACKEND_SIZE_MIN)
        ab_worker_fail(w, AB_FAILURE_LIBRARY, AB_BACKEND_SYMBOL ": size ",
                       ab_worker_number(buf, b->size),
                       " is smaller than struct ab_backend of abi 1", NULL);
    const char *missing = b->name == NULL    ? "name"
                          : b->open == NULL  ? "open"
                          : b->close == NULL ? "close"
                          : b->alloc == NULL ? "alloc"
                                             : NULL;
    if (missing != NULL)
        ab_worker_fail(w, AB_FAILURE_LIBRARY, AB_BACKEND_SYMBOL ": ", missing,
                       " is required but NULL", NULL);
}

static void check_lanes(struct ab_worker *w, const struct ab_backend *b,
                        const struct ab_work_of_heap *work)
{
    char buf[24];
    const char *name = work->name != NULL ? work->name : "", *is = work->name != NULL ? ": " : "";
    if (work->n_lanes <= 1)
        return;
    if ((b->traits & AB_TRAIT_THREAD_SAFE) == 0 && b->thread_enter == NULL)
        ab_worker_fail(w, AB_FAILURE_OPEN, name, is, "is single-threaded, the workload has ",
                       ab_worker_number(buf, work->n_lanes), " threads", NULL);
    if ((b->traits & AB_TRAIT_REMOTE_FREE) == 0 && work->n_remote > 0)
        ab_worker_fail(w, AB_FAILURE_OPEN, name, is,
                       "cannot free blocks across threads, the workload does so ",
                       ab_worker_number(buf, work->n_remote), " times", NULL);
}

static void keep(struct ab_heap *heap, ab_ref ref, size_t size)
{
    (void)heap;
    (void)ref;
    (void)size;
}

/* ---- settings of a plug-in ----
 *
 * They have the form "PARAM=VALUE:…", and the plug-in's own table says what they mean. Only the
 * worker ever loads a plug-in, so the worker checks this table. The parent has checked the form,
 * and that no parameter occurs twice. */

struct setting {
    char *name, *value;
};

static _Noreturn void refuse(struct ab_worker *w, const struct setting *s, const char *why)
{
    ab_worker_fail(w, AB_FAILURE_LIBRARY, "parameter ", s->name, "=", s->value, ": ", why, NULL);
}

/* Fails the run with a message that lists the allowed words: parameter a=b: WHAT c, d; did you mean
 * "c"? */
static _Noreturn void refuse_word(struct ab_worker *w, const struct setting *s, const char *word,
                                  const char *what, const char *const *words, size_t n)
{
    struct ab_words list = {.n = 0};
    const char *nearest = ab_text_nearest(word, words, n);
    for (size_t i = 0; i < n; i++) {
        ab_words_add(&list, i > 0 ? ", " : "");
        ab_words_add(&list, words[i]);
    }
    ab_worker_fail(w, AB_FAILURE_LIBRARY, "parameter ", s->name, "=", s->value, ": ", what,
                   list.text, nearest != NULL ? "; did you mean \"" : "",
                   nearest != NULL ? nearest : "", nearest != NULL ? "\"?" : "", NULL);
}

static void set(struct ab_worker *w, const struct ab_backend *b, const struct setting *s)
{
    const char *names[AB_PARAMS_MAX];
    char least[24], most[24];
    size_t i = ab_param_find(b, s->name);
    if (b->n_params == 0)
        refuse(w, s, "the plug-in has no parameters");
    for (size_t k = 0; k < b->n_params; k++)
        names[k] = b->params[k].name;
    if (i == b->n_params)
        refuse_word(w, s, s->name, "no such parameter; parameters: ", names, b->n_params);
    const struct ab_param *p = &b->params[i];
    const char *wrong = ab_param_read(p, s->value, &w->page->request.values[i]);
    if (wrong == ab_param_no_choice)
        refuse_word(w, s, s->value, wrong, p->choices, ab_param_count_choices(p));
    if (wrong == ab_param_no_range)
        ab_worker_fail(w, AB_FAILURE_LIBRARY, "parameter ", s->name, "=", s->value, ": ", wrong,
                       ab_worker_number(least, p->min), " to ", ab_worker_number(most, p->max),
                       NULL);
    if (wrong != NULL)
        refuse(w, s, wrong);
}

/* Returns the error in a row of the plug-in's table of parameters; NULL = none. */
static const char *find_fault(const struct ab_param *p)
{
    if (p->name == NULL)
        return "has no name";
    if (p->type == AB_PARAM_BOOL)
        return NULL;
    if (p->type != AB_PARAM_CHOICE)
        return p->def < p->min || p->def > p->max ? "has a default outside min and max" : NULL;
    return p->def < ab_param_count_choices(p) ? NULL
                                              : "has a default that is not one of its choices";
}

/* Fails the run if the plug-in's table of parameters is wrong, whatever the user has set. */
static void check_params(struct ab_worker *w, const struct ab_backend *b)
{
    char number[24];
    if (b->n_params > AB_PARAMS_MAX)
        ab_worker_fail(w, AB_FAILURE_LIBRARY, AB_BACKEND_SYMBOL ": ",
                       ab_worker_number(number, b->n_params), " params, 16 are allowed", NULL);
    if (b->n_params > 0 && b->params == NULL)
        ab_worker_fail(w, AB_FAILURE_LIBRARY, AB_BACKEND_SYMBOL ": params is NULL, n_params is ",
                       ab_worker_number(number, b->n_params), NULL);
    for (size_t i = 0; i < b->n_params; i++) {
        const char *fault = find_fault(&b->params[i]);
        if (fault != NULL)
            ab_worker_fail(w, AB_FAILURE_LIBRARY, AB_BACKEND_SYMBOL ": params[",
                           ab_worker_number(number, i), "] ", fault, NULL);
    }
}

/* Reads request.params into request.values. */
static void set_params(struct ab_worker *w, const struct ab_backend *b)
{
    char text[sizeof w->page->request.params];
    struct setting s;
    check_params(w, b);
    for (size_t i = 0; i < b->n_params; i++)
        w->page->request.values[i] = b->params[i].def;
    memcpy(text, w->page->request.params, sizeof text);
    for (char *rest = text; rest != NULL;)
        if (ab_param_cut(&rest, &s.name, &s.value))
            set(w, b, &s);
}

const struct ab_backend *ab_worker_find_backend(struct ab_worker *w)
{
    struct ab_run_request *request = &w->page->request;
    const struct ab_backend *b = request->source == AB_SOURCE_PLUGIN
                                     ? load_plugin(w)
                                     : ab_builtin_find(request->builtin);
    if (b == NULL)
        ab_worker_fail(w, AB_FAILURE_LIBRARY, "no built-in back end ", request->builtin, NULL);
    check_table(w, b);
    if (request->source == AB_SOURCE_PLUGIN)
        set_params(w, b);
    return ab_backend_variant(b, request->values);
}

/* Returns the back end's parameter "threads", if it is set to "none"; else NULL. */
static const struct ab_param *find_one_thread(const struct ab_backend *b, const uint64_t *values)
{
    for (size_t i = 0; i < b->n_params; i++) {
        const struct ab_param *p = &b->params[i];
        if (strcmp(p->name, "threads") == 0 && p->type == AB_PARAM_CHOICE &&
            strcmp(p->choices[values[i]], "none") == 0)
            return p;
    }
    return NULL;
}

/* Appends text after the n characters of `to`, as far as it fits. Returns the new length. */
static size_t add_text(char *to, size_t cap, size_t n, const char *text)
{
    while (*text != 0 && n + 1 < cap)
        to[n++] = *text++;
    to[n] = 0;
    return n;
}

static _Noreturn void fail_open(struct ab_worker *w, const struct ab_backend *b,
                                const struct ab_work_of_heap *work, int error)
{
    const char *name = work->name != NULL ? work->name : "", *is = work->name != NULL ? ": " : "";
    const struct ab_param *p = find_one_thread(b, w->page->request.values);
    char others[128] = "", lanes[24];
    size_t n = 0;
    if (p == NULL || work->facts->lanes <= 1)
        ab_worker_fail(w, AB_FAILURE_OPEN, name, is, "open refused: ", strerrordesc_np(error),
                       NULL);
    for (const char *const *c = p->choices; *c != NULL; c++)
        if (strcmp(*c, "none") != 0) {
            n = add_text(others, sizeof others, n, n > 0 ? ", threads=" : "threads=");
            n = add_text(others, sizeof others, n, *c);
        }
    ab_worker_fail(w, AB_FAILURE_OPEN, name, is, "threads=none is for one thread, this work has ",
                   ab_worker_number(lanes, work->facts->lanes),
                   ": leave the setting out, or use one of ", others, NULL);
}

struct ab_heap *ab_worker_open_backend(struct ab_worker *w, const struct ab_backend *b,
                                       const struct ab_work_of_heap *work)
{
    struct ab_open_args args = {
        .size = sizeof args, .facts = work->facts, .values = w->page->request.values};
    struct ab_heap *heap = NULL;
    check_lanes(w, b, work);
    int error = b->open(&args, &heap);
    if (error != 0)
        fail_open(w, b, work, error);
    return heap;
}

struct ab_heap_face ab_worker_face_of(const struct ab_backend *b, struct ab_heap *heap)
{
    return (struct ab_heap_face){
        .heap = heap,
        .alloc = b->alloc,
        .free = b->free != NULL ? b->free : keep,
        .resize = b->resize,
        .alloc_zeroed = b->alloc_zeroed,
        .alloc_aligned = b->alloc_aligned,
        .reset = b->reset,
        .resolve = b->resolve,
        .usable_size = b->usable_size,
        .thread_enter = b->thread_enter,
        .backend = b,
    };
}

uint32_t ab_worker_hooks_of(const struct ab_backend *b)
{
    const void *const hooks[AB_OP_KIND_COUNT] = {
        [AB_OP_ALLOC] = b->alloc,
        [AB_OP_ALLOC_ZEROED] = b->alloc_zeroed,
        [AB_OP_ALLOC_ALIGNED] = b->alloc_aligned,
        [AB_OP_RESIZE] = b->resize,
        [AB_OP_FREE] = b->free,
        [AB_OP_RESET] = b->reset,
        [AB_OP_ACCESS] = b->alloc, /* a back end needs no hook for an access */
    };
    uint32_t bits = 0;
    for (unsigned k = 0; k < AB_OP_KIND_COUNT; k++)
        bits |= (hooks[k] != NULL ? 1u : 0u) << k;
    return bits;
}

void ab_worker_open_heap(struct ab_worker *w, struct ab_heap_face *face)
{
    struct ab_work_of_heap work = {NULL, ab_worker_facts(w), w->image->n_lanes, w->image->n_remote};
    const struct ab_backend *b = ab_worker_find_backend(w);
    w->page->report.traits = b->traits | (b->free == NULL ? AB_TRAIT_NO_FREE : 0u);
    ab_memory_before_open(w);
    struct ab_heap *heap = ab_worker_open_backend(w, b, &work);
    ab_memory_after_open(w, b, heap);
    *face = ab_worker_face_of(b, heap);
    w->page->report.hooks |= ab_worker_hooks_of(b);
}

void ab_worker_leave_heap(struct ab_lane *lane)
{
    const struct ab_heap_face *f = &lane->own_face;
    if (f->thread_enter != NULL && f->backend != NULL && f->backend->thread_leave != NULL)
        f->backend->thread_leave(f->heap);
}

void ab_worker_enter_heap(struct ab_lane *lane, struct ab_heap_face *face)
{
    lane->own_face = *face;
    lane->face = &lane->own_face;
    if (face->thread_enter != NULL) {
        int error = face->thread_enter(face->heap, lane->index, &lane->own_face.heap);
        if (error != 0)
            ab_worker_fail(lane->w, AB_FAILURE_OPEN,
                           "thread_enter refused: ", strerrordesc_np(error), NULL);
    }
    if (lane->w->placement != NULL)
        /* for a placement, the loops in pass_placed.c take the whole view as their argument */
        lane->face = lane->own_face.heap;
    if (lane->w->inlined != NULL) {
        lane->own_face.object = lane->w->inlined->object_of(lane->own_face.heap);
        if (lane->own_face.object == NULL)
            ab_worker_fail(lane->w, AB_FAILURE_OPEN,
                           "these settings (threads, debug) cannot be inlined", NULL);
    }
    /* The heap may be reset in bulk unless lanes have heaps of their own: then a reset would end
     * only the blocks of this lane. */
    bool is_alone = lane->w->image->n_lanes == 1, is_shared = lane->own_face.heap == face->heap;
    lane->may_reset = face->reset != NULL && (is_alone || is_shared);
    lane->has_own_heap = is_alone || !is_shared;
    lane->has_marks = face->backend != NULL && ab_backend_has_marks(face->backend);
}

const struct ab_facts *ab_worker_facts(const struct ab_worker *w)
{
    const struct ab_run_request *r = &w->page->request;
    return r->pass == AB_PASS_CHECK ? &ab_checks[r->verify.check].facts : ab_aged_heap_facts(w);
}
