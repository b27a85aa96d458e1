/* SPDX-License-Identifier: MIT
 *
 * Converts the calls of a foreign file to a trace: finds the block of an address, numbers
 * threads in the order of their first call, and counts all calls that a trace cannot have.
 * Memory O(live blocks).
 */
#ifndef AB_EXCHANGE_INTAKE_H
#define AB_EXCHANGE_INTAKE_H

#include "exchange/feed.h"
#include "exchange/formats.def"
#include "trace/writer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Hash map from a key to a number: numbers of live blocks by address, numbers of threads by their
 * number in the file. Keys are whole 64-bit words (Android's pointers have a tag in the upper
 * byte). The hash is seeded, because hostile files could choose colliding keys. Open addressing
 * with backward-shift deletion; memory O(live). */

struct ab_mapped {
    uint64_t key; /* 0 = empty place; no key is 0 */
    uint64_t number;
};

struct ab_block_map {
    struct ab_mapped *places; /* mask + 1 places, at most half of them used */
    size_t n, mask;
    uint64_t seed;
};

/* A zeroed map is empty. */
void ab_block_map_fini(struct ab_block_map *m);
/* Returns the entry of a key; NULL if there is none. The pointer is valid until the next set or
 * remove. */
struct ab_mapped *ab_block_map_find(const struct ab_block_map *m, uint64_t key);
/* Adds a key with its number, or changes the number of the key. */
void ab_block_map_set(struct ab_block_map *m, uint64_t key, uint64_t number);
void ab_block_map_remove(struct ab_block_map *m, struct ab_mapped *found);

struct ab_foreign_call {
    uint8_t kind;    /* enum ab_event_kind, also AB_EVENT_THREAD_END */
    uint64_t thread; /* number of the thread in the file, below 2^63 */
    /* address that the call returned; 0 = NULL, the call failed. A format without addresses may use
     * any unique number of a live block instead */
    uint64_t address;
    uint64_t old; /* address of the block that is resized or freed; 0 = NULL */
    uint64_t size, align;
    uint64_t time_ns; /* time in ns since any origin; used only with has_time */
};

/* Form of a call in a line: its name, then its fields. In `fields`, "s" stands for the size, "a"
 * for the alignment, "n" for the number of objects, "b" for the new block and "o" for the old
 * block; any other character stands for itself. */
struct ab_call_form {
    const char *name, *fields;
    uint8_t kind;
    uint64_t align; /* alignment of a call whose line does not have it */
};
/* Reads the next call of a line in the first form whose name fits. Returns false if no form fits. A
 * block is a pointer (ab_scan_pointer), or # and a number. */
bool ab_scan_call(const char **at, const struct ab_call_form *forms, size_t n,
                  struct ab_foreign_call *out);

struct ab_intake_report {
    struct ab_trace_info info;
    const struct ab_format *format; /* format of the file */
    uint64_t n_calls;               /* calls in the file, including dropped ones */
    uint64_t n_unknown_frees;
    uint64_t n_null_frees;
    /* resizes of unknown blocks; they became allocations if they gave a block */
    uint64_t n_unknown_resizes;
    /* frees that were added, because an address was given out again without a free */
    uint64_t n_reused;
    uint64_t n_late;          /* times that were raised to that of the event before */
    uint64_t n_other_process; /* calls of other processes, dropped */
    /* frees for which the file has only the call site, so that the block was guessed */
    uint64_t n_guessed;
    uint64_t n_writes;     /* writes to blocks, dropped */
    uint64_t n_after_end;  /* lines after the announced number of lines, dropped */
    bool is_cut;           /* True if the file is truncated, as was accepted */
    bool is_last_in_doubt; /* True if the last line has no newline and was taken as complete */
};

struct ab_intake {
    struct ab_feed *from; /* file that is read; used for positions in errors */
    FILE *to;
    struct ab_trace_writer *writer; /* opened at the first call */
    /* name of the program whose calls the file holds, without folder and arguments; "" = unknown;
     * set before the first call */
    char program[256];
    bool has_time; /* set it before the first call */
    struct ab_block_map live, threads;
    uint32_t n_threads;
    bool has_first, is_late;
    bool is_unknown; /* True if the last call was on a block that is not live */
    uint64_t first_ns, last_us;
    struct ab_intake_report report;
    void (*progress)(void *user, uint64_t n_calls); /* NULL = none */
    void *user;
};

/* Processes one call. Errors begin with the position in the file. */
enum ab_status ab_intake_take(struct ab_intake *in, const struct ab_foreign_call *call,
                              struct ab_err *err);

/* ---- the formats ---- */

struct ab_format {
    const char *name;
    enum ab_status (*read)(struct ab_feed *from, struct ab_intake *to, struct ab_err *err);
};

/* Returns format i, from 0; NULL after the last one. */
const struct ab_format *ab_format_at(size_t i);
/* Finds a format by name. Returns AB_USAGE with the list of names and the nearest one if there
 * is none. */
enum ab_status ab_format_find(const char *name, const struct ab_format **out, struct ab_err *err);

/* Recognizes the format of a file by reading its beginning in each format; NULL = none fits. */
const struct ab_format *ab_format_recognize(const char *path);

struct ab_import {
    const char *format; /* name; NULL = recognize it */
    const char *path;   /* "-" = standard input; plain, gzip or zstd */
    /* True if a truncated file is accepted, up to its last complete line or record */
    bool is_partial;
    FILE *to;
    void (*progress)(void *user, uint64_t n_calls); /* may be NULL */
    void *user;
};
/* Converts a file to a trace. Errors begin with "FILE:LINE: " or "FILE: byte OFFSET: ". */
enum ab_status ab_import(const struct ab_import *import, struct ab_intake_report *report,
                         struct ab_err *err);

#define AB_FORMAT_PROTOTYPE(id, ...) \
    enum ab_status ab_import_##id(struct ab_feed *from, struct ab_intake *to, struct ab_err *err);
AB_FORMATS(AB_FORMAT_PROTOTYPE)
#undef AB_FORMAT_PROTOTYPE

#endif
