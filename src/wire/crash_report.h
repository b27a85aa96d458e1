/* SPDX-License-Identifier: MIT
 *
 * Notes that a worker leaves behind in case it dies before its report: the last call of each
 * checked thread, and, after a deadly signal, the failing address with stack and mappings. The
 * notes are in the run page, so they survive any kind of death. The parent believes none of them
 * beyond bounds that it checks itself.
 */
#ifndef AB_WIRE_CRASH_REPORT_H
#define AB_WIRE_CRASH_REPORT_H

#include <stdint.h>

/* Functions under test: id, name as the caller spells it, and one letter for each argument. n =
 * number, p = address or handle, o = address of a result, which is not noted. The malloc functions
 * come first, then the heap's, each in the order of enum ab_call. */
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
    uint32_t called;    /* enum ab_called: the thread's last call */
    uint32_t is_inside; /* 1 while `called` has not returned */
    uint64_t number;    /* number of the call in the whole process, from 1 */
    uint64_t args[AB_CALL_ARGS];
};

struct ab_call_log {
    uint64_t n_calls;   /* atomic */
    uint32_t n_threads; /* atomic; may exceed AB_CALL_NOTES, threads beyond it have no note */
    uint32_t failed;    /* 1 + index of the note whose thread found an error; 0 = none */
    /* The first thread has notes[0]. The last note belongs to a child process. */
    struct ab_call_note notes[AB_CALL_NOTES];
};

/* Kind of memory access that failed; ACCESS = the signal does not say which. */
enum ab_fault_kind { AB_FAULT_ACCESS, AB_FAULT_READ, AB_FAULT_WRITE, AB_FAULT_FETCH };

/* Position of an address relative to the checker's blocks. */
enum ab_near {
    AB_NEAR_NOTHING,
    AB_NEAR_INSIDE, /* inside a live block */
    AB_NEAR_BEHIND, /* at most AB_NEAR_BYTES after a live block */
    AB_NEAR_BEFORE,
    AB_NEAR_FREED, /* inside a block that was freed recently */
};
enum { AB_NEAR_BYTES = 4096 };

struct ab_near_block {
    uint32_t near, reserved;
    uint64_t at, size;
};

enum { AB_CRASH_STACK = 1024, AB_CRASH_MAPS = 16384 };

struct ab_crash_report {
    /* atomic; is_taken: the first thread that fails sets it; is_whole: the report is complete */
    uint32_t is_taken, is_whole;
    int32_t signal, code; /* si_signo, si_code */
    int32_t pid;
    uint32_t access; /* enum ab_fault_kind */
    uint32_t note;   /* 1 + index of the thread's note in ab_call_log.notes; 0 = no note */
    uint32_t n_stack;
    uint64_t address; /* si_addr; 0 if the signal has none */
    uint64_t pc, sp;
    /* below_end: end of the nearest mapping below `address`; above_begin: beginning of the nearest
     * mapping above it; 0 = none */
    uint64_t below_end, above_begin;
    struct ab_near_block block;
    uint64_t stack[AB_CRASH_STACK]; /* n_stack words of the stack, from `sp` upwards */
    uint32_t maps_bytes, reserved;
    /* lines of /proc/self/maps: mappings of code, and those that hold `address` or `sp` */
    char maps[AB_CRASH_MAPS];
};

#endif
