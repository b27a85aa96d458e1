/* SPDX-License-Identifier: MIT
 *
 * Is killed by itself, at any instant, while four threads allocate, and leaves word of how far each
 * of them had come: prog_killed FILE calls|time N
 *   calls  by one of its threads, at that one's call N
 *   time   after N microseconds
 * FILE becomes four pairs of u64, for each thread the calls that it had begun and those that had
 * come back. Thread i is the one whose first call asks for 7000 + i bytes.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 4, KEPT = 32 };

static struct {
    uint64_t begun, ended;
} * counts; /* in FILE: what is stored survives */

static uint64_t killer_call = UINT64_MAX;

static inline void begin(long self)
{
    uint64_t n = ++counts[self].begun;
    __asm__ volatile("" ::: "memory");
    if (self == 0 && n == killer_call)
        kill(getpid(), SIGKILL);
}

static inline void end(long self)
{
    __asm__ volatile("" ::: "memory");
    counts[self].ended++;
}

static void *work(void *user)
{
    long self = (long)(intptr_t)user;
    void *kept[KEPT] = {NULL};
    for (unsigned long i = 0;; i++) {
        void **place = &kept[i % KEPT];
        if (*place != NULL) {
            begin(self);
            free(*place);
            end(self);
        }
        begin(self);
        *place = malloc(i == 0 ? 7000 + (size_t)self : i % 600);
        end(self);
        if (i % 3 == 0) {
            begin(self);
            *place = realloc(*place, i % 900 + 1);
            end(self);
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t t;
    if (argc != 4)
        return 2;
    unsigned long n = strtoul(argv[3], NULL, 10);
    int fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || ftruncate(fd, THREADS * sizeof *counts) != 0)
        return 2;
    counts = mmap(NULL, THREADS * sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (counts == MAP_FAILED)
        return 2;
    if (strcmp(argv[2], "calls") == 0)
        killer_call = n;
    for (long i = 0; i < THREADS; i++)
        if (pthread_create(&t, NULL, work, (void *)(intptr_t)i) != 0)
            return 2;
    struct timespec pause = {(time_t)(n / 1000000), (long)(n % 1000000) * 1000};
    if (killer_call != UINT64_MAX)
        pause.tv_sec = 60;
    nanosleep(&pause, NULL);
    kill(getpid(), SIGKILL);
    return 2;
}
