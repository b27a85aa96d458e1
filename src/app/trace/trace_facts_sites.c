/* SPDX-License-Identifier: MIT
 *
 * Sorts the call sites of a trace, and names their stacks. Functions of the C++ library at the
 * inner end of a stack are hidden, except operator new. The shown stack begins at the program's
 * line that calls into the library. If the stack has no such line, it begins at the outermost
 * library function.
 */
#include "app/trace/trace_facts.h"

#include "base/bits.h"
#include "core/alloc.h"
#include "core/text.h"

#include <stdlib.h>
#include <string.h>

static uint64_t key_of(const struct ab_site_stat *s, enum ab_site_order order)
{
    switch (order) {
    case AB_SITES_BY_BYTES:
        return s->bytes;
    case AB_SITES_BY_PEAK:
        return s->peak_bytes;
    case AB_SITES_BY_NEVER_FREED:
        return s->live_bytes;
    case AB_SITES_BY_TEMPORARY:
        return s->temporary;
    default:
        return s->calls;
    }
}

static int by_key(const void *a, const void *b)
{
    const struct ab_trace_site_row *x = a, *y = b;
    return x->key != y->key ? (x->key < y->key ? 1 : -1) : AB_COMPARE(x->site, y->site);
}

struct ab_trace_site_row *ab_trace_sort_sites(const struct ab_trace_facts *f,
                                              enum ab_site_order order, size_t *n)
{
    struct ab_trace_site_row *rows = ab_alloc_zeroed(f->sites.n + 1, sizeof rows[0]);
    *n = 0;
    for (uint32_t i = 0; i < f->sites.n; i++) {
        uint64_t key = key_of(&f->sites.sites[i], order);
        if (key > 0)
            rows[(*n)++] = (struct ab_trace_site_row){i, key};
    }
    if (*n > 0)
        qsort(rows, *n, sizeof rows[0], by_key);
    return rows;
}

/* ---- names ---- */

/* Writes the name of a function. Leaves out template arguments in names of the C++ library. */
static void name_function(char out[128], const struct ab_site_module *m,
                          const struct ab_site_frame *frame, const struct ab_symbol *symbol)
{
    static const char string[] = "std::__cxx11::basic_string";
    char name[512];
    if (m == NULL)
        snprintf(out, 128, "code made at run time");
    else if (symbol->function[0] == 0)
        snprintf(out, 128, "%s+0x%llx", AB_SHOWN(100, basename(m->path)),
                 (unsigned long long)frame->address);
    else if (!ab_wrappers_is_library(m, symbol) || strchr(symbol->function, '<') == NULL)
        snprintf(out, 128, "%s", AB_SHOWN(100, symbol->function));
    else {
        ab_wrappers_bare_name(symbol->function, name, sizeof name);
        bool is_string = strncmp(name, string, sizeof string - 1) == 0;
        snprintf(out, 128, "%s%s", is_string ? "std::string" : "",
                 AB_SHOWN(100, name + (is_string ? sizeof string - 1 : 0)));
    }
}

static void name_frame(char *out, size_t cap, const struct ab_site_module *m,
                       const struct ab_site_frame *frame, const struct ab_symbol *symbol)
{
    const char *file = symbol->file[0] != 0                    ? basename(symbol->file)
                       : m != NULL && symbol->function[0] != 0 ? basename(m->path)
                                                               : "";
    char function[128];
    name_function(function, m, frame, symbol);
    size_t n = (size_t)snprintf(out, cap, "%s%s%s", function, file[0] != 0 ? "  " : "",
                                AB_SHOWN(100, file));
    if (symbol->file[0] != 0 && symbol->line > 0 && n < cap)
        snprintf(out + n, cap - n, ":%d", symbol->line);
}

struct beginning {
    bool is_new;
    size_t frame, function;
};

/* Finds the innermost frame outside of the C++ library. If there is none, returns the outermost
 * frame. */
static struct beginning begin_of(struct ab_site_names *names, uint32_t site)
{
    struct beginning b = {false, 0, 0};
    for (size_t i = 0; i < names->table->stacks[site - 1].depth; i++) {
        const struct ab_site_frame *frame = ab_site_frame(names->table, site, i);
        const struct ab_site_module *m = ab_site_module_of(names->table, frame);
        struct ab_site_named named = ab_site_names_find(names, frame);
        for (size_t k = 0; k < named.n; k++) {
            b.frame = i;
            b.function = k;
            if (!ab_wrappers_is_library(m, &named.items[k]))
                return b;
            b.is_new = b.is_new || named.items[k].is_new;
        }
    }
    return b;
}

size_t ab_trace_site_frames(struct ab_site_names *names, uint32_t site,
                            char out[AB_TRACE_SITE_FRAMES][AB_TRACE_FRAME_BYTES])
{
    size_t n = 0, depth = site == 0 ? 0 : names->table->stacks[site - 1].depth;
    if (depth == 0) {
        snprintf(out[0], AB_TRACE_FRAME_BYTES, "not known: the trace has no stack of these calls");
        return 1;
    }
    struct beginning b = begin_of(names, site);
    for (size_t i = b.frame; i < depth; i++) {
        const struct ab_site_frame *frame = ab_site_frame(names->table, site, i);
        struct ab_site_named named = ab_site_names_find(names, frame);
        for (size_t k = i == b.frame ? b.function : 0; k < named.n; k++) {
            char name[AB_TRACE_FRAME_BYTES - 8];
            if (n == AB_TRACE_SITE_FRAMES)
                return n;
            name_frame(name, sizeof name, ab_site_module_of(names->table, frame), frame,
                       &named.items[k]);
            snprintf(out[n], AB_TRACE_FRAME_BYTES, "%s%s", n == 0 && b.is_new ? "new in " : "",
                     name);
            n++;
        }
    }
    return n;
}
