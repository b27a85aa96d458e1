/* SPDX-License-Identifier: MIT
 *
 * Which pages of this process are resident and private: what statm counts as resident − shared,
 * page by page. From /proc/self/pagemap, which leaves out what statm leaves out (the zero page,
 * files, shared memory) and mincore does not. Runs in the worker: no malloc, no stdio.
 */
#ifndef AB_WORKER_MEMORY_RESIDENCY_H
#define AB_WORKER_MEMORY_RESIDENCY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ab_residency {
    int pagemap_fd, smaps_fd; /* -1 = cannot be read */
    unsigned page_log2;
};
enum { AB_RESIDENCY_PAGES_MAX = 512 }; /* asked for at once: 2 MiB in pages of 4 KiB */

void ab_residency_open(struct ab_residency *r);
void ab_residency_close(struct ab_residency *r);

/* Of `n` pages from page number `first` on. False when it cannot be read. */
bool ab_residency_read(const struct ab_residency *r, uint64_t first, uint32_t n, bool *is_there);

/* Runs of pages, ascending, that do not meet. */
struct ab_page_run {
    uint64_t begin, end; /* page numbers */
};
struct ab_page_runs {
    struct ab_page_run *runs; /* of the caller */
    size_t n, cap;
};

/* All private pages that are resident now; false when they cannot be known or are too many runs. */
bool ab_residency_snapshot(const struct ab_residency *r, struct ab_page_runs *out);
uint64_t ab_page_runs_count(const struct ab_page_runs *runs);
bool ab_page_runs_have(const struct ab_page_runs *runs, uint64_t page);
/* How many of them are not resident any more; UINT64_MAX when it cannot be read. */
uint64_t ab_residency_lost(const struct ab_residency *r, const struct ab_page_runs *runs);

#endif
