/* SPDX-License-Identifier: MIT
 *
 * Names for the frames of a trace's call sites, from the files that the recorded program had
 * loaded.
 */
#ifndef AB_SYMBOLS_SITE_NAMES_H
#define AB_SYMBOLS_SITE_NAMES_H

#include "symbols/symbols.h"
#include "trace/sites/site_table.h"

struct ab_site_names {
    const struct ab_site_table *table;
    struct { /* by number - 1 */
        struct ab_symbols *symbols;
        enum ab_symbols_state state;
        bool is_tried;
    } * modules;
    struct ab_site_named {
        struct ab_symbol *items;
        size_t n;                   /* 0 = not asked for yet */
    } * frames;                     /* by index: a frame is in many stacks */
    size_t cap_modules, cap_frames; /* the table can grow */
};

/* False = out of memory. */
bool ab_site_names_init(struct ab_site_names *n, const struct ab_site_table *table);
void ab_site_names_fini(struct ab_site_names *n);

/* What is at a frame of the table: the function that was compiled comes last, ahead of it those
 * inlined there, the innermost first. One at least, of which what is not known is "" and 0. They live as
 * long as the names. */
struct ab_site_named ab_site_names_find(struct ab_site_names *n, const struct ab_site_frame *frame);
/* Of a frame whose names are not known. */
struct ab_site_named ab_site_names_none(void);

#endif
