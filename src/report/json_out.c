/* SPDX-License-Identifier: MIT
 *
 * Puts members into JSON objects, with text made printable.
 */
#include "report/json_out.h"

#include "core/text.h"

bool ab_json_put(json_t *object, const char *key, json_t *value)
{
    return value != NULL && json_object_set_new(object, key, value) == 0;
}

json_t *ab_json_printable(const char *s)
{
    char printable[3 * 4096];
    if (s == NULL || s[0] == 0)
        return json_null();
    return json_string(ab_text_printable(printable, sizeof printable, s));
}

bool ab_json_put_text(json_t *object, const char *key, const char *s)
{
    return ab_json_put(object, key, ab_json_printable(s));
}
