/* SPDX-License-Identifier: MIT
 *
 * What is wrong with a setting, with what would be right, and which settings need another.
 */
#include "backend/params.h"

#include "base/bits.h"
#include "base/nearest.h"
#include "base/param_read.h"
#include "base/units.h"
#include "core/text.h"
#include "core/units_show.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct setting { /* one NAME=VALUE */
    const struct ab_backend *backend;
    const struct ab_param *param;
    const char *value;
};

static void add_list(struct ab_text *t, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ab_text_addf(t, "%s%s", i == 0 ? "" : ", ", words[i]);
}

static enum ab_status fail_unknown(const struct ab_backend *b, const char *name, struct ab_err *err)
{
    const char *names[AB_PARAMS_MAX];
    char shown[128];
    for (size_t i = 0; i < b->n_params; i++)
        names[i] = b->params[i].name;
    const char *nearest = ab_text_nearest(name, names, b->n_params);
    struct ab_text list = {0};
    add_list(&list, names, b->n_params);
    ab_text_printable(shown, sizeof shown, name);
    enum ab_status status =
        b->n_params == 0
            ? ab_fail(err, AB_USAGE, "%s takes no parameters, but got \"%s\"", b->name, shown)
            : ab_fail(err, AB_USAGE, "%s has no parameter \"%s\"%s%s%s; parameters: %s", b->name,
                      shown, nearest != NULL ? "; did you mean \"" : "",
                      nearest != NULL ? nearest : "", nearest != NULL ? "\"?" : "",
                      list.s != NULL ? list.s : "");
    ab_text_fini(&list);
    return status;
}

static enum ab_status fail_value(const struct setting *s, const char *why, struct ab_err *err)
{
    return ab_fail(err, AB_USAGE, "%s:%s: \"%s\": %s", s->backend->name, s->param->name,
                   AB_SHOWN(128, s->value), why);
}

/* A bound is shown as it is: rounded, it would be another. */
static const char *show_bound(char *buf, size_t cap, enum ab_unit_kind kind, uint64_t bound)
{
    if (kind == AB_UNIT_BYTES)
        return ab_units_bytes(buf, cap, (double)bound);
    snprintf(buf, cap, "%llu", (unsigned long long)bound);
    return buf;
}

static enum ab_status fail_range(const struct setting *s, struct ab_err *err)
{
    enum ab_unit_kind kind = s->param->type == AB_PARAM_BYTES ? AB_UNIT_BYTES : AB_UNIT_COUNT;
    char why[128], least[32], most[32];
    snprintf(why, sizeof why, "%s%s to %s", ab_param_no_range,
             show_bound(least, sizeof least, kind, s->param->min),
             show_bound(most, sizeof most, kind, s->param->max));
    return fail_value(s, why, err);
}

static enum ab_status fail_choice(const struct setting *s, struct ab_err *err)
{
    size_t n = ab_param_count_choices(s->param);
    const char *nearest = ab_text_nearest(s->value, s->param->choices, n);
    struct ab_text why = {0};
    if (nearest != NULL)
        ab_text_addf(&why, "did you mean \"%s\"? ", nearest);
    ab_text_add(&why, ab_param_no_choice);
    add_list(&why, s->param->choices, n);
    enum ab_status status = fail_value(s, why.s != NULL ? why.s : "unknown value", err);
    ab_text_fini(&why);
    return status;
}

/* The first of `rest`, which is cut in place. */
static enum ab_status parse_setting(const struct ab_backend *b, char **rest, uint64_t *values,
                                    bool *is_set, struct ab_err *err)
{
    char *name, *value;
    if (!ab_param_cut(rest, &name, &value))
        return ab_fail(err, AB_USAGE, "%s: \"%s\" is not of the form NAME=VALUE", b->name,
                       AB_SHOWN(128, name));
    size_t i = ab_param_find(b, name);
    if (i == b->n_params)
        return fail_unknown(b, name, err);
    if (is_set[i])
        return ab_fail(err, AB_USAGE, "%s: %s is given twice", b->name, name);
    is_set[i] = true;
    struct setting s = {b, &b->params[i], value};
    const char *wrong = ab_param_read(s.param, value, &values[i]);
    return wrong == NULL                 ? AB_OK
           : wrong == ab_param_no_range  ? fail_range(&s, err)
           : wrong == ab_param_no_choice ? fail_choice(&s, err)
                                         : fail_value(&s, wrong, err);
}

/* Built-in settings that count only beside another: alone they would measure something else than
 * what their name says. */
static enum ab_status refuse_idle(const struct ab_backend *b, const uint64_t *values,
                                  struct ab_err *err)
{
    static const struct {
        const char *backend, *name, *needs, *choice;
    } rules[] = {
        {"pool", "shards", "threads", "sharded"},
        {"slab", "shards", "threads", "sharded"},
        {"paged", "block", "form", "arena"},
    };
    for (size_t i = 0; i < AB_ARRAY_LEN(rules); i++) {
        size_t at = ab_param_find(b, rules[i].name), needs = ab_param_find(b, rules[i].needs);
        if (strcmp(b->name, rules[i].backend) != 0 || at == b->n_params || needs == b->n_params ||
            values[at] == b->params[at].def)
            continue;
        const char *choice = b->params[needs].choices[values[needs]];
        if (strcmp(choice, rules[i].choice) != 0)
            return ab_fail(err, AB_USAGE, "%s:%s: has no effect with %s=%s, only with %s=%s",
                           b->name, rules[i].name, rules[i].needs, choice, rules[i].needs,
                           rules[i].choice);
    }
    return AB_OK;
}

enum ab_status ab_params_parse(const struct ab_backend *backend, const char *text,
                               uint64_t values[AB_PARAMS_MAX], struct ab_err *err)
{
    uint64_t made[AB_PARAMS_MAX] = {0};
    bool is_set[AB_PARAMS_MAX] = {false};
    char copy[1024];
    if (backend->n_params > AB_PARAMS_MAX)
        return ab_fail(err, AB_USAGE, "%s has %zu parameters, %d are allowed", backend->name,
                       backend->n_params, AB_PARAMS_MAX);
    if (strlen(text) >= sizeof copy)
        return ab_fail(err, AB_USAGE, "%s: parameters longer than %zu characters", backend->name,
                       sizeof copy - 1);
    strcpy(copy, text);
    for (size_t i = 0; i < backend->n_params; i++)
        made[i] = backend->params[i].def;
    for (char *rest = *text != 0 ? copy : NULL; rest != NULL;) {
        enum ab_status status = parse_setting(backend, &rest, made, is_set, err);
        if (status != AB_OK)
            return status;
    }
    AB_TRY(refuse_idle(backend, made, err));
    memcpy(values, made, sizeof made);
    return AB_OK;
}
