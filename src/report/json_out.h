/* SPDX-License-Identifier: MIT
 *
 * Members of a document that is built whole before it is written: one that fails to be made makes
 * the whole fail, so that callers join the answers and ask once.
 */
#ifndef AB_REPORT_JSON_OUT_H
#define AB_REPORT_JSON_OUT_H

#include <jansson.h>
#include <stdbool.h>

/* Takes `value`, which may be NULL: then false, as when out of memory. */
bool ab_json_put(json_t *object, const char *key, json_t *value);
/* null for NULL and ""; what is no text becomes printable. */
json_t *ab_json_printable(const char *s);
bool ab_json_put_text(json_t *object, const char *key, const char *s);

#endif
