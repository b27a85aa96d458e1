/* SPDX-License-Identifier: MIT
 *
 * Opens the heaps of a placement. Passes that are not timed, the pre-flight and the memory pass,
 * see all heaps as one heap. A malloc library among the heaps gets the heap interface from
 * adapters.
 */
#include "worker/placed.h"

#include "worker/inline_backend.h"
#include "worker/memory.h"
#include "worker/memory_pass.h"
#include "worker/placed_inline.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- the placement file ----
 *
 * The file is mapped, and each burst's part is read into memory with the burst's ops. */

static void bring_in(struct ab_worker *w, uint64_t last, uint64_t next, uint64_t bytes)
{
    if (!ab_worker_bring_in(w->placement, last, next, bytes))
        ab_worker_fail(w, AB_FAILURE_SYSTEM, "cannot read the placement", NULL);
}

/* Reads the part of burst `next` into memory, in place of the part of burst `last`. */
static void bring_in_part(struct ab_worker *w, uint32_t last, uint32_t next)
{
    bring_in(w, ab_placement_part(w->placement, last), ab_placement_part(w->placement, next),
             w->placement->most_bytes);
}

static void map_file(struct ab_worker *w)
{
    off_t bytes = lseek(AB_WORKER_FD_PLACEMENT, 0, SEEK_END);
    const struct ab_placement_image *image = mmap(NULL, (size_t)bytes, PROT_READ, MAP_SHARED,
                                                  AB_WORKER_FD_PLACEMENT, 0);
    if (image == MAP_FAILED || image->magic != AB_PLACEMENT_MAGIC || image->size != sizeof *image ||
        image->n_lanes != w->image->n_lanes || image->n_bursts < w->image->n_bursts)
        ab_worker_fail(w, AB_FAILURE_SYSTEM, "cannot map the placement", NULL);
    w->placement = image;
    bring_in(w, 0, 0, ab_placement_part(image, 0)); /* maps everything ahead of the parts first */
    bring_in_part(w, 0, 0);
}

/* ---- adapters that give a malloc library the heap interface ---- */

static ab_ref malloc_alloc(struct ab_heap *heap, size_t size)
{
    return (ab_ref)((struct ab_malloc_calls *)(void *)heap)->malloc(size);
}

static void malloc_free(struct ab_heap *heap, ab_ref ref, size_t size)
{
    (void)size;
    ((struct ab_malloc_calls *)(void *)heap)->free((void *)ref);
}

static void malloc_free_sized(struct ab_heap *heap, ab_ref ref, size_t size, unsigned log2)
{
    ab_malloc_free_sized((struct ab_malloc_calls *)(void *)heap, (void *)ref, size, log2);
}

static ab_ref malloc_resize(struct ab_heap *heap, ab_ref ref, size_t old_size, size_t size)
{
    (void)old_size;
    return (ab_ref)((struct ab_malloc_calls *)(void *)heap)->realloc((void *)ref, size);
}

static ab_ref malloc_zeroed(struct ab_heap *heap, size_t size)
{
    return (ab_ref)((struct ab_malloc_calls *)(void *)heap)->calloc(1, size);
}

static ab_ref malloc_aligned(struct ab_heap *heap, size_t align, size_t size)
{
    return (ab_ref)((struct ab_malloc_calls *)(void *)heap)->memalign(align, size);
}

static size_t malloc_usable(struct ab_heap *heap, ab_ref ref)
{
    return ((struct ab_malloc_calls *)(void *)heap)->usable_size((void *)ref);
}

/* Fills `hooks` with the adapters for a malloc library. `calls` serves as the heap pointer; the
 * caller keeps it. */
static void make_hooks(const struct ab_malloc_calls *calls, struct ab_backend *hooks)
{
    *hooks = (struct ab_backend){
        .abi = AB_BACKEND_ABI,
        .size = sizeof *hooks,
        .name = "malloc",
        .traits = AB_TRAIT_THREAD_SAFE | AB_TRAIT_REMOTE_FREE,
        .alloc = malloc_alloc,
        .free = malloc_free,
        .resize = calls->realloc != NULL ? malloc_resize : NULL,
        .alloc_zeroed = calls->calloc != NULL ? malloc_zeroed : NULL,
        .alloc_aligned = calls->memalign != NULL ? malloc_aligned : NULL,
        .usable_size = calls->usable_size != NULL ? malloc_usable : NULL,
    };
}

