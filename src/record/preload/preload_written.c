/* SPDX-License-Identifier: MIT
 *
 * Follows large blocks in a hash table of fixed size, keyed by address. A block that finds no free
 * place near its bucket is not followed. Pages that are resident when a block is allocated may be
 * left from an earlier use, so that they tell nothing. Pages that become resident later were
 * written, or read. Lock-free: a place belongs to the thread that has set its key, and a block to
 * the thread that may free it.
 */
#include "record/preload/preload_written.h"

#include "record/preload/preload_spool.h"

#include <errno.h>
#include <unistd.h>

enum {
    PLACES = 4 * AB_WRITTEN_HOMES,
    NEAR = 8, /* number of places, from the block's bucket on, in which it may be */
    BUSY = 1, /* key of a place that is being filled */
    SHARED_PAGES = 16384,
    OWN_PAGES = 256, /* room for answers on the stack, which may be that of a signal handler */
    PAGE = 4096,     /* unit of counts in a trace */
    WARM = 64,
};
/* Largest block that is followed, in bytes. Asking the kernel takes 1 ns per page. */
#define FOLLOWED_MOST (UINT64_C(1) << 36)

static struct place {
    uintptr_t key; /* address of the block; 0 = empty */
    struct ab_written_block block;
} places[PLACES + NEAR];

uint8_t ab_written_homes[AB_WRITTEN_HOMES];
/* True if the kernel must not be asked, because a filter of system calls is installed or soon will
 * be */
static bool is_forbidden;

/* ---- resident pages, by mincore ---- */

static uint64_t system_page(void)
{
    static uint64_t bytes;
    if (bytes == 0)
        bytes = (uint64_t)sysconf(_SC_PAGESIZE);
    return bytes;
}

static uint64_t count_bits(const unsigned char *pages, size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += pages[i] & 1;
    return sum;
}

/* Adds to *sum the number of resident pages among n system pages from `at` on. Asks for `cap` pages
 * per system call. Returns false if the number is not known. */
static bool ask_pages(uintptr_t at, uint64_t n, unsigned char *answers, size_t cap, uint64_t *sum)
{
    const uint64_t page = system_page();
    for (uint64_t left = n; left > 0;) {
        size_t now = left < cap ? (size_t)left : cap;
        if (syscall(SYS_mincore, at, now * page, answers) != 0) {
            if (errno != ENOMEM && errno != EAGAIN)
                __atomic_store_n(&is_forbidden, true, __ATOMIC_RELAXED);
            /* the pages are not mapped, so that they are not, or no longer, a block of malloc */
            return false;
        }
        *sum += count_bits(answers, now);
        at += now * page;
        left -= now;
    }
    return true;
}

static bool ask_with_own(uintptr_t at, uint64_t n, uint64_t *sum)
{
    unsigned char answers[OWN_PAGES];
    return ask_pages(at, n, answers, OWN_PAGES, sum);
}

struct pages { /* pages that are completely inside a block */
    uintptr_t at;
    uint64_t n; /* number of system pages */
};

static struct pages pages_of(uintptr_t at, uint64_t bytes)
{
    const uint64_t page = system_page();
    uintptr_t begin = (at + page - 1) & ~(page - 1), end = (at + bytes) & ~(page - 1);
    return (struct pages){begin, end > begin ? (end - begin) / page : 0};
}

/* Sets *resident to the number of resident pages. Returns false if it is not known. */
static bool ask(struct pages pages, uint64_t *resident)
{
    static unsigned char shared[SHARED_PAGES];
    static bool
        /* True while `shared` is in use; stays set if a signal handler never returns, and in a
         * child forked meanwhile */
        is_taken;
    *resident = 0;
    if (pages.n <= OWN_PAGES || __atomic_exchange_n(&is_taken, true, __ATOMIC_ACQUIRE))
        return ask_with_own(pages.at, pages.n, resident);
    bool is_known = ask_pages(pages.at, pages.n, shared, SHARED_PAGES, resident);
    __atomic_store_n(&is_taken, false, __ATOMIC_RELEASE);
    return is_known;
}

/* ---- the table ---- */

static struct place *home_of(uintptr_t address)
{
    return &places[ab_written_home(address) * (PLACES / AB_WRITTEN_HOMES)];
}

/* Changes the number of blocks in a bucket. A number that has reached its maximum stays there, so
 * that later searches may find nothing. */
