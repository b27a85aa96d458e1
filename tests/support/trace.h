/* SPDX-License-Identifier: MIT
 *
 * Trace files for tests, in memory and on disk.
 */
#ifndef AB_TESTS_SUPPORT_TRACE_H
#define AB_TESTS_SUPPORT_TRACE_H

#include "trace/writer.h"

/* Writes a deterministic mix of n calls (allocs, zeroed, aligned, resizes, frees, some failed, some
 * resizes to 0) to a new file; returns the bytes, malloc'ed. */
uint8_t *test_trace_mixed(uint32_t n, size_t *bytes, struct ab_trace_info *info);

struct test_trace_kind {
    uint64_t seed;
    uint32_t threads, n;
    bool has_time; /* and, with threads, ends of threads */
};
/* The same by any seed, its calls dealt to some threads. */
uint8_t *test_trace_random(struct test_trace_kind kind, size_t *bytes, struct ab_trace_info *info);

/* A temporary file with these bytes; returns its path, to unlink and free. */
char *test_trace_file(const uint8_t *bytes, size_t n);

/* Reads the whole file; AB_OK and *n_events, or the error. */
enum ab_status test_trace_read(const char *path, uint64_t *n_events, struct ab_trace_info *info,
                               struct ab_err *err);

#endif
