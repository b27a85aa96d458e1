/* SPDX-License-Identifier: MIT
 *
 * Gives each frame of each site its name, and the site its value.
 */
#include "cli/trace/trace_flame.h"

#include "core/text.h"
#include "report/flame/flame.h"
#include "symbols/site_names.h"

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

static void name_frame(struct ab_site_names *names, const struct ab_site_frame *frame, char *out,
                       size_t cap)
{
    struct ab_symbol symbol;
    const struct ab_site_module *m = ab_site_names_find(names, frame, &symbol);
    const char *slash = m != NULL ? strrchr(m->path, '/') : NULL;
    if (m == NULL)
        snprintf(out, cap, "code made at run time");
    else if (symbol.function[0] != 0)
        snprintf(out, cap, "%s", symbol.function);
    else
        snprintf(out, cap, "%.400s+0x%llx", slash != NULL ? slash + 1 : m->path,
                 (unsigned long long)frame->address);
}

static bool add_site(struct ab_flame *flame, struct ab_site_names *names, uint32_t site,
                     uint64_t value)
{
    static char texts[AB_SITE_DEPTH_MAX][sizeof((struct ab_symbol *)0)->function];
    const char *stack[AB_SITE_DEPTH_MAX] = {"not known"};
    size_t depth = site == 0 ? 0 : names->table->stacks[site - 1].depth;
    for (size_t i = 0; i < depth; i++) { /* the table has the innermost first */
        name_frame(names, ab_site_frame(names->table, site, depth - 1 - i), texts[i],
                   sizeof texts[i]);
        stack[i] = texts[i];
    }
    return value == 0 || ab_flame_add(flame, stack, depth > 0 ? depth : 1, value);
}

static struct ab_flame *make_flame(const struct ab_trace_facts *f, enum ab_flame_by by)
{
    struct ab_site_names names;
    struct ab_flame *flame = ab_flame_open();
    if (flame == NULL || !ab_site_names_init(&names, &f->site_table)) {
        ab_flame_close(flame);
        return NULL;
    }
    bool is_whole = true;
    for (uint32_t i = 0; i < f->sites.n && is_whole; i++)
        is_whole = add_site(flame, &names, i, value_of(&f->sites.sites[i], by));
    ab_site_names_fini(&names);
    if (is_whole)
        return flame;
    ab_flame_close(flame);
    return NULL;
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
