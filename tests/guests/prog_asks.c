/* SPDX-License-Identifier: MIT
 *
 * Asks its malloc library for other things than blocks, and says whether mallctl is there: a program
 * whose weak reference is bound by nobody may not find one.
 */
#include <dlfcn.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 200, BYTES = 100000 };

extern int mallctl(const char *, void *, size_t *, void *, size_t) __attribute__((weak));

int main(void)
{
    char *blocks[BLOCKS];
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    for (int i = 0; i < BLOCKS; i++)
        if ((blocks[i] = malloc(BYTES)) != NULL)
            memset(blocks[i], 1, BYTES);
    char *stays = malloc(100);
    for (int i = 0; i < BLOCKS; i++)
        free(blocks[i]);
    malloc_trim(0);
    blocks[0] = malloc(300);
    malloc_trim(1 << 20);
    mallopt(M_TRIM_THRESHOLD, 1 << 17);
    if (mallctl != NULL)
        for (int i = 0; i < 3; i++)
            mallctl("thread.tcache.flush", NULL, NULL, NULL, 0);
    printf("%s %s\n", mallctl != NULL ? "mallctl" : "none",
           dlsym(RTLD_DEFAULT, "mallctl") != NULL ? "mallctl" : "none");
    free(blocks[0]);
    free(stays);
    return 0;
}
