/* SPDX-License-Identifier: MIT
 *
 * A malloc of known cost: beside its own work, a chain of as many dependent multiplications as the
 * file NAME.so.work beside it says ("1000"), and at every 100th call as many more ("1000 5000").
 * The chain touches no memory and takes the same time whatever runs on the other half of a core, so
 * a build whose number is 8 % larger takes nearly 8 % longer.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define TOY_OWN_MALLOC
#include "toy.h"

static uint64_t work = 1000, tail;

static __attribute__((noinline)) void multiply(uint64_t n)
{
    uint64_t x = 3;
    for (; n > 0; n--) {
        x *= x;
        __asm__ volatile("" : "+r"(x));
    }
}

__attribute__((constructor)) static void read_work(void)
{
    char path[4096], text[64] = "", *end;
    Dl_info info;
    if (dladdr((void *)(uintptr_t)multiply, &info) == 0 || strlen(info.dli_fname) > 4000)
        return;
    strcat(strcpy(path, info.dli_fname), ".work");
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    text[n > 0 ? n : 0] = 0;
    work = strtoull(text, &end, 10);
    tail = strtoull(end, NULL, 10);
}

void *malloc(size_t size)
{
    multiply(++n_mallocs % 100 == 0 ? work + tail : work);
    return toy_alloc(0, size);
}
