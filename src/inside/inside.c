/* SPDX-License-Identifier: MIT
 *
 * liballocbench-inside.so, the interposer of `exec --inside`, preloaded ahead of the allocator.
 * Counts each call, times on average one call in 128, chosen at random, and passes all calls on.
 * Calls neither malloc nor stdio and takes no lock. Counts and samples are in a mapping that all
 * processes share, so that none are lost when a process ends.
 *
 * A "look" is a reading of the thread's context switches and page faults (getrusage). It shows
 * whether the thread lost the CPU or slept during a timed call.
 *
 * A C++ operator may call malloc, or a function that is not interposed. While an operator runs,
 * calls of its thread are passed on without being counted.
 */
#include "inside/inside.h"

#include "base/clock.h"
#include "base/next_malloc.h"
#include "base/next_operators.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* ---- call sites ----
 *
 * A site is the object that contains the return address, and the address relative to its file, so
 * that all processes of a run find the same entry. Calls without room in the table are
 * counted in `unknown`. */

enum { FREE, WRITTEN, COMPLETE }; /* states of an entry of the table of objects */

#if __GLIBC_PREREQ(2, 35)

#pragma weak _dl_find_object

/* Object of the last timed call of this thread. */
static __thread struct {
    uintptr_t begin, end, base;
    uint32_t object; /* index in the table of objects + 1; 0 = no room */
} last;

