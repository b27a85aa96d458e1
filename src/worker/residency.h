/* SPDX-License-Identifier: MIT
 *
 * Which pages of this process are resident and private: what statm counts as resident − shared,
 * page by page. From /proc/self/pagemap, which leaves out what statm leaves out (the zero page,
 * files, shared memory) and mincore does not. Runs in the worker: no malloc, no stdio.
 */
#ifndef AB_WORKER_RESIDENCY_H
#define AB_WORKER_RESIDENCY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ab_residency {
    int pagemap_fd, smaps_fd; /* -1 = cannot be read */
    int tasks_fd;             /* of the folder of the process's threads */
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

/* How much private memory this process has resident. Read by pread on descriptors that are kept
 * open, parsed by hand: this runs in the worker, where nothing may call malloc or stdio.
 * All memory of the harness is shared, so what is private and came after the baseline belongs to
 * the allocator. */

struct ab_footprint {
    int statm_fd, rollup_fd, status_fd, clear_fd; /* -1 = cannot be read, or written */
    uint64_t page_bytes;
};

void ab_footprint_open(struct ab_footprint *f);
void ab_footprint_close(struct ab_footprint *f);

/* Resident − shared, in bytes; 0.8 us. False when it cannot be read. */
bool ab_footprint_read(const struct ab_footprint *f, uint64_t *private_bytes);

/* By walking the page tables: exact whatever the kernel does to its counters, but 12 ms a GiB. */
struct ab_footprint_detail {
    uint64_t private_bytes;
    uint64_t shmem_bytes, file_bytes, hugetlb_bytes, swap_bytes, lazyfree_bytes;
};
bool ab_footprint_read_detail(const struct ab_footprint *f, struct ab_footprint_detail *out);

/* Touches 256 new private pages one by one and watches ab_footprint_read follow: the most pages by
 * which it was off, 0 = exact; UINT32_MAX when nothing can be read or mapped. */
uint32_t ab_footprint_granularity(const struct ab_footprint *f);

/* The kernel's own high-water mark of resident memory, which sees what is given back within a call. */
struct ab_high_water {
    /* The high-water mark less today's shared memory, which the mark includes. If shared memory only grew,
     * this is a lower bound of the private memory at some moment. */
    uint64_t private_bytes;
    uint64_t now_bytes, shared_bytes; /* private and shared memory when it was read */
};
/* Since the last reset; 12 us. False when it cannot be read. */
bool ab_high_water_read(const struct ab_footprint *f, struct ab_high_water *out);
/* From now on; 0.5 us. False when it cannot be written. */
bool ab_high_water_reset(const struct ab_footprint *f);
/* Gives back 1,024 pages one by one and watches the mark follow: by so many bytes it may say too much
 * of what one CPU did. UINT64_MAX when there is no mark that can be reset. */
uint64_t ab_high_water_excess(const struct ab_footprint *f);

#endif
