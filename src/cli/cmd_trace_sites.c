/* SPDX-License-Identifier: MIT
 *
 * Shows the top call sites of a trace as text and as JSON.
 */
#include "cli/document.h"
#include "cli/option_table.h"
#include "cli/trace.h"
#include "core/alloc.h"
#include "core/text.h"
#include "core/units_show.h"

#include <stdlib.h>
#include <string.h>

static void print_stack(FILE *to, struct ab_site_names *names, uint32_t site)
{
    char frames[AB_TRACE_SITE_FRAMES][AB_TRACE_FRAME_BYTES];
    size_t n = ab_trace_site_frames(names, site, frames);
    for (size_t i = 0; i < n; i++)
        fprintf(to, "%s%s\n", i == 0 ? "    " : "      < ", frames[i]);
}

static void print_row(FILE *to, const struct ab_site_stat *s)
{
    char life[32] = "n/a";
    uint64_t median = ab_site_stat_median_life(s);
    if (median != UINT64_MAX)
        snprintf(life, sizeof life, "<= %llu", (unsigned long long)median);
    fprintf(to, "\n%12llu %11s %12s %12s %7.1f %% %12s\n", (unsigned long long)s->calls,
            AB_BYTES(s->bytes), AB_BYTES(s->peak_bytes), AB_BYTES(s->live_bytes),
            s->calls > 0 ? 100 * (double)s->temporary / (double)s->calls : 0, life);
}

void ab_trace_print_sites(FILE *to, const struct ab_trace_facts *f,
                          const struct ab_sites_wanted *wanted)
{
    struct ab_site_names names;
    size_t n = 0;
    struct ab_trace_site_row *rows = ab_trace_sort_sites(f, wanted->order, &n);
    ab_site_names_init(&names, &f->site_table);
    fprintf(to, "\ncall sites: ");
    if (n > wanted->n)
        fprintf(to, "%zu of ", (size_t)wanted->n);
    fprintf(to, "%zu by %s\n", n, ab_option_site_orders[wanted->order]);
    fputs("live at peak: live when most bytes of the whole trace were live; temporary: freed\n"
          "before the next allocation of the thread; median life: in calls\n",
          to);
    fprintf(to, "%12s %11s %12s %12s %9s %12s\n", "calls", "bytes", "live at peak", "never freed",
            "temporary", "median life");
    for (size_t i = 0; i < n && i < wanted->n; i++) {
        print_row(to, &f->sites.sites[rows[i].site]);
        print_stack(to, &names, rows[i].site);
    }
    ab_site_names_fini(&names);
    free(rows);
}

/* ---- output as JSON ---- */

static const struct ab_member symbol_members[] = {
    AB_TEXT("function", struct ab_symbol, function),
    AB_TEXT("file", struct ab_symbol, file),
    AB_WHOLE("line", struct ab_symbol, line, INT32_MAX, 0, .flags = AB_ZERO),
    AB_FLAG("inlined", struct ab_symbol, is_inlined),
};
AB_TABLE(symbol, struct ab_symbol);

struct place {
    const char *module; /* path of the module; NULL = unknown */
    uint64_t address;
};
static const struct ab_member place_members[] = {
    AB_TEXT("module", struct place, module),
    AB_COUNT(struct place, address, AB_WHEN(struct place, module)),
};
AB_TABLE(place, struct place);

struct stack {
    bool is_cxx_new;
    json_t *frames;
    const char *end; /* why the stack ends; NULL = there is no stack */
};

static json_t *write_frames(const struct ab_writing *x)
{
    return ((const struct stack *)x->record)->frames;
}

static const struct ab_member stack_members[] = {
    AB_FLAG("cxx_new", struct stack, is_cxx_new),
    AB_WRITTEN("stack", write_frames),
    AB_TEXT("stack_end", struct stack, end),
};
AB_TABLE(stack, struct stack);

static void put_stack(json_t *o, struct ab_site_names *names, uint32_t site)
{
    static const char *const ends[] = {"whole", "depth", "no tables", "unknown rule",
                                       "unreadable stack"};
    const struct ab_site_table *t = names->table;
    struct stack stack = {false, json_array(), site != 0 ? ends[t->stacks[site - 1].end] : NULL};
    for (size_t i = 0; site != 0 && i < t->stacks[site - 1].depth; i++) {
        const struct ab_site_frame *frame = ab_site_frame(t, site, i);
        const struct ab_site_module *m = ab_site_module_of(t, frame);
        struct ab_site_named named = ab_site_names_find(names, frame);
        const struct place place = {m != NULL ? m->path : NULL, frame->address};
        for (size_t k = 0; k < named.n; k++) {
            json_t *o_frame = ab_record_json(&symbol_record, &named.items[k], NULL);
            ab_record_put(o_frame, &place_record, &place, NULL);
            ab_json_append(stack.frames, o_frame);
        }
        stack.is_cxx_new = stack.is_cxx_new || (i == 0 && named.items[0].is_new);
    }
    ab_record_put(o, &stack_record, &stack, NULL);
}

#define SITE(member) AB_COUNT(struct ab_site_stat, member)

static const struct ab_member site_members[] = {
    AB_EACH(SITE, calls, resizes, failed, bytes, size_least, size_most, frees, temporary),
    AB_EACH(SITE, peak_bytes, peak_blocks),
    AB_WHOLE("never_freed_bytes", struct ab_site_stat, live_bytes, INT64_MAX, 0),
    AB_WHOLE("never_freed_blocks", struct ab_site_stat, live_blocks, INT64_MAX, 0),
    AB_RULE("lifetimes", struct ab_site_stat, lives, .write = ab_document_lives)};
AB_TABLE(site, struct ab_site_stat);

json_t *ab_trace_sites_json(const struct ab_trace_facts *f, const struct ab_sites_wanted *wanted)
{
    struct ab_site_names names;
    size_t n = 0;
    struct ab_trace_site_row *rows = ab_trace_sort_sites(f, wanted->order, &n);
    json_t *list = json_array();
    ab_site_names_init(&names, &f->site_table);
    for (size_t i = 0; i < n && i < wanted->n; i++) {
        json_t *site = ab_record_json(&site_record, &f->sites.sites[rows[i].site], NULL);
        put_stack(site, &names, rows[i].site);
        ab_json_append(list, site);
    }
    ab_site_names_fini(&names);
    free(rows);
    return list;
}
