/* SPDX-License-Identifier: MIT
 *
 * Compiles a workload with its combinations, reads its gates and back ends as a run would, and
 * estimates the cost of a run.
 */
#include "app/check_workload.h"

#include "app/backend_choice.h"
#include "app/owners.h"
#include "app/placement_rows.h"
#include "app/rounds.h"
#include "base/bits.h"
#include "core/alloc.h"
#include "runner/sampling.h"
#include "workload/config.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Functions that each warn about one kind of mistake (a lint of `check`), and their limits. */

enum {
    PAGE_BYTES = 4096,
    FEW_OPS = 1000,   /* with fewer ops, a phase mostly starts and stops its threads */
    P99_NEEDS = 1000, /* fewer samples have fewer than 10 above the 99th percentile */
};

static __attribute__((format(printf, 4, 5))) void add(struct ab_lints *out, const char *id,
                                                      struct ab_place at, const char *fmt, ...)
{
    va_list args;
    if (out->n == AB_LINTS_MAX) {
        out->n_left_out++;
        return;
    }
    struct ab_lint *lint = &out->items[out->n++];
    *lint = (struct ab_lint){.id = id, .at = at};
    va_start(args, fmt);
    vsnprintf(lint->text, sizeof lint->text, fmt, args);
    va_end(args);
}

/* Warns about alignments that malloc guarantees anyway, because a workload that asks for them
 * measures memalign instead of malloc. */
static void lint_align(const struct ab_verb *v, struct ab_lints *out)
{
    if (v->align > 0 && v->align <= _Alignof(max_align_t))
        add(out, "align", v->place,
            "align: %" PRIu64 " is no more than malloc guarantees; "
            "drop it to measure malloc instead of memalign",
            v->align);
}

/* Warns about a reset that never frees in bulk. A set with `via` is excluded, because its own heap
 * can be reset whatever is live elsewhere. */
static void lint_reset(const struct ab_workload *w, const struct ab_verb *v, struct ab_lints *out)
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
                   "within the scope that stay live: the region's blocks are freed one by one"
                 : "region '%s' never resets in bulk, because %s%s%s is live at each reset: the "
                   "region's blocks are freed one by one",
        w->sets[v->set].name, is_set ? "'" : "", other, is_set ? "'" : "");
}

static void lint_verbs(const struct ab_workload *w, const struct ab_verb *verbs, size_t n,
                       struct ab_lints *out)
{
    for (const struct ab_verb *v = verbs; v < verbs + n; v++) {
        lint_align(v, out);
        lint_reset(w, v, out);
        lint_verbs(w, v->body, v->n_body, out);
    }
}

/* Lints one phase. The tape has the phases of the workload in the same order. */
static void lint_phase(const struct ab_phase_def *def, const struct ab_phase *phase,
                       uint32_t rounds, struct ab_lints *out)
{
    uint64_t n_ops = ab_phase_ops(phase);
    if (n_ops > 0 && n_ops < FEW_OPS) {
        add(out, "few-ops", def->place,
            "phase '%s' has %" PRIu64 " ops: too few for a time per op, which would mostly be the "
            "time of starting and stopping",
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
                       struct ab_lints *out)
{
    const struct ab_facts *facts = &tape->image->facts;
    struct ab_place first = w->phases[0].place;
    if (facts->live_peak_bytes > 0 && facts->live_peak_bytes < PAGE_BYTES)
        add(out, "small", first,
            "at most %" PRIu64 " bytes are live, less than a page: memory figures say "
            "nothing, and every block stays in the cache",
            facts->live_peak_bytes);
}

/* Returns the length of "4k", "64M", "1.5G" or "1T" that is a whole word at `p`, or 0. */
static size_t decimal_length(const char *p)
{
    size_t n = strspn(p, "0123456789.");
    bool is_word = n > 0 && strchr("kKMGT", p[n]) != NULL && p[n] != 0;
    return is_word && !isalnum((unsigned char)p[n + 1]) ? n + 1 : 0;
}

/* Warns about sizes written with k, M, G or T in one line of the workload. In workloads these
 * letters are powers of ten, unlike in most tools. */
static void lint_line(const char *line, size_t n, uint32_t number, struct ab_lints *out)
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
        static const char *const powers[] = {"1,000", "1,000,000", "1,000,000,000",
                                             "1,000,000,000,000"};
        static const char *const binary[] = {"1,024", "1,048,576", "1,073,741,824",
                                             "1,099,511,627,776"};
        static const char letters[] = "KMGT";
        size_t k = (size_t)(strchr(letters, toupper((unsigned char)p[length - 1])) - letters);
        struct ab_place at = {number, (uint32_t)(p - line) + 1};
        add(out, "decimal", at, "size: %.*s is %.*s times %s bytes; for %s write %.*s%ciB",
            (int)length, p, (int)length - 1, p, powers[k], binary[k], (int)length - 1, p,
            letters[k]);
        return;
    }
}

static void lint_text(const struct ab_workload *w, struct ab_lints *out)
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
    const struct ab_lint *x = a, *y = b;
    return x->at.line != y->at.line ? AB_COMPARE(x->at.line, y->at.line)
                                    : AB_COMPARE(x->at.col, y->at.col);
}

