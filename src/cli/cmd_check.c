/* SPDX-License-Identifier: MIT
 *
 * Implements `check`: prints the plan, warnings, and the cost of a run of a workload.
 */
#include "app/check_workload.h"
#include "cli/commands.h"
#include "cli/document.h"
#include "cli/requests.h"
#include "core/text.h"
#include "core/units_show.h"
#include "document/session_record.h"

#include <inttypes.h>
#include <stdio.h>

static void print_cost(const struct ab_workload_check *c)
{
    printf("\nestimated cost per back end and pass\n");
    printf("  time       about %s\n", AB_TIME(c->cost.pass_ns));
    printf("  heap       about %s; %s if nothing is freed (arena)\n", AB_BYTES(c->cost.heap_bytes),
           AB_BYTES(c->cost.unfreed_bytes));
    printf("  allocbench %s for itself, outside the heap\n", AB_BYTES(c->cost.harness_bytes));
}

static void print_lints(const struct ab_workload_check *c)
{
    if (c->lints.n > 0)
        putchar('\n');
    for (size_t i = 0; i < c->lints.n; i++) {
        const struct ab_lint *lint = &c->lints.items[i];
        printf("note     %s:%u:%u: %s [%s]\n", AB_SHOWN(300, c->file), lint->at.line, lint->at.col,
               lint->text, lint->id);
    }
    if (c->lints.n_left_out > 0)
        printf("note     and %zu more\n", c->lints.n_left_out);
}

/* Prints the passes that run besides throughput, such as "latency in all rounds, tail and memory in
 * 6". */
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

static void print_total(const struct ab_workload_check *c)
{
    const struct ab_session_cost *cost = &c->cost;
    if (c->choice.s != NULL)
        printf("\nback ends: %s\n", c->choice.s);
    if (cost->n_backends == 0) {
        puts("\nrun: n/a, because none of the back ends can be measured");
        for (size_t i = 0; i < c->selection.n; i++)
            printf("     %s: %s\n", AB_SHOWN(300, c->selection.items[i].name),
                   AB_SHOWN(600, c->selection.items[i].reason));
        return;
    }
    printf("\nrun: %zu back end%s x %u rounds, %u processes a back end, about %s, at most %s\n",
           cost->n_backends, cost->n_backends == 1 ? "" : "s", cost->rounds, cost->processes_total,
           AB_TIME(cost->ns), AB_BYTES(cost->bytes));
    print_passes(&c->passes, cost->rounds);
    puts("     estimated at 100 ns per op and 5 us per new page; a fast allocator takes half\n"
         "     of that, a slow one twice as long. Memory: the largest heap and allocbench's own,\n"
         "     because one process runs at a time)");
}

static void print_combinations(const struct ab_workload_check *c)
{
    if (c->n_combinations == 1)
        return;
    printf("\n%zu combinations of values; the plan above is that of the first\n",
           c->n_combinations);
    for (size_t i = 0; i < c->n_combinations; i++) {
        const struct ab_combination *x = &c->combinations[i];
        printf("  %s: %" PRIu64 " ops, %u lane%s, at most %s live, sha256 %.12s\n", x->values,
               x->n_ops, x->lanes, x->lanes == 1 ? "" : "s", AB_BYTES(x->live_peak_bytes),
               x->tape_sha256);
    }
}

static void print_all(const struct ab_workload_check *c)
{
    ab_workload_print_plan(stdout, c->workload, &c->tape.tape);
    print_cost(c);
    print_combinations(c);
    if (c->refusal.status != AB_OK)
        printf("\nrun refuses this: %s\n", c->refusal.text);
    if (c->gates.n_gates + c->gates.n_claims > 0)
        printf("\ngates %zu, claims %zu\n", c->gates.n_gates, c->gates.n_claims);
    print_lints(c);
    print_total(c);
}

/* Functions for the document of `check --json`, in the order of the screen. */

static json_t *write_ops(const struct ab_writing *x)
{
    const struct ab_phase *p = x->record;
    json_t *ops = json_object();
    for (unsigned k = 0; k < AB_OP_KIND_COUNT; k++)
        if (p->n_ops[k] > 0)
            ab_json_put(ops, ab_op_kind_name(k), ab_json_integer(p->n_ops[k]));
    return ops;
}

