/* SPDX-License-Identifier: MIT
 *
 * Marks: places in a trace that the recorded program, or a function that it calls, has named: the
 * end of a frame, a request. The table of a trace, which grows while it is read or written.
 *
 * Requests beside blocks (malloc_trim, mallopt …) are kept in a table of the same kind: a name is
 * that of a function there, and in place of the time stands an argument.
 */
#ifndef AB_TRACE_MARK_TABLE_H
#define AB_TRACE_MARK_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    AB_MARK_NAME_MAX = 255, /* bytes */
    AB_MARK_NAMES_MAX = 65535,
    AB_MARKS_MAX = 1 << 24, /* of a trace */
};
#define AB_MARK_NO_THREAD UINT32_MAX

struct ab_trace_mark {
    uint64_t call;   /* so many calls of the trace (ends of threads are none) come before it */
    uint32_t name;   /* in the table's names, from 0 */
    uint32_t thread; /* that set it; AB_MARK_NO_THREAD = one that had made no call */
    union {
        uint64_t time_us; /* since the first event, never less than the one before; 0 = not known */
        uint64_t argument; /* of a request: the bytes that malloc_trim is to leave; else 0 */
    };
};

struct ab_mark_table { /* begins as {0}; the marks ascend by call */
    char **names;
    size_t n_names, cap_names;
    struct ab_trace_mark *marks;
    size_t n, cap;
    bool is_of_requests; /* else of marks */
    size_t most;         /* that it takes; 0 = as many as a trace can have */
    uint64_t n_lost;     /* beyond that */
};

void ab_mark_table_fini(struct ab_mark_table *t);

/* Appends a name, whatever is there: for a reader. */
void ab_mark_append_name(struct ab_mark_table *t, const char *name, size_t n);
/* The number of a name, which is appended if it is not there. `name` is cut at AB_MARK_NAME_MAX bytes,
 * and "" is "mark"; the last of the numbers is for all that there is no other for: it is called
 * AB_MARK_FURTHER. */
#define AB_MARK_FURTHER "further names"
uint32_t ab_mark_know_name(struct ab_mark_table *t, const char *name);
/* Appends a mark; one whose call or time is less than that of the one before gets that one's.
 * Where there are too many it is only counted. */
void ab_mark_add(struct ab_mark_table *t, struct ab_trace_mark mark);

/* The trace ends after so many calls of so many threads: what lies beyond is left out. */
void ab_mark_table_cut(struct ab_mark_table *t, uint64_t n_calls, uint64_t n_threads);
/* NULL, or what is wrong with marks of a trace of so many calls and threads. */
const char *ab_mark_table_check(const struct ab_mark_table *t, uint64_t n_calls,
                                uint64_t n_threads);

/* The request whose replay does something. */
#define AB_REQUEST_TRIM "malloc_trim"

/* The optional chunks of marks and of requests (traces/FORMAT.md): names that are new, then marks. */

struct ab_marks_done { /* how much of a table has been written */
    size_t n_names, n;
};

/* Encodes what comes after *done, as much as a chunk holds, and moves it on. `raw` has room for
 * AB_TRACE_RAW_MAX bytes. Returns how many it takes; 0 = there is nothing more. */
size_t ab_mark_encode(const struct ab_mark_table *t, struct ab_marks_done *done, uint8_t *raw);
/* Appends what a chunk holds that stands after n_calls calls. NULL, or what is wrong as the end of a
 * sentence. */
const char *ab_mark_decode(struct ab_mark_table *t, uint64_t n_calls, const uint8_t *raw,
                           size_t bytes);

/* The marks of a trace by name: how many, and what lies between one and the next. */

struct ab_mark_spread { /* NaN where there is nothing between: of one mark */
    double min, median, max;
};

struct ab_mark_stats {
    uint32_t name;               /* in the table */
    uint64_t n;                  /* 0: it is defined, and never set */
    uint64_t first, last;        /* calls of the trace before them */
    struct ab_mark_spread calls; /* of the whole trace, between one of this name and the next */
    struct ab_mark_spread us;    /* NaN too where times are not known */
};

/* stats[0..t->n_names), by number of marks, the most first. */
void ab_mark_stats(const struct ab_mark_table *t, struct ab_mark_stats *stats);

#endif
