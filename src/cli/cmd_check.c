/* SPDX-License-Identifier: MIT
 *
 * Implements `check`: validates a workload, reads its gates and back ends as a run would, and
 * prints its plan, warnings, and the cost of a run.
 */
#include "app/backend_choice.h"
#include "app/gate_set.h"
#include "app/one_file.h"
#include "app/owners.h"
#include "app/placement_rows.h"
#include "app/rounds.h"
#include "base/bits.h"
#include "cli/commands.h"
#include "cli/document.h"
#include "cli/requests.h"
#include "core/alloc.h"
#include "core/text.h"
#include "core/units_show.h"
#include "document/session_record.h"
#include "result/passes.h"
#include "result/result.h"
#include "runner/estimate.h"
#include "runner/sampling.h"
#include "tape/tape_file.h"
#include "workload/config.h"
#include "workload/workload.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINTS_MAX = 64 };

struct lint {
    const char *id; /* "align", "reset", "few-samples", "few-ops", "small", "decimal" */
    struct ab_place at;
    char text[256];
};

struct lints {
    struct lint items[LINTS_MAX];
    size_t n, n_left_out;
};

/* Limits of the lints of `check`. Each lint is a function. */

enum {
    PAGE_BYTES = 4096,
    FEW_OPS = 1000,   /* with fewer ops, a phase mostly starts and stops its threads */
    P99_NEEDS = 1000, /* samples, so that 10 are above it */
};

static __attribute__((format(printf, 4, 5))) void add(struct lints *out, const char *id,
                                                      struct ab_place at, const char *fmt, ...)
{
    va_list args;
    if (out->n == LINTS_MAX) {
        out->n_left_out++;
        return;
    }
    struct lint *lint = &out->items[out->n++];
    *lint = (struct lint){.id = id, .at = at};
    va_start(args, fmt);
    vsnprintf(lint->text, sizeof lint->text, fmt, args);
    va_end(args);
}

/* Warns about alignments that malloc guarantees anyway, because an aligned allocation calls another
 * function. */
static void lint_align(const struct ab_verb *v, struct lints *out)
{
    if (v->align > 0 && v->align <= _Alignof(max_align_t))
        add(out, "align", v->place,
            "align: %" PRIu64 " is no more than malloc guarantees; "
            "drop it to measure malloc instead of memalign",
            v->align);
}

/* Warns about a reset that never frees in bulk. A set with `via` is excluded: its heap resets by
 * itself, whatever is live elsewhere. */
static void lint_reset(const struct ab_workload *w, const struct ab_verb *v, struct lints *out)
{
    bool is_scope = v->kind == AB_VERB_SCOPE;
    const struct ab_reset_count *count = &w->resets[v->cursor];
    if ((v->kind != AB_VERB_RESET && !is_scope) || count->n == 0 || count->n_bulk > 0 ||
        w->sets[v->set].via != NULL)
        return;
    bool is_set = count->other != AB_NO_SET && count->other != v->set;
    const char *other = is_set                   ? w->sets[count->other].name
                        : count->other == v->set ? "the region itself"
                                                 : "a message";
    add(out, "reset", v->place,
        is_scope ? "region '%s' never ends a scope in one call, because %s%s%s has blocks from "
                   "within the scope that live on: the region's blocks are freed one by one"
                 : "region '%s' never resets in bulk, because %s%s%s is live at each reset: the "
                   "region's blocks are freed one by one",
        w->sets[v->set].name, is_set ? "'" : "", other, is_set ? "'" : "");
}

static void lint_verbs(const struct ab_workload *w, const struct ab_verb *verbs, size_t n,
                       struct lints *out)
{
    for (const struct ab_verb *v = verbs; v < verbs + n; v++) {
        lint_align(v, out);
        lint_reset(w, v, out);
        lint_verbs(w, v->body, v->n_body, out);
    }
}

