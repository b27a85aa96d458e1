/* SPDX-License-Identifier: MIT
 *
 * Reads settings of a back end, NAME=VALUE:NAME=VALUE, by the table that the back end declares. The
 * parent reads those of built-ins. The worker reads those of plug-ins, because only the worker
 * loads them. Each words its own error messages.
 */
#ifndef AB_BASE_PARAM_READ_H
#define AB_BASE_PARAM_READ_H

#include "allocators/ab_backend.h"

#include <stdbool.h>

/* Cuts the first setting off *rest, in place; *rest becomes NULL after the last one. Returns false
 * if the setting is not NAME=VALUE; *name is then its whole text. */
bool ab_param_cut(char **rest, char **name, char **value);

/* Returns the index of the parameter `name` in the back end's table; n_params if it has none. */
size_t ab_param_find(const struct ab_backend *backend, const char *name);
size_t ab_param_count_choices(const struct ab_param *param);

/* Reads a value by the type of its parameter. Returns NULL, or the end of an error sentence; *out
 * is then untouched. To ab_param_no_choice and ab_param_no_range the caller adds the allowed
 * values. */
const char *ab_param_read(const struct ab_param *param, const char *value, uint64_t *out);
extern const char ab_param_no_choice[], ab_param_no_range[];

#endif
