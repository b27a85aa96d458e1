/* SPDX-License-Identifier: MIT
 *
 * Names the frames of each call site, and gives the site its value in each flame graph.
 */
#include "app/stacks.h"

#include "symbols/site_match.h"

#include <stdio.h>
#include <string.h>

static uint64_t value_of(const struct ab_site_stat *s, enum ab_flame_by by)
{
    return by == AB_FLAME_BYTES ? s->bytes : by == AB_FLAME_LIVE ? s->peak_bytes : s->calls;
}

enum {
    NAMES_MOST = 4 * AB_SITE_DEPTH_MAX
}; /* number of names per stack, inlined functions included; further inner ones are dropped */

/* Names a frame without a function by its module and address. */
static const char *name_code(const struct ab_site_module *m, uint64_t address, char *out,
                             size_t cap)
{
    if (m == NULL)
        return "code made at run time";
    snprintf(out, cap, "%.400s+0x%llx", basename(m->path), (unsigned long long)address);
    return out;
}

/* Adds the source line to the name of a function, if the line is known: "parse (parser.c:12)". */
static const char *name_line(const struct ab_symbol *s, char *out, size_t cap)
{
    if (s->file[0] == 0 || s->line <= 0)
        return s->function;
    snprintf(out, cap, "%.380s (%.100s:%d)", s->function, basename(s->file), s->line);
    return out;
}

/* Names the frames of a site, the outermost first. Returns their number. The names are valid until
 * the next call. */
static size_t name_stack(struct ab_site_names *names, uint32_t site, bool has_lines,
                         const char *stack[NAMES_MOST])
{
    static char texts[NAMES_MOST][512];
    const struct ab_site_table *t = names->table;
    size_t n = 0, depth = site == 0 ? 0 : t->stacks[site - 1].depth;
    for (size_t i = depth; i-- > 0;) { /* the table stores the innermost frame first */
        const struct ab_site_frame *frame = ab_site_frame(t, site, i);
        struct ab_site_named named = ab_site_names_find(names, frame);
        for (size_t k = named.n; k-- > 0 && n < NAMES_MOST; n++)
            stack[n] = named.items[k].function[0] == 0
                           ? name_code(ab_site_module_of(t, frame), frame->address, texts[n],
                                       sizeof texts[n])
                       : has_lines ? name_line(&named.items[k], texts[n], sizeof texts[n])
                                   : named.items[k].function;
    }
    return n;
}

static void add_stack(struct ab_flame *flame, struct ab_site_names *names, uint32_t site,
                      bool has_lines, uint64_t value)
{
    const char *stack[NAMES_MOST] = {"not known"};
    size_t n = name_stack(names, site, has_lines, stack);
    ab_flame_add(flame, stack, n > 0 ? n : 1, value);
}

void ab_stacks_add(struct ab_flame *flame, struct ab_site_names *names, uint32_t site,
                   uint64_t value)
{
    add_stack(flame, names, site, true, value);
}

/* Adds a site to each flame graph that exists; `flames` is indexed by enum ab_flame_by. */
static void add_site(struct ab_flame *const flames[AB_FLAME_KEYS], struct ab_site_names *names,
                     uint32_t site, const struct ab_site_stat *s)
{
    for (unsigned by = 0; by < AB_FLAME_KEYS; by++)
        if (flames[by] != NULL && s->calls > 0 && value_of(s, by) > 0)
            add_stack(flames[by], names, site, false, value_of(s, by));
}

static void add_sites(struct ab_flame *const flames[AB_FLAME_KEYS],
                      const struct ab_site_table *table, const struct ab_site_stats *stats)
{
    struct ab_site_names names;
    ab_site_names_init(&names, table);
    for (uint32_t i = 0; i < stats->n; i++)
        add_site(flames, &names, i, &stats->sites[i]);
    ab_site_names_fini(&names);
}

struct ab_flame *ab_trace_flame(const struct ab_site_table *table,
                                const struct ab_site_stats *stats, enum ab_flame_by by)
{
    struct ab_flame *flames[AB_FLAME_KEYS] = {NULL};
    flames[by] = ab_flame_open();
    add_sites(flames, table, stats);
    return flames[by];
}

void ab_trace_stacks(const struct ab_site_table *table, const struct ab_site_stats *stats,
                     struct ab_stacks *out)
{
    *out = (struct ab_stacks){ab_flame_open(), ab_flame_open(), ab_flame_open(), NULL};
    struct ab_flame *const flames[AB_FLAME_KEYS] = {[AB_FLAME_CALLS] = out->by_calls,
                                                    [AB_FLAME_BYTES] = out->by_bytes,
                                                    [AB_FLAME_LIVE] = out->by_peak};
    add_sites(flames, table, stats);
}

enum ab_status ab_trace_stacks_read(const struct ab_walk *walk, struct ab_stacks *out,
                                    struct ab_err *err)
{
    struct ab_site_table table = {0};
    struct ab_site_stats stats = {0};
    struct ab_walk pass = *walk;
    pass.end = UINT64_MAX;
    pass.sites = &table;
    pass.visit = ab_site_stats_visit;
    pass.user = &stats;
    enum ab_status status = ab_trace_walk(&pass, NULL, err);
    if (status == AB_OK)
        ab_trace_stacks(&table, &stats, out);
    ab_site_stats_fini(&stats);
    ab_site_table_fini(&table);
    return status;
}
