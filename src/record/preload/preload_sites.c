/* SPDX-License-Identifier: MIT
 *
 * Numbers the call stacks of a thread. A cache of the thread maps the hash of a stack's addresses
 * to the number of the stack. A stack that is not in the cache is noted again, as a whole. Threads
 * therefore share nothing and need no lock, and the memory is bounded. Modules are handled in the
 * same way.
 *
 * A signal handler that interrupts this code uses no caches and numbers its stacks and modules
 * anew, because the caches may be half changed.
 */
#include "record/preload/preload_sites.h"

#include "record/preload/preload.h"
#include "record/preload/unwind/unwind.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    STACKS = 16384, /* entries of the cache; the first thread, often the only one, has more */
    STACKS_FIRST = 65536,
    MODULES = 256,   /* most modules of a thread that are known at a time */
    TIME_EVERY = 64, /* one of this many calls is timed */
    GONE = 1,        /* in ab_sites_watched: a place that is free again */
    /* most places from the index of its hash on in which the record of a module may be */
    NEAR = 16,
};

struct known_stack {
    uint64_t hash; /* 0 = empty */
    uint64_t number;
};

struct known_module {
    uintptr_t map; /* address of its struct link_map */
    uint32_t number;
};

struct stack {
    uintptr_t addresses[AB_STACK_DEPTH_MAX];
    size_t n;
    enum ab_stack_end end;
};

struct ab_sites {
    struct ab_unwinder unwinder;
    struct known_stack *stacks;
    size_t n_stacks; /* entries of the cache: a power of two */
    uint64_t next_stack, next_module, n_calls;
    uint64_t generation;
    struct stack stack; /* stack of the current call; too large for a small stack of the program */
    uintptr_t busy;     /* stack pointer of the call being recorded; 0 = none */
    struct known_module modules[MODULES];
    size_t n_modules;
    uint32_t depth;
    ab_sites_put *put;
};

uintptr_t ab_sites_watched[AB_SITES_WATCHED];
static uint64_t generation = 1; /* changes when a module is unloaded */
static void *find_object;
static uint32_t site_depth;
static char own_path[256 + 1]; /* path of the program; "" = not known */

void ab_sites_find_real(void)
{
    find_object = dlsym(RTLD_DEFAULT, "_dl_find_object");
    syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", own_path, sizeof own_path - 1);
}

bool ab_sites_can(uint32_t depth)
{
    site_depth = depth < AB_STACK_DEPTH_MAX ? depth : AB_STACK_DEPTH_MAX;
    return depth > 0 && find_object != NULL;
}

/* ---- threads ---- */

/* Maps memory for a cache, which is wiped in a forked child. The child has streams of its own, but
 * may continue in the middle of a call that its parent began. */
static void *map_cache(size_t bytes)
{
    void *p = ab_files_map_private(bytes);
    if (p != NULL)
        syscall(SYS_madvise, p, bytes, MADV_WIPEONFORK);
    return p;
}

static struct ab_sites *make(bool is_first)
{
    struct ab_sites *s = ab_files_map_private(sizeof *s);
    if (s == NULL)
        return NULL;
    s->n_stacks = is_first ? STACKS_FIRST : STACKS;
    s->stacks = map_cache(s->n_stacks * sizeof s->stacks[0]);
    s->unwinder.cache = map_cache(AB_UNWIND_RULES * sizeof s->unwinder.cache[0]);
    s->unwinder.find_object = find_object;
    s->depth = site_depth;
    s->generation = generation;
    return s->stacks != NULL && s->unwinder.cache != NULL ? s : NULL;
}

/* Prepares a thread. The end of its stack must be known: thread-local variables of a created thread
 * are on its stack, beyond all frames. For the first thread, the name of the program is. */
void ab_sites_begin(struct ab_sites **at, uint32_t thread, const void *tls, ab_sites_put *put)
{
    if (*at == NULL)
        *at = make(thread == ab_process_id());
    if (*at == NULL)
        return;
    struct ab_unwinder *u = &(*at)->unwinder;
    u->stack_low = u->stack_high = 0;
    u->stack_tops[0] = (uintptr_t)tls;
    u->stack_tops[1] = getauxval(AT_EXECFN);
    (*at)->busy = 0;
    (*at)->put = put;
}

/* ---- modules ---- */

