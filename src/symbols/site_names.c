/* SPDX-License-Identifier: MIT
 *
 * Opens each file when the first of its frames is asked for.
 */
#include "symbols/site_names.h"

#include "core/grow.h"
#include "core/memory.h"

#include <stdlib.h>
#include <string.h>

bool ab_site_names_init(struct ab_site_names *n, const struct ab_site_table *table)
{
    *n = (struct ab_site_names){.table = table};
    return AB_GROW_ZEROED(n->modules, n->cap_modules, table->n_modules);
}

void ab_site_names_fini(struct ab_site_names *n)
{
    for (size_t i = 0; n->modules != NULL && i < n->cap_modules; i++)
        ab_symbols_close(n->modules[i].symbols);
    for (size_t i = 0; i < n->cap_frames; i++)
        free(n->frames[i].items);
    free(n->modules);
    free(n->frames);
    *n = (struct ab_site_names){.table = n->table};
}

/* NULL = its file has none, or memory ran out. */
static struct ab_symbols *symbols_of(struct ab_site_names *n, size_t i)
{
    const struct ab_site_module *m = &n->table->modules[i];
    AB_GROW_ZEROED(n->modules, n->cap_modules, i);
    if (!n->modules[i].is_tried) {
        n->modules[i].is_tried = true;
        n->modules[i].state = ab_symbols_open(m->path, m->build_id, m->n_build_id,
                                              &n->modules[i].symbols);
    }
    return n->modules[i].symbols;
}

struct ab_site_named ab_site_names_none(void)
{
    static struct ab_symbol unknown = {.function = "", .file = ""};
    return (struct ab_site_named){&unknown, 1};
}

struct ab_site_named ab_site_names_find(struct ab_site_names *n, const struct ab_site_frame *frame)
{
    struct ab_symbol found[AB_SYMBOLS_MAX];
    size_t index = (size_t)(frame - n->table->frames);
    struct ab_symbols *symbols = frame->module != 0 ? symbols_of(n, frame->module - 1) : NULL;
    if (symbols == NULL || !AB_GROW_ZEROED(n->frames, n->cap_frames, index))
        return ab_site_names_none();
    struct ab_site_named *known = &n->frames[index];
    if (known->n > 0)
        return *known;
    size_t count = ab_symbols_find(symbols, frame->address - 1, found); /* ahead of its return */
    known->items = ab_alloc(count * sizeof found[0]);
    memcpy(known->items, found, count * sizeof found[0]);
    known->n = count;
    return *known;
}
