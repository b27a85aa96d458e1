/* SPDX-License-Identifier: MIT
 *
 * Parses one entry of -b: [OWN=]NAME:PARAM=VALUE:…{VARIABLE=VALUE;VARIABLE=VALUE}. In OWN and NAME
 * a backslash escapes the next character, so that a path may contain any of , : { } = and \ itself.
 */
#ifndef AB_BACKEND_SETTINGS_H
#define AB_BACKEND_SETTINGS_H

#include "allocators/ab_backend.h"
#include "backend/selection.h"
#include "base/limits.h"
#include "core/status.h"

struct ab_spelling { /* parts of an entry: pointers into its text, which is cut; "" = absent */
    char *own;       /* name that the user gives to the row */
    char *name, *params, *env;
};

/* Returns the comma that ends the first entry of a list; NULL = none. Skips commas in braces or
 * after a backslash. */
char *ab_settings_comma(char *text);

enum ab_status ab_settings_split(char *text, struct ab_spelling *out, struct ab_err *err);

/* Parses "A=b;C=d" into s->env. Refuses variables that begin with LD_, because they would change
 * which libraries are loaded. */
enum ab_status ab_settings_env(const char *text, struct ab_selection *s, struct ab_err *err);

/* True if "VARIABLE=VALUE" cannot make an allocator read or write a file. Only such variables may
 * be set by workloads and stored results, because these may come from strangers. */
bool ab_settings_is_harmless(const char *setting);

/* Parses the settings of a library into *s: "prefix=mi_", with or without "init=FUNCTION", or else
 * parameters, which the worker checks. */
enum ab_status ab_settings_library(const char *params, struct ab_selection *s, struct ab_err *err);

/* Sets all values of a built-in allocator: first the defaults, then the values in `text`,
 * "reserve=1GiB:commit=64KiB"; "" = no settings. On failure leaves `values` unchanged. */
enum ab_status ab_params_parse(const struct ab_backend *backend, const char *text,
                               uint64_t values[AB_PARAMS_MAX], struct ab_err *err);

#endif