static const struct ab_member phase_members[] = {
    AB_CHARS("name", struct ab_phase, name),
    AB_FLAG("measured", struct ab_phase, is_measured),
    AB_WRITTEN("ops", write_ops),
    AB_COUNT(struct ab_phase, touched_pages),
};
AB_TABLE(phase, struct ab_phase);

static json_t *write_file(const struct ab_writing *x)
{
    return ab_json_string(((const struct ab_workload_check *)x->context)->file);
}

static const struct ab_member lint_members[] = {
    AB_TEXT("id", struct ab_lint, id),
    AB_WRITTEN("file", write_file),
    AB_WHOLE("line", struct ab_lint, at.line, UINT32_MAX, 0),
    AB_WHOLE("column", struct ab_lint, at.col, UINT32_MAX, 0),
    AB_CHARS("message", struct ab_lint, text),
};
AB_TABLE(lint, struct ab_lint);

static json_t *write_passes(const struct ab_writing *x)
{
    return ab_json_passes(x->p);
}

#define CHECK(is, key, member, ...) \
    AB_MEMBER(is, key, struct ab_workload_check, member, __VA_ARGS__)
#define TEXTS .values = AB_IS_TEXT, .stride = sizeof(const char *)

static const struct ab_member cost_members[] = {
    AB_ARRAY("backends", struct ab_workload_check, running, n_running, AB_SELECTION_MAX, TEXTS),
    CHECK(WHOLE, "rounds", cost.rounds),
    CHECK(WHOLE, "processes", cost.processes),
    CHECK(WHOLE, "processes_total", cost.processes_total),
    CHECK(RULE, "passes", passes, .write = write_passes),
    CHECK(NUMBER, "time_ns", cost.ns, AB_WHEN(struct ab_workload_check, cost.n_backends)),
    CHECK(WHOLE, "memory_bytes", cost.bytes),
};
AB_TABLE(cost, struct ab_workload_check);

static bool has_combinations(const void *record, const void *context)
{
    (void)context;
    return ((const struct ab_workload_check *)record)->n_combinations > 1;
}

static bool has_time(const void *record, const void *context)
{
    (void)context;
    return ((const struct ab_workload_check *)record)->tape.tape.duration_ns > 0;
}

#define FACT(member) \
    AB_WHOLE(#member, struct ab_workload_check, tape.tape.facts.member, INT64_MAX, 0)

static const struct ab_member document_members[] = {
    AB_FIXED("schema", "allocbench-check/1"),
    CHECK(TEXT, "name", name),
    CHECK(TEXT, "about", about),
    CHECK(WHOLE, "seed", seed),
    CHECK(LIST, "params", params, TEXTS, .flags = AB_ENDS),
    CHECK(CHARS, "tape_sha256", tape.tape.sha256),
    FACT(lanes),
    AB_LIST("phases", struct ab_workload_check, tape.tape.phases, tape.tape.n_phases, UINT32_MAX,
            .record = &phase_record),
    AB_EACH(FACT, live_peak_bytes, live_peak_blocks, total_bytes),
    CHECK(WHOLE, "gates", gates.n_gates),
    CHECK(WHOLE, "claims", gates.n_claims),
    AB_ARRAY("lints", struct ab_workload_check, lints.items, lints.n, AB_LINTS_MAX,
             .record = &lint_record),
    AB_RECORD_HERE("cost", &cost_record),
    CHECK(WHOLE, "duration_ns", tape.tape.duration_ns, .has = has_time, .flags = AB_OMIT),
    CHECK(WHOLE, "idle_ns", tape.tape.idle_ns, .has = has_time, .flags = AB_OMIT),
    CHECK(WHOLE, "idle_stretches", tape.tape.n_idle, .has = has_time, .flags = AB_OMIT),
    AB_LIST("combinations", struct ab_workload_check, combinations, n_combinations,
            AB_COMBINATIONS_MAX, .record = &ab_combination_record, .has = has_combinations,
            .flags = AB_OMIT),
};
AB_TABLE(document, struct ab_workload_check);

static enum ab_status show(void *user, const struct ab_workload_check *c, struct ab_err *err)
{
    const struct ab_options *o = user;
    AB_TRY(ab_document_write(o, ab_record_json(&document_record, c, c), 0, err));
    if (ab_document_leaves_stdout(o))
        print_all(c);
    return AB_OK;
}

enum ab_status ab_cmd_check(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    const struct ab_measure_request request = ab_measure_request_of(o);
    (void)exit_code;
    return ab_check_workload(&request, show, err);
}
