/* SPDX-License-Identifier: MIT
 *
 * `check`: validates a workload, prints its plan and what a run will cost, and reads its gates and
 * back ends as a run would.
 */
#include "backend/selection.h"
#include "cli/benchmark/cases.h"
#include "cli/benchmark/gate_set.h"
#include "cli/commands.h"
#include "cli/one_file.h"
#include "core/text.h"
#include "core/units_show.h"
#include "runner/estimate.h"

#include <stdio.h>

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

/* Of the back ends that are there. */
static void print_total(const struct ab_options *o, const struct ab_tape_map *tape,
                        const struct ab_selection_list *list)
{
    size_t n = 0;
    for (size_t i = 0; i < list->n; i++)
        n += list->items[i].state == AB_SELECTION_OK;
    double ns = ab_estimate_session_ns(
        tape, n, o->rounds, o->processes != 0 ? o->processes : ab_estimate_processes(tape),
        o->drain_ns);
    printf("  whole run  about %s with %zu back end%s and %u rounds\n", AB_TIME(ns), n,
           n == 1 ? "" : "s", o->rounds);
}

/* The back ends that `run` would take, as they are spelled, and the gates against them. */
static enum ab_status check_backends(const struct ab_options *o, const struct ab_workload *workload,
                                     const struct ab_tape_map *tape, struct ab_err *err)
{
    size_t n;
    const char *names[AB_SELECTION_MAX];
    struct ab_selection_list list = {0};
    struct ab_gate_set set = {0};
    const char *const *backends = ab_workload_backends(workload, &n);
    if (o->n_backends > 0)
        backends = o->backends;
    enum ab_status status = ab_selection_parse(backends, o->n_backends > 0 ? o->n_backends : n,
                                               o->backend_path, &list, err);
    if (status != AB_OK)
        return status;
    print_total(o, tape, &list);
    const struct ab_selection *foreign = ab_case_foreign(o, &list);
    if (foreign != NULL && !o->allows_plugins)
        printf("\n%s is a library named by the workload: run requires --allow-plugins\n",
               AB_SHOWN(300, foreign->name));
    struct ab_gate_source source = {.options = o,
                                    .workload = workload,
                                    .phases = tape->phases,
                                    .n_phases = tape->image->n_phases,
                                    .backends = names};
    for (size_t i = 0; i < list.n && i < AB_SELECTION_MAX; i++)
        names[source.n_backends++] = list.items[i].name;
    if (ab_gates_count(o, workload) > 0)
        status = ab_gate_set_read(&source, &set, err);
    if (status == AB_OK && set.n_gates + set.n_claims > 0)
        printf("\ngates %zu, claims %zu\n", set.n_gates, set.n_claims);
    ab_gate_set_fini(&set);
    ab_selection_list_fini(&list);
    return status;
}

enum ab_status ab_cmd_check(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    const char *path;
    struct ab_workload *workload = NULL;
    struct ab_tape tape = {0};
    struct ab_tape_map map = {0};
    enum ab_status status = ab_one_file(o, "a workload", "check", &path, err);
    (void)exit_code;
    if (status != AB_OK || (status = ab_load_workload(o, path, &workload, err)) != AB_OK)
        return status;
    if ((status = ab_workload_compile(workload, &tape, err)) == AB_OK) {
        ab_workload_print_plan(stdout, workload, &tape);
        status = ab_tape_map_open(&tape, &map, err);
    }
    if (status == AB_OK) {
        print_cost(&map);
        status = check_backends(o, workload, &map, err);
    }
    ab_tape_map_close(&map);
    ab_tape_fini(&tape);
    ab_workload_free(workload);
    return status;
}