static struct {
    struct ab_worker *w;
    struct ab_placed_renewal renewals[AB_PLACEMENT_HEAPS_MAX];
    struct ab_placed *views; /* one for each lane */
    struct ab_malloc_calls mallocs[AB_PLACEMENT_HEAPS_MAX];
    struct ab_backend malloc_hooks[AB_PLACEMENT_HEAPS_MAX];
    struct ab_backend whole; /* back end that stands for all heaps */
    struct ab_placed first;  /* every lane's view starts as a copy of this one */
    bool is_inlined;         /* True if some heap is compiled into the loop. */
} placed;

void ab_placed_map(struct ab_worker *w)
{
    map_file(w);
    /* written, so that it is resident before anything is measured */
    memset(&placed, 0, sizeof placed);
}

ab_ref ab_placed_odd(const struct ab_placed *r, ab_ref ref, unsigned heap)
{
    placed.renewals[heap].left = AB_PLACEMENT_NEVER;
    placed.renewals[heap].is_off = true;
    if (ref == 0)
        return 0;
    ab_worker_fail(r->w, AB_FAILURE_CHECK, ab_placement_heap_at(r->w->placement, heap)->name,
                   " returned an address above 2^57: it cannot be one of several heaps", NULL);
}

/* ---- calls ---- */

ab_ref ab_placed_zeroed(struct ab_placed *r, size_t size)
{
    unsigned heap;
    const struct ab_heap_face *f = ab_placed_next(r, &heap);
    return ab_placed_tag(r, f->alloc_zeroed(f->heap, size), heap);
}

ab_ref ab_placed_aligned(struct ab_placed *r, size_t align, size_t size)
{
    unsigned heap;
    const struct ab_heap_face *f = ab_placed_next(r, &heap);
    return ab_placed_tag(r, f->alloc_aligned(f->heap, align, size), heap);
}

ab_ref ab_placed_resize(struct ab_placed *r, ab_ref ref, size_t old_size, size_t size)
{
    unsigned heap = r->choice[-1], from = (unsigned)(ref >> AB_PLACED_SHIFT);
    const struct ab_heap_face *f = &r->heaps[heap].face;
    ab_ref address = ref & AB_PLACED_ADDRESS;
    if (heap == from)
        return ab_placed_tag(r, f->resize(f->heap, address, old_size, size), heap);
    ab_ref moved = ab_placed_tag(r, f->alloc(f->heap, size), heap);
    if (moved == 0)
        return 0;
    /* a resize from one heap to another costs a copy in the program too, so the copy is timed */
    if (!r->w->placement->is_null)
        memcpy((void *)(moved & AB_PLACED_ADDRESS), (const void *)address,
               old_size < size ? old_size : size);
    ab_placed_free(r, ref, old_size);
    return moved;
}

/* ---- all heaps as one ---- */

static struct ab_placed *view_of(struct ab_heap *heap)
{
    return (struct ab_placed *)(void *)heap;
}

void ab_placed_skip(struct ab_heap *view)
{
    view_of(view)->choice++;
}

/* Allocates with the code that the timed loop runs: with the compiled-in allocators, if the loop
 * has them. */
static ab_ref whole_alloc(struct ab_heap *heap, size_t size)
{
    return placed.is_inlined ? ab_placed_inline_alloc(view_of(heap), size)
                             : ab_placed_alloc(view_of(heap), size);
}

static ab_ref whole_zeroed(struct ab_heap *heap, size_t size)
{
    return ab_placed_zeroed(view_of(heap), size);
}

static ab_ref whole_aligned(struct ab_heap *heap, size_t align, size_t size)
{
    return ab_placed_aligned(view_of(heap), align, size);
}

static ab_ref whole_resize(struct ab_heap *heap, ab_ref ref, size_t old_size, size_t size)
{
    view_of(heap)->choice++;
    return ab_placed_resize(view_of(heap), ref, old_size, size);
}

static void whole_free(struct ab_heap *heap, ab_ref ref, size_t size)
{
    if (placed.is_inlined)
        ab_placed_inline_free(view_of(heap), ref, size);
    else
        ab_placed_free(view_of(heap), ref, size);
}

static void *whole_resolve(struct ab_heap *heap, ab_ref ref)
{
    (void)heap;
    return (void *)(ref & AB_PLACED_ADDRESS);
}

