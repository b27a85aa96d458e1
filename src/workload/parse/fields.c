/* SPDX-License-Identifier: MIT
 *
 * One sentence for each mistake, in one form: what must be there, what was found instead. The
 * grammar knows nothing of meaning; here a value meets what the field wants.
 */
#include "workload/parse/fields.h"

#include "base/bits.h"
#include "base/nearest.h"
#include "core/units_show.h"

#include <stdio.h>
#include <string.h>

struct ab_yaml_field ab_field_of(const struct ab_reader *r, const struct ab_node *map,
                                 const char *key, const char *text)
{
    const struct ab_node *node = ab_tree_get(r->tree, map, key);
    return (struct ab_yaml_field){node, node != NULL ? text : NULL};
}

bool ab_field_fail(const struct ab_reader *r, const struct ab_yaml_field *f, size_t offset,
                   size_t n, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    ab_diag_vadd(r->diag, ab_node_place(f->node, offset, n), fmt, args);
    va_end(args);
    return false;
}

bool ab_field_missing(const struct ab_reader *r, const struct ab_node *map, const char *key,
                      const char *what)
{
    if (!map->has_bad_key) /* a misspelt key is complained about already */
        ab_diag_add(r->diag, map->at, "'%s' is missing in %s", key, what);
    return false;
}

bool ab_field_value(const struct ab_reader *r, const struct ab_yaml_field *f,
                    enum ab_unit_kind unit, struct ab_value *value)
{
    struct ab_value_error error;
    if (ab_value_parse(f->text, &r->w->params, unit, value, &error))
        return true;
    if (error.is_unknown_param && r->has_nameless_param)
        return false;
    return AB_REFUSE_VALUE(r, f, &error, "'%s': %s", f->node->key, error.text);
}

/* "'$n' = 12": the text of a value, what kind it is where that says more than the text, and what
 * it comes to when that is not the same. */
static void describe(const struct ab_yaml_field *f, const struct ab_value *v, char *buf, size_t cap)
{
    char shown[200];
    size_t n = strlen(f->text);
    size_t offset = v->offset < n ? v->offset : n;
    bool is_named = v->kind == AB_VALUE_WORD || v->kind == AB_VALUE_CALL;
    ab_diag_quote(shown, sizeof shown, f->text + offset, v->n < n - offset ? v->n : n - offset);
    if (v->kind == AB_VALUE_WHOLE && strpbrk(shown, "$+-*/%") != NULL)
        snprintf(buf, cap, "'%s' = %llu", shown, (unsigned long long)v->whole);
    else if (v->kind == AB_VALUE_WHOLE || (is_named && shown[0] != '$'))
        snprintf(buf, cap, "'%s'", shown);
    else
        snprintf(buf, cap, "%s '%s'", ab_value_kind_name(v), shown);
}

static void describe_range(struct ab_limits range, char *buf, size_t cap)
{
    char min[32], max[32];
    const char *what = range.unit == AB_UNIT_BYTES ? "a size" : "a whole number";
    snprintf(min, sizeof min, "%llu", (unsigned long long)range.min);
    snprintf(max, sizeof max, "%llu", (unsigned long long)range.max);
    if (range.unit == AB_UNIT_BYTES) {
        ab_units_exact(min, sizeof min, range.min, "");
        ab_units_exact(max, sizeof max, range.max, "");
    }
    if (range.max >= UINT64_C(1) << 62)
        snprintf(buf, cap, "%s, at least %s", what, min);
    else
        snprintf(buf, cap, "%s from %s to %s", what, min, max);
}

bool ab_field_whole(const struct ab_reader *r, const struct ab_yaml_field *f, const char *what,
                    const struct ab_value *v, struct ab_limits range, uint64_t *out)
{
    char found[300], allowed[120];
    describe_range(range, allowed, sizeof allowed);
    describe(f, v, found, sizeof found);
    if (v->kind != AB_VALUE_WHOLE || v->whole < range.min || v->whole > range.max)
        return AB_REFUSE_VALUE(r, f, v, "'%s' must be %s, found %s", what, allowed, found);
    if (v->is_bytes && range.unit == AB_UNIT_COUNT)
        return AB_REFUSE_VALUE(r, f, v, "'%s' must be %s, found a size, %s", what, allowed, found);
    *out = v->whole;
    return true;
}

const char *ab_print_real(char *buf, size_t cap, double x)
{
    uint64_t whole = (uint64_t)x, millionths = (uint64_t)((x - (double)whole) * 1e6 + 0.5);
    if (millionths >= 1000000) {
        whole++;
        millionths = 0;
    }
    int n = snprintf(buf, cap, "%llu.%06llu", (unsigned long long)whole,
                     (unsigned long long)millionths);
    while (n > 0 && buf[n - 1] == '0')
        buf[--n] = 0;
    if (n > 0 && buf[n - 1] == '.')
        buf[n - 1] = 0;
    return buf;
}

bool ab_field_real(const struct ab_reader *r, const struct ab_yaml_field *f, const char *what,
                   const struct ab_value *v, double min, double max, double *out)
{
    char found[300], low[40], high[40];
    bool is_number = (v->kind == AB_VALUE_WHOLE && !v->is_bytes) || v->kind == AB_VALUE_FRACTION;
    if (is_number && v->number >= min && v->number <= max) {
        *out = v->number;
        return true;
    }
    describe(f, v, found, sizeof found);
    return AB_REFUSE_VALUE(r, f, v, "'%s' must be a number from %s to %s, found %s", what,
                           ab_print_real(low, sizeof low, min),
                           ab_print_real(high, sizeof high, max), found);
}

