/* SPDX-License-Identifier: MIT
 *
 * Keeps the largest reading of one process's memory. Reads where blocks have been only after the
 * end of the program, because a block is recorded a moment after its allocation. The program can
 * write to the file, so its content is used only as bits and process numbers.
 */
#include "program/unasked.h"

#include "core/alloc.h"
#include "core/anonymous.h"
#include "core/text.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define LEAST_BYTES (UINT64_C(8) << 20) /* processes with less anonymous memory are not examined */
#define FILE_BYTES (AB_ASKED_HEAD_BYTES + (off_t)AB_ASKED_MAPS * AB_ASKED_MAP_BYTES)

/* True if a file of this size is allowed. A file beyond the limit would end this process by a
 * signal. */
static bool is_within_limit(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur >= (rlim_t)FILE_BYTES;
}

bool ab_unasked_open(struct ab_unasked *out)
{
    struct ab_unasked u = {.fd = memfd_create("allocbench-asked", MFD_CLOEXEC)};
    void *p = u.fd < 0 || !is_within_limit() || ftruncate(u.fd, FILE_BYTES) != 0
                  ? MAP_FAILED
                  : mmap(NULL, AB_ASKED_HEAD_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, u.fd, 0);
    if (p == MAP_FAILED) {
        if (u.fd >= 0)
            close(u.fd);
        return false;
    }
    u.head = p;
    AB_FIT(u.path, AB_ASKED_VARIABLE "=/proc/%d/fd/%d", (int)getpid(), u.fd);
    *out = u;
    return true;
}

/* Returns the index of a process's map; AB_ASKED_MAPS = it has none. Searches from the end, because
 * the last program that the process executed counts. */
static uint32_t map_of(const struct ab_unasked *u, pid_t pid)
{
    for (uint32_t i = AB_ASKED_MAPS; i-- > 0;)
        if (__atomic_load_n(&u->head->pids[i], __ATOMIC_ACQUIRE) == pid)
            return i;
    return AB_ASKED_MAPS;
}

static void see(void *user, uint64_t first, uint64_t n, uint64_t pages)
{
    struct ab_unasked *look = user;
    AB_GROW(look->runs, look->cap, look->n);
    look->runs[look->n++] = (struct ab_unasked_run){first, n, pages};
    look->anonymous_bytes += n * pages * AB_ANONYMOUS_PAGE;
}

void ab_unasked_look(struct ab_unasked *u, pid_t pid, bool is_end)
{
    struct ab_unasked found = {.map = map_of(u, pid)};
    const struct ab_anonymous_look look = {.see = see, .user = &found};
    const uint64_t bytes = found.map < AB_ASKED_MAPS ? ab_anonymous_bytes(pid) : 0;
    const uint64_t more = is_end ? 0 : u->looked_bytes / 4;
    if (bytes < LEAST_BYTES || bytes <= u->looked_bytes + more)
        return;
    u->looked_bytes = bytes;
    if (!ab_anonymous_look(pid, &look) || found.anonymous_bytes <= u->anonymous_bytes) {
        free(found.runs);
        return;
    }
    free(u->runs);
    u->anonymous_bytes = found.anonymous_bytes;
    u->map = found.map;
    u->runs = found.runs;
    u->n = found.n;
    u->cap = found.cap;
}

static bool has_been_asked(const struct ab_unasked *u, uint64_t place)
{
    uint8_t bits = 0;
    if (place / 8 >= AB_ASKED_MAP_BYTES ||
        pread(u->fd, &bits, 1,
              AB_ASKED_HEAD_BYTES + (off_t)u->map * AB_ASKED_MAP_BYTES + (off_t)(place / 8)) != 1)
        return true;
    return (bits >> place % 8 & 1) != 0;
}

bool ab_unasked_take(const struct ab_unasked *u, uint64_t *unasked_bytes)
{
    *unasked_bytes = 0;
    for (size_t i = 0; i < u->n; i++)
        for (uint64_t k = 0; k < u->runs[i].n; k++)
            if (!has_been_asked(u, u->runs[i].first + k))
                *unasked_bytes += u->runs[i].pages * AB_ANONYMOUS_PAGE;
    return u->anonymous_bytes > 0;
}

void ab_unasked_close(struct ab_unasked *u)
{
    munmap(u->head, AB_ASKED_HEAD_BYTES);
    close(u->fd);
    free(u->runs);
}
