/* SPDX-License-Identifier: MIT
 *
 * Everything a program can ask of malloc, from threads that come and go, with frees across threads
 * and forks from any of them. Every block is stamped at both ends and looked at before it dies.
 * Prints what it did and how much memory it took; ends with 1 when a block was not what it was.
 *
 *     prog_malloc_stress OPS THREADS FORKS AT_ONCE [SEED]
 *
 * OPS in all, by THREADS of which AT_ONCE live at a time (if that is all of them, each has blocks
 * before any ends); FORKS of them fork once. Last line:
 * "ops N threads N forks N peak_live KIB peak_rss KIB last_rss KIB".
 */

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SLOTS = 128, SHARED = 1024, AT_ONCE_MOST = 10000 };

struct block { /* begins every block; its last byte is the low one of `size` */
    size_t size;
    uint64_t stamp;
};

static _Atomic(struct block *) shared[SHARED];
static atomic_size_t live, peak_live;
static atomic_long n_ops, n_forks;
static uint64_t seed;
static long ops_each, fork_every;
static bool are_all_at_once;
static pthread_barrier_t half_way;

static void die(const char *what, const void *p)
{
    fprintf(stderr, "prog_malloc_stress: %s at %p\n", what, p);
    abort();
}

static uint64_t draw(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Mostly small, now and then up to 3 MiB. */
static size_t draw_size(uint64_t *state)
{
    uint64_t r = draw(state), kind = r % 4096;
    size_t limit = kind < 3200   ? 256
                   : kind < 3900 ? 4096
                   : kind < 4085 ? 65536
                   : kind < 4095 ? 1u << 20
                                 : 3u << 20;
    return 17 + (size_t)(r >> 20) % limit;
}

static uint64_t stamp_of(const struct block *b)
{
    return (uint64_t)(uintptr_t)b * 0x9e3779b97f4a7c15u ^ b->size;
}

static void write_stamp(struct block *b, size_t size)
{
    b->size = size;
    b->stamp = stamp_of(b);
    ((unsigned char *)b)[size - 1] = (unsigned char)size;
}

static void look(const struct block *b, const void *at, uint64_t stamp)
{
    if (b->stamp != stamp || ((const unsigned char *)b)[b->size - 1] != (unsigned char)b->size)
        die("a block has changed", at);
}

static void count_live(size_t more)
{
    size_t now = atomic_fetch_add(&live, more) + more, peak = peak_live;
    while (now > peak && !atomic_compare_exchange_weak(&peak_live, &peak, now))
        ;
}

static void release(struct block *b)
{
    if (b == NULL)
        return;
    look(b, b, stamp_of(b));
    size_t size = b->size;
    b->stamp = 0;
    free(b);
    live -= size;
}

static void *aligned(uint64_t r, size_t size)
{
    size_t align = (size_t)16 << r % 13; /* … 64 KiB */
    void *p = NULL;
    if (posix_memalign(&p, align, size) != 0 || ((uintptr_t)p & (align - 1)) != 0)
        die("an aligned block is not", p);
    return p;
}

static struct block *take(uint64_t *state)
{
    size_t size = draw_size(state);
    uint64_t r = draw(state);
    struct block *b = r % 16 == 0   ? calloc(1, size)
                      : r % 16 == 1 ? aligned(r >> 8, size)
                                    : malloc(size);
    if (b == NULL || ((uintptr_t)b & 15) != 0 || malloc_usable_size(b) < size)
        die("no good block", b);
    if (r % 16 == 0)
        for (size_t i = 0; i < size; i++)
            if (((unsigned char *)b)[i] != 0)
                die("calloc is not zero", b);
    count_live(size);
    write_stamp(b, size);
    return b;
}

static struct block *resize(struct block *b, uint64_t *state)
{
    size_t old = b->size, size = draw_size(state);
    uint64_t stamp = b->stamp;
    look(b, b, stamp_of(b));
    b->size = size < old ? size : old; /* what must be kept */
    ((unsigned char *)b)[b->size - 1] = (unsigned char)b->size;
    struct block *moved = realloc(b, size);
    if (moved == NULL)
        die("no resize", b);
    look(moved, b, stamp);
    count_live(size);
    live -= old;
    write_stamp(moved, size);
    return moved;
}

static void in_child(uint64_t state)
{
    struct block *mine[64];
    for (int i = 0; i < 64; i++)
        mine[i] = take(&state);
    for (int i = 0; i < SHARED; i += 7) /* blocks of all threads, in heaps that stand still now */
        release(atomic_exchange(&shared[i], NULL));
    for (int i = 0; i < 64; i++)
        release(mine[i]);
    _exit(7);
}

static void fork_once(uint64_t state)
{
    pid_t child = fork();
    int status = 0;
    if (child == 0)
        in_child(state);
    if (child < 0)
        die(strerror(errno), NULL);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 7)
        die("a child did not end as it should", NULL);
    n_forks++;
}

static void act(struct block **slot, uint64_t *state)
{
    uint64_t r = draw(state) % 16;
    if (*slot == NULL)
        *slot = take(state);
    else if (r < 10) {
        release(*slot);
        *slot = NULL;
    } else if (r < 13)
        *slot = resize(*slot, state);
    else /* what another thread left is mine now */
        *slot = atomic_exchange(&shared[draw(state) % SHARED], *slot);
}

static void *thread(void *arg)
{
    uint64_t number = (uintptr_t)arg, state = (seed + number) * 0x9e3779b97f4a7c15u | 1;
    struct block *slots[SLOTS] = {0};
    for (long i = 0; i < ops_each; i++) {
        act(&slots[draw(&state) % SLOTS], &state);
        if (i == ops_each / 2 && are_all_at_once)
            pthread_barrier_wait(&half_way);
        if (i == ops_each / 2 && fork_every > 0 && number % (uint64_t)fork_every == 0)
            fork_once(state);
    }
    for (int i = 0; i < SLOTS; i++) /* half of them outlive the thread */
        release(i % 2 == 0 ? slots[i] : atomic_exchange(&shared[draw(&state) % SHARED], slots[i]));
    n_ops += ops_each;
    return NULL;
}

static long rss_kib(void)
{
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "re");
    if (f == NULL || fscanf(f, "%*d %ld", &pages) != 1)
        die("cannot read statm", NULL);
    fclose(f);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

int main(int argc, char **argv)
{
    if (argc < 5)
        return 2;
    long threads = atol(argv[2]), forks = atol(argv[3]), at_once = atol(argv[4]);
    static pthread_t running[AT_ONCE_MOST];
    if (threads < 1 || at_once < 1 || at_once > AT_ONCE_MOST)
        return 2;
    are_all_at_once = threads == at_once;
    pthread_barrier_init(&half_way, NULL, (unsigned)at_once);
    ops_each = atol(argv[1]) / threads;
    fork_every = forks > 0 ? threads / forks : 0;
    seed = argc > 5 ? (uint64_t)atol(argv[5]) : 1;
    for (long n = 0; n < threads + at_once; n++) {
        if (n >= at_once)
            pthread_join(running[n % at_once], NULL);
        if (n < threads &&
            pthread_create(&running[n % at_once], NULL, thread, (void *)(n + 1)) != 0)
            die("no thread", NULL);
    }
    for (int i = 0; i < SHARED; i++)
        release(shared[i]);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    malloc_trim(0);
    printf("ops %ld threads %ld forks %ld peak_live %zu peak_rss %ld last_rss %ld\n", (long)n_ops,
           threads, (long)n_forks, peak_live / 1024, usage.ru_maxrss, rss_kib());
    return 0;
}
