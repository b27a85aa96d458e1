/* SPDX-License-Identifier: MIT
 *
 * libFuzzer entry: any bytes as a workload. Loading must end in a workload or in messages, with
 * no other trace; small workloads are compiled too.
 *
 *     clang -fsanitize=fuzzer,address,undefined … tests/fuzz/fuzz_workload.c liballocbench.a …
 *     fuzz_workload tests/golden/workloads/good tests/golden/workloads/bad
 * tests: parse_dist.c parse_fields.c parse.c parse_verb.c parse_schema.c
 */
#include "workload/workload.h"

#include "workload/generate/generate.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

enum { MAX_OPS = 100000, MAX_POSITIONS = 1000000 };

/* Is it known to be small? `until` other than iters and nested loops may still be large: the
 * fuzzer's own time limit finds what should not be. */
static bool is_small(const struct ab_workload *w)
{
    uint64_t positions = 0;
    for (size_t i = 0; i < w->n_sets; i++)
        positions += (uint64_t)w->sets[i].count * (w->sets[i].end_lane - w->sets[i].first_lane);
    for (size_t i = 0; i < w->n_phases; i++)
        if (w->phases[i].until != AB_UNTIL_ITERS || w->phases[i].limit > 100 ||
            w->phases[i].repeat > 10)
            return false;
    return positions < MAX_POSITIONS && ab_estimate_ops(w) < MAX_OPS;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char path[64], *messages = NULL;
    struct ab_workload *w = NULL;
    struct ab_tape tape;
    struct ab_err err;
    int fd = memfd_create("workload", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, n) != (ssize_t)n)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    enum ab_status status = ab_workload_load(path, NULL, &w, &messages, &err);
    if ((status == AB_OK) != (w != NULL) || (status == AB_CONFIG) != (messages != NULL))
        abort();
    if (w != NULL && is_small(w) && ab_workload_compile(w, &tape, &err) == AB_OK)
        ab_tape_fini(&tape);
    ab_workload_free(w);
    free(messages);
    close(fd);
    return 0;
}
