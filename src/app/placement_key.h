/* SPDX-License-Identifier: MIT
 *
 * The key of a rule: what it asks of a request.
 */
#ifndef AB_APP_PLACEMENT_KEY_H
#define AB_APP_PLACEMENT_KEY_H

#include "app/placement.h"

/* Reads "size:1-64&scope" into the rule `out->n_rules`, patterns of call sites into the list of the
 * placement. `where` begins messages. AB_USAGE. */
enum ab_status ab_placement_read_key(const char *key, const struct ab_placement_terms *terms,
                                     const char *where, struct ab_placement *out,
                                     struct ab_err *err);
/* Does the rule `out->n_rules` ask for nothing, or for what another one asks for? */
bool ab_placement_is_rest(const struct ab_placement *p);
bool ab_placement_is_twice(const struct ab_placement *p);

/* Without what is blank at both ends. */
char *ab_placement_trim(char *s);

#endif