/* Watches a module for its unloading. Returns false if there is no room. */
static bool watch(uintptr_t map)
{
    for (unsigned i = 0, at = ab_sites_home(map); i < NEAR; i++) {
        uintptr_t *place = &ab_sites_watched[(at + i) % AB_SITES_WATCHED];
        uintptr_t is = __atomic_load_n(place, __ATOMIC_RELAXED);
        if ((is == 0 || is == GONE) &&
            __atomic_compare_exchange_n(place, &is, map, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            return true;
        if (is == map)
            return true;
    }
    return false;
}

/* Forgets an unloaded module. Its record may be in the table twice, if an earlier place became free
 * between two calls of watch(). */
void ab_sites_forget(const void *map)
{
    for (unsigned i = 0, at = ab_sites_home((uintptr_t)map); i < NEAR; i++) {
        uintptr_t *place = &ab_sites_watched[(at + i) % AB_SITES_WATCHED];
        uintptr_t is = __atomic_load_n(place, __ATOMIC_RELAXED);
        if (is == 0)
            return;
        if (is != (uintptr_t)map)
            continue;
        __atomic_store_n(place, GONE, __ATOMIC_RELAXED);
        __atomic_fetch_add(&generation, 1, __ATOMIC_SEQ_CST);
    }
}

struct text { /* a module's build id and path, written to the spool eight bytes at a time */
    const struct ab_sites *sites;
    struct ab_spool_tail *tail;
    uint64_t word;
    uint32_t number, n_bytes;
};

static void put_word(const struct text *t, uint32_t place)
{
    t->sites->put(t->tail, AB_SPOOL_MODULE, t->number | (uint64_t)place << 16, t->word);
}

static void put_bytes(struct text *t, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;
    for (size_t i = 0; i < n; i++) {
        t->word |= (uint64_t)p[i] << (t->n_bytes % 8 * 8);
        if (++t->n_bytes % 8 != 0)
            continue;
        put_word(t, t->n_bytes / 8 - 1);
        t->word = 0;
    }
}

/* Finds the build id in the notes of the module, which must be in the page of its headers or the
 * segment after it. */
static size_t find_build_id(const struct ab_unwind_module *m, const unsigned char **id)
{
    const ElfW(Ehdr) *head = (const void *)m->begin;
    uintptr_t bias = (uintptr_t)((const struct link_map *)m->map)->l_addr;
    if (m->low == 0) /* the headers were not found */
        return 0;
    for (unsigned i = 0; i < head->e_phnum; i++) {
        const ElfW(Phdr) *s = (const ElfW(Phdr) *)(m->begin + head->e_phoff) + i;
        uintptr_t at = bias + s->p_vaddr, end = at + s->p_filesz;
        if (s->p_type != PT_NOTE || s->p_filesz > 65536 || !ab_unwind_can_read(at) ||
            !ab_unwind_can_read(end - 1))
            continue;
        while (at < end && end - at >= sizeof(ElfW(Nhdr))) {
            const ElfW(Nhdr) *note = (const void *)at;
            uint64_t name = (note->n_namesz + 3u) & ~UINT64_C(3);
            uint64_t size = (note->n_descsz + 3u) & ~UINT64_C(3);
            if (name + size > end - at - sizeof *note)
                break;
            if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
                note->n_descsz <= AB_SPOOL_BUILD_ID_MAX) {
                *id = (const unsigned char *)(at + sizeof *note + name);
                return note->n_descsz;
            }
            at += sizeof *note + name + size;
        }
    }
    return 0;
}

/* Returns the path of a module. The program itself has no name in the dynamic linker's list. */
static size_t find_path(const struct ab_unwind_module *m, const char **path)
{
    *path = ((const struct link_map *)m->map)->l_name;
    if (*path == NULL || (*path)[0] == 0)
        *path = own_path;
    size_t n = strlen(*path);
    return n < AB_SPOOL_PATH_MAX ? n : AB_SPOOL_PATH_MAX;
}

static void note_module(const struct ab_sites *s, struct ab_unwind_module *m,
                        struct ab_spool_tail *tail, uint32_t number)
{
    const char *path;
    const unsigned char *id = NULL;
    struct text t = {.sites = s, .tail = tail, .number = number};
    ab_unwind_find_tables(m);
    size_t n_path = find_path(m, &path), n_id = find_build_id(m, &id);
    unsigned char head[3] = {(unsigned char)n_id, (unsigned char)n_path,
                             (unsigned char)(n_path >> 8)};
    put_bytes(&t, head, sizeof head);
    put_bytes(&t, id, n_id);
    put_bytes(&t, path, n_path);
    if (t.n_bytes % 8 != 0)
        put_word(&t, t.n_bytes / 8);
}

/* Returns the number of a module; defines the module if it is new. Returns 0 if the module cannot
 * be watched, because after its unloading another module could be taken for it. */
static uint32_t number_module(struct ab_sites *s, struct ab_spool_tail *tail, bool is_nested,
                              struct ab_unwind_module *m)
{
    for (size_t i = 0; i < s->n_modules && !is_nested; i++)
        if (s->modules[i].map == m->map)
            return s->modules[i].number;
    if (!watch(m->map))
        return 0;
    uint64_t number = __atomic_add_fetch(&s->next_module, 1, __ATOMIC_RELAXED);
    if (number > AB_SPOOL_MODULES_MAX)
        return 0;
    note_module(s, m, tail, (uint32_t)number);
    if (!is_nested) { /* if there is no room, the list of modules starts again */
        s->n_modules = s->n_modules < MODULES ? s->n_modules : 0;
        s->modules[s->n_modules].map = m->map;
        s->modules[s->n_modules].number = (uint32_t)number;
        s->n_modules++;
    }
    return (uint32_t)number;
}

/* ---- stacks ---- */

static uint64_t hash_of(const struct stack *stack)
{
    uint64_t h = stack->end + 1;
    for (size_t i = 0; i < stack->n; i++) {
        h = (h ^ stack->addresses[i]) * UINT64_C(0x9e3779b97f4a7c15);
    }
    h ^= h >> 32;
    return h | 1; /* 0 means no stack */
}

static __attribute__((noinline)) uint64_t note_stack(struct ab_sites *s, struct ab_spool_tail *tail,
                                                     bool is_nested, const struct stack *stack)
{
    int saved = errno;
    uint64_t number = __atomic_add_fetch(&s->next_stack, 1, __ATOMIC_RELAXED) & UINT32_MAX;
    for (size_t i = 0; i < stack->n; i++) {
        uintptr_t pc = stack->addresses[i];
        struct ab_unwind_module m = ab_unwind_module(&s->unwinder, pc - 1);
        uint64_t module = m.map != 0 ? number_module(s, tail, is_nested, &m) : 0;
        uint64_t end = i + 1 == stack->n ? (uint64_t)stack->end + 1 : 0;
        uintptr_t moved = m.map != 0 ? (uintptr_t)((const struct link_map *)m.map)->l_addr : pc;
        s->put(tail, AB_SPOOL_FRAME, pc - moved,
               number | (uint64_t)i << 32 | module << 40 | end << 56);
    }
    errno = saved;
    return number;
}

/* Returns the number of a stack; notes the stack if it is new. Each stack has two places in the
 * cache; a new stack replaces the older one. */
static uint64_t number_stack(struct ab_sites *s, struct ab_spool_tail *tail, bool is_nested,
                             const struct stack *stack)
{
    uint64_t hash = hash_of(stack);
    struct known_stack *places = &s->stacks[(hash >> 20) & (s->n_stacks - 2)];
    if (is_nested)
        return note_stack(s, tail, true, stack);
    if (__builtin_expect(places[0].hash == hash, 1))
        return places[0].number;
    if (places[1].hash == hash)
        return places[1].number;
    uint64_t number = note_stack(s, tail, false, stack);
    places[1] = places[0];
    places[0] = (struct known_stack){hash, number};
    return number;
}

/* ---- calls ---- */

static void forget_all(struct ab_sites *s, uint64_t now)
{
    memset(s->stacks, 0, s->n_stacks * sizeof s->stacks[0]);
    ab_unwind_forget(&s->unwinder);
    s->n_modules = 0;
    s->generation = now;
}

/* True if a signal handler has interrupted this code and now calls it. A stack pointer above that
 * of the interrupted call means that a handler has left by longjmp, so that the call is not
 * nested. */
static bool is_nested_in(const struct ab_sites *s, uintptr_t sp)
{
    const struct ab_unwinder *u = &s->unwinder;
    bool is_own = sp >= u->stack_low && sp < u->stack_high;
    return s->busy != 0 && !(is_own && sp >= s->busy);
}

static inline void note(struct ab_sites *s, struct ab_spool_tail *tail, struct ab_code_place place,
                        bool is_nested, struct stack *stack)
{
    stack->n = ab_unwind(&s->unwinder, is_nested, place, stack->addresses, s->depth, &stack->end);
    s->put(tail, AB_SPOOL_SITE, 0, number_stack(s, tail, is_nested, stack));
}

static __attribute__((noinline)) void note_nested(struct ab_sites *s, struct ab_spool_tail *tail,
                                                  struct ab_code_place place)
{
    struct stack stack;
    note(s, tail, place, true, &stack);
}

static struct ab_code_place place_of(struct ab_here here)
{
    /* frame[0]: frame pointer of the caller; frame[1]: return address */
    const uintptr_t *frame = (const uintptr_t *)here.frame;
    return (struct ab_code_place){here.pc, here.frame + 2 * sizeof *frame, frame[0]};
}

void ab_sites_note(struct ab_sites *s, struct ab_spool_tail *tail, struct ab_here here)
{
    struct ab_code_place place = place_of(here);
    bool is_nested = is_nested_in(s, place.sp);
    if (is_nested) {
        note_nested(s, tail, place);
        return;
    }
    bool is_half_done = s->busy != 0; /* a handler has left by longjmp */
    s->busy = place.sp;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    uint64_t now = __atomic_load_n(&generation, __ATOMIC_RELAXED);
    if (__builtin_expect(s->generation != now || is_half_done, 0))
        forget_all(s, now);
    bool is_timed = s->n_calls++ % TIME_EVERY == 0;
    uint64_t begin = is_timed ? ab_stamp_now() : 0;
    note(s, tail, place, false, &s->stack);
    if (is_timed) {
        tail->site_ticks += ab_stamp_now() - begin;
        tail->n_timed_sites++;
    }
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    s->busy = 0;
}
