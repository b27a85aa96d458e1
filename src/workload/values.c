/* SPDX-License-Identifier: MIT
 *
 * Parses one scalar by recursive descent. Depth and number of arguments are limited, so that a
 * hostile scalar cannot exhaust the stack or the memory. Parsing ends at the first error, because a
 * scalar is short.
 */
#include "workload/values.h"

#include "base/nearest.h"
#include "core/alloc.h"
#include "core/text.h"
#include "workload/diag.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 16, MAX_ARGS = 10000, MAX_OPERATORS = 64 };

struct parser {
    const char *s;
    size_t n, i;
    const struct ab_params *params;
    enum ab_unit_kind unit;
    int depth, n_operators; /* n_operators: number of operators that became calls */
    struct ab_value_error *error;
};

static bool fail(struct parser *p, size_t offset, size_t n, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

static bool fail(struct parser *p, size_t offset, size_t n, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    p->error->offset = offset;
    p->error->n = n;
    vsnprintf(p->error->text, sizeof p->error->text, fmt, args);
    va_end(args);
    return false;
}

static char peek(const struct parser *p)
{
    return p->i < p->n ? p->s[p->i] : 0;
}

static void skip_blanks(struct parser *p)
{
    while (peek(p) == ' ' || peek(p) == '\t' || peek(p) == '\n')
        p->i++;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_word_char(char c)
{
    return is_letter(c) || is_digit(c) || c == '-' || c == '.';
}

/* Quotes n bytes of the scalar for a message. The text lives until the enclosing block ends. */
#define QUOTE(p, offset, n) AB_QUOTED((p)->s + (offset), n)

/* ---- numbers ---- */

/* Returns the end of the characters that were meant as one number: digits, dots, letters, and the
 * sign of an exponent. */
static size_t number_end(const struct parser *p)
{
    size_t i = p->i;
    for (; i < p->n; i++) {
        char c = p->s[i];
        bool is_sign = (c == '+' || c == '-') && i > p->i &&
                       (p->s[i - 1] == 'e' || p->s[i - 1] == 'E') && i + 1 < p->n &&
                       is_digit(p->s[i + 1]);
        if (!is_digit(c) && !is_letter(c) && c != '.' && !is_sign)
            break;
    }
    return i;
}

/* True if s[i] is a '%' that means percent. If an operand follows, the '%' is an operator. */
static bool is_percent_sign(const struct parser *p, size_t i)
{
    if (i >= p->n || p->s[i] != '%')
        return false;
    for (i++; i < p->n && p->s[i] == ' '; i++)
        ;
    return i >= p->n || p->s[i] == ',' || p->s[i] == ')' || p->s[i] == ':';
}

static bool parse_number(struct parser *p, struct ab_value *v)
{
    static const enum ab_unit_kind tries[] = {AB_UNIT_COUNT, AB_UNIT_BYTES, AB_UNIT_TIME,
                                              AB_UNIT_FRACTION};
    size_t start = p->i, end = number_end(p);
    bool is_percent = is_percent_sign(p, end);
    struct ab_number number;
    const char *bad = NULL;
    size_t k = is_percent ? 3 : 0;
    for (; k < 4; k++)
        if ((bad = ab_units_parse(p->s + start, end - start + is_percent, tries[k], &number)) ==
            NULL)
            break;
    if (k == 4) {
        bad = ab_units_parse(p->s + start, end - start, p->unit, &number);
        return fail(p, start, end - start, "'%s': %s", QUOTE(p, start, end - start),
                    bad != NULL ? bad : "number out of range");
    }
    p->i = end + is_percent;
    *v = (struct ab_value){.whole = number.whole,
                           .number = number.value,
                           .is_percent = is_percent,
                           .offset = start,
                           .n = p->i - start};
    v->kind = k == 3 ? AB_VALUE_FRACTION : k == 2 ? AB_VALUE_TIME : AB_VALUE_WHOLE;
    v->is_bytes = k == 1;
    if (v->kind == AB_VALUE_WHOLE)
        v->number = (double)v->whole;
    return true;
}

/* ---- parameters, words, quoted text ---- */

static bool parse_param(struct parser *p, struct ab_value *v)
{
    size_t start = p->i++;
    char name[65] = {0};
    const char *names[1000];
    while (is_letter(peek(p)) || is_digit(peek(p)))
        p->i++;
    size_t n = p->i - start - 1;
    if (n == 0)
        return fail(p, start, 1, "the name of a param must follow '$'");
    memcpy(name, p->s + start + 1, n < 64 ? n : 64);
    for (size_t i = 0; n <= 64 && i < p->params->n; i++) {
        if (strcmp(p->params->items[i].name, name) == 0) {
            *v = p->params->items[i].value;
            v->offset = start;
            v->n = n + 1;
            return true;
        }
    }
    size_t n_names = 0;
    for (; n_names < p->params->n && n_names < 1000; n_names++)
        names[n_names] = p->params->items[n_names].name;
    const char *near = ab_text_nearest(name, names, n_names);
    p->error->is_unknown_param = true;
    return fail(p, start, n + 1, "unknown param '%s'%s%s%s", QUOTE(p, start, n + 1),
                near != NULL ? "; did you mean '$" : "; it must be defined in 'params' above",
                near != NULL ? near : "", near != NULL ? "'?" : "");
}

static bool parse_quoted(struct parser *p, struct ab_value *v)
{
    size_t start = p->i;
    char mark = p->s[p->i++];
    while (p->i < p->n && p->s[p->i] != mark)
        p->i++;
    if (p->i >= p->n)
        return fail(p, start, p->n - start, "the closing %c is missing", mark);
    *v = (struct ab_value){.kind = AB_VALUE_TEXT,
                           .text = p->s + start + 1,
                           .n_text = p->i - start - 1,
                           .offset = start};
    p->i++;
    v->n = p->i - start;
    return true;
}

static bool parse_value(struct parser *p, struct ab_value *v);

static bool parse_arg(struct parser *p, struct ab_arg *arg)
{
    *arg = (struct ab_arg){0};
    skip_blanks(p);
    size_t start = p->i, end = p->i;
    while (end < p->n && (is_letter(p->s[end]) || (end > start && is_digit(p->s[end]))))
        end++;
    size_t equals = end;
    while (equals < p->n && p->s[equals] == ' ')
        equals++;
    if (end > start && equals < p->n && p->s[equals] == '=') {
        arg->name = p->s + start;
        arg->n_name = end - start;
        p->i = equals + 1;
    }
    if (!parse_value(p, &arg->first))
        return false;
    skip_blanks(p);
    if (peek(p) != ':')
        return true;
    p->i++;
    arg->is_pair = true;
    return parse_value(p, &arg->second);
}

/* Appends an argument to the call, which owns the argument's memory from then on, and returns
 * it. */
static struct ab_arg *push_arg(struct parser *p, struct ab_value *call)
{
    if (call->n_args >= MAX_ARGS) {
        fail(p, call->offset, p->i - call->offset, "more than %d arguments", MAX_ARGS);
        return NULL;
    }
    AB_GROW(call->args, call->cap_args, call->n_args);
    call->args[call->n_args] = (struct ab_arg){0};
    return &call->args[call->n_args++];
}

static bool parse_args(struct parser *p, struct ab_value *call)
{
    p->i++; /* the '(' */
    skip_blanks(p);
    if (peek(p) == ')') {
        p->i++;
        return true;
    }
    for (;;) {
        struct ab_arg *arg = push_arg(p, call);
        if (arg == NULL || !parse_arg(p, arg))
            return false;
        skip_blanks(p);
        char c = peek(p);
        if (c == ')') {
            p->i++;
            return true;
        }
        if (p->i >= p->n)
            return fail(p, call->offset, p->n - call->offset,
                        "the closing ')' is missing; inside "
                        "{ } a value that has commas needs quotes");
        if (c != ',')
            return fail(p, p->i, 1, "',' or ')' is needed here, found '%s'", QUOTE(p, p->i, 1));
        p->i++;
    }
}

/* ---- select ---- */

enum { MAX_SELECT = 8, SELECT_WORD_BYTES = 65 };

static bool fail_select(struct parser *p, const struct ab_value *call)
{
    return fail(p, call->offset, p->i - call->offset,
                "select needs a word and what up to %d words stand for, as in "
                "select($scale, small: 20, full: 1000)",
                MAX_SELECT);
}

/* Returns the index of the argument that the word in the first argument selects; 0 after an
 * error. */
static size_t find_selected(struct parser *p, const struct ab_value *call)
{
    char words[MAX_SELECT][SELECT_WORD_BYTES], wanted[SELECT_WORD_BYTES];
    const char *names[MAX_SELECT];
    const struct ab_value *word = &call->args[0].first;
    struct ab_text list = {0};
    size_t n = call->n_args - 1;
    AB_FIT(wanted, "%.*s", (int)word->n_text, word->text);
    for (size_t i = 0; i < n; i++) {
        const struct ab_value *v = &call->args[i + 1].first;
        AB_FIT(words[i], "%.*s", (int)v->n_text, v->text);
        names[i] = words[i];
        if (v->n_text == word->n_text && memcmp(v->text, word->text, v->n_text) == 0) {
            ab_text_fini(&list);
            return i + 1;
        }
        ab_text_addf(&list, "%s%s", i == 0 ? "" : ", ", words[i]);
    }
    const char *near = ab_text_nearest(wanted, names, n);
    fail(p, word->offset, word->n, "'%s' is not among the words %.150s%s%s%s", wanted, list.s,
         near != NULL ? "; did you mean '" : "", near != NULL ? near : "",
         near != NULL ? "'?" : "");
    ab_text_fini(&list);
    return 0;
}

/* Replaces a call of select() by the value that its word selects. */
static bool resolve_select(struct parser *p, struct ab_value *call)
{
    bool is_right = call->n_args >= 2 && call->n_args <= MAX_SELECT + 1 && !call->args[0].is_pair;
    for (size_t i = 0; is_right && i < call->n_args; i++)
        is_right = call->args[i].name == NULL && call->args[i].first.kind == AB_VALUE_WORD &&
                   call->args[i].is_pair == (i > 0);
    if (!is_right)
        return fail_select(p, call);
    size_t selected = find_selected(p, call);
    if (selected == 0)
        return false;
    struct ab_value result = call->args[selected].second;
    call->args[selected].second = (struct ab_value){0};
    result.offset = call->offset;
    ab_value_fini(call);
    *call = result;
    return true;
}

static bool parse_word(struct parser *p, struct ab_value *v)
{
    size_t start = p->i;
    while (is_word_char(peek(p)))
        p->i++;
    *v = (struct ab_value){
        .kind = AB_VALUE_WORD, .text = p->s + start, .n_text = p->i - start, .offset = start};
    bool ok = true;
    if (peek(p) == '(') {
        v->kind = AB_VALUE_CALL;
        ok = parse_args(p, v);
        if (ok && ab_value_is_call(v, "select"))
            ok = resolve_select(p, v);
    }
    v->n = p->i - start;
    return ok;
}

/* ---- arithmetic ---- */

static bool parse_sum(struct parser *p, struct ab_value *v);

static bool parse_group(struct parser *p, struct ab_value *v)
{
    size_t start = p->i++;
    if (!parse_sum(p, v))
        return false;
    skip_blanks(p);
    if (peek(p) != ')')
        return fail(p, start, p->n - start, "the closing ')' is missing");
    p->i++;
    v->offset = start;
    v->n = p->i - start;
    return true;
}

/* Returns the number of bytes of a sign and the operand after it. */
static size_t signed_length(const struct parser *p)
{
    size_t i = p->i + 1;
    while (i < p->n && (is_word_char(p->s[i]) && p->s[i] != '-'))
        i++;
    return i - p->i;
}

static bool parse_factor(struct parser *p, struct ab_value *v)
{
    skip_blanks(p);
    char c = peek(p);
    if (is_digit(c))
        return parse_number(p, v);
    if (c == '$')
        return parse_param(p, v);
    if (c == '(')
        return parse_group(p, v);
    if (c == '"' || c == '\'')
        return parse_quoted(p, v);
    if (is_letter(c))
        return parse_word(p, v);
    if (p->i >= p->n)
        return fail(p, p->i > 0 ? p->i - 1 : 0, 1,
                    p->i == 0 ? "empty; a value is needed" : "a value is missing at the end");
    if (c == '-' || c == '+')
        return fail(p, p->i, signed_length(p),
                    c == '-' ? "must not be negative" : "a number cannot begin with '+'");
    if (c == '.')
        return fail(p, p->i, 1, "digits are missing before the '.'");
    size_t n = 1;
    while (p->i + n < p->n && ((unsigned char)p->s[p->i + n] & 0xc0) == 0x80)
        n++;
    return fail(p, p->i, n, "a value is needed here, found '%s'", QUOTE(p, p->i, n));
}

/* Returns the name of the call that replaces `left op right` if a side is a word or a call: "sum",
 * "difference" or "product". Otherwise returns NULL. */
static const char *call_name(char op, const struct ab_value *left, const struct ab_value *right)
{
    bool is_open = false;
    const struct ab_value *sides[] = {left, right};
    for (size_t i = 0; i < 2; i++) {
        if (sides[i]->kind == AB_VALUE_TIME || sides[i]->kind == AB_VALUE_TEXT)
            return NULL;
        is_open = is_open || sides[i]->kind == AB_VALUE_WORD || sides[i]->kind == AB_VALUE_CALL;
    }
    return !is_open    ? NULL
           : op == '+' ? "sum"
           : op == '-' ? "difference"
           : op == '*' ? "product"
                       : NULL;
}

/* Makes *left a call of `name` with both values as arguments. The call takes over both values. */
static bool make_call(struct parser *p, const char *name, struct ab_value *left,
                      struct ab_value *right)
{
    struct ab_value call = {.kind = AB_VALUE_CALL,
                            .text = name,
                            .n_text = strlen(name),
                            .offset = left->offset,
                            .n = right->offset + right->n - left->offset};
    if (++p->n_operators > MAX_OPERATORS)
        return fail(p, call.offset, call.n, "more than %d operators", MAX_OPERATORS);
    push_arg(p, &call)->first = *left;
    push_arg(p, &call)->first = *right;
    *left = call;
    *right = (struct ab_value){0};
    return true;
}

/* Computes `left op right` into *left and checks for overflow. A size divided by a size is a count;
 * otherwise the unit is kept. */
static bool apply(struct parser *p, char op, struct ab_value *left, struct ab_value *right)
{
    size_t n = right->offset + right->n - left->offset;
    const char *name = call_name(op, left, right);
    if (name != NULL)
        return make_call(p, name, left, right);
    if (left->kind != AB_VALUE_WHOLE || right->kind != AB_VALUE_WHOLE) {
        bool is_left = left->kind != AB_VALUE_WHOLE && left->kind != AB_VALUE_WORD;
        const struct ab_value *odd = is_left || right->kind == AB_VALUE_WHOLE ? left : right;
        bool is_division = op == '/' || op == '%';
        return fail(p, odd->offset, odd->n, "%s is for whole numbers, found %s",
                    is_division ? "division" : "arithmetic", ab_value_kind_name(odd));
    }
    uint64_t result = 0;
    bool overflows = false, is_bytes = left->is_bytes || right->is_bytes;
    if ((op == '/' || op == '%') && right->whole == 0)
        return fail(p, right->offset, right->n, "division by zero");
    if (op == '+')
        overflows = __builtin_add_overflow(left->whole, right->whole, &result);
    else if (op == '*')
        overflows = __builtin_mul_overflow(left->whole, right->whole, &result);
    else if (op == '-' && left->whole < right->whole)
        return p->unit == AB_UNIT_BYTES
                   ? fail(p, left->offset, n,
                          "the difference is negative; a range of sizes is uniform(%s, %s)",
                          QUOTE(p, left->offset, left->n), QUOTE(p, right->offset, right->n))
                   : fail(p, left->offset, n, "the difference is negative");
    else if (op == '-')
        result = left->whole - right->whole;
    else if (op == '/') {
        result = left->whole / right->whole;
        is_bytes = left->is_bytes && !right->is_bytes;
    } else {
        result = left->whole % right->whole;
        is_bytes = left->is_bytes;
    }
    if (overflows || result >= UINT64_C(1) << 63)
        return fail(p, left->offset, n, "number out of range");
    *left = (struct ab_value){.kind = AB_VALUE_WHOLE,
                              .is_bytes = is_bytes,
                              .whole = result,
                              .number = (double)result,
                              .offset = left->offset,
                              .n = n};
    return true;
}

/* Parses operands and the operators of one level between them: level 1 has + and -, level 2 has *,
 * / and %. */
static bool parse_binary(struct parser *p, struct ab_value *v, int level)
{
    const char *ops = level == 1 ? "+-" : "*/%";
    if (!(level == 1 ? parse_binary(p, v, 2) : parse_factor(p, v)))
        return false;
    for (;;) {
        size_t before = p->i;
        skip_blanks(p);
        char op = peek(p);
        if (op == 0 || strchr(ops, op) == NULL) {
            p->i = before;
            return true;
        }
        p->i++;
        struct ab_value right = {0};
        bool ok = (level == 1 ? parse_binary(p, &right, 2) : parse_factor(p, &right)) &&
                  apply(p, op, v, &right);
        ab_value_fini(&right);
        if (!ok)
            return false;
    }
}

static bool parse_sum(struct parser *p, struct ab_value *v)
{
    if (p->depth >= MAX_DEPTH)
        return fail(p, p->i, 1, "nested more than %d levels deep", MAX_DEPTH);
    p->depth++;
    bool ok = parse_binary(p, v, 1);
    p->depth--;
    return ok;
}

static bool parse_value(struct parser *p, struct ab_value *v)
{
    skip_blanks(p);
    return parse_sum(p, v);
}

static bool parse_end(struct parser *p)
{
    skip_blanks(p);
    if (p->i >= p->n)
        return true;
    if (peek(p) == ',' && p->i > 0 && is_digit(p->s[p->i - 1]))
        return fail(p, p->i, 1, "',' in a number; decimals use '.', as in 0.5");
    return fail(p, p->i, p->n - p->i, "unexpected '%s' after value", QUOTE(p, p->i, p->n - p->i));
}

bool ab_value_parse(const char *text, const struct ab_params *params, enum ab_unit_kind unit,
                    struct ab_value *out, struct ab_value_error *error)
{
    static const struct ab_params no_params;
    *error = (struct ab_value_error){0};
    struct parser p = {.s = text,
                       .n = strlen(text),
                       .unit = unit,
                       .error = error,
                       .params = params != NULL ? params : &no_params};
    struct ab_value v = {0};
    if (!parse_value(&p, &v) || !parse_end(&p)) {
        ab_value_fini(&v);
        return false;
    }
    *out = v;
    return true;
}

void ab_value_fini(struct ab_value *value)
{
    for (size_t i = 0; i < value->n_args; i++) {
        ab_value_fini(&value->args[i].first);
        ab_value_fini(&value->args[i].second);
    }
    free(value->args);
    value->args = NULL;
    value->n_args = 0;
}

bool ab_value_is_word(const struct ab_value *value, const char *word)
{
    return value->kind == AB_VALUE_WORD && strlen(word) == value->n_text &&
           memcmp(value->text, word, value->n_text) == 0;
}

bool ab_value_is_call(const struct ab_value *value, const char *name)
{
    return value->kind == AB_VALUE_CALL && strcspn(name, "(") == value->n_text &&
           memcmp(value->text, name, value->n_text) == 0;
}

const char *ab_value_kind_name(const struct ab_value *value)
{
    switch (value->kind) {
    case AB_VALUE_WHOLE:
        return value->is_bytes ? "a size" : "a number";
    case AB_VALUE_FRACTION:
        return value->is_percent ? "a percentage" : "a decimal number";
    case AB_VALUE_TIME:
        return "a time";
    case AB_VALUE_TEXT:
        return "quoted text";
    case AB_VALUE_CALL:
        return "a call with arguments";
    default:
        return "a word";
    }
}
