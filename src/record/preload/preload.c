/* SPDX-License-Identifier: MIT
 *
 * The interposer, which is preloaded into the recorded program in front of its malloc.
 *
 * Order: a release is noted before the real free, an acquire after the real malloc, so that no
 * address ever seems to be given out twice. A realloc is both.
 *
 * The program must not notice the recorder. Nothing here calls malloc or stdio or takes a lock,
 * and errno is kept. Only one descriptor, with a high number, stays open. Signal handlers find a
 * consistent recorder at every instruction (preload_spool.c).
 */
#include "record/preload/preload.h"

#include "base/next_malloc.h"
#include "base/next_operators.h"
#include "record/preload/preload_sites.h"
#include "record/preload/preload_spool.h"
#include "record/preload/preload_written.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

/* Return address and frame address of the exported function that contains this macro, directly or
 * in an inlined function. */
#define HERE \
    ((struct ab_here){(uintptr_t)__builtin_return_address(0), \
                      (uintptr_t)__builtin_frame_address(0)})

/* Starts to follow a new large block. Called before the block is noted, and so before another
 * thread can know its address. */
static inline void see_given(const void *p, size_t size)
{
    if (__builtin_expect(size >= AB_SPOOL_LARGE, 0))
        ab_written_begin(p, size);
}

/* Notes an allocation. Passes on the caller only if call sites are recorded. */
#define NOTE_GIVEN(kind, p, size) \
    do { \
        see_given(p, size); \
        NOTE_CALL(kind, p, size); \
    } while (0)
#define NOTE_CALL(kind, p, size) \
    do { \
        if (ab_spool_may_have_sites()) \
            ab_spool_note_given(kind, p, size, HERE); \
        else \
            ab_spool_note(kind, p, size); \
    } while (0)

/* Tests build two wrong orders from this source to see that they are detected: 1 = a free is noted
 * after the real free; 2 = a realloc is noted after the real realloc, as a single event. */
#ifndef AB_RECORD_WRONG
#define AB_RECORD_WRONG 0
#endif

static enum { FRESH, RESOLVING, READY } stage;

/* True if the operators new and delete that the recorder forwards to do not call malloc
 * themselves. */
static bool sees_operators;

/* block that an operator delete of this thread is freeing; NULL = none */
static __thread void *deleted;

/* ---- start ---- */

static __attribute__((noinline)) void start(void)
{
    int saved = errno;
    stage = RESOLVING;
    find_real_functions();
    sees_operators = find_next_operators();
    if (!sees_operators)
        hide_operators();
    ab_exec_find_real();
    ab_libraries_find_real();
    ab_sites_find_real();
    ab_spool_watch_threads();
    ab_spool_begin();
    stage = READY;
    /* Registered first, so that it runs last before a fork, and no other handler's calls come
     * between it and the fork. */
    pthread_atfork(ab_spool_fork_begin, ab_spool_fork_end, ab_spool_fork_child);
    errno = saved;
}

/* True if the real functions are known. False while they are being looked up. */
static inline bool is_ready(void)
{
    if (__builtin_expect(stage == READY, 1))
        return true;
    if (stage == FRESH)
        start();
    return stage == READY;
}

/* Starts the recorder before any thread can exist, even if the program has not allocated anything
 * yet. */
static __attribute__((constructor)) void start_early(void)
{
    (void)is_ready();
}

static __attribute__((destructor)) void end(void)
{
    ab_spool_end();
}

/* Notes the end of programs that end without destructors. The C library's exit() does not call this
 * function. */
EXPORT __attribute__((noreturn)) void _exit(int status)
{
    ab_spool_end_blocks();
    for (;;)
        syscall(SYS_exit_group, status);
}

EXPORT __attribute__((noreturn)) void _Exit(int status)
{
    _exit(status);
}

/* Stops recording without a system call, which seccomp's strict mode would not allow. Only the
 * first reason counts. */
