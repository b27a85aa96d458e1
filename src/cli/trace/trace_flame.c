/* SPDX-License-Identifier: MIT
 *
 * Gives each frame of each site its name, and the site its value.
 */
#include "cli/trace/trace_flame.h"

#include "core/text.h"
#include "report/flame.h"
#include "symbols/site_match.h"

#include <string.h>

enum ab_status ab_trace_flame_check(const struct ab_options *o, struct ab_err *err)
{
    bool has_file = o->flame != NULL || o->folded != NULL;
    if (o->has_flame_by && !has_file)
        return ab_fail(err, AB_USAGE, "trace info --flame-by needs --flame or --folded: a file");
    if (has_file && !o->wants_sites)
        return ab_fail(err, AB_USAGE, "trace info --flame and --folded need --sites: the stacks");
    if (has_file && o->n_args > 2)
        return ab_fail(err, AB_USAGE, "trace info --flame and --folded take one trace, not %zu",
                       o->n_args - 1);
    return AB_OK;
}

static uint64_t value_of(const struct ab_site_stat *s, enum ab_flame_by by)
{
    return by == AB_FLAME_BYTES ? s->bytes : by == AB_FLAME_LIVE ? s->peak_bytes : s->calls;
}

enum { NAMES_MOST = 4 * AB_SITE_DEPTH_MAX }; /* with inlined functions; the innermost go */

/* Names a frame without a function by its module and address. */
static const char *name_code(const struct ab_site_module *m, uint64_t address, char *out,
                             size_t cap)
{
    if (m == NULL)
        return "code made at run time";
    const char *slash = strrchr(m->path, '/');
    snprintf(out, cap, "%.400s+0x%llx", slash != NULL ? slash + 1 : m->path,
             (unsigned long long)address);
    return out;
}

/* The outermost first; returns how many. */
static size_t name_stack(struct ab_site_names *names, uint32_t site, const char *stack[NAMES_MOST])
{
    static char texts[AB_SITE_DEPTH_MAX][512];
    const struct ab_site_table *t = names->table;
    size_t n = 0, depth = site == 0 ? 0 : t->stacks[site - 1].depth;
    for (size_t i = depth; i-- > 0;) { /* the table has the innermost first */
        const struct ab_site_frame *frame = ab_site_frame(t, site, i);
        struct ab_site_named named = ab_site_names_find(names, frame);
        for (size_t k = named.n; k-- > 0 && n < NAMES_MOST;)
            stack[n++] = named.items[k].function[0] != 0
                             ? named.items[k].function
                             : name_code(ab_site_module_of(t, frame), frame->address, texts[i],
                                         sizeof texts[i]);
    }
    return n;
}

/* Into each flame graph that is there; order: enum ab_flame_by. */
static bool add_site(struct ab_flame *const flames[AB_FLAME_KEYS], struct ab_site_names *names,
                     uint32_t site, const struct ab_site_stat *s)
{
    const char *stack[NAMES_MOST] = {"not known"};
    if (s->calls == 0)
        return true;
    size_t n = name_stack(names, site, stack);
    for (unsigned by = 0; by < AB_FLAME_KEYS; by++)
        if (flames[by] != NULL && value_of(s, by) > 0 &&
            !ab_flame_add(flames[by], stack, n > 0 ? n : 1, value_of(s, by)))
            return false;
    return true;
}

static bool add_sites(struct ab_flame *const flames[AB_FLAME_KEYS],
                      const struct ab_site_table *table, const struct ab_site_stats *stats)
{
    struct ab_site_names names;
    bool is_whole = ab_site_names_init(&names, table);
    if (!is_whole)
        return false;
    for (uint32_t i = 0; i < stats->n && is_whole; i++)
        is_whole = add_site(flames, &names, i, &stats->sites[i]);
    ab_site_names_fini(&names);
    return is_whole;
}

static struct ab_flame *make_flame(const struct ab_trace_facts *f, enum ab_flame_by by)
{
    struct ab_flame *flames[AB_FLAME_KEYS] = {NULL};
    flames[by] = ab_flame_open();
    if (flames[by] != NULL && add_sites(flames, &f->site_table, &f->sites))
        return flames[by];
    ab_flame_close(flames[by]);
    return NULL;
}

enum ab_status ab_trace_stacks(const struct ab_site_table *table, const struct ab_site_stats *stats,
                               struct ab_stacks *out, struct ab_err *err)
{
    struct ab_stacks s = {ab_flame_open(), ab_flame_open(), ab_flame_open()};
    struct ab_flame *const flames[AB_FLAME_KEYS] = {
        [AB_FLAME_CALLS] = s.by_calls, [AB_FLAME_BYTES] = s.by_bytes, [AB_FLAME_LIVE] = s.by_peak};
    if (s.by_calls == NULL || s.by_bytes == NULL || s.by_peak == NULL ||
        !add_sites(flames, table, stats)) {
        ab_stacks_fini(&s);
        return ab_fail(err, AB_SYSTEM, "out of memory for the flame graphs");
    }
    *out = s;
    return AB_OK;
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
        status = ab_trace_stacks(&table, &stats, out, err);
    ab_site_stats_fini(&stats);
    ab_site_table_fini(&table);
    return status;
}

static void write_svg(const struct ab_flame *flame, FILE *to, const struct ab_trace_facts *f,
                      enum ab_flame_by by)
{
    static const char *const what[] = {"calls", "bytes asked for", "live bytes at the peak"};
    char title[400];
    snprintf(title, sizeof title, "%.200s: %s, by call site",
             f->info.program[0] != 0 ? f->info.program : "unknown program", what[by]);
    ab_flame_write_svg(flame, to, title, by == AB_FLAME_CALLS ? "calls" : "bytes");
}

enum ab_status ab_trace_flame_write(const struct ab_trace_facts *f, enum ab_flame_by by,
                                    struct ab_output *svg, struct ab_output *folded,
                                    struct ab_err *err)
{
    struct ab_flame *flame = make_flame(f, by);
    if (flame == NULL)
        return ab_fail(err, AB_SYSTEM, "out of memory for the flame graph");
    if (svg->to != NULL)
        write_svg(flame, svg->to, f, by);
    if (folded->to != NULL)
        ab_flame_write_folded(flame, folded->to);
    ab_flame_close(flame);
    AB_TRY(ab_output_commit(svg, err));
    return ab_output_commit(folded, err);
}