static size_t whole_usable(struct ab_heap *heap, ab_ref ref)
{
    const struct ab_heap_face *f = ab_placed_of(view_of(heap), ref);
    return f->usable_size(f->heap, ref & AB_PLACED_ADDRESS);
}

static void add(uint64_t *sum, uint64_t x)
{
    *sum = *sum == AB_UNKNOWN || x == AB_UNKNOWN ? AB_UNKNOWN : *sum + x;
}

/* Adds up the statistics of all heaps. Asks each heap as it was opened, because a lane's own heap
 * is only a part of it. */
static int whole_stats(struct ab_heap *heap, struct ab_heap_stats *out)
{
    (void)heap;
    *out = (struct ab_heap_stats){0};
    for (uint32_t h = 0; h < placed.w->placement->n_heaps; h++) {
        const struct ab_heap_face *f = &placed.first.heaps[h].face;
        struct ab_heap_stats stats = {AB_UNKNOWN, AB_UNKNOWN, AB_UNKNOWN, AB_UNKNOWN, AB_UNKNOWN};
        if (f->backend->stats != NULL && f->backend->stats(f->heap, &stats) != 0)
            return ENOTSUP;
        add(&out->reserved_bytes, stats.reserved_bytes);
        add(&out->committed_bytes, stats.committed_bytes);
        add(&out->live_bytes, stats.live_bytes);
        add(&out->metadata_bytes, stats.metadata_bytes);
        add(&out->os_calls, stats.os_calls);
    }
    return 0;
}

/* Frees all blocks of all heaps. Used only if each heap has a free or a reset. */
static void whole_reset(struct ab_heap *heap)
{
    for (uint32_t h = 0; h < placed.w->placement->n_heaps; h++) {
        const struct ab_heap_face *f = &view_of(heap)->heaps[h].face;
        if (f->reset != NULL)
            f->reset(f->heap);
    }
}

static void whole_purge(struct ab_heap *heap)
{
    (void)heap;
    for (uint32_t h = 0; h < placed.w->placement->n_heaps; h++) {
        const struct ab_heap_face *f = &placed.first.heaps[h].face;
        f->backend->purge(f->heap);
    }
}

/* ---- opening ---- */

/* Copies the settings of this heap into the request, because the functions that open a back end
 * read them there. */
static void request_heap(struct ab_worker *w, const struct ab_placement_heap *heap)
{
    struct ab_run_request *r = &w->page->request;
    r->source = heap->source;
    r->want_dev = heap->want_dev;
    r->want_ino = heap->want_ino;
    memcpy(r->builtin, heap->builtin, sizeof r->builtin);
    memcpy(r->path, heap->path, sizeof r->path);
    memcpy(r->prefix, heap->prefix, sizeof r->prefix);
    memcpy(r->params, heap->params, sizeof r->params);
    memcpy(r->values, heap->values, sizeof r->values);
}

static struct ab_heap_face open_malloc(struct ab_worker *w, uint32_t h)
{
    struct ab_malloc_calls *calls = &placed.mallocs[h];
    struct ab_backend *hooks = &placed.malloc_hooks[h];
    if (w->page->request.source == AB_SOURCE_PREFIX)
        ab_worker_open_prefix(w, calls);
    else
        ab_worker_identify_malloc(w, calls);
    make_hooks(calls, hooks);
    struct ab_heap_face face = ab_worker_face_of(hooks, (struct ab_heap *)(void *)calls);
    face.free_sized = malloc_free_sized;
    return face;
}

static struct ab_heap_face open_backend(struct ab_worker *w, const struct ab_placement_heap *heap)
{
    struct ab_work_of_heap work = {heap->name, &heap->facts, heap->n_lanes, heap->n_remote};
    const struct ab_backend *b = ab_worker_find_backend(w);
    if (b->resolve != NULL)
        ab_worker_fail(w, AB_FAILURE_OPEN, heap->name,
                       " gives handles, and what several heaps share must be addresses", NULL);
    return ab_worker_face_of(b, ab_worker_open_backend(w, b, &work));
}

/* ---- renewal ---- */

static bool keeps(const struct ab_backend *b)
{
    return b->free == NULL || (b->traits & AB_TRAIT_NO_FREE) != 0;
}