static void stop_in_strict_mode(void)
{
    uint32_t running = AB_SPOOL_RUNNING;
    __atomic_compare_exchange_n(&ab_process->image->stop, &running, AB_SPOOL_STRICT, false,
                                __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

/* Watches for filters of system calls, which may kill the program at a system call that it does not
 * expect. Every filter of an ordinary user needs PR_SET_NO_NEW_PRIVS first. From that call on, the
 * kernel is not asked about blocks any more. */
EXPORT int prctl(int option, ...)
{
    unsigned long x[4];
    va_list list;
    va_start(list, option);
    for (int i = 0; i < 4; i++)
        x[i] = va_arg(list, unsigned long);
    va_end(list);
    if (option == PR_SET_NO_NEW_PRIVS || option == PR_SET_SECCOMP)
        ab_written_stop();
    bool is_strict = option == PR_SET_SECCOMP && x[0] == SECCOMP_MODE_STRICT && ab_spool_is_own();
    int result = (int)syscall(SYS_prctl, option, x[0], x[1], x[2], x[3]);
    if (is_strict && result == 0)
        stop_in_strict_mode();
    return result;
}

/* ---- the malloc family ---- */

EXPORT void *malloc(size_t size)
{
    if (!is_ready())
        return early_alloc(size);
    void *p = real.malloc(size);
    NOTE_GIVEN(AB_SPOOL_ALLOC, p, size);
    return p;
}

EXPORT void *calloc(size_t n, size_t size)
{
    size_t bytes;
    bool is_too_much = __builtin_mul_overflow(n, size, &bytes);
    if (!is_ready())
        return is_too_much ? NULL : early_alloc(bytes);
    void *p = real.calloc(n, size);
    NOTE_GIVEN(AB_SPOOL_ZEROED, p, is_too_much ? SIZE_MAX : bytes);
    return p;
}

EXPORT void free(void *p)
{
    if (p == NULL || is_early(p) || !is_ready())
        return;
    if (ab_written_may_follow(p))
        ab_written_end(p);
    if (AB_RECORD_WRONG != 1 && __builtin_expect(p != deleted, 1))
        ab_spool_note(AB_SPOOL_FREE, p, 0);
    if (__builtin_expect(ab_process->sites != NULL, 0))
        ab_sites_see_free(p);
    real.free(p);
    if (AB_RECORD_WRONG == 1)
        ab_spool_note(AB_SPOOL_FREE, p, 0);
}

static __attribute__((noinline)) void *allocate(size_t size, struct ab_here here)
{
    if (!is_ready())
        return early_alloc(size);
    void *p = real.malloc(size);
    see_given(p, size);
    ab_spool_note_given(AB_SPOOL_ALLOC, p, size, here);
    return p;
}

/* Resizes a block that was given out before the real allocator was known: moves it to the real
 * allocator. */
static void *resize_early(void *p, size_t size, struct ab_here here)
{
    size_t old_size = early_size(p);
    void *moved = allocate(size, here);
    if (moved != NULL)
        memcpy(moved, p, old_size < size ? old_size : size);
    return moved;
}

static inline __attribute__((always_inline)) void *resize(void *p, size_t size)
{
    if (p == NULL)
        return allocate(size, HERE);
    if (is_early(p) || !is_ready())
        return resize_early(p, size, HERE);
    struct ab_written_block written = {0};
    if (ab_written_may_follow(p))
        written = ab_written_begin_resize(p, size);
    if (AB_RECORD_WRONG != 2)
        ab_spool_note(AB_SPOOL_RESIZE_BEGIN, p, size);
    void *moved = real.realloc(p, size);
    if (AB_RECORD_WRONG == 2)
        ab_spool_note(AB_SPOOL_RESIZE_BEGIN, p, size);
    if (__builtin_expect(size >= AB_SPOOL_LARGE, 0))
        ab_written_end_resize(written, p, moved, size);
    NOTE_CALL(AB_SPOOL_RESIZE_END, moved, size);
    return moved;
}

EXPORT void *realloc(void *p, size_t size)
{
    return resize(p, size);
}

/* Handles an array whose size in bytes exceeds size_t. The real function fails, and the call is
 * recorded. */
static void *resize_too_much(void *p, size_t n, size_t size, struct ab_here here)
{
    if (is_early(p) || !is_ready() || real.reallocarray == NULL) {
        errno = ENOMEM;
        return NULL;
    }
    if (p != NULL)
        ab_spool_note(AB_SPOOL_RESIZE_BEGIN, p, SIZE_MAX);
    void *moved = real.reallocarray(p, n, size);
    ab_spool_note_given(p != NULL ? AB_SPOOL_RESIZE_END : AB_SPOOL_ALLOC, moved, SIZE_MAX, here);
    return moved;
}

/* Calls realloc instead of the real reallocarray. The C library's reallocarray calls realloc, which
 * the recorder defines, so that the call would be noted twice. */
EXPORT void *reallocarray(void *p, size_t n, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes))
        return resize_too_much(p, n, size, HERE);
    return resize(p, bytes);
}

