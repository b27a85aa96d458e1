/* SPDX-License-Identifier: MIT
 *
 * Events of all kinds, of several threads that come and go, with times: what a trace can hold. The
 * records are the reference: what is read must be exactly them.
 */
#ifndef AB_TESTS_SUPPORT_TRACE_MIX_H
#define AB_TESTS_SUPPORT_TRACE_MIX_H

#include "trace/writer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How far apart the values are that a changed byte takes in turn: all 255, or under ASan, which is
 * five times as slow, some of them. */
#ifdef __SANITIZE_ADDRESS__
#define TEST_SWEEP_STEP 15
#else
#define TEST_SWEEP_STEP 1
#endif

struct test_mix {
    uint64_t seed;
    uint32_t n, threads; /* at once; those that end are followed by new ones */
    bool has_time, has_thread_ends;
    uint32_t chunk_events; /* 0 = the most */
};

/* n records, malloc'ed; `block` of those that give one is its number. */
struct ab_event *test_mix_records(const struct test_mix *mix);

/* The same in a file in memory, malloc'ed. */
uint8_t *test_mix_file(const struct test_mix *mix, const struct ab_event *records, size_t *bytes,
                       struct ab_trace_info *info);

#endif
