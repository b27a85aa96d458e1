/* SPDX-License-Identifier: MIT
 *
 * Reads from /proc/self/pagemap which pages are resident, and keeps runs of the pages that were
 * resident before the first op.
 */
#include "worker/residency.h"

#include "base/bits.h"
#include "base/search.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int open_high(const char *path);

enum { CHUNK_BYTES = 4096, LINE_BYTES = 128 };
/* Mappings from this size on are skipped: no heap has one this large, but the shadow memory of a
 * sanitizer is, in tests. */
#define SHADOW_BYTES (UINT64_C(1) << 42)

/* Buffers for the one thread that reads. They are static, because on the stack they would count in
 * a footprint. */
static uint64_t entries[AB_RESIDENCY_PAGES_MAX];
static bool are_there[AB_RESIDENCY_PAGES_MAX];
static char chunk[CHUNK_BYTES];

void ab_residency_open(struct ab_residency *r)
{
    r->pagemap_fd = open_high("/proc/self/pagemap");
    r->smaps_fd = open_high("/proc/self/smaps");
    r->tasks_fd = open_high("/proc/self/task");
    r->page_log2 = ab_log2((uint64_t)sysconf(_SC_PAGESIZE));
    memset(entries, 0, sizeof entries); /* written, so that they are resident from here on */
    memset(are_there, 0, sizeof are_there);
    memset(chunk, 0, sizeof chunk);
}

/* True if the page is present, belongs to no file or shared mapping, and is mapped by this process
 * only. False for the zero page. */
static bool is_private(uint64_t entry)
{
    const uint64_t present = UINT64_C(1) << 63, file = UINT64_C(1) << 61, own = UINT64_C(1) << 56;
    return (entry & (present | file | own)) == (present | own);
}

bool ab_residency_read(const struct ab_residency *r, uint64_t first, uint32_t n, bool *is_there)
{
    const off_t at = (off_t)(first * sizeof entries[0]);
    if (r->pagemap_fd < 0 || n > AB_RESIDENCY_PAGES_MAX ||
        pread(r->pagemap_fd, entries, n * sizeof entries[0], at) < (ssize_t)(n * sizeof entries[0]))
        return false;
    for (uint32_t i = 0; i < n; i++)
        is_there[i] = is_private(entries[i]);
    return true;
}

/* ---- pages that are resident now ---- */

static bool add_page(struct ab_page_runs *runs, uint64_t page)
{
    if (runs->n > 0 && runs->runs[runs->n - 1].end == page) {
        runs->runs[runs->n - 1].end++;
        return true;
    }
    if (runs->n == runs->cap)
        return false;
    runs->runs[runs->n++] = (struct ab_page_run){page, page + 1};
    return true;
}

/* Adds the first `wanted` resident pages of a mapping to the runs. Does not look at the pages after
 * these. */
static bool add_mapping(const struct ab_residency *r, const struct ab_page_run *mapping,
                        uint64_t wanted, struct ab_page_runs *out)
{
    uint64_t found = 0;
    for (uint64_t first = mapping->begin; first < mapping->end && found < wanted;) {
        uint64_t left = mapping->end - first;
        uint32_t n = left < AB_RESIDENCY_PAGES_MAX ? (uint32_t)left : AB_RESIDENCY_PAGES_MAX;
        if (!ab_residency_read(r, first, n, are_there))
            return false;
        for (uint32_t i = 0; i < n; i++)
            if (are_there[i]) {
                found++;
                if (!add_page(out, first + i))
                    return false;
            }
        first += n;
    }
    return true;
}

static bool read_hex(const char **s, uint64_t *out)
{
    const char *p = *s;
    for (*out = 0; (*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'f'); p++)
        *out = *out * 16 + (uint64_t)(*p <= '9' ? *p - '0' : *p - 'a' + 10);
    bool is_any = p != *s;
    *s = p;
    return is_any;
}

/* Processes a line of smaps. "55e0-55f0 r-xp …" begins a mapping. "Anonymous: 12 kB" says how many
 * of the mapping's pages are resident and private, so how many to look for. */
static bool read_line(const struct ab_residency *r, const char *line, struct ab_page_run *mapping,
                      struct ab_page_runs *out)
{
    static const char key[] = "Anonymous:";
    const char *s = line;
    uint64_t begin, end, kib = 0;
    if (read_hex(&s, &begin) && *s++ == '-' && read_hex(&s, &end) && *s == ' ') {
        *mapping = (struct ab_page_run){begin >> r->page_log2, end >> r->page_log2};
        return true;
    }
    if (strncmp(line, key, sizeof key - 1) != 0)
        return true;
    for (s = line + sizeof key - 1; *s == ' '; s++) {
    }
    for (; *s >= '0' && *s <= '9'; s++)
        kib = kib * 10 + (uint64_t)(*s - '0');
    uint64_t pages = kib >> (r->page_log2 - 10);
    bool is_shadow = (mapping->end - mapping->begin) << r->page_log2 >= SHADOW_BYTES;
    return pages == 0 || is_shadow || add_mapping(r, mapping, pages, out);
}

