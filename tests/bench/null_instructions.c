/* SPDX-License-Identifier: MIT
 *
 * Instructions per op of the harness itself: the null back end of both boundaries on one tape,
 * counted by callgrind, which is exact where clocks are noisy.
 *   usage: null_instructions WORKER FILE.abt|FILE.yaml      prints one line a boundary
 */
#include "runner/estimate.h"
#include "runner/run.h"
#include "runner/supervise.h"
#include "trace/reader.h"
#include "trace_tools/to_tape.h"
#include "workload/workload.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/allocbench-bench-XXXXXX";
static char wrapper[PATH_MAX], counts[PATH_MAX];

/* A stand-in for the worker that runs it under callgrind, counting inside the passes only. */
static bool make_wrapper(const char *worker)
{
    if (mkdtemp(folder) == NULL)
        return false;
    snprintf(wrapper, sizeof wrapper, "%s/worker", folder);
    snprintf(counts, sizeof counts, "%s/counts", folder);
    FILE *f = fopen(wrapper, "w");
    if (f == NULL)
        return false;
    fprintf(f,
            "#!/bin/sh\nexec valgrind -q --tool=callgrind --callgrind-out-file='%s' "
            "--toggle-collect='ab_pass_*' '%s'\n",
            counts, worker);
    return fclose(f) == 0 && chmod(wrapper, 0700) == 0;
}

static uint64_t read_count(void)
{
    char line[256];
    unsigned long long n = 0;
    FILE *f = fopen(counts, "r");
    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        if (sscanf(line, "totals: %llu", &n) == 1)
            break;
    if (f != NULL)
        fclose(f);
    return n;
}

static enum ab_status load(const char *path, struct ab_tape *tape, struct ab_err *err)
{
    size_t n = strlen(path);
    if (n > 5 && strcmp(path + n - 5, ".yaml") == 0) {
        struct ab_workload_options options = {0};
        struct ab_workload *w;
        char *messages = NULL;
        enum ab_status status = ab_workload_load(path, &options, &w, &messages, err);
        if (status != AB_OK)
            return status;
        status = ab_workload_compile(w, tape, err);
        ab_workload_free(w);
        return status;
    }
    struct ab_trace_tape_options options = {.touch = AB_TOUCH_PAGE};
    struct ab_trace_info info;
    return ab_trace_to_tape(path, &options, tape, &info, err);
}

static uint64_t count_requests(const struct ab_tape_map *map)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < map->image->n_phases; i++)
        for (unsigned k = 0; k < AB_OP_KIND_COUNT; k++)
            n += map->phases[i].n_ops[k];
    return n;
}

static enum ab_status count_boundary(const struct ab_run_context *context,
                                     enum ab_boundary boundary, struct ab_err *err)
{
    struct ab_rng rng;
    struct ab_outcome out;
    struct ab_case c = {.source = boundary == AB_BOUNDARY_MALLOC ? AB_SOURCE_NULL
                                                                 : AB_SOURCE_BUILTIN,
                        .boundary = boundary,
                        .builtin = "null"};
    ab_rng_init(&rng, 1, 1);
    enum ab_status status = ab_run(context, &c, AB_PASS_THROUGHPUT, &rng, &out, err);
    if (status != AB_OK)
        return status;
    if (out.status != AB_BACKEND_OK)
        status = ab_fail(err, AB_BACKEND, "%s", out.reason);
    else
        printf("%.2f instructions an op at the %s boundary\n",
               (double)read_count() / (double)count_requests(context->tape),
               boundary == AB_BOUNDARY_MALLOC ? "malloc" : "heap");
    ab_outcome_fini(&out);
    return status;
}

int main(int argc, char **argv)
{
    struct ab_err err = {0};
    struct ab_tape tape = {0};
    struct ab_tape_map map = {0};
    if (argc != 3 || !make_wrapper(argv[1])) {
        fprintf(stderr, "usage: null_instructions WORKER FILE.abt|FILE.yaml\n");
        return 2;
    }
    enum ab_status status = load(argv[2], &tape, &err);
    if (status == AB_OK)
        status = ab_tape_map_open(&tape, &map, &err);
    struct ab_run_context context = {
        .tape = &map, .worker_path = wrapper, .memory_limit_bytes = ab_default_memory_limit()};
    ab_clock_calibrate(&context.clock);
    ab_supervise_begin();
    if (status == AB_OK)
        status = count_boundary(&context, AB_BOUNDARY_MALLOC, &err);
    if (status == AB_OK)
        status = count_boundary(&context, AB_BOUNDARY_HEAP, &err);
    if (status != AB_OK)
        fprintf(stderr, "null_instructions: %s\n", err.text);
    unlink(wrapper);
    unlink(counts);
    rmdir(folder);
    return ab_status_exit_code(status);
}
