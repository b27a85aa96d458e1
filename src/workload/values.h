/* SPDX-License-Identifier: MIT
 *
 * The grammar of all scalars in workload files:
 *
 *     value   := sum | word | "text" | word ( arg, arg … )
 *     arg     := [word =] value [: value]
 *     sum     := product (+|- product)…      product := factor (*|/|% factor)…
 *     factor  := number[unit] | number% | $param | ( sum ) | select( word, word: value … )
 *
 * Arithmetic is on whole numbers and checked for overflow. Sizes keep their unit: 4KiB/16 is a size
 * and 1MiB/4KiB a count. If an operand of + - * is a word or a call, the operator becomes a call of
 * sum, difference or product, which the reader of the field interprets. Parsing does not depend on
 * the locale.
 */
#ifndef AB_WORKLOAD_VALUES_H
#define AB_WORKLOAD_VALUES_H

#include "base/units.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ab_value_kind {
    AB_VALUE_WHOLE,    /* `whole` is the value; is_bytes = it has a unit of size */
    AB_VALUE_FRACTION, /* 0.25 or 25% */
    AB_VALUE_TIME,     /* `whole` is the value in ns */
    AB_VALUE_WORD,     /* `text` is a word: all, shuffled, the name of a size … */
    AB_VALUE_TEXT,     /* `text` is the text between the quotes */
    AB_VALUE_CALL,     /* `text` is the name of the call; `args` are its arguments */
};

struct ab_arg;

struct ab_value {
    enum ab_value_kind kind;
    bool is_bytes, is_percent;
    uint64_t whole;
    double number;    /* value of WHOLE and FRACTION as a real number */
    const char *text; /* n_text bytes inside the scalar or a parameter's text, not NUL-terminated */
    size_t n_text;
    struct ab_arg *args; /* owned */
    size_t n_args, cap_args;
    size_t offset, n; /* range of bytes in the scalar that the value was read from */
};

struct ab_arg {
    const char *name; /* NULL if the argument has no name */
    size_t n_name;
    bool is_pair; /* True if the argument has the form first:second */
    struct ab_value first, second;
};

/* A parameter, which `$name` refers to. Its value is anything except a call. */
struct ab_param_value {
    char name[65];
    char *text; /* owned */
    char *list; /* owned; all values as written, "100,1000"; NULL if there is a single value */
    size_t n_values;
    struct ab_value value; /* the value in the current combination */
};

struct ab_params {
    struct ab_param_value *items;
    size_t n;
};

struct ab_value_error {
    size_t offset, n; /* range of the wrong bytes in the scalar */
    bool is_unknown_param;
    char text[300];
};

/* Parses `text` as a whole. `unit` is the expected unit, which only changes the wording of error
 * messages. On failure fills *error and leaves *out unchanged. */
bool ab_value_parse(const char *text, const struct ab_params *params, enum ab_unit_kind unit,
                    struct ab_value *out, struct ab_value_error *error);
void ab_value_fini(struct ab_value *value);

/* True if the value is the word `word`. */
bool ab_value_is_word(const struct ab_value *value, const char *word);
/* True if the value is a call of `name`. `name` may be a pattern such as "ops(n)": the '(' and what
 * follows are ignored. */
bool ab_value_is_call(const struct ab_value *value, const char *name);
/* Returns the kind of the value for messages: "a size", "a fraction", …. */
const char *ab_value_kind_name(const struct ab_value *value);

#endif
