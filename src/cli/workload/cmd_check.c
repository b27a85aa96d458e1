/* SPDX-License-Identifier: MIT
 *
 * `check`: validates a workload, reads its gates and back ends as a run would, and prints its plan,
 * what is odd about it, and what a run will cost.
 */
#include "cli/arguments/backend_choice.h"
#include "cli/benchmark/cases.h"
#include "cli/benchmark/gate_set.h"
#include "cli/benchmark/mapped_rows.h"
#include "cli/benchmark/rounds/pass_choice.h"
#include "cli/commands.h"
#include "cli/one_file.h"
#include "cli/workload/lint.h"
#include "cli/workload/plan_json.h"
#include "core/text.h"
#include "core/units_show.h"
#include "report/output.h"
#include "result/passes.h"
#include "runner/estimate.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct check {
    const struct ab_options *options;
    struct ab_workload *workload;
    struct ab_tape tape;
    struct ab_tape_map map;
    struct ab_selection_list selection;
    struct ab_text choice; /* how it came about; empty where they were named */
    struct ab_gate_set gates;
    struct ab_lints lints;
    struct ab_pass_plan passes; /* that a run would have */
    struct ab_session_cost cost;
    const char *running[AB_SELECTION_MAX]; /* back ends that are here */
    size_t n_running;
};

/* ---- what is found ---- */

/* That of `via`. */
static enum ab_status add_mapped_row(struct check *c, struct ab_err *err)
{
    const struct ab_subject subject = {.workload = c->workload, .map = &c->map};
    struct ab_mapped_rows mapped;
    enum ab_status status = ab_mapped_rows_read(c->options, &subject, &c->selection, &mapped, err);
    ab_mapped_rows_fini(&mapped);
    return status;
}

static enum ab_status select_backends(struct check *c, struct ab_err *err)
{
    struct ab_backend_wish wish = {.options = c->options, .tape = &c->map};
    wish.listed = ab_workload_backends(c->workload, &wish.n_listed);
    AB_TRY(ab_backend_choice_make(&wish, &c->selection, err));
    ab_backend_choice_say(&wish, &c->selection, &c->choice);
    AB_TRY(add_mapped_row(c, err));
    for (size_t i = 0; i < c->selection.n; i++)
        if (c->selection.items[i].state == AB_SELECTION_OK && c->n_running < AB_SELECTION_MAX)
            c->running[c->n_running++] = c->selection.items[i].name;
    return AB_OK;
}

static enum ab_status read_gates(struct check *c, struct ab_err *err)
{
    const char *names[AB_SELECTION_MAX];
    struct ab_gate_source source = {.options = c->options,
                                    .workload = c->workload,
                                    .phases = c->map.phases,
                                    .n_phases = c->map.image->n_phases,
                                    .backends = names};
    for (size_t i = 0; i < c->selection.n && i < AB_SELECTION_MAX; i++)
        names[source.n_backends++] = c->selection.items[i].name;
    return ab_gates_count(c->options, c->workload) > 0 ? ab_gate_set_read(&source, &c->gates, err)
                                                       : AB_OK;
}

/* Of the back ends that are there, with the passes that a run would choose. */
static enum ab_status estimate(struct check *c, struct ab_err *err)
{
    const struct ab_options *o = c->options;
    struct ab_session_work work = {
        .n_backends = c->n_running,
        .rounds = o->rounds,
        .processes = o->processes != 0 ? o->processes : ab_estimate_processes(&c->map),
        .drain_ns = o->drain_ns,
    };
    for (size_t i = 0; i < c->selection.n; i++)
        work.never_frees = work.never_frees || (c->selection.items[i].state == AB_SELECTION_OK &&
                                                c->selection.items[i].never_frees);
    AB_TRY(ab_pass_choice_make(o, &c->gates, NULL, &work.passes, err));
    c->passes = work.passes;
    c->cost = ab_estimate_session(&c->map, &work);
    return AB_OK;
}

static enum ab_status find_all(struct check *c, const char *path, struct ab_err *err)
{
    AB_TRY(ab_load_workload(c->options, path, &c->workload, err));
    AB_TRY(ab_compile_workload(c->options, c->workload, &c->tape, err));
    AB_TRY(ab_tape_map_open(&c->tape, &c->map, err));
    AB_TRY(select_backends(c, err));
    AB_TRY(read_gates(c, err));
    AB_TRY(estimate(c, err));
    ab_lint_workload(c->workload, &c->map, c->options->rounds, &c->lints);
    return AB_OK;
}

/* ---- what is printed ---- */