bool ab_field_number(const struct ab_reader *r, const struct ab_yaml_field *f,
                     struct ab_limits range, uint64_t *out)
{
    struct ab_value v;
    if (f->text == NULL)
        return true;
    if (!ab_field_value(r, f, range.unit, &v))
        return false;
    bool ok = ab_field_whole(r, f, f->node->key, &v, range, out);
    ab_value_fini(&v);
    return ok;
}

static bool is_alnum(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool ab_field_name(const struct ab_reader *r, const struct ab_yaml_field *f,
                   char out[AB_NAME_MAX + 1])
{
    if (f->text == NULL)
        return true;
    size_t n = strlen(f->text), i = 0;
    while (i < n && (is_alnum(f->text[i]) || strchr("._-", f->text[i]) != NULL))
        i++;
    char shown[200];
    ab_diag_quote(shown, sizeof shown, f->text, n);
    if (n == 0 || n > AB_NAME_MAX)
        return ab_field_fail(r, f, 0, n, "a name has 1 to %d characters, found %zu", AB_NAME_MAX,
                             n);
    if (i < n)
        return ab_field_fail(
            r, f, i, 1, "a name may contain letters, digits, '.', '_' and '-', found '%s'", shown);
    if (!is_alnum(f->text[0]) && f->text[0] != '_')
        return ab_field_fail(r, f, 0, n,
                             "a name must begin with a letter, a digit or '_', found '%s'", shown);
    memcpy(out, f->text, n + 1);
    return true;
}

bool ab_field_bool(const struct ab_reader *r, const struct ab_yaml_field *f, bool *out)
{
    if (f->text == NULL)
        return true;
    if (strcmp(f->text, "true") != 0 && strcmp(f->text, "false") != 0) {
        return AB_REFUSE_FIELD(r, f, "'%s' must be true or false, found '%s'", f->node->key,
                               AB_QUOTED(f->text, strlen(f->text)));
    }
    *out = f->text[0] == 't';
    return true;
}

bool ab_field_word(const struct ab_reader *r, const struct ab_yaml_field *f,
                   const char *const *words, const char *const *later, unsigned *index)
{
    struct ab_value v;
    if (f->text == NULL)
        return true;
    if (!ab_field_value(r, f, AB_UNIT_COUNT, &v))
        return false;
    unsigned i = 0;
    while (words[i] != NULL && !ab_value_is_word(&v, words[i]))
        i++;
    if (words[i] != NULL)
        *index = i;
    else
        ab_field_not_in(r, f, &v, words, later);
    ab_value_fini(&v);
    return words[i] != NULL;
}

bool ab_field_argument(const struct ab_reader *r, const struct ab_yaml_field *f,
                       const struct ab_value *call, struct ab_limits range, uint64_t *out)
{
    char name[32];
    ab_diag_quote(name, sizeof name, call->text, call->n_text);
    if (call->n_args != 1 || call->args[0].name != NULL || call->args[0].is_pair)
        return AB_REFUSE_VALUE(r, f, call, "%s takes one argument, as in %s(%s)", name, name,
                               range.unit == AB_UNIT_BYTES ? "64MiB" : "100");
    return ab_field_whole(r, f, name, &call->args[0].first, range, out);
}

/* Is value the word or call that an entry such as "ops(n)" or "all" stands for? */
static bool is_entry(const struct ab_value *v, const char *entry)
{
    size_t n = strcspn(entry, "(");
    return n == v->n_text && memcmp(v->text, entry, n) == 0;
}

static const char *nearest_entry(const char *word, const char *const *allowed)
{
    const char *words[32];
    char heads[32][24];
    size_t n = 0;
    for (; allowed[n] != NULL && n < AB_ARRAY_LEN(words); n++) {
        snprintf(heads[n], sizeof heads[n], "%.*s", (int)strcspn(allowed[n], "("), allowed[n]);
        words[n] = heads[n];
    }
    const char *near = ab_text_nearest(word, words, n);
    for (size_t i = 0; i < n; i++)
        if (near == words[i])
            return allowed[i];
    return NULL;
}

bool ab_field_not_in(const struct ab_reader *r, const struct ab_yaml_field *f,
                     const struct ab_value *v, const char *const *allowed, const char *const *later)
{
    const char *key = f->node->key;
    bool is_named = v->kind == AB_VALUE_WORD || v->kind == AB_VALUE_CALL;
    char list[400] = "", word[200] = "", found[300];
    for (size_t i = 0; is_named && later != NULL && later[i] != NULL; i++)
        if (is_entry(v, later[i]))
            return AB_REFUSE_VALUE(r, f, v, "'%s' of '%s' is not supported by this version",
                                   later[i], key);
    for (size_t i = 0; allowed[i] != NULL; i++) {
        if (is_named && is_entry(v, allowed[i])) /* right word, wrong form */
            return AB_REFUSE_VALUE(r, f, v, "'%s' is written %s", key, allowed[i]);
        ab_text_join(list, sizeof list, ", ", allowed[i]);
    }
    describe(f, v, found, sizeof found);
    if (is_named)
        ab_diag_quote(word, sizeof word, v->text, v->n_text);
    const char *near = is_named ? nearest_entry(word, allowed) : NULL;
    return AB_REFUSE_VALUE(r, f, v, "'%s' must be one of %s; found %s%s%s%s", key, list, found,
                           near != NULL ? "; did you mean '" : "", near != NULL ? near : "",
                           near != NULL ? "'?" : "");
}
