/* SPDX-License-Identifier: MIT
 *
 * Opens each file when the first of its frames is asked for.
 */
#include "symbols/site_names.h"

#include "core/grow.h"

#include <stdlib.h>

bool ab_site_names_init(struct ab_site_names *n, const struct ab_site_table *table)
{
    *n = (struct ab_site_names){.table = table};
    return AB_GROW_ZEROED(n->modules, n->cap_modules, table->n_modules);
}

void ab_site_names_fini(struct ab_site_names *n)
{
    for (size_t i = 0; n->modules != NULL && i < n->cap_modules; i++)
        ab_symbols_close(n->modules[i].symbols);
    free(n->modules);
    n->modules = NULL;
}

const struct ab_site_module *ab_site_names_find(struct ab_site_names *n,
                                                const struct ab_site_frame *frame,
                                                struct ab_symbol *out)
{
    *out = (struct ab_symbol){.line = 0};
    if (frame->module == 0)
        return NULL;
    size_t i = frame->module - 1;
    const struct ab_site_module *m = &n->table->modules[i];
    if (!AB_GROW_ZEROED(n->modules, n->cap_modules, i))
        return m;
    if (!n->modules[i].is_tried) {
        n->modules[i].is_tried = true;
        n->modules[i].state = ab_symbols_open(m->path, m->build_id, m->n_build_id,
                                              &n->modules[i].symbols);
    }
    if (n->modules[i].symbols != NULL) /* the call is ahead of where it returns to */
        ab_symbols_find(n->modules[i].symbols, frame->address - 1, out);
    return m;
}
