/* SPDX-License-Identifier: MIT
 *
 * One session for all heaps that have a choice, each form of each alone, the rest in the general
 * malloc. A copy of the advice for each form names the back end in its rules.
 */
#include "cli/advise/advise_forms.h"

#include "core/text.h"
#include "core/units_show.h"
#include "report/format.h"
#include "report/table/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- which ---- */

size_t ab_advise_decide_form(const struct ab_advised_form *forms, size_t n)
{
    size_t best = 0;
    while (best < n && !forms[best].row.is_measured)
        best++;
    if (best > 0) /* nothing was compared with the first one */
        return best < n ? best : 0;
    for (size_t i = 1; i < n; i++)
        if (ab_advised_is_gain(&forms[i].row) &&
            (best == 0 || forms[i].row.speed.ratio > forms[best].row.speed.ratio))
            best = i;
    return best;
}

/* ---- measuring ---- */

struct forms {
    struct ab_advice *copies; /* AB_ADVISE_BESIDE_MAX */
    struct ab_advise_beside beside;
};

/* Its forms go in together, or not: they are compared within the rounds of one session. */
static void ask(struct forms *f, const struct ab_advice *a, size_t heap,
                struct ab_advised_forms *out)
{
    enum ab_advice_threads threads[AB_ADVICE_THREADS_COUNT];
    struct ab_advise_beside *b = &f->beside;
    size_t n = ab_advice_forms(a, heap, threads), first = b->n;
    if (n < 2)
        return;
    if (first + n > AB_ADVISE_BESIDE_MAX) {
        out->left_out |= UINT32_C(1) << heap;
        return;
    }
    out->n[heap] = n;
    for (size_t i = 0; i < n; i++, b->n++) {
        struct ab_advised_form *form = &out->all[heap][i];
        f->copies[b->n] = *a;
        ab_advice_take_form(&f->copies[b->n], heap, threads[i]);
        form->threads = threads[i];
        snprintf(form->backend, sizeof form->backend, "%s", f->copies[b->n].heaps[heap].backend);
        b->advices[b->n] = &f->copies[b->n];
        b->heaps[b->n] = UINT32_C(1) << heap;
        b->against[b->n] = (uint32_t)first;
        b->rows[b->n] = &form->row;
    }
}

enum ab_status ab_advise_measure_forms(const struct ab_options *o, struct ab_advice *a,
                                       struct ab_advised_forms *out, struct ab_err *err)
{
    struct forms f = {.beside = {.n_rounds = &out->n_rounds}};
    enum ab_status status = AB_OK;
    memset(out, 0, sizeof *out);
    f.copies = calloc(AB_ADVISE_BESIDE_MAX, sizeof f.copies[0]);
    if (f.copies == NULL)
        return ab_fail(err, AB_SYSTEM, "out of memory");
    for (size_t i = 0; i < a->n_heaps; i++) /* those with the most calls come first */
        ask(&f, a, i, out);
    if (f.beside.n > 0)
        status = ab_advise_measure_beside(o, &f.beside, err);
    for (size_t i = 0; status == AB_OK && i < a->n_heaps; i++) {
        if (out->n[i] == 0)
            continue;
        out->taken[i] = ab_advise_decide_form(out->all[i], out->n[i]);
        ab_advice_take_form(a, i, out->all[i][out->taken[i]].threads);
    }
    free(f.copies);
    return status;
}

/* ---- on the screen ---- */

static const char *words_of(enum ab_advice_threads threads)
{
    static const char *const words[AB_ADVICE_THREADS_COUNT] = {
        "for one thread", "one for each thread", "one for all, lock-free", "several with a lock",
        "one for all with a lock"};
    return words[threads];
}

static void add_form(struct ab_text *line, const struct ab_advised_form *form)
{
    char speed[AB_CELL_BYTES];
    const struct ab_effect *e = &form->row.speed;
    ab_text_addf(line, "%s ", ab_advice_threads_name(form->threads));
    if (!form->row.is_measured) {
        ab_text_addf(line, "n/a (%s)", AB_SHOWN(200, form->row.reason));
        return;
    }
    ab_format_effect(speed, e->ratio, e->low, e->high);
    ab_text_add(line, speed);
    if (!isnan(form->row.memory_bytes))
        ab_text_addf(line, " with %s", AB_BYTES(form->row.memory_bytes));
}

