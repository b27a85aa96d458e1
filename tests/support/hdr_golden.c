/* SPDX-License-Identifier: MIT */
#include "support/hdr_golden.h"

#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Noreturn void die(const char *what, const char *detail)
{
    fprintf(stderr, "hdr_golden: %s: %s\n", what, detail);
    abort();
}

/* splitmix64 of i, of which 5 to 36 bits remain: all magnitudes alike, some above 60 s. */
static uint64_t recipe(uint64_t i)
{
    uint64_t z = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    return z >> 28 >> (z & 31);
}

void hdr_golden_fill(struct ab_hdr *h, const char *words)
{
    uint64_t n;
    ab_hdr_init(h);
    if (sscanf(words, " recipe %" SCNu64, &n) == 1) {
        for (uint64_t i = 0; i < n; i++)
            ab_hdr_record(h, recipe(i));
        return;
    }
    for (const char *p = words + strspn(words, " "); *p != 0; p += strspn(p, " ")) {
        char *end;
        uint64_t value = strtoull(p, &end, 10);
        uint64_t count = *end == 'x' ? strtoull(end + 1, &end, 10) : 1;
        if (end == p || count == 0)
            die("no value", p);
        /* Many at once: the first is recorded, the others join it. */
        ab_hdr_record(h, value);
        *(value > AB_HDR_HIGHEST ? &h->overflow : &h->counts[ab_hdr_index(value)]) += count - 1;
        p = end;
    }
}

static bool read_figure(struct hdr_golden *g, const char *line)
{
    if (sscanf(line, "overflow %" SCNu64, &g->overflow) == 1 ||
        sscanf(line, "total %" SCNu64, &g->total) == 1 ||
        sscanf(line, "min %" SCNu64, &g->min) == 1 || sscanf(line, "max %" SCNu64, &g->max) == 1)
        return true;
    int n = g->n_percentiles;
    if (n < HDR_GOLDEN_PERCENTILES &&
        sscanf(line, "percentile %lf %" SCNu64, &g->percentiles[n].percentile,
               &g->percentiles[n].value) == 2) {
        g->n_percentiles++;
        return true;
    }
    return sscanf(line, "mean %31s", g->mean) == 1 || sscanf(line, "stddev %31s", g->stddev) == 1;
}

static void load_one(const char *path, struct hdr_golden *g)
{
    FILE *f = fopen(path, "r");
    char *line = NULL;
    size_t cap = 0;
    if (f == NULL)
        die("cannot open", path);
    while (getline(&line, &cap, f) > 0) {
        line[strcspn(line, "\n")] = 0;
        if (strncmp(line, "input", 5) == 0)
            hdr_golden_fill(&g->hdr, line + 5);
        else if (strncmp(line, "base64 ", 7) == 0)
            g->base64 = strdup(line + 7);
        else if (line[0] != '#' && !read_figure(g, line))
            die("what is this line", line);
    }
    free(line);
    fclose(f);
    if (g->base64 == NULL || g->n_percentiles != HDR_GOLDEN_PERCENTILES || g->stddev[0] == 0)
        die("not complete", path);
}

struct hdr_golden *hdr_golden_load(size_t *n)
{
    glob_t found;
    if (glob("tests/golden/hdr/*.txt", 0, NULL, &found) != 0)
        die("run me from the top of the tree", "no tests/golden/hdr/*.txt");
    struct hdr_golden *golden = calloc(found.gl_pathc, sizeof *golden);
    if (golden == NULL)
        die("memory", "none");
    for (size_t i = 0; i < found.gl_pathc; i++)
        load_one(found.gl_pathv[i], &golden[i]);
    *n = found.gl_pathc;
    globfree(&found);
    return golden;
}

void hdr_golden_free(struct hdr_golden *golden, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(golden[i].base64);
    free(golden);
}
