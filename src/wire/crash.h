/* SPDX-License-Identifier: MIT
 *
 * What a worker leaves behind for the case that it does not come to its end: the call of each thread
 * that checks something, and after a deadly signal the place and the memory that it was about. Lies in
 * the run page, so that it is there however the process ends. The parent believes none of it beyond
 * its bounds.
 */
#ifndef AB_WIRE_CRASH_H
#define AB_WIRE_CRASH_H

#include <stdint.h>

/* Functions under test: id, name as the caller spells it, one letter an argument: n = number,
 * p = address or handle, o = a place for the result, which is not kept. Those of a malloc, then those
 * of a heap, each in the order of enum ab_call. */
#define AB_CALLED_MAP(X) \
    X(MALLOC, "malloc", "n") \
    X(CALLOC, "calloc", "nn") \
    X(MEMALIGN, "memalign", "nn") \
    X(ALIGNED_ALLOC, "aligned_alloc", "nn") \
    X(POSIX_MEMALIGN, "posix_memalign", "onn") \
    X(REALLOC, "realloc", "pn") \
    X(FREE, "free", "p") \
    X(FREE_SIZED, "free_sized", "pn") \
    X(MALLOC_USABLE_SIZE, "malloc_usable_size", "p") \
    X(ALLOC, "alloc", "n") \
    X(ALLOC_ZEROED, "alloc_zeroed", "n") \
    X(ALLOC_ALIGNED, "alloc_aligned", "nn") \
    X(RESIZE, "resize", "pnn") \
    X(HEAP_FREE, "free", "pn") \
    X(USABLE_SIZE, "usable_size", "p") \
    X(RESOLVE, "resolve", "p") \
    X(RESET, "reset", "") \
    X(MARK, "mark", "") \
    X(RELEASE, "release", "n") \
    X(STATS, "stats", "") \
    X(OPEN, "open", "") \
    X(THREAD_ENTER, "thread_enter", "n") \
    X(THREAD_LEAVE, "thread_leave", "")

enum ab_called {
    AB_CALLED_NONE,
#define X(id, name, args) AB_CALLED_##id,
    AB_CALLED_MAP(X)
#undef X
        AB_CALLED_COUNT
};

enum { AB_CALL_ARGS = 3, AB_CALL_NOTES = 16 };

struct ab_call_note {
    uint32_t called;    /* enum ab_called: the last call of the thread, */
    uint32_t is_inside; /* which has not returned yet */
    uint64_t number;    /* of the calls of the whole process, from 1 */
    uint64_t args[AB_CALL_ARGS];
};

struct ab_call_log {
    uint64_t n_calls;   /* atomic */
    uint32_t n_threads; /* atomic; of those beyond the notes nothing is known */
    uint32_t failed; /* 1 + index of the note of the thread that found something wrong; 0 = none */
    /* The first thread's first. The last note is that of a child process. */
    struct ab_call_note notes[AB_CALL_NOTES];
};

/* Of memory; ACCESS: not known which. */
enum ab_fault_kind { AB_FAULT_ACCESS, AB_FAULT_READ, AB_FAULT_WRITE, AB_FAULT_FETCH };

enum ab_near { /* where an address lies, as the checker knows its blocks */
               AB_NEAR_NOTHING,
               AB_NEAR_INSIDE, /* of a live block */
               AB_NEAR_BEHIND, /* a live block, by no more than AB_NEAR_BYTES */
               AB_NEAR_BEFORE,
               AB_NEAR_FREED, /* inside of a block that was freed not long ago */
};
enum { AB_NEAR_BYTES = 4096 };

struct ab_near_block {
    uint32_t near, reserved;
    uint64_t at, size;
};

enum { AB_CRASH_STACK = 1024, AB_CRASH_MAPS = 16384 };

struct ab_crash_report {
    uint32_t is_taken, is_whole; /* atomic: by the first thread that fails; all is written */
    int32_t signal, code;        /* si_signo, si_code */
    int32_t pid;
    uint32_t access; /* enum ab_fault_kind */
    uint32_t note;   /* 1 + index of the thread's note; 0 = it has none */
    uint32_t n_stack;
    uint64_t address; /* si_addr, where the signal has one */
    uint64_t pc, sp;
    uint64_t below_end, above_begin; /* mappings around the address; 0 = none */
    struct ab_near_block block;
    uint64_t stack[AB_CRASH_STACK]; /* words from sp on */
    uint32_t maps_bytes, reserved;
    char
        maps[AB_CRASH_MAPS]; /* lines of /proc/self/maps: what is code, what holds address and sp */
};

#endif
