/* SPDX-License-Identifier: MIT
 *
 * Collects the facts of `list backends` for both its forms, and writes the JSON one.
 */
#ifndef AB_CLI_LIST_BACKENDS_JSON_H
#define AB_CLI_LIST_BACKENDS_JSON_H

#include "backend/selection.h"

#include <stdio.h>

struct ab_listing {
    struct ab_selection_list presets[32]; /* each of one item, in the order of presets.def */
};

/* The optional hooks, by the names of their ops where they have one; NULL past the end. */
struct ab_hook {
    const char *name;
    size_t offset; /* in struct ab_backend */
};
const struct ab_hook *ab_list_hook(size_t i);
bool ab_list_has_hook(const struct ab_backend *b, const struct ab_hook *hook);

struct ab_trait_words {
    uint64_t trait;          /* enum ab_trait */
    const char *name, *text; /* in JSON, in prose */
};
extern const struct ab_trait_words ab_list_traits[]; /* name NULL: the end */

/* "64KiB", "on", "auto": exact, and as -b reads it. Returns buf. */
const char *ab_list_value(char *buf, size_t cap, const struct ab_param *p, uint64_t value);
/* "0 to 1TiB", "on, off", "auto, mutex". Returns buf. */
const char *ab_list_allowed(char *buf, size_t cap, const struct ab_param *p);

void ab_list_json(FILE *to, const struct ab_listing *listing);

#endif
