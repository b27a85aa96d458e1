/* SPDX-License-Identifier: MIT
 *
 * The one small grammar of every scalar:
 *
 *     value   := sum | word | "text" | word ( arg, arg … )
 *     arg     := [word =] value [: value]
 *     sum     := product (+|- product)…      product := factor (*|/|% factor)…
 *     factor  := number[unit] | number% | $param | ( sum ) | select( word, word: value … )
 *
 * Arithmetic is on whole numbers and checked; sizes keep their unit through it, so that 4KiB/16
 * is a size and 1MiB/4KiB a count. + - * beside a word or a call become calls of sum, difference and
 * product: what they mean is for those to say who know the word. No locale, no strtod.
 */
#ifndef AB_WORKLOAD_VALUES_H
#define AB_WORKLOAD_VALUES_H

#include "base/units.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ab_value_kind {
    AB_VALUE_WHOLE,    /* whole; is_bytes when a size unit was in it */
    AB_VALUE_FRACTION, /* 0.25 or 25% */
    AB_VALUE_TIME,     /* whole, in ns */
    AB_VALUE_WORD,     /* text: all, shuffled, the name of a size … */
    AB_VALUE_TEXT,     /* text that stood in quotes */
    AB_VALUE_CALL,     /* text(args) */
};

struct ab_arg;

struct ab_value {
    enum ab_value_kind kind;
    bool is_bytes, is_percent;
    uint64_t whole;
    double number;    /* of WHOLE and FRACTION */
    const char *text; /* into the scalar (or a param's text), n_text bytes, not terminated */
    size_t n_text;
    struct ab_arg *args; /* owned */
    size_t n_args, cap_args;
    size_t offset, n; /* the bytes of the scalar that it was read from */
};

struct ab_arg {
    const char *name; /* NULL when positional */
    size_t n_name;
    bool is_pair; /* first:second */
    struct ab_value first, second;
};

/* `$name` stands for one of these: any value but a call. */
struct ab_param_value {
    char name[65];
    char *text; /* owned */
    char *list; /* owned; all values as written, "100,1000"; NULL = there is one */
    size_t n_values;
    struct ab_value value; /* the one of the combination that is read */
};

struct ab_params {
    struct ab_param_value *items;
    size_t n;
};

struct ab_value_error {
    size_t offset, n; /* the bytes that are wrong */
    bool is_unknown_param;
    char text[300];
};

/* Reads all of text. `unit` only chooses the words of errors about numbers. On failure *error
 * says why, and *out is untouched. */
bool ab_value_parse(const char *text, const struct ab_params *params, enum ab_unit_kind unit,
                    struct ab_value *out, struct ab_value_error *error);
void ab_value_fini(struct ab_value *value);

/* Is it this word? */
bool ab_value_is_word(const struct ab_value *value, const char *word);
/* Is it a call of this name? What follows a '(' in `name` does not count. */
bool ab_value_is_call(const struct ab_value *value, const char *name);
/* "a size", "a fraction", … for messages. */
const char *ab_value_kind_name(const struct ab_value *value);

#endif