static uint32_t find_place(struct ab_inside_sites *to, const char *path)
{
    for (uint32_t i = 0; i < AB_INSIDE_OBJECTS; i++) {
        struct ab_inside_object *o = &to->objects[i];
        uint32_t state = __atomic_load_n(&o->state, __ATOMIC_ACQUIRE);
        if (state == COMPLETE && strcmp(o->path, path) == 0)
            return i + 1;
        if (state != FREE || !__atomic_compare_exchange_n(&o->state, &state, WRITTEN, false,
                                                          __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            continue;
        strcpy(o->path, path);
        __atomic_store_n(&o->state, COMPLETE, __ATOMIC_RELEASE);
        return i + 1;
    }
    return 0;
}

/* Reads the path of an object into `path`. For the program itself, which has no name in the dynamic
 * linker's list, reads /proc/self/exe. Returns false if the path does not fit. */
static bool read_path(const struct link_map *map, char path[AB_INSIDE_PATH])
{
    if (map->l_name[0] != 0) {
        size_t n = strlen(map->l_name);
        memcpy(path, map->l_name, n < AB_INSIDE_PATH ? n + 1 : 0);
        return n < AB_INSIDE_PATH;
    }
    ssize_t n = readlink("/proc/self/exe", path, AB_INSIDE_PATH - 1);
    path[n > 0 ? n : 0] = 0;
    return n > 0 && n < AB_INSIDE_PATH - 1;
}

static bool find_object(struct ab_inside_sites *to, uintptr_t address)
{
    char path[AB_INSIDE_PATH];
    struct dl_find_object found;
    if (address - last.begin < last.end - last.begin)
        return last.object != 0;
    if (_dl_find_object == NULL || _dl_find_object((void *)address, &found) != 0)
        return false;
    last.object = read_path(found.dlfo_link_map, path) ? find_place(to, path) : 0;
    last.base = found.dlfo_link_map->l_addr;
    last.begin = (uintptr_t)found.dlfo_map_start;
    last.end = (uintptr_t)found.dlfo_map_end;
    return last.object != 0;
}

static uint64_t key_of(struct ab_inside_sites *to, uintptr_t address)
{
    return find_object(to, address)
               ? (uint64_t)last.object << 48 | ((address - last.base) & AB_INSIDE_OFFSETS)
               : 0;
}

#else

static uint64_t key_of(struct ab_inside_sites *to, uintptr_t address)
{
    (void)to;
    (void)address;
    return 0;
}

#endif

/* Finds or adds the entry of a call site. Returns NULL if the table is full. */
static struct ab_inside_site *find_site(struct ab_inside_sites *to, uint64_t key)
{
    uint64_t at = key * UINT64_C(0x9e3779b97f4a7c15) >> 32;
    for (uint32_t i = 0; i < 64; i++) {
        struct ab_inside_site *s = &to->sites[(at + i) % AB_INSIDE_SITES];
        uint64_t seen = __atomic_load_n(&s->key, __ATOMIC_RELAXED);
        if (seen == key ||
            (seen == 0 && __atomic_compare_exchange_n(&s->key, &seen, key, false, __ATOMIC_RELAXED,
                                                      __ATOMIC_RELAXED)))
            return s;
        if (seen == key) /* another thread has just added the site */
            return s;
    }
    return NULL;
}

/* Adds a timed call to the entry of its call site. Looks up the address return_address - 1, because
 * it is inside the call instruction. */
static void inside_note_site(struct ab_inside_sites *to, const void *return_address, uint64_t ticks)
{
    uint64_t key = key_of(to, (uintptr_t)return_address - 1);
    struct ab_inside_site *site = key != 0 ? find_site(to, key) : NULL;
    struct ab_inside_sum *sum = site != NULL ? &site->sum : &to->unknown;
    __atomic_fetch_add(&sum->n, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&sum->ticks, ticks, __ATOMIC_RELAXED);
}

#define EXPORT __attribute__((visibility("default")))
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
#define LIKELY(x) __builtin_expect(!!(x), 1)

/* ---- the state of a thread ---- */

static __thread struct {
    struct ab_inside_slot *slot; /* NULL = no slot yet, the shared slot, or inside a C++ operator */
    struct ab_inside_slot *own;  /* slot of the thread, also inside an operator; NULL = none yet */
    uint32_t countdown, random;
    uint32_t n_samples;
    uint32_t nested; /* number of C++ operators in progress */
    bool is_armed;   /* True if the drawn call took a look, so that the next call is timed */
    uint64_t looked; /* ticks of the last look */
    /* True while the longest call or a call site is written, so that a signal handler's call does
     * not write too */
    bool is_noting;
    struct seen {
        long involuntary, voluntary, faults;
    } seen; /* values at the last look */
} me;

static struct ab_inside_file *file; /* NULL = nothing is counted */
/* after a timed call of at least this many ticks, a look shows whether the thread lost the CPU */
static uint32_t ticks_look;
/* a look older than this many ticks is too old for a timed call */
static uint64_t ticks_fresh = UINT64_MAX;
static struct ab_inside_slot own; /* slot of all threads when nothing is counted */

/* Points to 1 in the process that took the slot. Every kind of fork zeroes the page in the child,
 * because a slot belongs to one process. */
static uint32_t *is_same_process;

static enum { FRESH, RESOLVING, READY } stage;

static inline void add(uint64_t *to, uint64_t n)
{
    __atomic_fetch_add(to, n, __ATOMIC_RELAXED);
}

static inline unsigned class_of(size_t size)
{
    return size <= 1 ? 0 : 64u - (unsigned)__builtin_clzll(size - 1);
}

/* Counts a call. On x86-64 this takes one instruction, so that a signal handler that allocates
 * comes before or after it. Not for the shared slot, which needs an atomic add. */
static inline void count(struct ab_inside_slot *slot, unsigned kind, unsigned class)
{
#if defined(__x86_64__)
    __asm__ volatile("incq %0" : "+m"(slot->calls[kind][class]) : : "cc");
#else
    add(&slot->calls[kind][class], 1);
#endif
}

/* Draws the number of calls until the next sample: from 1 to 2 * AB_INSIDE_EVERY - 1. */
static inline uint32_t draw(void)
{
    uint32_t x = me.random;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    me.random = x;
    return 1 + (uint32_t)((uint64_t)x * (2 * AB_INSIDE_EVERY - 1) >> 32);
}

/* Takes a look. Returns the increase of each number since the last look. */
static struct seen look(void)
{
    struct rusage usage;
    int saved = errno;
    getrusage(RUSAGE_THREAD, &usage);
    errno = saved;
    struct seen now = {usage.ru_nivcsw, usage.ru_nvcsw, usage.ru_minflt + usage.ru_majflt};
    struct seen since = {now.involuntary - me.seen.involuntary, now.voluntary - me.seen.voluntary,
                         now.faults - me.seen.faults};
    me.seen = now;
    me.looked = ab_tick_end();
    return since;
}

static bool is_shared(const struct ab_inside_slot *slot)
{
    return file != NULL && slot == &file->slots[AB_INSIDE_SLOTS - 1];
}

static __attribute__((noinline)) void take_slot(void)
{
    uint32_t i = file != NULL ? __atomic_fetch_add(&file->n_slots, 1, __ATOMIC_RELAXED) : 0;
    me.random = (uint32_t)ab_tick_end() * 2654435761u | 1;
    me.countdown = draw();
    look();
    *is_same_process = 1;
    me.own = file == NULL               ? &own
             : i < AB_INSIDE_SLOTS - 1u ? &file->slots[i]
                                        : &file->slots[AB_INSIDE_SLOTS - 1];
    me.slot = is_shared(me.own) ? NULL : me.own;
}

/* ---- samples ---- */

static void note_histogram(struct ab_hdr *h, uint64_t ns)
{
    if (ns > AB_HDR_HIGHEST) {
        add(&h->overflow, 1);
        return;
    }
    add(&h->counts[ab_hdr_index(ns)], 1);
    uint64_t seen = __atomic_load_n(&h->max, __ATOMIC_RELAXED);
    while (ns > seen && !__atomic_compare_exchange_n(&h->max, &seen, ns, true, __ATOMIC_RELAXED,
                                                     __ATOMIC_RELAXED)) {
    }
    /* the field holds the minimum + 1; 0 = none yet */
    seen = __atomic_load_n(&h->min, __ATOMIC_RELAXED);
    while ((seen == 0 || ns + 1 < seen) &&
           !__atomic_compare_exchange_n(&h->min, &seen, ns + 1, true, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED)) {
    }
}

static void add_sum(struct ab_inside_sum *s, uint64_t ticks)
{
    add(&s->n, 1);
    add(&s->ticks, ticks);
}

/* Notes the longest call. `ticks` is 0 while the entry is written, so a process that a signal ends
 * meanwhile leaves no half-written entry. */
static void note_longest(unsigned kind, unsigned class, uint64_t ticks)
{
    struct ab_inside_longest *l = &me.own->longest[kind];
    if (ticks <= l->ticks || me.is_noting || *is_same_process == 0 || is_shared(me.own))
        return;
    me.is_noting = true;
    __atomic_store_n(&l->ticks, 0, __ATOMIC_RELEASE);
    l->call = 0;
    for (unsigned c = 0; c < AB_INSIDE_CLASSES; c++)
        l->call += me.own->calls[kind][c];
    l->class = class;
    l->at_ticks = ab_tick_end() - file->begin_ticks;
    __atomic_store_n(&l->ticks, ticks, __ATOMIC_RELEASE);
    me.is_noting = false;
}

/* Notes a timed call. Takes a look only after a long call. */
static __attribute__((noinline)) void note(unsigned kind, unsigned class, uint64_t ticks,
                                           const void *return_address)
{
    struct seen since = {0, 0, 0};
    if (file == NULL)
        return;
    if (ticks >= ticks_look)
        since = look();
    if (since.involuntary > 0) {
        add_sum(&file->taken[kind], ticks);
        return;
    }
    add_sum(since.voluntary > 0 ? &file->blocked[kind] : &file->sampled[kind][class], ticks);
    if (kind == AB_INSIDE_NULL && ticks <= AB_HDR_HIGHEST)
        add(&file->empty_ticks.counts[ab_hdr_index(ticks)], 1);
    note_histogram(&file->hdrs[kind],
                   (uint64_t)((unsigned __int128)ticks * file->ns_per_tick_32 >> 32));
    note_longest(kind, class, ticks);
    if (file->sites.is_wanted && since.voluntary == 0 && kind != AB_INSIDE_NULL && !me.is_noting) {
        me.is_noting = true;
        inside_note_site(&file->sites, return_address, ticks);
        me.is_noting = false;
    }
}

static __attribute__((noinline)) void note_look(unsigned kind)
{
    struct seen since = look();
    if (file == NULL)
        return;
    add(&file->looked[kind], 1);
    if (since.faults > 0 || since.voluntary > 0)
        add(&file->entered[kind], 1);
}

/* Decides whether the drawn call is timed. If the last look is too old, a context switch could have
 * happened long before the call. Then this call takes a look instead, and the next call is
 * timed. */
static __attribute__((noinline)) bool draw_again(void)
{
    me.is_armed = !me.is_armed && ab_tick_end() - me.looked > ticks_fresh;
    me.countdown = me.is_armed ? 1 : draw();
    if (me.is_armed) {
        look();
        add(&file->n_looks, 1);
    }
    return !me.is_armed;
}

/* Counts a call that enter() could not count: the first one of a thread or forked process, and all
 * calls in the shared slot. Returns true if the call is timed. */
static __attribute__((noinline)) bool enter_slowly(unsigned kind, unsigned class)
{
    if (me.nested > 0)
        return false;
    if (me.own == NULL || *is_same_process == 0)
        take_slot();
    add(&me.own->calls[kind][class], 1);
    return --me.countdown == 0 && draw_again();
}

/* Ways in which a call continues. All ways except PLAIN continue in a function of their own, so
 * that a plain call needs no stack frame. */
enum way {
    PLAIN, /* counted, not timed */
    DRAWN, /* counted; timed unless draw_again refuses */
    SLOW   /* not counted yet; enter_slowly counts it and decides */
};

static inline enum way enter(unsigned kind, unsigned class)
{
    struct ab_inside_slot *slot = me.slot;
    if (UNLIKELY(slot == NULL || *is_same_process == 0))
        return SLOW;
    count(slot, kind, class);
    return UNLIKELY(--me.countdown == 0) ? DRAWN : PLAIN;
}

static bool is_of_sample(enum way way, unsigned kind, unsigned class)
{
    return way == PLAIN ? false : way == DRAWN ? draw_again() : enter_slowly(kind, class);
}

/* Performs a sampled call with return address `from`: times it, or takes a look before and after
 * it. A look costs a system call, which must not be part of a timed call. */
#define TIMED(kind, class, from, call) \
    do { \
        if (++me.n_samples % AB_INSIDE_LOOK == 0) { \
            look(); \
            call; \
            note_look(kind); \
        } else { \
            uint64_t begin = ab_tick_begin(); \
            call; \
            uint64_t ticks = ab_tick_end() - begin; \
            note(kind, class, ticks, from); \
        } \
    } while (0)

/* ---- cost of the interposer itself ---- */

static __attribute__((noinline)) void *null_function(size_t size)
{
    __asm__ volatile("" : "+r"(size));
    return (void *)size;
}

static void *(*volatile null_pointer)(size_t) = null_function;

static __attribute__((noinline)) void *null_rarely(size_t size, enum way way, const void *from)
{
    unsigned class = class_of(size);
    void *p;
    if (!is_of_sample(way, AB_INSIDE_NULL, class))
        return null_pointer(size);
    TIMED(AB_INSIDE_NULL, class, from, p = null_pointer(size));
    return p;
}

static __attribute__((noinline)) void *null_through_us(size_t size)
{
    enum way way = enter(AB_INSIDE_NULL, class_of(size));
    return LIKELY(way == PLAIN) ? null_pointer(size)
                                : null_rarely(size, way, __builtin_return_address(0));
}

/* Times an empty call in the same way as a sampled call. */
static __attribute__((noinline)) void time_empty_call(size_t size)
{
    void *p;
    TIMED(AB_INSIDE_NULL, class_of(size), NULL, p = null_pointer(size));
    __asm__ volatile("" : : "r"(p));
}

enum { NULL_CALLS = 1024, NULL_TRIES = 4, NULL_TIMED = 256 };

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Lowers *to, the minimum over all processes, to `value` if that is less; *to = 0 means none
 * yet. */
static void note_least(uint64_t *to, uint64_t value)
{
    uint64_t seen = __atomic_load_n(to, __ATOMIC_RELAXED);
    while (
        (seen == 0 || value < seen) &&
        !__atomic_compare_exchange_n(to, &seen, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}

static void measure_own_cost(void)
{
    uint64_t with = UINT64_MAX, without = UINT64_MAX, look_ticks = UINT64_MAX;
    for (int try = 0; try < NULL_TRIES; try++) {
        uint64_t a = ab_tick_end();
        for (size_t i = 0; i < NULL_CALLS; i++)
            null_through_us(i);
        uint64_t b = ab_tick_end();
        for (size_t i = 0; i < NULL_CALLS; i++)
            null_pointer(i);
        uint64_t c = ab_tick_end();
        with = least(with, b - a);
        without = least(without, c - b);
        look();
        look_ticks = least(look_ticks, ab_tick_end() - c);
    }
    for (size_t i = 0; i < NULL_TIMED; i++)
        time_empty_call(i);
    note_least(&file->empty_call, without * AB_INSIDE_NULL_SCALE / NULL_CALLS);
    add(&file->null_look, look_ticks);
    add(&file->null_call,
        with > without ? (with - without) * AB_INSIDE_NULL_SCALE / NULL_CALLS : 0);
    __atomic_fetch_add(&file->n_processes, 1, __ATOMIC_RELAXED);
}

/* ---- start ---- */

static void map_file(void)
{
    const char *path = getenv(AB_INSIDE_VARIABLE);
    int fd = path != NULL ? open(path, O_RDWR | O_CLOEXEC) : -1;
    void *p = MAP_FAILED;
    if (fd < 0)
        return;
    p = mmap(NULL, sizeof *file, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    close(fd);
    if (p == MAP_FAILED)
        return;
    file = p;
    uint64_t never = 0;
    __atomic_compare_exchange_n(&file->begin_ticks, &never, ab_tick_end(), false, __ATOMIC_RELAXED,
                                __ATOMIC_RELAXED);
    uint64_t ticks = (UINT64_C(5000) << 32) / (file->ns_per_tick_32 | 1);
    ticks_fresh = 20 * ticks;
    ticks_look = ticks < UINT32_MAX ? (uint32_t)ticks : UINT32_MAX;
}

static void map_process_mark(void)
{
    static uint32_t always = 1;
    void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    is_same_process = p == MAP_FAILED || madvise(p, 4096, MADV_WIPEONFORK) != 0 ? &always : p;
}

static uint64_t cpu_ns(void)
{
    struct timespec t = {0, 0};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static __attribute__((noinline)) void start(void)
{
    int saved = errno;
    uint64_t begin_ns = cpu_ns();
    stage = RESOLVING;
    find_real_functions();
    find_next_operators();
    if (operators._Znwm == NULL)
        hide_operators();
    map_process_mark();
    map_file();
    take_slot();
    if (file != NULL) {
        measure_own_cost();
        add(&file->start_ns, cpu_ns() - begin_ns);
    }
    stage = READY;
    errno = saved;
}

/* True if the real functions are known; finds them first if needed. Calls of a thread with a slot
 * need not ask. */
static bool is_ready(void)
{
    if (stage == FRESH)
        start();
    return stage == READY;
}

static __attribute__((constructor)) void start_early(void)
{
    (void)is_ready();
}

/* ---- the malloc family ---- */

static __attribute__((noinline)) void *malloc_rarely(size_t size, enum way way, const void *from)
{
    unsigned class = class_of(size);
    void *p;
    if (way == SLOW && !is_ready())
        return early_alloc(size);
    if (!is_of_sample(way, AB_INSIDE_ALLOC, class))
        return real.malloc(size);
    TIMED(AB_INSIDE_ALLOC, class, from, p = real.malloc(size));
    return p;
}

EXPORT void *malloc(size_t size)
{
    enum way way = enter(AB_INSIDE_ALLOC, class_of(size));
    return LIKELY(way == PLAIN) ? real.malloc(size)
                                : malloc_rarely(size, way, __builtin_return_address(0));
}

static __attribute__((noinline)) void *calloc_rarely(size_t n, size_t size, size_t bytes,
                                                     enum way way, const void *from)
{
    unsigned class = class_of(bytes);
    void *p;
    if (way == SLOW && !is_ready())
        return early_alloc(bytes);
    if (!is_of_sample(way, AB_INSIDE_ZEROED, class))
        return real.calloc(n, size);
    TIMED(AB_INSIDE_ZEROED, class, from, p = real.calloc(n, size));
    return p;
}

EXPORT void *calloc(size_t n, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes))
        bytes = SIZE_MAX;
    enum way way = enter(AB_INSIDE_ZEROED, class_of(bytes));
    return LIKELY(way == PLAIN) ? real.calloc(n, size)
                                : calloc_rarely(n, size, bytes, way, __builtin_return_address(0));
}

static __attribute__((noinline)) void free_rarely(void *p, enum way way, const void *from)
{
    if (way == SLOW && !is_ready())
        return;
    if (is_of_sample(way, AB_INSIDE_FREE, 0))
        TIMED(AB_INSIDE_FREE, 0, from, real.free(p));
    else
        real.free(p);
}

EXPORT void free(void *p)
{
    if (p == NULL || UNLIKELY(is_early(p)))
        return;
    enum way way = enter(AB_INSIDE_FREE, 0);
    if (LIKELY(way == PLAIN))
        real.free(p);
    else
        free_rarely(p, way, __builtin_return_address(0));
}

/* Resizes an early block, given before the real allocator was found, by moving it to the real
 * allocator. */
static __attribute__((noinline)) void *resize_early(void *p, size_t size)
{
    size_t old_size = early_size(p);
    void *moved = malloc(size);
    if (moved != NULL)
        memcpy(moved, p, old_size < size ? old_size : size);
    return moved;
}

static __attribute__((noinline)) void *realloc_rarely(void *p, size_t size, enum way way,
                                                      const void *from)
{
    unsigned class = class_of(size);
    void *moved;
    if (way == SLOW && !is_ready())
        return NULL;
    if (!is_of_sample(way, AB_INSIDE_RESIZE, class))
        return real.realloc(p, size);
    TIMED(AB_INSIDE_RESIZE, class, from, moved = real.realloc(p, size));
    return moved;
}

EXPORT void *realloc(void *p, size_t size)
{
    if (p == NULL)
        return malloc(size);
    if (UNLIKELY(is_early(p)))
        return resize_early(p, size);
    enum way way = enter(AB_INSIDE_RESIZE, class_of(size));
    return LIKELY(way == PLAIN) ? real.realloc(p, size)
                                : realloc_rarely(p, size, way, __builtin_return_address(0));
}

/* Calls realloc itself. The C library's reallocarray would call the interposed realloc, and one
 * call would be counted twice. */
EXPORT void *reallocarray(void *p, size_t n, size_t size)
{
    size_t bytes;
    if (!__builtin_mul_overflow(n, size, &bytes))
        return realloc(p, bytes);
    errno = ENOMEM;
    return NULL;
}

#define ALIGNED(size, call, failed, function) \
    do { \
        unsigned class = class_of(size); \
        if (!is_ready() || real.function == NULL) \
            return failed; \
        if (!is_of_sample(enter(AB_INSIDE_ALIGNED, class), AB_INSIDE_ALIGNED, class)) \
            return real.call; \
        TIMED(AB_INSIDE_ALIGNED, class, __builtin_return_address(0), given = real.call); \
        return given; \
    } while (0)

EXPORT void *memalign(size_t align, size_t size)
{
    void *given;
    ALIGNED(size, memalign(align, size), NULL, memalign);
}

EXPORT void *aligned_alloc(size_t align, size_t size)
{
    void *given;
    ALIGNED(size, aligned_alloc(align, size), NULL, aligned_alloc);
}

EXPORT int posix_memalign(void **out, size_t align, size_t size)
{
    int given;
    ALIGNED(size, posix_memalign(out, align, size), ENOMEM, posix_memalign);
}

EXPORT void *valloc(size_t size)
{
    void *given;
    ALIGNED(size, valloc(size), NULL, valloc);
}

EXPORT void *pvalloc(size_t size)
{
    void *given;
    ALIGNED(size, pvalloc(size), NULL, pvalloc);
}

EXPORT size_t malloc_usable_size(void *p)
{
    if (is_early(p))
        return early_size(p);
    return p != NULL && is_ready() && real.malloc_usable_size != NULL ? real.malloc_usable_size(p)
                                                                      : 0;
}

/* ---- C++ operators ---- */

/* Leaves a C++ operator: restores the slot, also after an exception. */
static void leave(struct ab_inside_slot **slot)
{
    me.nested--;
    me.slot = *slot;
}

#define NESTED() \
    __attribute__((cleanup(leave), unused)) struct ab_inside_slot *outer = me.slot; \
    me.nested++; \
    me.slot = NULL

/* C++ libraries that a C program loads later keep their own operators (next_operators.h). */
#define DEFINE_NEW(name, parameters, arguments, align) \
    EXPORT void *name parameters; \
    EXPORT void *name parameters \
    { \
        void *p; \
        unsigned kind = (align) == 0 ? AB_INSIDE_ALLOC : AB_INSIDE_ALIGNED, class = class_of(n); \
        if (operators.name == NULL && (!is_ready() || operators.name == NULL)) \
            return (align) == 0 ? malloc(n) : memalign((align) == 0 ? 16 : (align), n); \
        bool is_timed = is_of_sample(enter(kind, class), kind, class); \
        NESTED(); \
        if (!is_timed) \
            return operators.name arguments; \
        TIMED(kind, class, __builtin_return_address(0), p = operators.name arguments); \
        return p; \
    }
AB_NEXT_NEWS(DEFINE_NEW)

#define DEFINE_DELETE(name, parameters, arguments) \
    EXPORT void name parameters; \
    EXPORT void name parameters \
    { \
        if (p == NULL || is_early(p)) \
            return; \
        if (operators.name == NULL && (!is_ready() || operators.name == NULL)) { \
            free(p); \
            return; \
        } \
        bool is_timed = is_of_sample(enter(AB_INSIDE_FREE, 0), AB_INSIDE_FREE, 0); \
        NESTED(); \
        if (is_timed) \
            TIMED(AB_INSIDE_FREE, 0, __builtin_return_address(0), operators.name arguments); \
        else \
            operators.name arguments; \
    }
AB_NEXT_DELETES(DEFINE_DELETE)
