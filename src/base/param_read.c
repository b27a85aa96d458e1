/* SPDX-License-Identifier: MIT
 *
 * Reads the values of settings by type, without malloc and stdio: bytes with units, choices by
 * name, numbers within a range.
 */
#include "base/param_read.h"

#include "base/bits.h"
#include "base/units.h"

#include <string.h>

const char ab_param_no_choice[] = "allowed: ", ab_param_no_range[] = "must be from ";

/* Ends `text` at the first character `at`, and returns the text after it; NULL if there is no such
 * character. */
static char *cut(char *text, char at)
{
    while (*text != 0 && *text != at)
        text++;
    if (*text == 0)
        return NULL;
    *text = 0;
    return text + 1;
}

bool ab_param_cut(char **rest, char **name, char **value)
{
    *name = *rest;
    *rest = cut(*name, ':');
    return **name != '=' && (*value = cut(*name, '=')) != NULL;
}

size_t ab_param_find(const struct ab_backend *backend, const char *name)
{
    size_t i = 0;
    while (i < backend->n_params && strcmp(backend->params[i].name, name) != 0)
        i++;
    return i;
}

size_t ab_param_count_choices(const struct ab_param *param)
{
    size_t n = 0;
    while (param->choices != NULL && param->choices[n] != NULL)
        n++;
    return n;
}

static const char *read_number(const struct ab_param *param, const char *value,
                               enum ab_unit_kind kind, uint64_t *out)
{
    struct ab_number number;
    const char *wrong = ab_units_parse(value, strlen(value), kind, &number);
    if (wrong != NULL)
        return wrong;
    if (number.whole < param->min || number.whole > param->max)
        return ab_param_no_range;
    *out = number.whole;
    return NULL;
}

/* Reads a value that must be one of words[0..n), and sets *out to the index of the word modulo
 * `values`. Returns NULL, or `wrong` if the value is another word. */
static const char *read_word(const char *value, const char *const *words, size_t n, size_t values,
                             const char *wrong, uint64_t *out)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(value, words[i]) == 0) {
            *out = i % values;
            return NULL;
        }
    return wrong;
}

const char *ab_param_read(const struct ab_param *param, const char *value, uint64_t *out)
{
    static const char *const bools[] = {"off", "on", "false", "true", "no", "yes", "0", "1"};
    size_t n = ab_param_count_choices(param);
    switch (param->type) {
    case AB_PARAM_BYTES:
        return read_number(param, value, AB_UNIT_BYTES, out);
    case AB_PARAM_COUNT:
        return read_number(param, value, AB_UNIT_COUNT, out);
    case AB_PARAM_BOOL:
        return read_word(value, bools, AB_ARRAY_LEN(bools), 2, "must be on or off", out);
    case AB_PARAM_CHOICE:
        return read_word(value, param->choices, n, n, ab_param_no_choice, out);
    }
    return "has a type unknown to this allocbench";
}
