/* SPDX-License-Identifier: MIT
 *
 * The lints of `check`, a function each.
 */
#include "cli/workload/lint.h"

#include "result/result.h"
#include "runner/sample_plan.h"
#include "workload/config.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PAGE_BYTES = 4096,
    FEW_OPS = 1000,   /* below, starting and stopping the threads is a good part of a phase */
    P99_NEEDS = 1000, /* samples: 10 above it */
};

static void add(struct ab_lints *out, const char *id, struct ab_place at, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

static void add(struct ab_lints *out, const char *id, struct ab_place at, const char *fmt, ...)
{
    va_list args;
    if (out->n == AB_LINTS_MAX) {
        out->n_left_out++;
        return;
    }
    struct ab_lint *lint = &out->items[out->n++];
    *lint = (struct ab_lint){.id = id, .line = at.line, .col = at.col};
    va_start(args, fmt);
    vsnprintf(lint->text, sizeof lint->text, fmt, args);
    va_end(args);
}

/* An aligned allocation is another function of malloc's, also where it asks for no more than each
 * block has. */
static void lint_align(const struct ab_verb *v, struct ab_lints *out)
{
    if (v->align > 0 && v->align <= _Alignof(max_align_t))
        add(out, "align", v->place,
            "align: %" PRIu64 " is no more than malloc guarantees; "
            "drop it to measure malloc instead of memalign",
            v->align);
}

/* A region with a back end of its own (`via`) resets there, whatever lives elsewhere. */
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
                   "within the scope that live on: the region's blocks are freed one by one"
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

/* Of one phase: the phases of the tape are those of the workload, in that order. */
static void lint_phase(const struct ab_phase_def *def, const struct ab_phase *phase,
                       uint32_t rounds, struct ab_lints *out)
{
    uint64_t n_ops = 0;
    for (unsigned k = 0; k < AB_OP_KIND_COUNT; k++)
        n_ops += phase->n_ops[k];
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

static int by_place(const void *a, const void *b)
{
    const struct ab_lint *x = a, *y = b;
    return x->line != y->line ? (x->line > y->line) - (x->line < y->line)
                              : (x->col > y->col) - (x->col < y->col);
}

void ab_lint_workload(const struct ab_workload *w, const struct ab_tape_map *tape, uint32_t rounds,
                      struct ab_lints *out)
{
    out->n = out->n_left_out = 0;
    for (size_t i = 0; i < w->n_phases; i++) {
        const struct ab_phase_def *def = &w->phases[i];
        for (size_t k = 0; k < def->n_roles; k++)
            lint_verbs(w, def->roles[k].body, def->roles[k].n_body, out);
        if (i < tape->image->n_phases && tape->phases[i].is_measured)
            lint_phase(def, &tape->phases[i], rounds, out);
    }
    lint_whole(w, tape, out);
    if (out->n > 1)
        qsort(out->items, out->n, sizeof out->items[0], by_place);
}

const char *ab_lint_file(const struct ab_workload *w)
{
    return w->file;
}