/* Lints one phase. The tape has the phases of the workload in the same order. */
static void lint_phase(const struct ab_phase_def *def, const struct ab_phase *phase,
                       uint32_t rounds, struct lints *out)
{
    uint64_t n_ops = ab_phase_ops(phase);
    if (n_ops > 0 && n_ops < FEW_OPS) {
        add(out, "few-ops", def->place,
            "phase '%s' has %" PRIu64 " ops: too few for a time per op, which would mostly "
            "be that of starting and stopping",
            def->name, n_ops);
        return;
    }
    for (unsigned k = 0; k < AB_OP_KIND_COUNT; k++) {
        double samples = phase->n_ops[k] * ab_sampling_rate(phase, k) * rounds;
        if (k != AB_OP_RESET && phase->n_ops[k] > 0 && samples < P99_NEEDS)
            add(out, "few-samples", def->place,
                "phase '%s' has %" PRIu32 " of kind %s: in %" PRIu32
                " rounds too few for a p99, which needs %d",
                def->name, phase->n_ops[k], ab_op_kind_name(k), rounds, P99_NEEDS);
    }
}

static void lint_whole(const struct ab_workload *w, const struct ab_tape_map *tape,
                       struct lints *out)
{
    const struct ab_facts *facts = &tape->image->facts;
    struct ab_place first = w->phases[0].place;
    if (facts->live_peak_bytes > 0 && facts->live_peak_bytes < PAGE_BYTES)
        add(out, "small", first,
            "at most %" PRIu64 " bytes are live, less than a page: memory figures say "
            "nothing, and every block stays in the cache",
            facts->live_peak_bytes);
}

/* Returns the length of "4k", "64M" or "1.5G" that is a whole word at `p`, or 0. */
static size_t decimal_length(const char *p)
{
    size_t n = strspn(p, "0123456789.");
    bool is_word = n > 0 && strchr("kKMG", p[n]) != NULL && p[n] != 0;
    return is_word && !isalnum((unsigned char)p[n + 1]) ? n + 1 : 0;
}

/* Warns about sizes written with k, M or G in one line of the workload. Here these are powers of
 * ten, unlike in most tools. */
static void lint_line(const char *line, size_t n, uint32_t number, struct lints *out)
{
    const char *end = memchr(line, '#', n), *size = NULL;
    end = end != NULL ? end : line + n;
    for (const char *p = line; p + 5 <= end; p++)
        if (strncmp(p, "size:", 5) == 0 && (p == line || !isalnum((unsigned char)p[-1])))
            size = p + 5;
    for (const char *p = size; p != NULL && p < end; p++) {
        size_t length = isalnum((unsigned char)p[-1]) ? 0 : decimal_length(p);
        if (length == 0)
            continue;
        static const char *const powers[] = {"1,000", "1,000,000", "1,000,000,000"};
        static const char *const binary[] = {"1,024", "1,048,576", "1,073,741,824"};
        size_t k = p[length - 1] == 'M' ? 1 : p[length - 1] == 'G' ? 2 : 0;
        struct ab_place at = {number, (uint32_t)(p - line) + 1};
        add(out, "decimal", at, "size: %.*s is %.*s times %s bytes; for %s write %.*s%ciB",
            (int)length, p, (int)length - 1, p, powers[k], binary[k], (int)length - 1, p, "KMG"[k]);
        return;
    }
}

static void lint_text(const struct ab_workload *w, struct lints *out)
{
    uint32_t number = 1;
    for (const char *line = w->text; line != NULL && *line != 0; number++) {
        size_t n = strcspn(line, "\n");
        lint_line(line, n, number, out);
        line += n + (line[n] == '\n');
    }
}

static int by_place(const void *a, const void *b)
{
    const struct lint *x = a, *y = b;
    return x->at.line != y->at.line ? AB_COMPARE(x->at.line, y->at.line)
                                    : AB_COMPARE(x->at.col, y->at.col);
}

/* Lints a compiled workload with its tape and the rounds of the run. Sorts the findings by
 * position. */
static void lint_workload(const struct ab_workload *w, const struct ab_tape_map *tape,
                          uint32_t rounds, struct lints *out)
{
    out->n = out->n_left_out = 0;
    for (size_t i = 0; i < w->n_phases; i++) {
        const struct ab_phase_def *def = &w->phases[i];
        for (size_t k = 0; k < def->n_roles; k++) {
            lint_verbs(w, def->roles[k].body, def->roles[k].n_body, out);
            lint_verbs(w, def->roles[k].finally, def->roles[k].n_finally, out);
        }
        if (i < tape->image->n_phases && tape->phases[i].is_measured)
            lint_phase(def, &tape->phases[i], rounds, out);
    }
    lint_whole(w, tape, out);
    lint_text(w, out);
    if (out->n > 1)
        qsort(out->items, out->n, sizeof out->items[0], by_place);
}

