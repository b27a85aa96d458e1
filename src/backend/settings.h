/* SPDX-License-Identifier: MIT
 *
 * What -b says, taken apart: [OWN=]NAME:PARAM=VALUE:…{VARIABLE=VALUE;VARIABLE=VALUE}. In OWN and NAME a
 * backslash takes the next character as it is, so that a path may hold any of , : { } = and \ itself.
 */
#ifndef AB_BACKEND_SETTINGS_H
#define AB_BACKEND_SETTINGS_H

#include "allocators/ab_backend.h"
#include "backend/selection.h"
#include "base/limits.h"
#include "core/status.h"

struct ab_spelling { /* parts of the text, which is cut up; "" = not there */
    char *own;       /* the name that it is given */
    char *name, *params, *env;
};

/* The comma that ends the first entry of a list: one outside of braces, without a backslash. NULL =
 * there is none. */
char *ab_settings_comma(char *text);

enum ab_status ab_settings_split(char *text, struct ab_spelling *out, struct ab_err *err);

/* "A=b;C=d" to s->env. Variables that would change what is loaded are refused. */
enum ab_status ab_settings_env(const char *text, struct ab_selection *s, struct ab_err *err);

/* True if the setting, "VARIABLE=VALUE", is on the list of those that cannot make an allocator read or
 * write a file. Workloads and stored results may come from anywhere, so they may set these alone. */
bool ab_settings_is_harmless(const char *setting);

/* What follows a library: "prefix=mi_", with "init=FUNCTION" or without, or parameters for the worker to check. */
enum ab_status ab_settings_library(const char *params, struct ab_selection *s, struct ab_err *err);

/* What follows a malloc library otherwise: "purge=10s" alone or nothing; of the C library "trim=10s" is
 * the same. */
enum ab_status ab_settings_purge(const char *params, bool is_libc, struct ab_selection *s,
                                 struct ab_err *err);

/* Settings of a built-in back end as the command line gives them: "reserve=1GiB:commit=64KiB". */

/* Sets all values of the back end: defaults, then what `text` ("" = nothing) says. */
enum ab_status ab_params_parse(const struct ab_backend *backend, const char *text,
                               uint64_t values[AB_PARAMS_MAX], struct ab_err *err);

#endif
