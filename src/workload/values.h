/* SPDX-License-Identifier: MIT
 *
 * The grammar of all scalars in workload files:
 *
 *     value   := sum | word | "text" | word ( arg, arg … )
 *     arg     := [word =] value [: value]
 *     sum     := product (+|- product)…      product := factor (*|/|% factor)…
 *     factor  := number[unit] | number% | $param | ( sum ) | select( word, word: value … )
 *
 * Arithmetic is checked and on whole numbers. Sizes keep their unit: 4KiB/16 is a size and
 * 1MiB/4KiB a count. + - * beside a word or a call become calls of sum, difference and product,
 * which the reader of the word interprets. No locale, no strtod.
 */
#ifndef AB_WORKLOAD_VALUES_H
#define AB_WORKLOAD_VALUES_H

#include "base/units.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ab_value_kind {
    AB_VALUE_WHOLE,    /* whole; is_bytes if it has a size unit */
    AB_VALUE_FRACTION, /* 0.25 or 25% */
    AB_VALUE_TIME,     /* whole, in ns */
    AB_VALUE_WORD,     /* text: all, shuffled, the name of a size … */
    AB_VALUE_TEXT,     /* quoted text */
    AB_VALUE_CALL,     /* text(args) */
};

struct ab_arg;

struct ab_value {
    enum ab_value_kind kind;
    bool is_bytes, is_percent;
    uint64_t whole;
    double number;    /* of WHOLE and FRACTION */
    const char *text; /* in the scalar (or a parameter's text), n_text bytes, not terminated */
    size_t n_text;
    struct ab_arg *args; /* owned */
    size_t n_args, cap_args;
    size_t offset, n; /* bytes of the scalar that it was read from */
};

struct ab_arg {
    const char *name; /* NULL when positional */
    size_t n_name;
    bool is_pair; /* first:second */
    struct ab_value first, second;
};

/* The value of `$name`: any value except a call. */
struct ab_param_value {
    char name[65];
    char *text; /* owned */
    char *list; /* owned; all values as written, "100,1000"; NULL = a single value */
    size_t n_values;
    struct ab_value value; /* the value in the current combination */
};

struct ab_params {
    struct ab_param_value *items;
    size_t n;
};

struct ab_value_error {
    size_t offset, n; /* the wrong bytes */
    bool is_unknown_param;
    char text[300];
};

/* Parses all of `text`. `unit` only affects the words of errors about numbers. On failure fills
 * *error and leaves *out unchanged. */
bool ab_value_parse(const char *text, const struct ab_params *params, enum ab_unit_kind unit,
                    struct ab_value *out, struct ab_value_error *error);
void ab_value_fini(struct ab_value *value);

/* True if the value is this word. */
bool ab_value_is_word(const struct ab_value *value, const char *word);
/* True if the value is a call of this name. A '(' in `name` and the text after it are ignored. */
bool ab_value_is_call(const struct ab_value *value, const char *name);
/* Returns "a size", "a fraction", … for messages. */
const char *ab_value_kind_name(const struct ab_value *value);

#endif