static void print_cost(const struct ab_tape_map *tape)
{
    const struct ab_facts *facts = &tape->image->facts;
    printf("\nestimated cost per back end and pass\n");
    printf("  time       about %s\n", AB_TIME(ab_estimate_pass_ns(tape)));
    printf("  heap       about %s; %s if nothing is freed (arena)\n",
           AB_BYTES(ab_estimate_heap_bytes(facts, false)),
           AB_BYTES(ab_estimate_heap_bytes(facts, true)));
    printf("  allocbench %s for itself, outside the heap\n",
           AB_BYTES(ab_estimate_harness_bytes(tape)));
}

static void print_lints(const struct check *c)
{
    if (c->lints.n > 0)
        putchar('\n');
    for (size_t i = 0; i < c->lints.n; i++) {
        const struct ab_lint *lint = &c->lints.items[i];
        printf("note     %s:%u:%u: %s [%s]\n", AB_SHOWN(300, ab_lint_file(c->workload)), lint->line,
               lint->col, lint->text, lint->id);
    }
    if (c->lints.n_left_out > 0)
        printf("note     and %zu more\n", c->lints.n_left_out);
}

/* "latency in all rounds, tail and memory in 6", of the passes beside throughput that run at all. */
static void print_passes(const struct ab_pass_plan *plan, uint32_t rounds)
{
    const char *before = "     (";
#define PRINT(pass) \
    if (pass != AB_PASS_THROUGHPUT && plan->rounds[pass] > 0) { \
        if (plan->rounds[pass] >= rounds) \
            printf("%s%s in all rounds", before, ab_pass_names[pass]); \
        else \
            printf("%s%s in %" PRIu32, before, ab_pass_names[pass], plan->rounds[pass]); \
        before = ", "; \
    }
    AB_ROUND_PASSES(PRINT)
#undef PRINT
    puts(before[0] == ',' ? ";" : "     (throughput alone;");
}

static void print_total(const struct check *c)
{
    const struct ab_session_cost *cost = &c->cost;
    if (c->choice.s != NULL)
        printf("\nback ends: %s\n", c->choice.s);
    if (cost->n_backends == 0) {
        puts("\nrun: n/a, none of the back ends is here (allocbench list backends)");
        return;
    }
    printf("\nrun: %zu back end%s x %u rounds, %u processes a back end, about %s, at most %s\n",
           cost->n_backends, cost->n_backends == 1 ? "" : "s", cost->rounds, cost->processes_total,
           AB_TIME(cost->ns), AB_BYTES(cost->bytes));
    print_passes(&c->passes, cost->rounds);
    puts("     estimated at 100 ns per op and 5 us per new page; a fast allocator takes half\n"
         "     of that, a slow one twice. Memory: the largest heap and allocbench's own, as\n"
         "     one process runs at a time)");
}

static void print_all(const struct check *c)
{
    const struct ab_selection *foreign = ab_case_foreign(c->options, &c->selection);
    ab_workload_print_plan(stdout, c->workload, &c->tape);
    print_cost(&c->map);
    if (foreign != NULL && !c->options->allows_plugins)
        printf("\n%s is a library named by the workload: run requires --allow-plugins\n",
               AB_SHOWN(300, foreign->name));
    if (c->gates.n_gates + c->gates.n_claims > 0)
        printf("\ngates %zu, claims %zu\n", c->gates.n_gates, c->gates.n_claims);
    print_lints(c);
    print_total(c);
}

static enum ab_status write_json(const struct check *c, struct ab_err *err)
{
    struct ab_output out;
    struct ab_check_plan plan = {.workload = c->workload,
                                 .tape = &c->tape,
                                 .lints = &c->lints,
                                 .cost = &c->cost,
                                 .passes = &c->passes,
                                 .backends = c->running,
                                 .n_backends = c->n_running,
                                 .n_gates = c->gates.n_gates,
                                 .n_claims = c->gates.n_claims};
    AB_TRY(ab_output_open(c->options->json, &out, err));
    enum ab_status status = ab_spare_inputs(c->options, 0, &out, c->options->json, err);
    if (status != AB_OK) {
        ab_output_abandon(&out);
        return status;
    }
    if (ab_check_plan_write(out.to, &plan))
        return ab_output_commit(&out, err);
    ab_output_abandon(&out);
    return ab_fail(err, AB_SYSTEM, "out of memory");
}

enum ab_status ab_cmd_check(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    const char *path;
    struct check c = {.options = o};
    (void)exit_code;
    AB_TRY(ab_one_file(o, "a workload", "check", &path, err));
    enum ab_status status = find_all(&c, path, err);
    if (status == AB_OK && o->json != NULL)
        status = write_json(&c, err);
    if (status == AB_OK && (o->json == NULL || strcmp(o->json, "-") != 0))
        print_all(&c);
    ab_gate_set_fini(&c.gates);
    ab_selection_list_fini(&c.selection);
    ab_text_fini(&c.choice);
    ab_tape_map_close(&c.map);
    ab_tape_fini(&c.tape);
    ab_workload_free(c.workload);
    return status;
}
