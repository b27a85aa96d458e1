/* SPDX-License-Identifier: MIT
 *
 * What a workload will do, for `allocbench check`: counted from the tape, not guessed from the
 * text.
 */
#include "workload/config.h"

#include "core/bits.h"
#include "core/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const enum ab_op_kind shown_kinds[] = {AB_OP_ALLOC, AB_OP_ALLOC_ALIGNED, AB_OP_RESIZE,
                                              AB_OP_FREE};

static void print_head(FILE *f, const struct ab_workload *w)
{
    char about[1100];
    ab_text_printable(about, sizeof about, ab_workload_about(w));
    fprintf(f, "%s%s%s\n", w->name, about[0] != 0 ? ": " : "", about);
    fprintf(f, "seed     %" PRIu64 "\n", w->seed);
    for (size_t i = 0; i < w->params.n; i++) {
        char text[300];
        fprintf(f, "%-8s %s\n", i == 0 ? "params" : "",
                ab_text_printable(text, sizeof text, ab_workload_params(w)[i]));
    }
    for (size_t i = 0; i < w->n_sets; i++)
        fprintf(f, "%-8s %s: %" PRIu32 " slots\n", i == 0 ? "sets" : "", w->sets[i].name,
                w->sets[i].count);
    for (size_t i = 0; i < w->n_backends; i++) {
        char text[300];
        fprintf(f, "%-8s %s\n", i == 0 ? "backends" : "",
                ab_text_printable(text, sizeof text, w->backends[i]));
    }
}

static void print_phases(FILE *f, const struct ab_tape *tape)
{
    int width = 5;
    for (uint32_t i = 0; i < tape->n_phases; i++)
        width = (int)strlen(tape->phases[i].name) > width ? (int)strlen(tape->phases[i].name)
                                                          : width;
    fprintf(f, "\n%-*s %-8s", width, "phase", "measured");
    for (size_t k = 0; k < AB_ARRAY_LEN(shown_kinds); k++)
        fprintf(f, " %13s", ab_op_kind_name(shown_kinds[k]));
    fprintf(f, " %13s\n", "pages touched");
    for (uint32_t i = 0; i < tape->n_phases; i++) {
        const struct ab_phase *p = &tape->phases[i];
        fprintf(f, "%-*s %-8s", width, p->name, p->is_measured ? "yes" : "no");
        for (size_t k = 0; k < AB_ARRAY_LEN(shown_kinds); k++)
            fprintf(f, " %13" PRIu32, p->n_ops[shown_kinds[k]]);
        fprintf(f, " %13" PRIu64 "\n", p->touched_pages);
    }
}

static uint64_t count_ops(const struct ab_tape *tape)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < tape->n_phases; i++)
        for (unsigned k = 0; k < AB_OP_KIND_COUNT; k++)
            n += tape->phases[i].n_ops[k];
    return n;
}

static void print_totals(FILE *f, const struct ab_tape *tape)
{
    const struct ab_facts *facts = &tape->facts;
    char a[32], b[32];
    fprintf(f, "\nops      %" PRIu64 ", requesting %s in all, the largest %s\n", count_ops(tape),
            ab_units_bytes(a, sizeof a, (double)facts->total_bytes),
            ab_units_bytes(b, sizeof b, (double)facts->largest_bytes));
    fprintf(f, "live     at most %" PRIu64 " blocks, %s; %" PRIu64 " blocks, %s at the end\n",
            facts->live_peak_blocks, ab_units_bytes(a, sizeof a, (double)facts->live_peak_bytes),
            tape->live_end_blocks, ab_units_bytes(b, sizeof b, (double)tape->live_end_bytes));
    if (tape->no_op_frees > 0)
        fprintf(f, "no-ops   %" PRIu64 " at empty positions: counted, not run\n",
                tape->no_op_frees);
    fprintf(f, "tape     %s, sha256 %s\n",
            ab_units_bytes(a, sizeof a, (double)tape->n_ops * sizeof tape->ops[0] +
                                            (double)tape->n_wide * sizeof tape->wide[0]),
            tape->sha256);
}

void ab_workload_print_plan(FILE *f, const struct ab_workload *w, const struct ab_tape *tape)
{
    print_head(f, w);
    print_phases(f, tape);
    print_totals(f, tape);
}
