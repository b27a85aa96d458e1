/* SPDX-License-Identifier: MIT
 *
 * Traces of other tools: the table of formats, and importing by it.
 */
#ifndef AB_EXCHANGE_FORMATS_H
#define AB_EXCHANGE_FORMATS_H

#include "exchange/formats.def"
#include "exchange/intake.h"

struct ab_format {
    const char *name;
    enum ab_status (*read)(struct ab_feed *from, struct ab_intake *to, struct ab_err *err);
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

#define AB_FORMAT_PROTOTYPE(id, ...) \
    enum ab_status ab_import_##id(struct ab_feed *from, struct ab_intake *to, struct ab_err *err);
AB_FORMATS(AB_FORMAT_PROTOTYPE)
#undef AB_FORMAT_PROTOTYPE

#endif