bool ab_residency_snapshot(const struct ab_residency *r, struct ab_page_runs *out)
{
    struct ab_page_run mapping = {0, 0};
    char line[LINE_BYTES];
    size_t used = 0;
    off_t at = 0;
    ssize_t n;
    out->n = 0;
    if (r->smaps_fd < 0)
        return false;
    while ((n = pread(r->smaps_fd, chunk, sizeof chunk, at)) > 0) {
        at += n;
        for (ssize_t i = 0; i < n; i++) {
            if (chunk[i] != '\n') {
                /* skips the rest of a line that is too long: the end of a path is not needed */
                if (used + 1 < sizeof line)
                    line[used++] = chunk[i];
                continue;
            }
            line[used] = 0;
            used = 0;
            if (!read_line(r, line, &mapping, out))
                return false;
        }
    }
    return n == 0 && mapping.end > 0;
}

bool ab_page_runs_have(const struct ab_page_runs *runs, uint64_t page)
{
    size_t low = AB_SEARCH(i, runs->n, runs->runs[i].end <= page);
    return low < runs->n && runs->runs[low].begin <= page;
}

uint64_t ab_residency_lost(const struct ab_residency *r, const struct ab_page_runs *runs)
{
    uint64_t lost = 0;
    for (size_t i = 0; i < runs->n; i++)
        for (uint64_t first = runs->runs[i].begin; first < runs->runs[i].end;) {
            uint64_t left = runs->runs[i].end - first;
            uint32_t n = left < AB_RESIDENCY_PAGES_MAX ? (uint32_t)left : AB_RESIDENCY_PAGES_MAX;
            if (!ab_residency_read(r, first, n, are_there))
                return UINT64_MAX;
            for (uint32_t k = 0; k < n; k++)
                lost += !are_there[k];
            first += n;
        }
    return lost;
}

/* ---- statm, smaps_rollup and status of this process, read by hand and without malloc ---- */

enum { PROBE_PAGES = 256, MARK_PAGES = 1024, TEXT_BYTES = 4096, FD_HIGH = 200 };

/* Opens a file with a high descriptor number, because some allocators close all low descriptors.
 * Returns -1 on failure. */
static int open_as(const char *path, int flags)
{
    int low = open(path, flags | O_CLOEXEC);
    int high = low < 0 ? -1 : fcntl(low, F_DUPFD_CLOEXEC, FD_HIGH);
    if (high < 0)
        return low;
    close(low);
    return high;
}

static int open_high(const char *path)
{
    return open_as(path, O_RDONLY);
}

/* Buffers for the one thread that reads; static, as those above */
static char rollup_text[TEXT_BYTES], status_text[TEXT_BYTES];

void ab_footprint_open(struct ab_footprint *f)
{
    f->statm_fd = open_high("/proc/self/statm");
    f->rollup_fd = open_high("/proc/self/smaps_rollup");
    f->status_fd = open_high("/proc/self/status");
    f->clear_fd = open_as("/proc/self/clear_refs", O_WRONLY);
    f->page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
    /* the reading itself needs memory, which becomes resident now */
    struct ab_footprint_detail once;
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
    shut(&f->clear_fd);
}

/* Skips blanks at *s, reads a decimal number, and advances *s past it. Returns false if there is no
 * number. */
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

/* Accepts the text only if it is one line of seven numbers. Otherwise an allocator has closed the
 * descriptor, and now another file has its number. */
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

/* Returns the bytes of the line "KEY: 123 kB"; 0 if this kernel has no such line. */
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
        .lazyfree_bytes = find_kib(rollup, "LazyFree"),
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

/* ---- the high-water mark ---- */

bool ab_high_water_read(const struct ab_footprint *f, struct ab_high_water *out)
{
    if (!read_text(f->status_fd, status_text, "\nVmHWM:"))
        return false;
    uint64_t most = find_kib(status_text, "VmHWM");
    uint64_t shared = find_kib(status_text, "RssFile") + find_kib(status_text, "RssShmem");
    *out = (struct ab_high_water){.private_bytes = most > shared ? most - shared : 0,
                                  .now_bytes = find_kib(status_text, "RssAnon"),
                                  .shared_bytes = shared};
    return true;
}

bool ab_high_water_reset(const struct ab_footprint *f)
{
    return f->clear_fd >= 0 && write(f->clear_fd, "5", 1) == 1;
}

/* Measures how far the kernel's high-water mark lags. The kernel counts pages in batches, so the
 * mark is late by up to a batch and is then right again. Looking after 1, 2, 3, 4, 6, 8, 12 … pages
 * finds at least two thirds of the largest lag. */
static uint64_t watch_mark(const struct ab_footprint *f, char *p)
{
    struct ab_high_water mark;
    uint64_t worst = 0;
    uint32_t n = 0;
    for (uint32_t step = 1; n < MARK_PAGES; step *= 2)
        for (uint32_t half = 0; half < 2 && n < MARK_PAGES; half++) {
            for (uint32_t to = step + half * step / 2; n < to && n < MARK_PAGES; n++)
                madvise(p + n * f->page_bytes, f->page_bytes, MADV_DONTNEED);
            if (!ab_high_water_reset(f) || !ab_high_water_read(f, &mark))
                return UINT64_MAX;
            if (mark.private_bytes > mark.now_bytes + worst)
                worst = mark.private_bytes - mark.now_bytes;
        }
    return worst + worst / 2;
}

uint64_t ab_high_water_excess(const struct ab_footprint *f)
{
    size_t bytes = MARK_PAGES * f->page_bytes;
    char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return UINT64_MAX;
    madvise(p, bytes, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < bytes; i += f->page_bytes)
        *(volatile char *)(p + i) = 1;
    uint64_t excess = watch_mark(f, p);
    munmap(p, bytes);
    return excess;
}