EXPORT void *memalign(size_t align, size_t size)
{
    if (!is_ready() || real.memalign == NULL)
        return NULL;
    void *p = real.memalign(align, size);
    see_given(p, size);
    ab_spool_note_aligned(p, size, align, HERE);
    return p;
}

EXPORT void *aligned_alloc(size_t align, size_t size)
{
    if (!is_ready() || real.aligned_alloc == NULL)
        return NULL;
    void *p = real.aligned_alloc(align, size);
    see_given(p, size);
    ab_spool_note_aligned(p, size, align, HERE);
    return p;
}

EXPORT int posix_memalign(void **out, size_t align, size_t size)
{
    if (!is_ready() || real.posix_memalign == NULL)
        return ENOMEM;
    int error = real.posix_memalign(out, align, size);
    see_given(error == 0 ? *out : NULL, size);
    ab_spool_note_aligned(error == 0 ? *out : NULL, size, align, HERE);
    return error;
}

EXPORT void *valloc(size_t size)
{
    if (!is_ready() || real.valloc == NULL)
        return NULL;
    void *p = real.valloc(size);
    see_given(p, size);
    ab_spool_note_aligned(p, size, (size_t)sysconf(_SC_PAGESIZE), HERE);
    return p;
}

EXPORT void *pvalloc(size_t size)
{
    if (!is_ready() || real.pvalloc == NULL)
        return NULL;
    void *p = real.pvalloc(size);
    see_given(p, size);
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    ab_spool_note_aligned(p, (size + page - 1) & ~(page - 1), page, HERE);
    return p;
}

EXPORT size_t malloc_usable_size(void *p)
{
    if (is_early(p))
        return early_size(p);
    if (p == NULL || !is_ready() || real.malloc_usable_size == NULL)
        return 0;
    ab_spool_note_usable_size();
    return real.malloc_usable_size(p);
}

/* ---- operator new and delete ----
 *
 * Operators of libstdc++, and those of the program, call malloc, which records the block. The
 * recorder jumps to them, so that neither exceptions nor call stacks contain a frame of the
 * recorder. Another malloc library may have operators that do not call malloc. Blocks from these
 * are noted here, unless a function that the operator called has noted the block. */

#define BARE(...) __VA_ARGS__

#define DEFINE_NEW(name, parameters, arguments, align) \
    static __attribute__((noinline)) void *noted##name(struct ab_here here, BARE parameters) \
    { \
        if (!is_ready() || operators.name == NULL) \
            return (align) == 0 ? malloc(n) : memalign((align) == 0 ? 16 : (align), n); \
        struct ab_spool_point before = ab_spool_point(); \
        void *p = operators.name arguments; \
        if (sees_operators) { \
            see_given(p, n); \
            ab_spool_note_new(before, p, n, align, here); \
        } \
        return p; \
    } \
    EXPORT void *name parameters; \
    EXPORT void *name parameters \
    { \
        if (__builtin_expect(operators.name != NULL && !sees_operators, 1)) \
            return operators.name arguments; \
        return noted##name(HERE, BARE arguments); \
    }
AB_NEXT_NEWS(DEFINE_NEW)

#define DEFINE_DELETE(name, parameters, arguments) \
    static __attribute__((noinline)) void noted##name parameters \
    { \
        if (!is_ready() || operators.name == NULL) { \
            free(p); \
            return; \
        } \
        if (is_early(p)) \
            return; \
        if (ab_written_may_follow(p)) \
            ab_written_end(p); \
        void *outer = deleted; \
        if (sees_operators && p != NULL && p != outer) \
            ab_spool_note(AB_SPOOL_FREE, p, 0); \
        deleted = sees_operators ? p : outer; \
        operators.name arguments; \
        deleted = outer; \
    } \
    EXPORT void name parameters; \
    EXPORT void name parameters \
    { \
        if (__builtin_expect(operators.name != NULL && !sees_operators, 1)) \
            operators.name arguments; \
        else \
            noted##name arguments; \
    }
AB_NEXT_DELETES(DEFINE_DELETE)

/* ---- called by src/record/mark.h while recording ---- */

__attribute__((visibility("default"))) void allocbench_mark_record(const char *name);

__attribute__((visibility("default"))) void allocbench_mark_record(const char *name)
{
    if (ab_control != NULL)
        ab_spool_note_beside(AB_SPOOL_MARK, 0, ab_mark_name_number(name != NULL ? name : ""));
}
