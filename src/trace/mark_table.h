/* SPDX-License-Identifier: MIT
 *
 * Table of the marks of a trace. A mark is a named point, such as the end of a frame or of a
 * request, set by the program or by a function that it calls. The table grows while the trace is
 * read or written.
 *
 * Requests such as malloc_trim or mallopt are kept in a second table of this type. The name of a
 * request is that of the function, and an argument takes the place of the time.
 */
#ifndef AB_TRACE_MARK_TABLE_H
#define AB_TRACE_MARK_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    AB_MARK_NAME_MAX = 255, /* bytes */
    AB_MARK_NAMES_MAX = 65535,
    AB_MARKS_MAX = 1 << 24, /* marks in a trace */
};
#define AB_MARK_NO_THREAD UINT32_MAX

struct ab_trace_mark {
    uint64_t call; /* number of calls of the trace before the mark */
    uint32_t name; /* index in the table's names */
    /* thread that set the mark; AB_MARK_NO_THREAD = a thread that has made no call yet */
    uint32_t thread;
    union {
        uint64_t time_us; /* since the first event, not decreasing; 0 = not known */
        /* of a request: bytes that malloc_trim is to leave at the top; 0 for other functions */
        uint64_t argument;
    };
};

struct ab_mark_table { /* zero-initialize it; the marks are sorted by call */
    char **names;
    size_t n_names, cap_names;
    struct ab_trace_mark *marks;
    size_t n, cap;
    bool is_of_requests; /* True for a table of requests */
    size_t most;         /* maximum number of marks; 0 = the most that a trace can have */
    uint64_t n_lost;     /* marks beyond the maximum */
};

void ab_mark_table_fini(struct ab_mark_table *t);

/* Appends a name, even if the table already has it; for readers. */
void ab_mark_append_name(struct ab_mark_table *t, const char *name, size_t n);
/* Returns the number of a name, appending the name if it is new. Truncates `name` at
 * AB_MARK_NAME_MAX bytes; "" becomes "mark". When the table of names is full, all further names get
 * the number of its last name, AB_MARK_FURTHER. */
#define AB_MARK_FURTHER "further names"
uint32_t ab_mark_know_name(struct ab_mark_table *t, const char *name);
/* Appends a mark. Raises its call, and its time unless it is a request, to those of the mark
 * before. If the table is full, only counts the mark as lost. */
void ab_mark_add(struct ab_mark_table *t, struct ab_trace_mark mark);

/* Cuts the table to a trace of n_calls calls and n_threads threads: removes later marks, and sets
 * other threads to AB_MARK_NO_THREAD. */
void ab_mark_table_cut(struct ab_mark_table *t, uint64_t n_calls, uint64_t n_threads);
/* Checks the table against a trace of n_calls calls and n_threads threads. Returns NULL, or what is
 * wrong. */
const char *ab_mark_table_check(const struct ab_mark_table *t, uint64_t n_calls,
                                uint64_t n_threads);

/* The only request that a replay repeats. */
#define AB_REQUEST_TRIM "malloc_trim"

/* ---- the optional chunks of marks and of requests (traces/FORMAT.md): new names, then marks
 * ---- */

struct ab_marks_done { /* numbers of names and marks of a table that have been written */
    size_t n_names, n;
};

/* Encodes the next part of a table after *done, as much as fits into a chunk, and advances
 * *done. `raw` has AB_TRACE_RAW_MAX bytes. Returns the size; 0 = nothing is left. */
size_t ab_mark_encode(const struct ab_mark_table *t, struct ab_marks_done *done, uint8_t *raw);
/* Appends the names and marks of a chunk that comes after n_calls calls. Returns NULL, or what
 * is wrong as the end of a sentence. */
const char *ab_mark_decode(struct ab_mark_table *t, uint64_t n_calls, const uint8_t *raw,
                           size_t bytes);

/* ---- statistics of marks by name ---- */

struct ab_mark_spread { /* distances between successive marks; NaN if there is only one */
    double min, median, max;
};

struct ab_mark_stats {
    uint32_t name; /* index of the name in the table */
    /* number of marks with this name; 0 = the name is defined, but no mark has it */
    uint64_t n;
    /* numbers of calls of the trace before the first and the last of these marks */
    uint64_t first, last;
    /* distances between successive marks of this name, in calls of the whole trace */
    struct ab_mark_spread calls;
    struct ab_mark_spread us; /* distances in µs; NaN also if times are not known */
};

/* Fills stats[0..t->n_names), sorted by number of marks, descending. */
void ab_mark_stats(const struct ab_mark_table *t, struct ab_mark_stats *stats);

#endif
