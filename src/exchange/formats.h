/* SPDX-License-Identifier: MIT
 *
 * Traces of and for other tools: the table of formats, and the two directions.
 */
#ifndef AB_EXCHANGE_FORMATS_H
#define AB_EXCHANGE_FORMATS_H

#include "exchange/intake.h"
#include "exchange/outlet.h"

enum ab_format_keeps {
    AB_KEEPS_RESIZES = 1, /* without: a free and an allocation */
    AB_KEEPS_FAILURES = 2,
    AB_KEEPS_THREADS = 4,
    AB_KEEPS_ALIGNMENTS = 8,
    AB_KEEPS_ZEROED = 16,
    AB_KEEPS_TIMES = 32,
    AB_KEEPS_RELEASES = 64, /* resizes to 0 that free the block; without: a free */
};

struct ab_format {
    const char *name;
    unsigned keeps; /* of enum ab_format_keeps */
    enum ab_status (*read)(struct ab_feed *from, struct ab_intake *to, struct ab_err *err);
    const struct ab_outlet_format *writes;
};

/* NULL past the end. */
const struct ab_format *ab_format_at(size_t i);
/* AB_USAGE with the list and the nearest name. */
enum ab_status ab_format_find(const char *name, const struct ab_format **out, struct ab_err *err);

struct ab_import {
    const struct ab_format *format;
    const char *path; /* "-" = standard input; plain, gzip or zstd */
    bool is_partial;  /* a file that was cut ends with its last whole line or record */
    FILE *to;
    void (*progress)(void *user, uint64_t n_calls); /* may be NULL */
    void *user;
};
/* A file becomes a trace. Errors carry "FILE:LINE: " or "FILE: byte OFFSET: ". */
enum ab_status ab_import(const struct ab_import *import, struct ab_intake_report *report,
                         struct ab_err *err);

#define AB_FORMAT(id, ...) \
    enum ab_status ab_import_##id(struct ab_feed *from, struct ab_intake *to, struct ab_err *err);
#include "exchange/formats.def"
#undef AB_FORMAT

#endif
