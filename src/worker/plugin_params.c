/* SPDX-License-Identifier: MIT
 *
 * "PARAM=VALUE:…" by the table of a plug-in, which only the worker ever loads. Without stdio and
 * locale, so it reads less than the parent does for built-ins: whole numbers with a unit, words.
 */
#include "worker/worker.h"

#include <string.h>

struct setting {
    const char *name, *value;
    size_t n_name, n_value;
};

static _Noreturn void refuse(struct ab_worker *w, const struct setting *s, const char *why)
{
    char name[64] = "", value[64] = "";
    memcpy(name, s->name, s->n_name < sizeof name ? s->n_name : sizeof name - 1);
    memcpy(value, s->value, s->n_value < sizeof value ? s->n_value : sizeof value - 1);
    ab_worker_fail(w, AB_FAILURE_LIBRARY, "parameter ", name, "=", value, ": ", why, NULL);
}

static bool is_word(const struct setting *s, const char *word)
{
    return strlen(word) == s->n_value && strncmp(word, s->value, s->n_value) == 0;
}

/* 1 for no unit, 0 for one that does not exist. */
static uint64_t unit(const char *text, size_t n)
{
    static const struct {
        const char *text;
        uint64_t factor;
    } units[] = {{"", 1},          {"B", 1},        {"k", 1000},     {"K", 1000},
                 {"M", 1000000},   {"G", 1000000000}, {"KB", 1000},  {"MB", 1000000},
                 {"GB", 1000000000}, {"KiB", 1024}, {"MiB", 1 << 20}, {"GiB", 1 << 30}};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strlen(units[i].text) == n && strncmp(units[i].text, text, n) == 0)
            return units[i].factor;
    return 0;
}

static uint64_t number(struct ab_worker *w, const struct setting *s, const struct ab_param *p)
{
    uint64_t n = 0, factor;
    size_t i = 0;
    for (; i < s->n_value && s->value[i] >= '0' && s->value[i] <= '9'; i++)
        if (__builtin_mul_overflow(n, UINT64_C(10), &n) ||
            __builtin_add_overflow(n, (uint64_t)(s->value[i] - '0'), &n))
            refuse(w, s, "is too large");
    factor = unit(s->value + i, s->n_value - i);
    if (i == 0 || factor == 0)
        refuse(w, s, "must be a whole number such as 64 or 64KiB");
    if (__builtin_mul_overflow(n, factor, &n) || n < p->min || n > p->max)
        refuse(w, s, "is outside of what the plug-in allows");
    return n;
}

static uint64_t choice(struct ab_worker *w, const struct setting *s, const struct ab_param *p)
{
    for (uint64_t i = 0; p->choices != NULL && p->choices[i] != NULL; i++)
        if (is_word(s, p->choices[i]))
            return i;
    refuse(w, s, "is none of the plug-in's choices");
}

static uint64_t value_of(struct ab_worker *w, const struct setting *s, const struct ab_param *p)
{
    static const char *const words[] = {"off", "on", "false", "true", "no", "yes", "0", "1"};
    if (p->type == AB_PARAM_CHOICE)
        return choice(w, s, p);
    if (p->type != AB_PARAM_BOOL)
        return number(w, s, p);
    for (unsigned i = 0; i < sizeof words / sizeof words[0]; i++)
        if (is_word(s, words[i]))
            return i & 1;
    refuse(w, s, "must be on or off");
}

static void set(struct ab_worker *w, const struct ab_backend *b, const struct setting *s)
{
    for (size_t i = 0; i < b->n_params; i++)
        if (strlen(b->params[i].name) == s->n_name &&
            strncmp(b->params[i].name, s->name, s->n_name) == 0) {
            w->block->request.values[i] = value_of(w, s, &b->params[i]);
            return;
        }
    refuse(w, s, b->n_params == 0 ? "the plug-in has no parameters"
                                  : "the plug-in has no such parameter");
}

void ab_worker_set_params(struct ab_worker *w, const struct ab_backend *b)
{
    for (size_t i = 0; i < b->n_params; i++)
        w->block->request.values[i] = b->params[i].def;
    for (const char *p = w->block->request.params; *p != 0;) {
        size_t n = 0, equals = 0;
        while (p[n] != 0 && p[n] != ':')
            n++;
        while (equals < n && p[equals] != '=')
            equals++;
        struct setting s = {p, p + equals + (equals < n), equals, n - equals - (equals < n)};
        set(w, b, &s);
        p += n + (p[n] == ':');
    }
}
