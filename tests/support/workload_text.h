/* SPDX-License-Identifier: MIT
 *
 * Workloads out of string literals, for unit tests: written to a file, loaded, compiled.
 */
#ifndef AB_TESTS_SUPPORT_WORKLOAD_TEXT_H
#define AB_TESTS_SUPPORT_WORKLOAD_TEXT_H

#include "workload/workload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Loads n bytes; *messages is NULL unless there were errors. */
static inline struct ab_workload *load_bytes(const char *text, size_t n,
                                             const struct ab_workload_options *options,
                                             char **messages)
{
    char path[] = "/tmp/ab-workload-XXXXXX";
    int fd = mkstemp(path);
    struct ab_workload *w = NULL;
    struct ab_err err;
    *messages = NULL;
    if (fd < 0 || write(fd, text, n) != (ssize_t)n)
        abort();
    close(fd);
    ab_workload_load(path, options, &w, messages, &err);
    unlink(path);
    return w;
}

static inline struct ab_workload *load_text(const char *text)
{
    char *messages;
    struct ab_workload *w = load_bytes(text, strlen(text), NULL, &messages);
    if (messages != NULL)
        fprintf(stderr, "%s", messages);
    free(messages);
    return w;
}

/* Head of most test workloads: one set of 10 positions, one measured phase named run. */
#define WORKLOAD_HEAD \
    "allocbench: 1\nname: test\nsets: [{name: s, count: 10}, {name: region, kind: region}]\n" \
    "phases:\n  - name: run\n"

/* Compiles the phase behind WORKLOAD_HEAD. */
static inline enum ab_status compile_phase(const char *phase, struct ab_tape *tape,
                                           struct ab_err *err)
{
    char text[4096];
    snprintf(text, sizeof text, WORKLOAD_HEAD "%s", phase);
    struct ab_workload *w = load_text(text);
    if (w == NULL)
        abort();
    enum ab_status status = ab_workload_compile(w, tape, err);
    ab_workload_free(w);
    return status;
}

#endif