struct check {
    const struct ab_options *options;
    struct ab_workload *workload;
    const char *name, *about; /* from the workload, as are the next two fields */
    const char *const *params;
    uint64_t seed;
    struct ab_laid_down tape;
    struct ab_workload_options how; /* of loading it */
    struct ab_selection_list selection;
    struct ab_text choice; /* reason for the choice of back ends; empty if they were named */
    struct ab_gate_set gates;
    struct lints lints;
    struct ab_pass_plan passes; /* passes that a run would have */
    struct ab_session_cost cost;
    const char *running[AB_SELECTION_MAX]; /* back ends that can run */
    size_t n_running;
    struct ab_combination *combinations; /* n_combinations of values. The other fields are those
                                            of the first; `cost` is the total */
    size_t n_combinations;
};

/* ---- what is found ---- */

/* Adds the mapped row of `via`. */
static enum ab_status add_mapped_row(struct check *c, struct ab_err *err)
{
    const struct ab_subject subject = {.workload = c->workload, .map = &c->tape.map};
    const struct ab_measure_request asked = ab_measure_request_of(c->options);
    struct ab_placement_rows mapped;
    enum ab_status status = ab_placement_rows_read(&asked, &subject, &c->selection, &mapped, err);
    ab_placement_rows_fini(&mapped);
    return status;
}

static enum ab_status select_backends(struct check *c, struct ab_err *err)
{
    struct ab_backend_wish wish = {.asked = &c->options->backends, .tape = &c->tape.map};
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
    const struct ab_verdicts_wanted *wanted = &c->options->verdicts;
    struct ab_gate_source source = {.talk = &c->options->talk,
                                    .gates = wanted->gates,
                                    .n_gates = wanted->n_gates,
                                    .workload = c->workload,
                                    .phases = c->tape.map.phases,
                                    .n_phases = c->tape.map.image->n_phases,
                                    .backends = names};
    for (size_t i = 0; i < c->selection.n && i < AB_SELECTION_MAX; i++)
        names[source.n_backends++] = c->selection.items[i].name;
    bool has_any = wanted->n_gates + ab_workload_gates(c->workload)->n +
                       ab_workload_claims(c->workload)->n >
                   0;
    return has_any ? ab_gate_set_read(&source, &c->gates, err) : AB_OK;
}

/* Estimates the cost of the installed back ends, with the passes that a run would choose. */
static enum ab_status estimate(struct check *c, struct ab_err *err)
{
    const struct ab_options *o = c->options;
    struct ab_session_work work = {
        .n_backends = c->n_running,
        .rounds = o->rules.rounds,
        .processes = o->passes.processes != 0 ? o->passes.processes
                                              : ab_estimate_processes(&c->tape.map),
        .drain_ns = o->conditions.drain_ns,
    };
    for (size_t i = 0; i < c->selection.n; i++)
        work.never_frees = work.never_frees || (c->selection.items[i].state == AB_SELECTION_OK &&
                                                c->selection.items[i].never_frees);
    AB_TRY(ab_pass_choice_make(&o->passes, o->conditions.is_strict, &c->gates, NULL, &work.passes,
                               err));
    c->passes = work.passes;
    c->cost = ab_estimate_session(&c->tape.map, &work);
    return AB_OK;
}

static void note_combination(const struct ab_workload *w, const struct ab_tape *tape,
                             struct ab_combination *out)
{
    *out = (struct ab_combination){.n_ops = ab_tape_ops(tape),
                                   .live_peak_blocks = tape->facts.live_peak_blocks,
                                   .live_peak_bytes = tape->facts.live_peak_bytes,
                                   .lanes = tape->facts.lanes};
    snprintf(out->values, sizeof out->values, "%s", ab_workload_values(w));
    snprintf(out->tape_sha256, sizeof out->tape_sha256, "%s", tape->sha256);
}