void ab_placed_renew(struct ab_placed_renewal *r)
{
    if (!r->is_on || r->is_off) { /* the heap is not renewed: only restarts the count */
        r->left = AB_PLACEMENT_NEVER;
        return;
    }
    r->left = *r->next++;
    if (r->reset != NULL)
        r->reset(r->heap);
}

static void count_free(struct ab_heap *counter, ab_ref ref, size_t size)
{
    struct ab_placed_renewal *r = (struct ab_placed_renewal *)(void *)counter;
    r->free(r->heap, ref, size);
    if (ref != 0 && --r->left == 0) /* a NULL is not counted: see ab_placed_count */
        ab_placed_renew(r);
}

/* Turns on the renewals (bulk resets when empty) of heap h. The parent has made sure that only one
 * lane uses the heap. Not for heaps with a part for each lane, nor for heaps that free single
 * blocks. */
static void prepare_renewal(const struct ab_worker *w, uint32_t h)
{
    const struct ab_placement_heap *heap = ab_placement_heap_at(w->placement, h);
    struct ab_heap_face *f = &placed.first.heaps[h].face;
    bool has_parts = f->thread_enter != NULL && w->image->n_lanes > 1;
    bool can = w->placement->is_null || (keeps(f->backend) && f->reset != NULL && !has_parts);
    struct ab_placed_renewal *r = &placed.renewals[h];
    placed.first.heaps[h].freed_in = f->heap;
    r->left = AB_PLACEMENT_NEVER;
    if (heap->renews == 0 || !can)
        return;
    *r = (struct ab_placed_renewal){
        .is_on = true, .heap = f->heap, .free = f->free, .reset = f->reset};
    f->free = count_free;
    placed.first.heaps[h].freed_in = (struct ab_heap *)(void *)r;
}

/* Sets the heap argument for frees of this heap, after the lane's thread has entered the heap. */
static void enter_heap(struct ab_placed_heap *heap, uint32_t h)
{
    if (heap->face.free != count_free)
        heap->freed_in = heap->face.heap;
    else if (placed.w->image->n_lanes == 1)
        placed.renewals[h].heap = heap->face.heap;
}

/* Prepares a heap that is compiled into the loop. Frees of an arena are counted, even if the arena
 * is never renewed. */
static void compile_in(struct ab_placed *view, uint32_t h)
{
    const struct ab_placement_heap *heap = ab_placement_heap_at(placed.w->placement, h);
    struct ab_placed_heap *out = &view->heaps[h];
    if (heap->inlined == AB_PLACEMENT_CALLED)
        return;
    out->face.object = ab_inline_find(heap->builtin, AB_BOUNDARY_INLINE)->object_of(out->face.heap);
    if (out->face.object == NULL)
        ab_worker_fail(placed.w, AB_FAILURE_OPEN, heap->name,
                       ": these settings (threads, debug) cannot be inlined", NULL);
    out->kind = (placed.w->placement->is_null ? AB_PLACED_NULLS : AB_PLACED_CALLED) + heap->inlined;
    if (heap->inlined == AB_PLACEMENT_ARENA)
        out->freed_in = (struct ab_heap *)(void *)&placed.renewals[h];
}

/* Fails the run if the heap cannot serve a kind of request that the placement sends to it. A result
 * without these blocks would mean nothing. */
static void check_kinds(struct ab_worker *w, const struct ab_placement_heap *heap,
                        const struct ab_backend *b)
{
    static const char *const calls[AB_OP_KIND_COUNT] = {"alloc", "alloc_zeroed", "alloc_aligned",
                                                        "resize"};
    uint32_t missing = heap->facts.kinds & ~ab_worker_hooks_of(b);
    for (unsigned k = AB_OP_ALLOC; k <= AB_OP_RESIZE; k++)
        if ((missing >> k & 1) != 0)
            ab_worker_fail(w, AB_FAILURE_OPEN, heap->name, " has no ", calls[k],
                           ", and the map sends it such requests", NULL);
}

/* Clears the library's identity and version in the report, because each heap that is opened sets
 * them for itself. */
static void forget_library(struct ab_worker *w)
{
    memset(&w->page->report.identity, 0, sizeof w->page->report.identity);
    memset(w->page->report.version, 0, sizeof w->page->report.version);
}

