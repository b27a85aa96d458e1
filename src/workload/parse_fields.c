/* SPDX-License-Identifier: MIT
 *
 * Reads single values and checks them against the limits of their fields, which the grammar of
 * values does not know. All error messages have one form: what is required, and what was found.
 */
#include "core/text.h"
#include "workload/parse.h"

#include "base/bits.h"
#include "base/nearest.h"
#include "core/units_show.h"
#include "tape/tape.h"

#include <stdio.h>
#include <string.h>

enum { DURATION_LEAST_NS = 1000 };

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
    if (!map->has_bad_key) /* the missing key may be the misspelt one, which was reported already */
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

/* Describes a value for a message, as in "'$n' = 12": its text, its result if the text is an
 * expression, and its kind if the text does not show it. */
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
    AB_FIT(min, "%llu", (unsigned long long)range.min);
    AB_FIT(max, "%llu", (unsigned long long)range.max);
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

static bool read_number(const struct ab_reader *r, const struct ab_yaml_field *f,
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
    const char *shown = AB_QUOTED(f->text, n);
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

const char *ab_suggest(char *buf, const char *word, const char *const *names, size_t n,
                       const char *otherwise)
{
    const char *near = ab_text_nearest(word, names, n);
    snprintf(buf, AB_SUGGESTION_BYTES, near != NULL ? "; did you mean '%s'?" : "%s",
             near != NULL ? near : otherwise);
    return buf;
}

/* Reports a value that is not one of the words or calls of a table. Lists them all and suggests the
 * most similar one. */
static bool refuse_choice(const struct ab_reader *r, const struct ab_yaml_field *f,
                          const struct ab_value *v, const struct ab_word *words, size_t n)
{
    bool is_named = v->kind == AB_VALUE_WORD || v->kind == AB_VALUE_CALL;
    char list[400] = "", word[200] = "", found[300], heads[32][24];
    const char *names[32], *near = NULL;
    size_t n_names = 0, shown[32];
    for (size_t i = 0; i < n && n_names < AB_ARRAY_LEN(names); i++) {
        ab_text_join(list, sizeof list, ", ", words[i].text);
        snprintf(heads[n_names], sizeof heads[0], "%.*s", (int)strcspn(words[i].text, "("),
                 words[i].text);
        names[n_names] = heads[n_names];
        shown[n_names++] = i;
    }
    describe(f, v, found, sizeof found);
    if (is_named)
        near = ab_text_nearest(ab_diag_quote(word, sizeof word, v->text, v->n_text), names,
                               n_names);
    for (size_t i = 0; near != NULL && i < n_names; i++)
        if (near == names[i])
            return AB_REFUSE_VALUE(r, f, v, "'%s' must be one of %s; found %s; did you mean '%s'?",
                                   f->node->key, list, found, words[shown[i]].text);
    return AB_REFUSE_VALUE(r, f, v, "'%s' must be one of %s; found %s", f->node->key, list, found);
}

bool ab_field_choose(const struct ab_reader *r, const struct ab_yaml_field *f,
                     const struct ab_value *v, const struct ab_word *words, size_t n, unsigned *out)
{
    bool is_call = v->kind == AB_VALUE_CALL;
    for (size_t i = 0; i < n && (is_call || v->kind == AB_VALUE_WORD); i++) {
        size_t bytes = strcspn(words[i].text, "(");
        if (bytes != v->n_text || memcmp(v->text, words[i].text, bytes) != 0)
            continue;
        if (is_call != (words[i].text[bytes] == '('))
            return AB_REFUSE_VALUE(r, f, v, "'%s' is written %s", f->node->key, words[i].text);
        *out = words[i].value;
        return true;
    }
    return refuse_choice(r, f, v, words, n);
}

bool ab_field_duration(const struct ab_reader *r, const struct ab_yaml_field *f,
                       const struct ab_value *v, uint64_t *ns)
{
    char found[300];
    describe(f, v, found, sizeof found);
    if (v->kind != AB_VALUE_TIME || v->whole < DURATION_LEAST_NS || v->whole > AB_TIME_MAX_NS)
        return AB_REFUSE_VALUE(
            r, f, v, "'%s' must be a time from 1us to %llu days, such as 30s; found %s",
            f->node->key, (unsigned long long)(AB_TIME_MAX_NS / AB_DAY_NS), found);
    *ns = v->whole;
    return true;
}

/* ---- values whose type is in the table of keys ---- */

static bool read_word(const struct ab_reader *r, const struct ab_yaml_field *f,
                      const struct ab_key_type *type, uint64_t *out)
{
    struct ab_value v;
    unsigned value = 0;
    if (!ab_field_value(r, f, AB_UNIT_COUNT, &v))
        return false;
    bool ok = ab_field_choose(r, f, &v, type->words, type->n_words, &value);
    ab_value_fini(&v);
    *out = ok ? value : *out;
    return ok;
}

static bool read_real(const struct ab_reader *r, const struct ab_yaml_field *f,
                      const struct ab_key_type *type, double *out)
{
    struct ab_value v;
    if (!ab_field_value(r, f, AB_UNIT_FRACTION, &v))
        return false;
    bool ok = ab_field_real(r, f, f->node->key, &v, (double)type->least, (double)type->most, out);
    ab_value_fini(&v);
    return ok;
}

static bool read_bool(const struct ab_reader *r, const struct ab_yaml_field *f, uint64_t *out)
{
    bool is_true = strcmp(f->text, "true") == 0;
    if (!is_true && strcmp(f->text, "false") != 0)
        return AB_REFUSE_FIELD(r, f, "'%s' must be true or false, found '%s'", f->node->key,
                               AB_QUOTED(f->text, strlen(f->text)));
    *out = is_true;
    return true;
}

/* Reads a number, a word or a bool into *out. If the key is absent, leaves *out unchanged. */
static bool read_value(const struct ab_reader *r, const struct ab_yaml_field *f,
                       const struct ab_key_type *type, uint64_t *out)
{
    bool is_size = type->kind == AB_KEY_BYTES;
    struct ab_limits range = {is_size ? AB_UNIT_BYTES : AB_UNIT_COUNT, type->least, type->most};
    if (f->text == NULL)
        return true;
    if (type->kind == AB_KEY_BOOL)
        return read_bool(r, f, out);
    return is_size || type->kind == AB_KEY_COUNT ? read_number(r, f, range, out)
                                                 : read_word(r, f, type, out);
}

bool ab_read_key(const struct ab_reader *r, const struct ab_key *key, const struct ab_node *map,
                 const void *raw, void *record)
{
    const struct ab_key_type *type = &key->type;
    const char *text = *(char *const *)((const char *)raw + key->raw_at);
    struct ab_yaml_field f = ab_field_of(r, map, key->name, text);
    char *to = (char *)record + type->at;
    if (type->kind == AB_KEY_SPECIAL)
        return true;
    if (type->kind == AB_KEY_NAME)
        return ab_field_name(r, &f, to);
    if (type->kind == AB_KEY_REAL)
        return f.text == NULL || read_real(r, &f, type, (double *)(void *)to);
    uint64_t value = type->absent;
    bool ok = read_value(r, &f, type, &value);
    uint32_t narrow = (uint32_t)value;
    bool is_true = value != 0;
    memcpy(to,
           type->bytes == sizeof is_true  ? (const void *)&is_true
           : type->bytes == sizeof narrow ? (const void *)&narrow
                                          : (const void *)&value,
           type->bytes);
    return ok;
}

bool ab_read_keys(const struct ab_reader *r, enum ab_block_id id, const struct ab_node *map,
                  const void *raw, void *record)
{
    bool ok = true;
    for (size_t i = 0; i < ab_blocks[id].n_keys; i++)
        if (ab_blocks[id].keys[i].shape == AB_SHAPE_TEXT)
            ok = ab_read_key(r, &ab_blocks[id].keys[i], map, raw, record) && ok;
    return ok;
}