/* Adds the cost of measuring this tape to the sum over all files. */
static void add_cost(struct check *c, const struct ab_tape_map *map)
{
    struct ab_session_work work = {
        .n_backends = c->n_running,
        .rounds = c->options->rules.rounds,
        .processes = c->options->passes.processes != 0 ? c->options->passes.processes
                                                       : ab_estimate_processes(map),
        .drain_ns = c->options->conditions.drain_ns,
        .passes = c->passes,
    };
    struct ab_session_cost more = ab_estimate_session(map, &work);
    c->cost.ns += more.ns;
    c->cost.processes += more.processes;
    c->cost.processes_total += more.processes_total;
    c->cost.bytes = more.bytes > c->cost.bytes ? more.bytes : c->cost.bytes;
}

/* Compiles each combination of values to find its errors. */
static enum ab_status find_combinations(struct check *c, const char *path, struct ab_err *err)
{
    enum ab_status status = AB_OK;
    c->n_combinations = ab_workload_combinations(c->workload);
    c->combinations = ab_alloc_zeroed(c->n_combinations, sizeof c->combinations[0]);
    note_combination(c->workload, &c->tape.tape, &c->combinations[0]);
    for (size_t i = 1; i < c->n_combinations && status == AB_OK; i++) {
        struct ab_workload *w = NULL;
        struct ab_laid_down tape = {0};
        status = ab_combine_workload(&c->options->talk, &c->how, c->workload, i, &w, err);
        if (status == AB_OK)
            status = ab_lay_down_workload(&c->options->talk, &c->options->settings, path, w, &tape,
                                          err);
        if (status == AB_OK) {
            note_combination(w, &tape.tape, &c->combinations[i]);
            add_cost(c, &tape.map);
        }
        ab_laid_down_fini(&tape);
        ab_workload_free(w);
    }
    return status;
}

static enum ab_status find_all(struct check *c, const char *path, struct ab_err *err)
{
    const struct ab_measure_request asked = ab_measure_request_of(c->options);
    c->how = ab_workload_options_of(&asked.settings, &asked.conditions,
                                    ab_groups_are_wanted(&asked));
    AB_TRY(ab_load_workload(&c->options->talk, &c->how, path, &c->workload, err));
    AB_TRY(ab_lay_down_workload(&c->options->talk, &c->options->settings, path, c->workload,
                                &c->tape, err));
    AB_TRY(select_backends(c, err));
    AB_TRY(read_gates(c, err));
    AB_TRY(estimate(c, err));
    AB_TRY(find_combinations(c, path, err));
    lint_workload(c->workload, &c->tape.map, c->options->rules.rounds, &c->lints);
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
        const struct lint *lint = &c->lints.items[i];
        printf("note     %s:%u:%u: %s [%s]\n", AB_SHOWN(300, c->workload->file), lint->at.line,
               lint->at.col, lint->text, lint->id);
    }
    if (c->lints.n_left_out > 0)
        printf("note     and %zu more\n", c->lints.n_left_out);
}

/* Prints "latency in all rounds, tail and memory in 6": the passes that run besides throughput. */
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

static void print_combinations(const struct check *c)
{
    if (c->n_combinations == 1)
        return;
    printf("\n%zu combinations of values; above is the first\n", c->n_combinations);
    for (size_t i = 0; i < c->n_combinations; i++) {
        const struct ab_combination *x = &c->combinations[i];
        printf("  %s: %" PRIu64 " ops, %u lane%s, at most %s live, sha256 %.12s\n", x->values,
               x->n_ops, x->lanes, x->lanes == 1 ? "" : "s", AB_BYTES(x->live_peak_bytes),
               x->tape_sha256);
    }
}

static void print_all(const struct check *c)
{
    struct ab_err stranger;
    ab_workload_print_plan(stdout, c->workload, &c->tape.tape);
    print_cost(&c->tape.map);
    print_combinations(c);
    if (ab_case_check_strangers(&c->options->backends, &c->selection, &stranger) != AB_OK)
        printf("\nrun refuses this: %s\n", stranger.text);
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
    return ab_json_string(((const struct check *)x->context)->workload->file);
}

