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
    size_t cap_modules; /* the table can grow */
};

/* False = out of memory. */
bool ab_site_names_init(struct ab_site_names *n, const struct ab_site_table *table);
void ab_site_names_fini(struct ab_site_names *n);

/* Of a frame; what is not known is "" and 0. Returns its module; NULL = none. */
const struct ab_site_module *ab_site_names_find(struct ab_site_names *n,
                                                const struct ab_site_frame *frame,
                                                struct ab_symbol *out);

#endif
