/* SPDX-License-Identifier: MIT
 *
 * Prints the plan of a workload for `allocbench check`. All numbers are counted from the tape, none
 * is estimated from the text.
 */
#include "core/units_show.h"
#include "workload/config.h"

#include "base/bits.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const enum ab_op_kind shown_kinds[] = {AB_OP_ALLOC,  AB_OP_ALLOC_ZEROED, AB_OP_ALLOC_ALIGNED,
                                              AB_OP_RESIZE, AB_OP_FREE,         AB_OP_RESET,
                                              AB_OP_ACCESS};

static void print_queue(FILE *f, const struct ab_set_def *set)
{
    fprintf(f, "queue of ");
    if (set->count > 0)
        fprintf(f, "%" PRIu32 " ", set->count);
    fprintf(f, "messages");
    if (set->unit > 1)
        fprintf(f, " of %" PRIu32 " blocks", set->unit);
    fprintf(f, ", %s", set->is_lifo ? "lifo" : "fifo");
}

/* Prints a set. Lanes and sharing are mentioned only if there are several lanes. */
static void print_set(FILE *f, const struct ab_set_def *set)
{
    uint32_t n_lanes = set->end_lane - set->first_lane;
    fprintf(f, "%s: ", set->name);
    if (n_lanes > 1 && !set->is_shared)
        fprintf(f, "%" PRIu32 " lanes x ", n_lanes);
    if (set->kind == AB_SET_SLOTS)
        fprintf(f, "%" PRIu32 " slots", set->count);
    else if (set->kind == AB_SET_WINDOW)
        fprintf(f, "window of %" PRIu32 ", %" PRIu32 " survive", set->count, set->n_survivors);
    else if (set->kind == AB_SET_QUEUE)
        print_queue(f, set);
    else if (set->kind == AB_SET_MODEL)
        fprintf(f, "model of %zu kinds of blocks in %" PRIu32 " parts", set->model.n_blocks,
                set->model.n_parts);
    else
        fprintf(f, "%s", set->kind == AB_SET_LIST ? "list" : "region");
    fprintf(f, "%s\n", n_lanes > 1 && set->is_shared ? ", shared by all lanes" : "");
}

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
    for (size_t i = 0; i < w->n_sets; i++) {
        fprintf(f, "%-8s ", i == 0 ? "sets" : "");
        print_set(f, &w->sets[i]);
    }
    for (size_t i = 0; i < w->n_backends; i++) {
        char text[300];
        fprintf(f, "%-8s %s\n", i == 0 ? "backends" : "",
                ab_text_printable(text, sizeof text, w->backends[i]));
    }
}

static bool has_kind(const struct ab_tape *tape, enum ab_op_kind kind)
{
    for (uint32_t i = 0; i < tape->n_phases; i++)
        if (tape->phases[i].n_ops[kind] > 0)
            return true;
    return false;
}

/* Lists the kinds of ops that get a column in the table of phases. Rare kinds get a column only if
 * they occur. */
static size_t list_kinds(const struct ab_tape *tape, enum ab_op_kind *kinds)
{
    size_t n = 0;
    for (size_t k = 0; k < AB_ARRAY_LEN(shown_kinds); k++)
        if ((shown_kinds[k] < AB_OP_RESET && shown_kinds[k] != AB_OP_ALLOC_ZEROED) ||
            has_kind(tape, shown_kinds[k]))
            kinds[n++] = shown_kinds[k];
    return n;
}

static void print_phases(FILE *f, const struct ab_workload *w, const struct ab_tape *tape)
{
    int width = 5;
    enum ab_op_kind kinds[AB_ARRAY_LEN(shown_kinds)];
    size_t n_kinds = list_kinds(tape, kinds);
    bool has_lanes = tape->facts.lanes > 1;
    for (uint32_t i = 0; i < tape->n_phases; i++)
        width = (int)strlen(tape->phases[i].name) > width ? (int)strlen(tape->phases[i].name)
                                                          : width;
    fprintf(f, "\n%-*s %-8s", width, "phase", "measured");
    if (has_lanes)
        fprintf(f, " %5s", "lanes");
    for (size_t k = 0; k < n_kinds; k++)
        fprintf(f, " %13s", ab_op_kind_name(kinds[k]));
    fprintf(f, " %13s\n", "pages touched");
    for (uint32_t i = 0; i < tape->n_phases; i++) {
        const struct ab_phase *p = &tape->phases[i];
        const struct ab_phase_def *def = &w->phases[i];
        fprintf(f, "%-*s %-8s", width, p->name, p->is_measured ? "yes" : "no");
        if (has_lanes)
            fprintf(f, " %5" PRIu32, def->is_run_by_main ? 1 : def->n_lanes);
        for (size_t k = 0; k < n_kinds; k++)
            fprintf(f, " %13" PRIu32, p->n_ops[kinds[k]]);
        fprintf(f, " %13" PRIu64 "\n", p->touched_pages);
    }
}