static const struct ab_member lint_members[] = {
    AB_TEXT("id", struct lint, id),
    AB_WRITTEN("file", write_file),
    AB_WHOLE("line", struct lint, at.line, UINT32_MAX, 0),
    AB_WHOLE("column", struct lint, at.col, UINT32_MAX, 0),
    AB_CHARS("message", struct lint, text),
};
AB_TABLE(lint, struct lint);

static json_t *write_passes(const struct ab_writing *x)
{
    return ab_json_passes(x->p);
}

#define CHECK(is, key, member, ...) AB_MEMBER(is, key, struct check, member, __VA_ARGS__)
#define TEXTS .values = AB_IS_TEXT, .stride = sizeof(const char *)

static const struct ab_member cost_members[] = {
    AB_ARRAY("backends", struct check, running, n_running, AB_SELECTION_MAX, TEXTS),
    CHECK(WHOLE, "rounds", cost.rounds),
    CHECK(WHOLE, "processes", cost.processes),
    CHECK(WHOLE, "processes_total", cost.processes_total),
    CHECK(RULE, "passes", passes, .write = write_passes),
    CHECK(NUMBER, "time_ns", cost.ns, AB_WHEN(struct check, cost.n_backends)),
    CHECK(WHOLE, "memory_bytes", cost.bytes),
};
AB_TABLE(cost, struct check);

static bool has_combinations(const void *record, const void *context)
{
    (void)context;
    return ((const struct check *)record)->n_combinations > 1;
}

static bool has_time(const void *record, const void *context)
{
    (void)context;
    return ((const struct check *)record)->tape.tape.duration_ns > 0;
}

#define FACT(member) AB_WHOLE(#member, struct check, tape.tape.facts.member, INT64_MAX, 0)

static const struct ab_member document_members[] = {
    AB_FIXED("schema", "allocbench-check/1"),
    CHECK(TEXT, "name", name),
    CHECK(TEXT, "about", about),
    CHECK(WHOLE, "seed", seed),
    CHECK(LIST, "params", params, TEXTS, .flags = AB_ENDS),
    CHECK(CHARS, "tape_sha256", tape.tape.sha256),
    FACT(lanes),
    AB_LIST("phases", struct check, tape.tape.phases, tape.tape.n_phases, UINT32_MAX,
            .record = &phase_record),
    AB_EACH(FACT, live_peak_bytes, live_peak_blocks, total_bytes),
    CHECK(WHOLE, "gates", gates.n_gates),
    CHECK(WHOLE, "claims", gates.n_claims),
    AB_ARRAY("lints", struct check, lints.items, lints.n, LINTS_MAX, .record = &lint_record),
    AB_RECORD_HERE("cost", &cost_record),
    CHECK(WHOLE, "duration_ns", tape.tape.duration_ns, .has = has_time, .flags = AB_OMIT),
    CHECK(WHOLE, "idle_ns", tape.tape.idle_ns, .has = has_time, .flags = AB_OMIT),
    CHECK(WHOLE, "idle_stretches", tape.tape.n_idle, .has = has_time, .flags = AB_OMIT),
    AB_LIST("combinations", struct check, combinations, n_combinations, AB_COMBINATIONS_MAX,
            .record = &ab_combination_record, .has = has_combinations, .flags = AB_OMIT),
};
AB_TABLE(document, struct check);

static json_t *document(struct check *check)
{
    check->name = ab_workload_name(check->workload);
    check->about = ab_workload_about(check->workload);
    check->seed = ab_workload_seed(check->workload);
    check->params = ab_workload_params(check->workload);
    return ab_record_json(&document_record, check, check);
}

enum ab_status ab_cmd_check(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    const char *path;
    struct check c = {.options = o};
    (void)exit_code;
    AB_TRY(ab_one_file(o->args, o->n_args, "a workload", "check", &path, err));
    enum ab_status status = find_all(&c, path, err);
    if (status == AB_OK)
        status = ab_document_write(o, document(&c), 0, err);
    if (status == AB_OK && ab_document_leaves_stdout(o))
        print_all(&c);
    ab_gate_set_fini(&c.gates);
    ab_selection_list_fini(&c.selection);
    ab_text_fini(&c.choice);
    ab_laid_down_fini(&c.tape);
    ab_workload_free(c.workload);
    free(c.combinations);
    return status;
}
