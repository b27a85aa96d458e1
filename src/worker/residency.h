/* SPDX-License-Identifier: MIT
 *
 * Finds the pages of this process that are resident and private, page by page: the memory that
 * statm counts as resident − shared. Reads /proc/self/pagemap. Like statm, and unlike mincore,
 * pagemap leaves out the zero page, files and shared memory. Runs in the worker: no malloc, no
 * stdio.
 */
#ifndef AB_WORKER_RESIDENCY_H
#define AB_WORKER_RESIDENCY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ab_residency {
    int pagemap_fd, smaps_fd; /* descriptor of /proc/self/smaps; -1 = cannot be read */
    int tasks_fd;             /* descriptor of the folder of the process's threads */
    unsigned page_log2;
};
/* most pages that are read at once: 2 MiB in pages of 4 KiB */
enum { AB_RESIDENCY_PAGES_MAX = 512 };

/* Opens the files of /proc, which stay open as long as the worker runs. */
void ab_residency_open(struct ab_residency *r);

/* Sets is_there[i] for the `n` pages from page number `first` on. Returns false if they cannot be
 * read. */
bool ab_residency_read(const struct ab_residency *r, uint64_t first, uint32_t n, bool *is_there);

/* Runs of pages, ascending and disjoint. */
struct ab_page_run {
    uint64_t begin, end; /* numbers of the first page and of the page after the last */
};
struct ab_page_runs {
    struct ab_page_run *runs; /* memory that the caller provides */
    size_t n, cap;
};

/* Fills `runs` with all private pages that are resident now. Returns false if they cannot be read,
 * or if there are too many runs. */
bool ab_residency_snapshot(const struct ab_residency *r, struct ab_page_runs *out);
bool ab_page_runs_have(const struct ab_page_runs *runs, uint64_t page);
/* Returns how many pages of the runs are no longer resident; UINT64_MAX if this cannot be read. */
uint64_t ab_residency_lost(const struct ab_residency *r, const struct ab_page_runs *runs);

/* Reads how much private memory of this process is resident. Uses pread on descriptors that stay
 * open and parses by hand, because the worker may not call malloc or stdio. All memory of the
 * harness is shared, so private memory that came after the baseline belongs to the allocator. */

struct ab_footprint {
    int statm_fd, rollup_fd, status_fd, clear_fd; /* -1 = cannot be opened */
    uint64_t page_bytes;
};

void ab_footprint_open(struct ab_footprint *f);
void ab_footprint_close(struct ab_footprint *f);

/* Reads resident − shared, in bytes; takes 0.8 us. Returns false if it cannot be read. */
bool ab_footprint_read(const struct ab_footprint *f, uint64_t *private_bytes);

/* Memory that the kernel counts by a walk over the page tables: exact, whatever it does to its
 * counters. A reading takes 12 ms for each GiB. */
struct ab_footprint_detail {
    uint64_t private_bytes;
    uint64_t shmem_bytes, file_bytes, hugetlb_bytes, swap_bytes, lazyfree_bytes;
};
bool ab_footprint_read_detail(const struct ab_footprint *f, struct ab_footprint_detail *out);

/* Measures the error of ab_footprint_read by touching 256 new private pages, one by one. Returns
 * the most pages by which a reading was wrong; 0 = exact, UINT32_MAX = nothing can be read or
 * mapped. */
uint32_t ab_footprint_granularity(const struct ab_footprint *f);

/* The kernel's high-water mark of resident memory. It includes memory that is given back within one
 * call. */
struct ab_high_water {
    /* High-water mark minus the shared memory of now, because the mark includes shared memory. If
     * shared memory has only grown, this is a lower bound of the private memory at some time. */
    uint64_t private_bytes;
    /* now_bytes: private memory when the mark was read; shared_bytes: shared memory at that time */
    uint64_t now_bytes, shared_bytes;
};
/* Reads the mark, which is the highest since the last reset; takes 12 us. Returns false if it
 * cannot be read. */
bool ab_high_water_read(const struct ab_footprint *f, struct ab_high_water *out);
/* Resets the mark; takes 0.5 us. Returns false if it cannot be written. */
bool ab_high_water_reset(const struct ab_footprint *f);
/* Measures the error of the mark by giving back 1,024 pages, one by one. Returns the bytes by which
 * the mark of one CPU may be too high; UINT64_MAX if there is no mark that can be reset. */
uint64_t ab_high_water_excess(const struct ab_footprint *f);

#endif
