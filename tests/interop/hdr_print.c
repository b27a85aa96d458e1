/* SPDX-License-Identifier: MIT
 *
 * Our side of scripts/interop-hdr. Each line of standard input describes a histogram:
 *   input recipe N       the first N values of the recipe in tests/support/hdr_golden.c
 *   input V VxCOUNT …    these values
 *   input decode BASE64  what our decoder makes of another tool's text
 * and is answered by a block of lines in the layout of tests/golden/hdr. HdrPrint.java and
 * hdr_print.js do the same with the libraries that we want to agree with.
 */
#include "support/hdr_golden.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct ab_hdr hdr;

static int fill(const char *what, struct ab_err *err)
{
    ab_hdr_init(&hdr);
    if (strncmp(what, "decode ", 7) == 0)
        return ab_hdr_decode(what + 7, &hdr, err) == AB_OK;
    hdr_golden_fill(&hdr, what);
    return 1;
}

static int print(struct ab_err *err)
{
    static const char *const percentiles[] = {"0",  "1",  "5",    "10",    "25",     "50", "75",
                                              "90", "99", "99.9", "99.99", "99.999", "100"};
    char *text;
    if (ab_hdr_encode(&hdr, &text, err) != AB_OK)
        return 0;
    uint64_t total = ab_hdr_total(&hdr);
    printf("base64 %s\noverflow %" PRIu64 "\ntotal %" PRIu64 "\n", text, hdr.overflow, total);
    printf("min %" PRIu64 "\n", total == 0 ? 0 : ab_hdr_low(ab_hdr_index(hdr.min)));
    printf("max %" PRIu64 "\n", total == 0 ? 0 : ab_hdr_high(ab_hdr_index(hdr.max)));
    for (size_t i = 0; i < sizeof percentiles / sizeof percentiles[0]; i++)
        printf("percentile %s %" PRIu64 "\n", percentiles[i],
               ab_hdr_quantile(&hdr, atof(percentiles[i]) / 100));
    printf("mean %.3f\n", total == 0 ? 0 : ab_hdr_mean(&hdr));
    printf("stddev %.3f\n", total == 0 ? 0 : ab_hdr_stddev(&hdr));
    free(text);
    return 1;
}

int main(void)
{
    struct ab_err err;
    char *line = NULL;
    size_t cap = 0;
    int good = 1;
    while (good && getline(&line, &cap, stdin) > 0) {
        line[strcspn(line, "\n")] = 0;
        if (strncmp(line, "input", 5) != 0)
            continue;
        const char *what = line + 5 + strspn(line + 5, " ");
        printf("input%s%.*s\n", *what == 0 ? "" : " ", strncmp(what, "decode", 6) ? 4096 : 6, what);
        good = fill(what, &err) && print(&err);
        if (!good)
            fprintf(stderr, "hdr_print: %s\n", err.text);
    }
    free(line);
    return good ? 0 : 1;
}
