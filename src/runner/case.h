/* SPDX-License-Identifier: MIT
 *
 * One back end with its settings, ready to be run.
 */
#ifndef AB_RUNNER_CASE_H
#define AB_RUNNER_CASE_H

#include "runner/route.h"
#include "wire/run.h"

struct ab_case {
    enum ab_source source;
    enum ab_boundary boundary;
    const char *path;    /* library or plug-in; NULL else */
    uint64_t dev, ino;   /* of path */
    const char *builtin; /* name; NULL else */
    uint64_t values[AB_PARAMS_MAX];
    const char *prefix, *params; /* as in struct ab_run_request; NULL = "" */
    enum ab_decorator decorator;
    const struct ab_route *route;      /* of AB_BOUNDARY_ROUTED: which heaps; else NULL */
    const struct ab_route *null_route; /* the same with heaps that do nothing */
    uint64_t fault_n;                  /* of AB_DECORATOR_FAULT */
    const char *env[9];                /* "VARIABLE=VALUE" for the worker, ends with NULL */
};

#endif
