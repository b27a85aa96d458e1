/* SPDX-License-Identifier: MIT
 *
 * How much private memory this process has resident. Read by pread on descriptors that are kept
 * open, parsed by hand: this runs in the worker, where nothing may call malloc or stdio.
 * All memory of the harness is shared, so what is private and came after the baseline belongs to
 * the allocator.
 */
#ifndef AB_WORKER_MEMORY_FOOTPRINT_H
#define AB_WORKER_MEMORY_FOOTPRINT_H

#include <stdbool.h>
#include <stdint.h>

struct ab_footprint {
    int statm_fd, rollup_fd, status_fd; /* -1 = cannot be read */
    uint64_t page_bytes;
};

void ab_footprint_open(struct ab_footprint *f);
void ab_footprint_close(struct ab_footprint *f);

/* Resident − shared, in bytes; 0.8 us. False when it cannot be read. */
bool ab_footprint_read(const struct ab_footprint *f, uint64_t *private_bytes);

/* By walking the page tables: exact whatever the kernel does to its counters, but 12 ms a GiB. */
struct ab_footprint_detail {
    uint64_t private_bytes;
    uint64_t shmem_bytes, file_bytes, hugetlb_bytes, swap_bytes;
};
bool ab_footprint_read_detail(const struct ab_footprint *f, struct ab_footprint_detail *out);

/* Touches 256 new private pages one by one and watches ab_footprint_read follow: the most pages by
 * which it was off, 0 = exact; UINT32_MAX when nothing can be read or mapped. */
uint32_t ab_footprint_granularity(const struct ab_footprint *f);

/* A descriptor for reading, beyond those that an allocator may close; -1 when it cannot be. */
int ab_footprint_open_high(const char *path);

#endif