static void add_choice(struct ab_text *line, const struct ab_advised_forms *f, size_t i)
{
    const struct ab_advised_form *first = &f->all[i][0];
    ab_text_addf(line, "; as fast as threads=%s", ab_advice_threads_name(first->threads));
    if (!first->row.is_measured)
        ab_text_addf(line, ", n/a (%s)", AB_SHOWN(200, first->row.reason));
    else if (!isnan(first->row.memory_bytes))
        ab_text_addf(line, " with %s", AB_BYTES(first->row.memory_bytes));
    for (size_t k = 1; k < f->n[i]; k++) {
        ab_text_add(line, k == 1 ? ": " : ", ");
        add_form(line, &f->all[i][k]);
    }
    if (!first->row.is_measured)
        return;
    ab_text_add(line, f->n_rounds < AB_EFFECT_MIN_ROUNDS ? "; too few rounds to choose"
                      : f->taken[i] == 0                 ? "; none is significantly faster"
                                                         : "");
}

void ab_advise_print_forms(FILE *to, const struct ab_advice *a, const struct ab_advised_forms *f,
                           size_t i, struct ab_table_style style)
{
    const struct ab_advice_heap *h = &a->heaps[i];
    struct ab_text line = {0};
    bool is_freed = h->kind == AB_ADVICE_POOL || h->kind == AB_ADVICE_SLAB;
    if (h->threads == AB_ADVICE_ONE_THREAD)
        return;
    ab_text_addf(&line, "   threads=%s: %s", ab_advice_threads_name(h->threads),
                 words_of(h->threads));
    if (h->n_remote > 0)
        ab_text_addf(&line, "; %llu of %llu frees by another thread than the one that allocated%s",
                     (unsigned long long)h->n_remote, (unsigned long long)h->frees,
                     !is_freed                       ? ", which go from the code"
                     : h->threads == AB_ADVICE_LOCAL ? ", through the queue of its heap"
                                                     : "");
    if (!is_freed)
        ab_text_add(&line, "; replays do not reset it: a program needs less memory than is said");
    if (f != NULL && f->n[i] > 0)
        add_choice(&line, f, i);
    else if (f != NULL && (f->left_out >> i & 1) != 0)
        ab_text_add(&line, "; other forms were not measured: others have more calls");
    if (line.s != NULL)
        ab_table_prose(to, style, AB_PLAIN, line.s);
    ab_text_fini(&line);
}

void ab_advise_print_scopes(FILE *to, const struct ab_advice *a)
{
    fprintf(to, "%llu scopes", (unsigned long long)a->n_scopes);
    if (a->n_scope_threads > 1)
        fprintf(to, " of %u threads", a->n_scope_threads);
    fprintf(to, " (%s), %.0f allocations a scope", a->is_marked ? "marked" : "found",
            (double)a->calls / (double)a->n_scopes);
}

json_t *ab_advise_json_forms(struct ab_json *w, const struct ab_advised_forms *f, size_t i,
                             json_t *(*row)(struct ab_json *w, const struct ab_advised_row *r))
{
    if (f == NULL || f->n[i] == 0)
        return json_null();
    json_t *list = json_array();
    for (size_t k = 0; k < f->n[i]; k++) {
        const struct ab_advised_form *form = &f->all[i][k];
        json_t *o = json_object();
        ab_json_put(w, o, "threads", ab_json_string(ab_advice_threads_name(form->threads)));
        ab_json_put(w, o, "backend", ab_json_string(form->backend));
        ab_json_put(w, o, "taken", json_boolean(k == f->taken[i]));
        ab_json_put(w, o, "alone", row(w, &form->row));
        ab_json_append(w, list, o);
    }
    return list;
}
