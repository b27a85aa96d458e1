/* SPDX-License-Identifier: MIT
 *
 * "PARAM=VALUE:…" by the table of a plug-in, which only the worker ever loads: what
 * backend/params.c does for built-ins, in the same words, without malloc and stdio. The parent has
 * checked the form, and that no parameter is there twice.
 */
#include "base/nearest.h"
#include "worker/worker.h"

#include "base/bits.h"
#include "base/units.h"

#include <string.h>

struct setting {
    char name[64], value[256];
    const struct ab_param *param;
};

static _Noreturn void refuse(struct ab_worker *w, const struct setting *s, const char *why)
{
    ab_worker_fail(w, AB_FAILURE_LIBRARY, "parameter ", s->name, "=", s->value, ": ", why, NULL);
}

static size_t append(char *buf, size_t cap, size_t used, const char *s)
{
    for (; *s != 0 && used + 1 < cap; s++)
        buf[used++] = *s;
    buf[used] = 0;
    return used;
}

/* "WHAT: a, b; did you mean "a"?" */
static _Noreturn void refuse_word(struct ab_worker *w, const struct setting *s, const char *word,
                                  const char *what, const char *const *words, size_t n)
{
    char list[256] = "";
    size_t used = 0;
    const char *nearest = ab_text_nearest(word, words, n);
    for (size_t i = 0; i < n; i++) {
        used = append(list, sizeof list, used, i > 0 ? ", " : "");
        used = append(list, sizeof list, used, words[i]);
    }
    ab_worker_fail(w, AB_FAILURE_LIBRARY, "parameter ", s->name, "=", s->value, ": ", what,
                   list, nearest != NULL ? "; did you mean \"" : "",
                   nearest != NULL ? nearest : "", nearest != NULL ? "\"?" : "", NULL);
}

static uint64_t read_choice(struct ab_worker *w, const struct setting *s)
{
    const char *const *words = s->param->choices;
    size_t n = 0;
    for (; words[n] != NULL; n++)
        if (strcmp(words[n], s->value) == 0)
            return n;
    refuse_word(w, s, s->value, "allowed: ", words, n);
}

static uint64_t read_bool(struct ab_worker *w, const struct setting *s)
{
    static const char *const words[] = {"off", "on", "false", "true", "no", "yes", "0", "1"};
    for (size_t i = 0; i < AB_ARRAY_LEN(words); i++)
        if (strcmp(words[i], s->value) == 0)
            return i & 1;
    refuse(w, s, "must be on or off");
}

static uint64_t read_number(struct ab_worker *w, const struct setting *s, enum ab_unit_kind kind)
{
    struct ab_number number;
    char least[24], most[24];
    const char *bad = ab_units_parse(s->value, strlen(s->value), kind, &number);
    if (bad != NULL)
        refuse(w, s, bad);
    if (number.whole < s->param->min || number.whole > s->param->max)
        ab_worker_fail(w, AB_FAILURE_LIBRARY, "parameter ", s->name, "=", s->value,
                       ": must be from ", ab_worker_number(least, s->param->min), " to ",
                       ab_worker_number(most, s->param->max), NULL);
    return number.whole;
}

static uint64_t read_value(struct ab_worker *w, const struct setting *s)
{
    switch (s->param->type) {
    case AB_PARAM_BYTES:
        return read_number(w, s, AB_UNIT_BYTES);
    case AB_PARAM_COUNT:
        return read_number(w, s, AB_UNIT_COUNT);
    case AB_PARAM_BOOL:
        return read_bool(w, s);
    case AB_PARAM_CHOICE:
        return read_choice(w, s);
    }
    refuse(w, s, "has a type that this allocbench does not know");
}

static void set(struct ab_worker *w, const struct ab_backend *b, struct setting *s)
{
    const char *names[AB_PARAMS_MAX];
    for (size_t i = 0; i < b->n_params; i++) {
        names[i] = b->params[i].name;
        if (strcmp(names[i], s->name) != 0)
            continue;
        s->param = &b->params[i];
        w->page->request.values[i] = read_value(w, s);
        return;
    }
    if (b->n_params == 0)
        refuse(w, s, "the plug-in has no parameters");
    refuse_word(w, s, s->name, "no such parameter, it has: ", names, b->n_params);
}

static size_t length_until(const char *text, char end)
{
    size_t n = 0;
    while (text[n] != 0 && text[n] != end)
        n++;
    return n;
}

static void copy(char *to, size_t cap, const char *text, size_t n)
{
    n = n < cap ? n : cap - 1;
    for (size_t i = 0; i < n; i++)
        to[i] = text[i];
    to[n] = 0;
}

/* NULL when it is in order. */
static const char *find_fault(const struct ab_param *p)
{
    size_t n_choices = 0;
    if (p->name == NULL)
        return "has no name";
    if (p->type == AB_PARAM_BOOL)
        return NULL;
    if (p->type != AB_PARAM_CHOICE)
        return p->def < p->min || p->def > p->max ? "has a default beyond min and max" : NULL;
    while (p->choices != NULL && p->choices[n_choices] != NULL)
        n_choices++;
    return p->def >= n_choices ? "has a default that is none of its choices" : NULL;
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
    check_params(w, b);
    for (size_t i = 0; i < b->n_params; i++)
        w->page->request.values[i] = b->params[i].def;
    for (const char *p = w->page->request.params; *p != 0;) {
        struct setting s = {.param = NULL};
        size_t n = length_until(p, ':'), equals = length_until(p, '=');
        copy(s.name, sizeof s.name, p, equals < n ? equals : n);
        copy(s.value, sizeof s.value, p + equals + 1, equals < n ? n - equals - 1 : 0);
        set(w, b, &s);
        p += n + (p[n] == ':');
    }
}
