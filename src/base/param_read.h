/* SPDX-License-Identifier: MIT
 *
 * Settings of a back end, NAME=VALUE:NAME=VALUE, by the table that it declares. The parent reads
 * those of built-ins, the worker those of plug-ins, which it alone loads; each says in its own way
 * what is wrong.
 */
#ifndef AB_BASE_PARAM_READ_H
#define AB_BASE_PARAM_READ_H

#include "allocators/ab_backend.h"

#include <stdbool.h>

/* Cuts the first setting off *rest, in place; *rest is NULL when it was the last. False: no
 * NAME=VALUE; *name is then all that is there. */
bool ab_param_cut(char **rest, char **name, char **value);

/* Index in the table; n_params = it has none of that name. */
size_t ab_param_find(const struct ab_backend *backend, const char *name);
size_t ab_param_count_choices(const struct ab_param *param);

/* Reads a value by its type: NULL, or what is wrong as the end of a sentence, *out untouched. The
 * two texts by name lack what is allowed, which the caller adds. */
const char *ab_param_read(const struct ab_param *param, const char *value, uint64_t *out);
extern const char ab_param_no_choice[], ab_param_no_range[];

#endif