/* Lints a compiled workload, its tape and the rounds of the run. Sorts the findings by position. */
static void lint_workload(const struct ab_workload *w, const struct ab_tape_map *tape,
                          uint32_t rounds, struct ab_lints *out)
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

/* Adds the row of the mapping that the workload's `via` gives. */
static enum ab_status add_mapped_row(struct ab_workload_check *c, struct ab_err *err)
{
    const struct ab_subject subject = {.workload = c->workload, .map = &c->tape.map};
    struct ab_placement_rows mapped;
    enum ab_status status = ab_placement_rows_read(c->asked, &subject, &c->selection, &mapped, err);
    ab_placement_rows_fini(&mapped);
    return status;
}

static enum ab_status select_backends(struct ab_workload_check *c, struct ab_err *err)
{
    struct ab_backend_wish wish = {.asked = &c->asked->backends, .tape = &c->tape.map};
    wish.listed = ab_workload_backends(c->workload, &wish.n_listed);
    AB_TRY(ab_backend_choice_make(&wish, &c->selection, err));
    ab_backend_choice_say(&wish, &c->selection, &c->choice);
    AB_TRY(add_mapped_row(c, err));
    for (size_t i = 0; i < c->selection.n; i++)
        if (c->selection.items[i].state == AB_SELECTION_OK && c->n_running < AB_SELECTION_MAX)
            c->running[c->n_running++] = c->selection.items[i].name;
    return AB_OK;
}

static enum ab_status read_gates(struct ab_workload_check *c, struct ab_err *err)
{
    const char *names[AB_SELECTION_MAX];
    const struct ab_verdicts_wanted *wanted = &c->asked->verdicts;
    struct ab_gate_source source = {.talk = &c->asked->talk,
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
static enum ab_status estimate(struct ab_workload_check *c, struct ab_err *err)
{
    const struct ab_measure_request *o = c->asked;
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
    AB_COPY(out->values, ab_workload_values(w));
    AB_COPY(out->tape_sha256, tape->sha256);
}

/* Adds the cost of measuring this tape to the total over all combinations. */
static void add_cost(struct ab_workload_check *c, const struct ab_tape_map *map)
{
    struct ab_session_work work = {
        .n_backends = c->n_running,
        .rounds = c->asked->rules.rounds,
        .processes = c->asked->passes.processes != 0 ? c->asked->passes.processes
                                                     : ab_estimate_processes(map),
        .drain_ns = c->asked->conditions.drain_ns,
        .passes = c->passes,
    };
    struct ab_session_cost more = ab_estimate_session(map, &work);
    c->cost.ns += more.ns;
    c->cost.processes += more.processes;
    c->cost.processes_total += more.processes_total;
    c->cost.bytes = more.bytes > c->cost.bytes ? more.bytes : c->cost.bytes;
}

/* Compiles each combination of values to find its errors. */
static enum ab_status find_combinations(struct ab_workload_check *c, const char *path,
                                        struct ab_err *err)
{
    enum ab_status status = AB_OK;
    c->n_combinations = ab_workload_combinations(c->workload);
    c->combinations = ab_alloc_zeroed(c->n_combinations, sizeof c->combinations[0]);
    note_combination(c->workload, &c->tape.tape, &c->combinations[0]);
    for (size_t i = 1; i < c->n_combinations && status == AB_OK; i++) {
        struct ab_workload *w = NULL;
        struct ab_laid_down tape = {0};
        status = ab_combine_workload(&c->asked->talk, &c->how, c->workload, i, &w, err);
        if (status == AB_OK)
            status = ab_lay_down_workload(&c->asked->talk, &c->asked->settings, path, w, &tape,
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

static enum ab_status find_all(struct ab_workload_check *c, const char *path, struct ab_err *err)
{
    c->how = ab_workload_options_of(&c->asked->settings, &c->asked->conditions,
                                    ab_groups_are_wanted(c->asked));
    AB_TRY(ab_load_workload(&c->asked->talk, &c->how, path, &c->workload, err));
    AB_TRY(ab_lay_down_workload(&c->asked->talk, &c->asked->settings, path, c->workload, &c->tape,
                                err));
    AB_TRY(select_backends(c, err));
    AB_TRY(read_gates(c, err));
    AB_TRY(estimate(c, err));
    AB_TRY(find_combinations(c, path, err));
    lint_workload(c->workload, &c->tape.map, c->asked->rules.rounds, &c->lints);
    ab_case_check_strangers(&c->asked->backends, &c->selection, &c->refusal);
    c->file = c->workload->file;
    c->name = ab_workload_name(c->workload);
    c->about = ab_workload_about(c->workload);
    c->seed = ab_workload_seed(c->workload);
    c->params = ab_workload_params(c->workload);
    return AB_OK;
}

enum ab_status ab_check_workload(const struct ab_measure_request *asked, ab_show_check *show,
                                 struct ab_err *err)
{
    const char *path;
    struct ab_workload_check c = {.asked = asked};
    AB_TRY(ab_one_file(asked->args, asked->n_args, "a workload", "check", &path, err));
    enum ab_status status = find_all(&c, path, err);
    if (status == AB_OK)
        status = show(asked->user, &c, err);
    ab_gate_set_fini(&c.gates);
    ab_selection_list_fini(&c.selection);
    ab_text_fini(&c.choice);
    ab_laid_down_fini(&c.tape);
    ab_workload_free(c.workload);
    free(c.combinations);
    return status;
}
