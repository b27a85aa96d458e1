/* SPDX-License-Identifier: MIT
 *
 * The files of a flame graph.
 */
#include "cli/trace_flame.h"

#include "app/stacks.h"

#include <stdio.h>

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
    struct ab_flame *flame = ab_trace_flame(&f->site_table, &f->sites, by);
    if (svg->to != NULL)
        write_svg(flame, svg->to, f, by);
    if (folded->to != NULL)
        ab_flame_write_folded(flame, folded->to);
    ab_flame_close(flame);
    AB_TRY(ab_output_commit(svg, err));
    return ab_output_commit(folded, err);
}
