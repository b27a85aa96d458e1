/* SPDX-License-Identifier: MIT
 *
 * "PARAM=VALUE:…" by the table of a plug-in, which only the worker ever loads; checks that table.
 * The parent has checked the form, and that no parameter is there twice.
 */
#include "worker/worker.h"

#include "base/limits.h"
#include "base/nearest.h"
#include "base/param_read.h"
#include "worker/checks/message.h"

#include <string.h>

struct setting {
    char *name, *value;
};

static _Noreturn void refuse(struct ab_worker *w, const struct setting *s, const char *why)
{
    ab_worker_fail(w, AB_FAILURE_LIBRARY, "parameter ", s->name, "=", s->value, ": ", why, NULL);
}

/* "WHAT: a, b; did you mean "a"?" */
static _Noreturn void refuse_word(struct ab_worker *w, const struct setting *s, const char *word,
                                  const char *what, const char *const *words, size_t n)
{
    struct ab_words list = {.n = 0};
    const char *nearest = ab_text_nearest(word, words, n);
    for (size_t i = 0; i < n; i++) {
        ab_words_add(&list, i > 0 ? ", " : "");
        ab_words_add(&list, words[i]);
    }
    ab_worker_fail(w, AB_FAILURE_LIBRARY, "parameter ", s->name, "=", s->value, ": ", what,
                   list.text, nearest != NULL ? "; did you mean \"" : "",
                   nearest != NULL ? nearest : "", nearest != NULL ? "\"?" : "", NULL);
}

static void set(struct ab_worker *w, const struct ab_backend *b, const struct setting *s)
{
    const char *names[AB_PARAMS_MAX];
    char least[24], most[24];
    size_t i = ab_param_find(b, s->name);
    if (b->n_params == 0)
        refuse(w, s, "the plug-in has no parameters");
    for (size_t k = 0; k < b->n_params; k++)
        names[k] = b->params[k].name;
    if (i == b->n_params)
        refuse_word(w, s, s->name, "no such parameter; parameters: ", names, b->n_params);
    const struct ab_param *p = &b->params[i];
    const char *wrong = ab_param_read(p, s->value, &w->page->request.values[i]);
    if (wrong == ab_param_no_choice)
        refuse_word(w, s, s->value, wrong, p->choices, ab_param_count_choices(p));
    if (wrong == ab_param_no_range)
        ab_worker_fail(w, AB_FAILURE_LIBRARY, "parameter ", s->name, "=", s->value, ": ", wrong,
                       ab_worker_number(least, p->min), " to ", ab_worker_number(most, p->max),
                       NULL);
    if (wrong != NULL)
        refuse(w, s, wrong);
}

/* NULL when it is in order. */
static const char *find_fault(const struct ab_param *p)
{
    if (p->name == NULL)
        return "has no name";
    if (p->type == AB_PARAM_BOOL)
        return NULL;
    if (p->type != AB_PARAM_CHOICE)
        return p->def < p->min || p->def > p->max ? "has a default outside min and max" : NULL;
    return p->def < ab_param_count_choices(p) ? NULL
                                              : "has a default that is not one of its choices";
}

/* A mistake in the table is the plug-in's, whatever the user has set. */
static void check_params(struct ab_worker *w, const struct ab_backend *b)
{
    char number[24];
    if (b->n_params > AB_PARAMS_MAX)
        ab_worker_fail(w, AB_FAILURE_LIBRARY, AB_BACKEND_SYMBOL ": ",
                       ab_worker_number(number, b->n_params), " params, 16 are allowed", NULL);
    if (b->n_params > 0 && b->params == NULL)
        ab_worker_fail(w, AB_FAILURE_LIBRARY, AB_BACKEND_SYMBOL ": params is NULL, n_params is ",
                       ab_worker_number(number, b->n_params), NULL);
    for (size_t i = 0; i < b->n_params; i++) {
        const char *fault = find_fault(&b->params[i]);
        if (fault != NULL)
            ab_worker_fail(w, AB_FAILURE_LIBRARY, AB_BACKEND_SYMBOL ": params[",
                           ab_worker_number(number, i), "] ", fault, NULL);
    }
}

void ab_worker_set_params(struct ab_worker *w, const struct ab_backend *b)
{
    char text[sizeof w->page->request.params];
    struct setting s;
    check_params(w, b);
    for (size_t i = 0; i < b->n_params; i++)
        w->page->request.values[i] = b->params[i].def;
    memcpy(text, w->page->request.params, sizeof text);
    for (char *rest = text; rest != NULL;)
        if (ab_param_cut(&rest, &s.name, &s.value))
            set(w, b, &s);
}