static void count_home(uintptr_t address, int change)
{
    uint8_t *count = &ab_written_homes[ab_written_home(address)];
    uint8_t was = __atomic_load_n(count, __ATOMIC_RELAXED);
    while (was != UINT8_MAX &&
           !__atomic_compare_exchange_n(count, &was, (uint8_t)(was + change), true,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

/* Removes a block from the table and sets *out to its state. Returns false if the block was not
 * there. */
static bool take(uintptr_t address, struct ab_written_block *out)
{
    struct place *home = home_of(address);
    for (struct place *p = home; p < home + NEAR; p++) {
        uintptr_t key = address;
        if (__atomic_load_n(&p->key, __ATOMIC_ACQUIRE) != address)
            continue;
        struct ab_written_block found = p->block;
        if (!__atomic_compare_exchange_n(&p->key, &key, 0, false, __ATOMIC_ACQ_REL,
                                         __ATOMIC_RELAXED))
            return false;
        count_home(address, -1);
        *out = found;
        return true;
    }
    return false;
}

static void follow(uintptr_t address, struct ab_written_block block)
{
    struct place *home = home_of(address);
    /* state of an earlier block at this address, whose free was not seen */
    struct ab_written_block stale;
    if (ab_written_may_follow((const void *)address))
        take(address, &stale);
    for (struct place *p = home; p < home + NEAR; p++) {
        uintptr_t empty = 0;
        if (!__atomic_compare_exchange_n(&p->key, &empty, BUSY, false, __ATOMIC_ACQ_REL,
                                         __ATOMIC_RELAXED))
            continue;
        p->block = block;
        count_home(address, 1);
        __atomic_store_n(&p->key, address, __ATOMIC_RELEASE);
        return;
    }
}

/* ---- reused memory ----
 *
 * An allocator gives a program in a loop the same resident memory each time, and its pages show
 * nothing new. For such memory the kernel is asked less and less often. A race between threads
 * costs at most one question too many or too few. */

static struct {
    uintptr_t address;
    uint64_t bytes; /* resident bytes when the memory was handed out */
    uint32_t n_passed, n_to_pass;
} warm[WARM];

static bool is_passed_over(uintptr_t address, uint64_t bytes)
{
    unsigned i = ab_written_home(address) % WARM;
    if (warm[i].address != address || bytes > warm[i].bytes || warm[i].n_to_pass == 0)
        return false;
    warm[i].n_to_pass--;
    return true;
}

static void note_warm(uintptr_t address, uint64_t bytes)
{
    unsigned i = ab_written_home(address) % WARM;
    bool is_again = warm[i].address == address;
    uint32_t n = is_again ? 2 * warm[i].n_passed + 1 : 0;
    warm[i].address = address;
    warm[i].bytes = bytes;
    warm[i].n_passed = warm[i].n_to_pass = bytes == 0 ? 0 : n < WARM ? n : WARM;
}

/* ---- from the allocation of a block to its free ---- */

static void begin(uintptr_t address, uint64_t size)
{
    uint64_t resident;
    if (size < AB_SPOOL_LARGE || size > FOLLOWED_MOST || is_passed_over(address, size) ||
        __atomic_load_n(&is_forbidden, __ATOMIC_RELAXED))
        return;
    struct pages pages = pages_of(address, size);
    if (!ask(pages, &resident))
        return;
    note_warm(address, resident == pages.n ? size : 0);
    follow(address, (struct ab_written_block){size, resident});
}

/* Notes how many pages became resident in the part of the block whose pages were looked at in the
 * beginning. */
static void note(struct ab_spool_tail *tail, uintptr_t address, struct ab_written_block was)
{
    const struct pages pages = pages_of(address, was.bytes);
    const uint64_t unit = system_page() / PAGE;
    uint64_t resident;
    if (pages.n <= was.resident || __atomic_load_n(&is_forbidden, __ATOMIC_RELAXED) ||
        !ask(pages, &resident))
        return;
    uint64_t known = pages.n - was.resident,
             written = resident > was.resident ? resident - was.resident : 0;
    ab_spool_take_place(&tail->n_asides);
    ab_spool_put(tail, ab_spool_stamp(tail), AB_SPOOL_ASIDE,
                 AB_SPOOL_ASIDE_MAKE(AB_SPOOL_WRITTEN, address),
                 known * unit << 32 | written * unit);
}

AB_HIDDEN void ab_written_begin(const void *address, size_t size)
{
    int saved = errno;
    if (address != NULL && ab_spool_tail_of_thread() != NULL)
        begin((uintptr_t)address, size);
    errno = saved;
}

AB_HIDDEN void ab_written_end(const void *address)
{
    int saved = errno;
    struct ab_written_block was;
    struct ab_spool_tail *tail = ab_spool_tail_of_thread();
    if (tail != NULL && take((uintptr_t)address, &was))
        note(tail, (uintptr_t)address, was);
    errno = saved;
}

/* True if a size changes by at most an eighth of the old size. */
static bool is_little(uint64_t from, uint64_t to)
{
    return to > from ? to - from <= from / 8 : from - to <= from / 8;
}

AB_HIDDEN struct ab_written_block ab_written_begin_resize(const void *address, size_t size)
{
    struct ab_written_block was = {0, 0};
    int saved = errno;
    struct ab_spool_tail *tail = ab_spool_tail_of_thread();
    if (tail == NULL || !take((uintptr_t)address, &was))
        return (struct ab_written_block){0, 0};
    if (size >= AB_SPOOL_LARGE && is_little(was.bytes, size))
        return was;
    note(tail, (uintptr_t)address, was);
    errno = saved;
    return (struct ab_written_block){0, 0};
}

AB_HIDDEN void ab_written_end_resize(struct ab_written_block was, const void *address,
                                     const void *moved, size_t size)
{
    if (was.bytes == 0) {
        ab_written_begin(moved, size);
        return;
    }
    if (moved != NULL && size < was.bytes)
        was.bytes = size;
    follow((uintptr_t)(moved != NULL ? moved : address), was);
}

AB_HIDDEN void ab_written_stop(void)
{
    __atomic_store_n(&is_forbidden, true, __ATOMIC_RELAXED);
}

/* Reports all followed blocks. Skips empty buckets, so that pages of the table without blocks are
 * not touched and do not count as the program's memory. */
AB_HIDDEN void ab_written_end_all(void)
{
    for (unsigned home = 0; home < AB_WRITTEN_HOMES; home++) {
        struct place *first = &places[home * (PLACES / AB_WRITTEN_HOMES)];
        for (unsigned i = 0; i < NEAR && ab_written_homes[home] != 0; i++) {
            uintptr_t key = __atomic_load_n(&first[i].key, __ATOMIC_ACQUIRE);
            if (key > BUSY)
                ab_written_end((const void *)key);
        }
    }
}