static struct ab_heap_face open_one(struct ab_worker *w, uint32_t h)
{
    const struct ab_placement_heap *heap = ab_placement_heap_at(w->placement, h);
    request_heap(w, heap);
    forget_library(w);
    bool is_malloc = ab_source_boundary((enum ab_source)heap->source) == AB_BOUNDARY_MALLOC;
    struct ab_heap_face face = is_malloc ? open_malloc(w, h) : open_backend(w, heap);
    check_kinds(w, heap, face.backend);
    struct ab_library_report *library = &w->page->report.libraries[h];
    memcpy(library->version, w->page->report.version, sizeof library->version);
    memcpy(library->build_id, w->page->report.identity.build_id, sizeof library->build_id);
    return face;
}

static int whole_enter(struct ab_heap *heap, uint32_t lane, struct ab_heap **out)
{
    struct ab_placed *view = &placed.views[lane];
    (void)heap;
    for (uint32_t h = 0; h < placed.w->placement->n_heaps; h++) {
        struct ab_heap_face *f = &view->heaps[h].face;
        /* enters the heap as it was opened, not the previous thread's part of it */
        struct ab_heap *shared = placed.first.heaps[h].face.heap;
        int error = f->thread_enter != NULL ? f->thread_enter(shared, lane, &f->heap) : 0;
        if (error != 0)
            return error;
        enter_heap(&view->heaps[h], h);
        compile_in(view, h);
        bool is_whole = placed.w->image->n_lanes == 1 || f->heap == shared;
        view->resettable |= (uint16_t)((f->reset != NULL && is_whole ? 1u : 0u) << h);
        view->markable |= (uint16_t)((ab_backend_has_marks(f->backend) ? 1u : 0u) << h);
    }
    *out = (struct ab_heap *)(void *)view;
    return 0;
}

static void whole_leave(struct ab_heap *heap)
{
    for (uint32_t h = 0; h < placed.w->placement->n_heaps; h++) {
        const struct ab_heap_face *f = &view_of(heap)->heaps[h].face;
        if (f->thread_enter != NULL && f->backend->thread_leave != NULL)
            f->backend->thread_leave(f->heap);
    }
}

static void follow_burst(const struct ab_worker *w, uint32_t burst)
{
    for (uint32_t l = 0; l < w->image->n_lanes; l++) {
        placed.views[l].choice = ab_placement_choices(w->placement, burst, l);
        placed.views[l].empties = ab_placement_resets(w->placement, burst, l);
    }
    for (uint32_t h = 0; h < w->placement->n_heaps; h++) {
        struct ab_placed_renewal *r = &placed.renewals[h];
        if (!r->is_on || r->is_off)
            continue;
        r->next = ab_placement_lives(w->placement, burst, h);
        r->left = *r->next++;
    }
}

void ab_placed_enter_burst(struct ab_worker *w, uint32_t last, uint32_t next)
{
    bring_in_part(w, last, next);
    follow_burst(w, next);
}

static bool has_inlined(const struct ab_worker *w)
{
    uint32_t h = 0;
    while (h < w->placement->n_heaps &&
           ab_placement_heap_at(w->placement, h)->inlined == AB_PLACEMENT_CALLED)
        h++;
    return h < w->placement->n_heaps;
}

ab_lane_pass *ab_placed_pass(const struct ab_worker *w)
{
    return has_inlined(w) ? ab_pass_placed_inline : ab_pass_placed;
}

static void make_views(struct ab_worker *w, const struct ab_placed *first)
{
    for (uint32_t l = 0; l < w->image->n_lanes; l++)
        placed.views[l] = *first;
    follow_burst(w, 0);
}

/* Joins the traits of all heaps. Some traits hold if one heap has them, the others only if all
 * heaps have them. */
static uint64_t join_traits(const struct ab_placed *view, uint32_t n_heaps)
{
    const uint64_t any = AB_TRAIT_NO_FREE | AB_TRAIT_MOVES | AB_TRAIT_WEARS | AB_TRAIT_FIXED_SIZE;
    uint64_t some = 0, all = ~UINT64_C(0);
    for (uint32_t h = 0; h < n_heaps; h++) {
        const struct ab_backend *b = view->heaps[h].face.backend;
        some |= b->traits | (keeps(b) ? AB_TRAIT_NO_FREE : 0u);
        all &= b->traits;
    }
    return (some & any) | (all & ~any & ~(uint64_t)AB_TRAIT_DETECTS_MISUSE);
}

