/* SPDX-License-Identifier: MIT
 *
 * How every JSON document is written: what becomes of text and of numbers.
 */
#include "report/json.h"

#include "core/memory.h"
#include "core/text.h"
#include "result/hdr.h"
#include "result/session.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void ab_json_take_memory(void)
{
    json_set_alloc_funcs(ab_alloc, free);
}

void ab_json_put(json_t *object, const char *key, json_t *value)
{
    json_object_set_new(object, key, value);
}

void ab_json_append(json_t *array, json_t *value)
{
    json_array_append_new(array, value);
}

json_t *ab_json_string(const char *s)
{
    if (s == NULL || *s == 0)
        return json_null();
    json_t *value = json_string(s);
    if (value != NULL)
        return value;
    size_t cap = 4 * strlen(s) + 1;
    char *printable = ab_alloc(cap);
    value = json_string(ab_text_printable(printable, cap, s));
    free(printable);
    return value;
}

json_t *ab_json_integer(uint64_t n)
{
    return n <= INT64_MAX ? json_integer((json_int_t)n) : json_null();
}

json_t *ab_json_real(double x)
{
    x = ab_number_settle(x); /* 21.0000000000001 is written as 21, hence a whole number */
    if (!isfinite(x))
        return json_null();
    if (fabs(x) < 0x1p53 && x == nearbyint(x))
        return json_integer((json_int_t)x);
    return json_real(x);
}

json_t *ab_json_histogram(const struct ab_hdr *hdr)
{
    char *encoded = NULL;
    struct ab_err err;
    if (ab_hdr_encode(hdr, &encoded, &err) != AB_OK)
        return json_null();
    json_t *value = json_string(encoded);
    free(encoded);
    return value;
}

void ab_json_write(json_t *document, FILE *to, unsigned digits)
{
    json_dumpf(document, to, JSON_INDENT(2) | JSON_REAL_PRECISION(digits));
    fputc('\n', to);
    json_decref(document);
}
