/* SPDX-License-Identifier: MIT
 *
 * Where the calls of a foreign file become a trace: finds the block behind an address, numbers
 * threads in the order of their first call, and counts what cannot be in a trace. Nothing is left
 * out unsaid. Memory O(live blocks).
 */
#ifndef AB_EXCHANGE_INTAKE_H
#define AB_EXCHANGE_INTAKE_H

#include "exchange/feed.h"
#include "exchange/formats.def"
#include "trace/writer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Numbers by key: live blocks by address, threads by the number that a file gives them. Keys are
 * whole 64-bit words (Android's pointers carry a tag in the upper byte) and come from files that
 * may be hostile: their order in the table is drawn, so that no file can choose ones that
 * collide. Open addressing with backward-shift deletion; memory O(live). */

struct ab_mapped {
    uint64_t key; /* never 0, which is an empty place */
    uint64_t number;
};

struct ab_block_map {
    struct ab_mapped *places; /* mask + 1, at most half of them used */
    size_t n, mask;
    uint64_t seed;
};

/* A zeroed map is empty. */
void ab_block_map_fini(struct ab_block_map *m);
/* NULL when there is none; holds until the next set or remove. */
struct ab_mapped *ab_block_map_find(const struct ab_block_map *m, uint64_t key);
/* Adds the key, or gives it another number. */
void ab_block_map_set(struct ab_block_map *m, uint64_t key, uint64_t number);
void ab_block_map_remove(struct ab_block_map *m, struct ab_mapped *found);

struct ab_foreign_call {
    uint8_t kind;    /* enum ab_event_kind; AB_EVENT_THREAD_END too */
    uint64_t thread; /* as the file names it, below 2^63 */
    uint64_t
        address;  /* that was given; 0 = NULL, the call failed. Any name of a block will do that no
                         other block has while it lives */
    uint64_t old; /* of resize and free: the block; 0 = NULL */
    uint64_t size, align;
    uint64_t time_ns; /* by any clock; with has_time only */
};

/* How a call stands in a line: its name, then its fields: "s" is the size, "a" the alignment, "n"
 * how many objects of the size, "b" the block that was given, "o" the old one; everything else
 * stands for itself. */
struct ab_call_form {
    const char *name, *fields;
    uint8_t kind;
    uint64_t align; /* of a call that does not say it */
};
/* The call that is next in the line, which has the form of the first name that fits. Blocks are as
 * ab_scan_pointer takes them, or # and a number. */
bool ab_scan_call(const char **at, const struct ab_call_form *forms, size_t n,
                  struct ab_foreign_call *out);

struct ab_intake_report {
    struct ab_trace_info info;
    const struct ab_format *format; /* the one that was read */
    uint64_t n_calls;               /* of the file: those of the trace, and those left out */
    uint64_t n_unknown_frees;
    uint64_t n_null_frees;
    uint64_t n_unknown_resizes; /* became allocations, where they gave a block */
    uint64_t n_reused;          /* frees that were added: the address was given out again */
    uint64_t n_late;            /* times before that of the event before: raised to it */
    uint64_t n_other_process;   /* left out */
    uint64_t n_guessed;         /* frees of which the file says the site, not the block */
    uint64_t n_writes;          /* to blocks, left out: a trace has no place for them */
    uint64_t n_after_end;       /* lines after as many as the file announces, left out */
    bool is_cut;                /* the file's end is missing, as was accepted */
    bool is_last_in_doubt;      /* the last line has no newline, and was taken as whole */
};

struct ab_intake {
    struct ab_feed *from; /* for the place in errors */
    FILE *to;
    struct ab_trace_writer *writer; /* opened by the first call */
    char program[256];              /* "" = unknown; set before the first call */
    bool has_time;                  /* the same */
    struct ab_block_map live, threads;
    uint32_t n_threads;
    bool has_first, is_late;
    bool is_unknown; /* the last call was of a block that is not live */
    uint64_t first_ns, last_us;
    struct ab_intake_report report;
    void (*progress)(void *user, uint64_t n_calls); /* NULL = none */
    void *user;
};

/* Errors carry the place in the file. */
enum ab_status ab_intake_take(struct ab_intake *in, const struct ab_foreign_call *call,
                              struct ab_err *err);

/* ---- the formats ---- */

struct ab_format {
    const char *name;
    enum ab_status (*read)(struct ab_feed *from, struct ab_intake *to, struct ab_err *err);
};

/* NULL past the end. */
const struct ab_format *ab_format_at(size_t i);
/* AB_USAGE with the list and the nearest name. */
enum ab_status ab_format_find(const char *name, const struct ab_format **out, struct ab_err *err);

/* The format of a file, by reading its begin in each: NULL if it is none. */
const struct ab_format *ab_format_recognize(const char *path);

struct ab_import {
    const struct ab_format *format; /* NULL = the one that the file has */
    const char *path;               /* "-" = standard input; plain, gzip or zstd */
    bool is_partial; /* a file that was cut ends with its last whole line or record */
    FILE *to;
    void (*progress)(void *user, uint64_t n_calls); /* may be NULL */
    void *user;
};
/* A file becomes a trace. Errors carry "FILE:LINE: " or "FILE: byte OFFSET: ". */
enum ab_status ab_import(const struct ab_import *import, struct ab_intake_report *report,
                         struct ab_err *err);

#define AB_FORMAT_PROTOTYPE(id, ...) \
    enum ab_status ab_import_##id(struct ab_feed *from, struct ab_intake *to, struct ab_err *err);
AB_FORMATS(AB_FORMAT_PROTOTYPE)
#undef AB_FORMAT_PROTOTYPE

#endif