/* True if no heap frees single blocks. */
static bool all_keep(const struct ab_placed *view, uint32_t n_heaps)
{
    uint32_t h = 0;
    while (h < n_heaps && keeps(view->heaps[h].face.backend))
        h++;
    return h == n_heaps;
}

/* True if each heap can free its blocks or be reset. */
static bool can_reset(const struct ab_placed *view, uint32_t n_heaps)
{
    for (uint32_t h = 0; h < n_heaps; h++) {
        const struct ab_backend *b = view->heaps[h].face.backend;
        if (keeps(b) && b->reset == NULL)
            return false;
    }
    return true;
}

/* True if all heaps can purge. If one cannot, the memory left after purging the others means
 * nothing. */
static bool can_purge(const struct ab_placed *view, uint32_t n_heaps)
{
    uint32_t h = 0;
    while (h < n_heaps && view->heaps[h].face.backend->purge != NULL)
        h++;
    return h == n_heaps;
}

/* Creates the back end that stands for all heaps. It has a hook only if each heap that gets calls
 * of this hook has it. */
static void make_whole(struct ab_worker *w, const struct ab_placed *view)
{
    placed.whole = (struct ab_backend){
        .abi = AB_BACKEND_ABI,
        .size = sizeof placed.whole,
        .name = "routed",
        .traits = join_traits(view, w->placement->n_heaps),
        .alloc = whole_alloc,
        .alloc_aligned = whole_aligned,
        .alloc_zeroed = whole_zeroed,
        .free = whole_free,
        .resize = whole_resize,
        .usable_size = view->has_usable ? whole_usable : NULL,
        .reset = can_reset(view, w->placement->n_heaps) ? whole_reset : NULL,
        .purge = can_purge(view, w->placement->n_heaps) ? whole_purge : NULL,
        .resolve = whole_resolve,
        .stats = whole_stats,
        .thread_enter = whole_enter,
        .thread_leave = whole_leave,
    };
}

/* Registers an opened heap, whose own statistics are read at each checkpoint. */
static void heap_memory_opened(struct ab_worker *w, uint32_t index,
                               const struct ab_backend *backend, struct ab_heap *heap)
{
    if (w->memory != NULL)
        w->memory->heaps[index] = (struct ab_opened_heap){backend, heap};
}

void ab_placed_open(struct ab_worker *w, struct ab_heap_face *face)
{
    struct ab_placed *first = &placed.first;
    struct ab_run_report *report = &w->page->report;
    uint32_t n_lanes = w->image->n_lanes;
    bool has_reset = false;
    placed.w = first->w = w;
    placed.is_inlined = has_inlined(w);
    if (placed.is_inlined)
        ab_inline_need_one_lane(w);
    placed.views = ab_worker_map(w, n_lanes * sizeof placed.views[0], "heaps of the lanes");
    first->has_usable = true;
    ab_memory_before_open(w);
    for (uint32_t h = 0; h < w->placement->n_heaps; h++) {
        struct ab_heap_face *f = &first->heaps[h].face;
        *f = open_one(w, h);
        heap_memory_opened(w, h, f->backend, f->heap);
        prepare_renewal(w, h);
        first->has_usable = first->has_usable && f->usable_size != NULL;
        has_reset = has_reset || f->reset != NULL;
    }
    make_views(w, first);
    make_whole(w, first);
    forget_library(w); /* a placement has no single library to report */
    report->traits = placed.whole.traits &
                     ~(uint64_t)(all_keep(first, w->placement->n_heaps) ? 0 : AB_TRAIT_NO_FREE);
    report->hooks = ~(1u << AB_OP_RESET) | (has_reset ? 1u : 0u) << AB_OP_RESET;
    struct ab_heap *heap = (struct ab_heap *)(void *)&placed.views[0];
    ab_memory_after_open(w, &placed.whole, heap);
    *face = ab_worker_face_of(&placed.whole, heap);
}

struct ab_heap *ab_placed_view(const struct ab_worker *w, uint32_t lane)
{
    struct ab_placed *view = &placed.views[lane];
    for (uint32_t h = 0; lane > 0 && h < w->placement->n_heaps; h++) {
        view->heaps[h].face.heap = placed.views[0].heaps[h].face.heap;
        view->heaps[h].freed_in = placed.views[0].heaps[h].freed_in;
    }
    return (struct ab_heap *)(void *)view;
}
