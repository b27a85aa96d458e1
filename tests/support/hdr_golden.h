/* SPDX-License-Identifier: MIT
 *
 * The golden histograms of tests/golden/hdr: what was recorded, and what HdrHistogram for Java
 * says about it. A file has comments, one "input" line and the lines that HdrPrint.java printed.
 */
#ifndef AB_TESTS_HDR_GOLDEN_H
#define AB_TESTS_HDR_GOLDEN_H

#include "result/hdr.h"

enum { HDR_GOLDEN_PERCENTILES = 13 };

struct hdr_golden {
    struct ab_hdr hdr; /* recorded here, from the input line */
    char *base64;
    uint64_t overflow, total, min, max;
    char mean[32], stddev[32]; /* as printed, three decimals */
    struct {
        double percentile;
        uint64_t value;
    } percentiles[HDR_GOLDEN_PERCENTILES];
    int n_percentiles;
};

/* Clears h, then records what the words behind "input" say: "recipe N" or "V VxCOUNT …". */
void hdr_golden_fill(struct ab_hdr *h, const char *words);

/* Loads every golden file: *n of them, freed by hdr_golden_free. Any fault fails the test. */
struct hdr_golden *hdr_golden_load(size_t *n);
void hdr_golden_free(struct hdr_golden *golden, size_t n);

#endif
