/* SPDX-License-Identifier: MIT */
/*
 * What the stand-alone programs of this folder share: random numbers, threads whose stacks can be told
 * from the heap, and the report. Each program is one classic, written from its description in
 * configs/classics/, with malloc and free of whatever library is preloaded; scripts/faithful runs them.
 *
 * A program calls begin() when its own tables are there, timed work between start_clock() and
 * stop_clock(), and report() at its end, which prints one line of JSON.
 */
#ifndef FAITHFUL_H
#define FAITHFUL_H

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { MAX_LANES = 64, STACK_BYTES = 256 << 10, MAX_THREADS = 16384 };

/* ---- random numbers: xorshift64*, a state for each thread ---- */

struct random {
    uint64_t state;
};

static inline struct random seeded(uint64_t seed)
{
    return (struct random){(seed + 1) * UINT64_C(0x9E3779B97F4A7C15)};
}

static inline uint32_t draw(struct random *r)
{
    r->state ^= r->state >> 12;
    r->state ^= r->state << 25;
    r->state ^= r->state >> 27;
    return (uint32_t)((r->state * UINT64_C(0x2545F4914F6CDD1D)) >> 32);
}

static inline uint32_t below(struct random *r, uint32_t n)
{
    return (uint32_t)(((uint64_t)draw(r) * n) >> 32);
}

static inline uint32_t between(struct random *r, uint32_t low, uint32_t high)
{
    return low + below(r, high - low + 1);
}

static inline double unit(struct random *r)
{
    return draw(r) / 4294967296.0;
}

/* ---- the compiler must neither drop an allocation nor a write ---- */

static inline void keep(void *p)
{
    __asm__ volatile("" : : "g"(p) : "memory");
}

static inline void *need(void *p)
{
    if (p == NULL) {
        fputs("out of memory\n", stderr);
        _exit(1);
    }
    keep(p);
    return p;
}

/* ---- threads, on stacks out of one reserved range, none used twice ---- */

static char *stacks_;
static atomic_uint n_stacks_;

static inline pthread_t start_thread(void *(*body)(void *), void *argument)
{
    pthread_attr_t how;
    pthread_t thread;
    unsigned i = atomic_fetch_add(&n_stacks_, 1);
    if (i >= MAX_THREADS) {
        fputs("too many threads\n", stderr);
        _exit(1);
    }
    pthread_attr_init(&how);
    pthread_attr_setstack(&how, stacks_ + (size_t)i * STACK_BYTES, STACK_BYTES);
    if (pthread_create(&thread, &how, body, argument) != 0) {
        fputs("cannot start a thread\n", stderr);
        _exit(1);
    }
    pthread_attr_destroy(&how);
    return thread;
}

/* Runs body on lanes first … n-1, each with its number, and waits for all. */
static inline void run_lanes(unsigned first, unsigned n, void *(*body)(void *))
{
    pthread_t threads[MAX_LANES];
    for (unsigned i = first; i < n; i++)
        threads[i] = start_thread(body, (void *)(uintptr_t)i);
    for (unsigned i = first; i < n; i++)
        pthread_join(threads[i], NULL);
}

static inline uint64_t stack_bytes(void)
{
    static unsigned char present[STACK_BYTES / 4096];
    uint64_t pages = 0;
    for (unsigned i = 0; i < n_stacks_; i++) {
        if (mincore(stacks_ + (size_t)i * STACK_BYTES, STACK_BYTES, present) != 0)
            continue;
        for (size_t p = 0; p < sizeof present; p++)
            pages += present[p] & 1;
    }
    return pages * 4096;
}

/* ---- resident memory ---- */

static uint64_t resident_before_, files_before_;
static char status_[8192];

static inline uint64_t status_bytes(const char *key)
{
    const char *at = strstr(status_, key);
    return at == NULL ? 0 : strtoull(at + strlen(key), NULL, 10) * 1024;
}

static inline void read_status(void)
{
    int fd = open("/proc/self/status", O_RDONLY);
    ssize_t n = fd < 0 ? 0 : read(fd, status_, sizeof status_ - 1);
    status_[n > 0 ? n : 0] = 0;
    if (fd >= 0)
        close(fd);
}

static inline void begin(void)
{
    stacks_ = mmap(NULL, (size_t)MAX_THREADS * STACK_BYTES, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stacks_ == MAP_FAILED)
        _exit(1);
    read_status();
    resident_before_ = status_bytes("VmRSS:");
    files_before_ = status_bytes("RssFile:");
}

/* ---- time and report ---- */

static uint64_t started_ns_, took_ns_, started_cpu_ns_, took_cpu_ns_;

static inline uint64_t read_clock(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline void start_clock(void)
{
    started_cpu_ns_ = read_clock(CLOCK_PROCESS_CPUTIME_ID);
    started_ns_ = read_clock(CLOCK_MONOTONIC);
}

static inline void stop_clock(void)
{
    took_ns_ += read_clock(CLOCK_MONOTONIC) - started_ns_;
    took_cpu_ns_ += read_clock(CLOCK_PROCESS_CPUTIME_ID) - started_cpu_ns_;
}

/* The file that serves malloc. */
static inline const char *malloc_file(void)
{
    Dl_info info;
    void *function = dlsym(RTLD_DEFAULT, "malloc");
    return function != NULL && dladdr(function, &info) != 0 ? info.dli_fname : "";
}

/* n_ops: what was done between start_clock and stop_clock. The largest resident set, less what was
 * there before, pages of files and the stacks of threads. */
static inline int report(uint64_t n_ops)
{
    uint64_t stacks = stack_bytes();
    read_status();
    uint64_t files = status_bytes("RssFile:") - files_before_;
    int64_t heap = (int64_t)(status_bytes("VmHWM:") - resident_before_ - stacks - files);
    printf("{\"ops\": %llu, \"seconds\": %.9f, \"cpu_seconds\": %.9f, \"resident_bytes\": %lld, "
           "\"stack_bytes\": %llu, \"malloc\": \"%s\"}\n",
           (unsigned long long)n_ops, (double)took_ns_ / 1e9, (double)took_cpu_ns_ / 1e9,
           (long long)(heap > 0 ? heap : 0), (unsigned long long)stacks, malloc_file());
    return 0;
}

static inline unsigned long argument(int argc, char **argv, int i)
{
    char *end = NULL;
    unsigned long value = i < argc ? strtoul(argv[i], &end, 10) : 0;
    if (end == NULL || end == argv[i] || *end != 0) {
        fprintf(stderr, "argument %d must be a number\n", i);
        exit(2);
    }
    return value;
}

#endif
