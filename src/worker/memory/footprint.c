/* SPDX-License-Identifier: MIT
 *
 * Reads statm, smaps_rollup and status of this process, by hand and without malloc.
 */
#include "worker/memory/footprint.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PROBE_PAGES = 256, TEXT_BYTES = 4096, FD_HIGH = 200 };

/* Far up: there are allocators that close the low descriptors whosoever they are. */
int ab_footprint_open_high(const char *path)
{
    int low = open(path, O_RDONLY | O_CLOEXEC);
    int high = low < 0 ? -1 : fcntl(low, F_DUPFD_CLOEXEC, FD_HIGH);
    if (high < 0)
        return low;
    close(low);
    return high;
}

/* One reader; on the stack they would be the footprint of whoever reads first. */
static char rollup_text[TEXT_BYTES], status_text[TEXT_BYTES];

void ab_footprint_open(struct ab_footprint *f)
{
    f->statm_fd = ab_footprint_open_high("/proc/self/statm");
    f->rollup_fd = ab_footprint_open_high("/proc/self/smaps_rollup");
    f->status_fd = ab_footprint_open_high("/proc/self/status");
    f->page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
    struct ab_footprint_detail once; /* what reading itself needs is resident from here on */
    ab_footprint_read_detail(f, &once);
}

static void shut(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

void ab_footprint_close(struct ab_footprint *f)
{
    shut(&f->statm_fd);
    shut(&f->rollup_fd);
    shut(&f->status_fd);
}

/* A decimal number at *s, moving after it and the blank before it; false when there is none. */
static bool read_number(const char **s, uint64_t *out)
{
    const char *p = *s;
    uint64_t n = 0;
    while (*p == ' ' || *p == '\t')
        p++;
    if (*p < '0' || *p > '9')
        return false;
    for (; *p >= '0' && *p <= '9'; p++)
        n = n * 10 + (uint64_t)(*p - '0');
    *s = p;
    *out = n;
    return true;
}

/* Another file may have taken the number of a descriptor that an allocator closed: seven numbers
 * in a line of their own, or it is no statm. */
bool ab_footprint_read(const struct ab_footprint *f, uint64_t *private_bytes)
{
    char text[160];
    uint64_t x[7];
    ssize_t n = f->statm_fd < 0 ? -1 : pread(f->statm_fd, text, sizeof text - 1, 0);
    if (n <= 0)
        return false;
    text[n] = 0;
    const char *s = text;
    for (int i = 0; i < 7; i++)
        if (!read_number(&s, &x[i]))
            return false;
    if (*s != '\n' || s[1] != 0 || x[1] < x[2])
        return false;
    *private_bytes = (x[1] - x[2]) * f->page_bytes;
    return true;
}

/* Bytes of the line "KEY:   123 kB"; a line that this kernel does not have is 0. */
static uint64_t find_kib(const char *text, const char *key)
{
    size_t n = strlen(key);
    uint64_t kib = 0;
    for (const char *line = text; *line != 0; line++) {
        if (strncmp(line, key, n) == 0 && line[n] == ':') {
            line += n + 1;
            return read_number(&line, &kib) ? kib * 1024 : 0;
        }
        while (*line != 0 && *line != '\n')
            line++;
        if (*line == 0)
            break;
    }
    return 0;
}

static bool read_text(int fd, char *text, const char *proof)
{
    ssize_t n = fd < 0 ? -1 : pread(fd, text, TEXT_BYTES - 1, 0);
    if (n <= 0)
        return false;
    text[n] = 0;
    return strstr(text, proof) != NULL;
}

bool ab_footprint_read_detail(const struct ab_footprint *f, struct ab_footprint_detail *out)
{
    const char *rollup = rollup_text, *status = status_text;
    if (!read_text(f->rollup_fd, rollup_text, "\nAnonymous:") ||
        !read_text(f->status_fd, status_text, "\nRssShmem:"))
        return false;
    *out = (struct ab_footprint_detail){
        .private_bytes = find_kib(rollup, "Anonymous"),
        .shmem_bytes = find_kib(status, "RssShmem"),
        .file_bytes = find_kib(status, "RssFile"),
        .hugetlb_bytes = find_kib(status, "HugetlbPages"),
        .swap_bytes = find_kib(rollup, "Swap"),
    };
    return true;
}

uint32_t ab_footprint_granularity(const struct ab_footprint *f)
{
    size_t page = f->page_bytes, bytes = PROBE_PAGES * page;
    uint64_t before, now, worst = 0;
    char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return UINT32_MAX;
    madvise(p, bytes, MADV_NOHUGEPAGE);
    bool is_readable = ab_footprint_read(f, &before);
    for (uint64_t i = 0; i < PROBE_PAGES && is_readable; i++) {
        *(volatile char *)(p + i * page) = 1;
        if (!(is_readable = ab_footprint_read(f, &now)))
            break;
        uint64_t wanted = before + (i + 1) * page, off = now > wanted ? now - wanted : wanted - now;
        if (off > worst)
            worst = off;
    }
    munmap(p, bytes);
    return is_readable ? (uint32_t)(worst / page) : UINT32_MAX;
}