static void print_iterations(FILE *f, const struct ab_tape *tape)
{
    for (uint32_t i = 0; i < tape->n_phases; i++) {
        const struct ab_phase *p = &tape->phases[i];
        char budget[32];
        if (p->renew != 0)
            fprintf(f, "renew    threads of %s: %" PRIu32 " end\n", p->name, p->n_thread_ends);
        if (p->iteration[0] == 0)
            continue;
        fprintf(f, "each     %s of %s: %" PRIu32, p->iteration, p->name, p->n_iterations);
        if (p->budget_ns != 0)
            fprintf(f, ", budget %s", ab_units_time(budget, sizeof budget, (double)p->budget_ns));
        fprintf(f, "\n");
    }
}

static void print_lanes(FILE *f, const struct ab_tape *tape)
{
    if (tape->facts.lanes < 2)
        return;
    fprintf(f,
            "lanes    %" PRIu32 "; %" PRIu64 " waits for another lane, %" PRIu64
            " frees and resizes of blocks of another lane",
            tape->facts.lanes, tape->n_edges, tape->n_remote);
    if (tape->window > 0)
        fprintf(f, ", window %" PRIu32 " ops", tape->window);
    fprintf(f, "\n");
}

static void print_time(FILE *f, const struct ab_tape *tape)
{
    char all[32], idle[32];
    if (tape->duration_ns == 0)
        return;
    fprintf(f, "time     %s", ab_units_time(all, sizeof all, (double)tape->duration_ns));
    if (tape->n_idle > 0)
        fprintf(f, ", %s of it idle (%" PRIu32 " stretch%s)",
                ab_units_time(idle, sizeof idle, (double)tape->idle_ns), tape->n_idle,
                tape->n_idle == 1 ? "" : "es");
    fprintf(f, "; it passes in the memory pass alone\n");
}

static bool has_queue(const struct ab_workload *w)
{
    for (size_t i = 0; i < w->n_sets; i++)
        if (w->sets[i].kind == AB_SET_QUEUE)
            return true;
    return false;
}

static void print_totals(FILE *f, const struct ab_workload *w, const struct ab_tape *tape)
{
    const struct ab_facts *facts = &tape->facts;
    fprintf(f, "\nops      %" PRIu64 ", requesting %s in total, the largest %s\n",
            ab_tape_ops(tape), AB_BYTES(facts->total_bytes), AB_BYTES(facts->largest_bytes));
    fprintf(f, "live     at most %" PRIu64 " blocks, %s; %" PRIu64 " blocks, %s at the end\n",
            facts->live_peak_blocks, AB_BYTES(facts->live_peak_bytes), tape->live_end_blocks,
            AB_BYTES(tape->live_end_bytes));
    print_time(f, tape);
    print_lanes(f, tape);
    print_iterations(f, tape);
    if (tape->no_op_frees > 0)
        fprintf(f, "no-ops   %" PRIu64 " at empty positions%s: counted, not run\n",
                tape->no_op_frees, has_queue(w) ? " or full queues" : "");
    fprintf(f, "tape     %s, sha256 %s\n",
            AB_BYTES((double)tape->n_ops * sizeof tape->ops[0] +
                     (double)tape->n_wide * sizeof tape->wide[0]),
            tape->sha256);
}

void ab_workload_print_plan(FILE *f, const struct ab_workload *w, const struct ab_tape *tape)
{
    print_head(f, w);
    print_phases(f, w, tape);
    print_totals(f, w, tape);
}
