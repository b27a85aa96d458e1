/* SPDX-License-Identifier: MIT
 *
 * Every allocation function, in the ways that are easy to get wrong, a known number of times.
 * Exits with 1 when a call misbehaves: the recorder must not be felt. No stdio: it allocates.
 */
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void expect(int is_true, const char *what)
{
    if (is_true)
        return;
    ssize_t ignored = write(2, what, strlen(what));
    (void)ignored;
    _exit(1);
}

static void resizes(void)
{
    volatile size_t huge = SIZE_MAX - 4096, wrapping = SIZE_MAX / 2;
    char *p = realloc(NULL, 10); /* an alloc */
    memcpy(p, "abcdefghi", 10);
    p = realloc(p, 100000);
    expect(memcmp(p, "abcdefghi", 10) == 0, "realloc lost its content\n");
    errno = 0;
    expect(realloc(p, huge) == NULL && errno == ENOMEM, "a huge realloc came back\n");
    expect(memcmp(p, "abcdefghi", 10) == 0, "a failed realloc lost its block\n");
    char *volatile keep = p; /* for the compiler a resized block is gone even when it fails */
    expect(reallocarray(p, wrapping, 3) == NULL, "reallocarray wrapped\n");
    p = reallocarray(keep, 30, 40);
    expect(realloc(p, 0) == NULL, "realloc(p, 0) gave a block\n");
}

static void aligned(void)
{
    void *p = (void *)&p, *old = p;
    expect(posix_memalign(&p, 3, 100) == EINVAL && p == old, "posix_memalign took 3\n");
    expect(posix_memalign(&p, 4096, 100) == 0 && ((uintptr_t)p & 4095) == 0, "posix_memalign\n");
    free(p);
    expect(((uintptr_t)(p = memalign(64, 10)) & 63) == 0, "memalign\n");
    free(p);
    expect(((uintptr_t)(p = aligned_alloc(256, 512)) & 255) == 0, "aligned_alloc\n");
    free(p);
    expect(((uintptr_t)(p = valloc(10)) & 4095) == 0, "valloc\n");
    free(p);
    expect(((uintptr_t)(p = pvalloc(10)) & 4095) == 0, "pvalloc\n");
    free(p);
}

/* alloc 4, zeroed 2, aligned 6, resize 5, free 8; of these failed 5 */
int main(void)
{
    volatile size_t huge = SIZE_MAX - 4096, half = SIZE_MAX / 2;
    errno = EXDEV;
    char *p = malloc(100);
    memset(p, 1, 100);
    free(p);
    free(NULL);
    expect(errno == EXDEV, "errno changed\n");
    p = calloc(10, 10);
    for (int i = 0; i < 100; i++)
        expect(p[i] == 0, "calloc gave dirty memory\n");
    free(p);
    expect(calloc(half, 4) == NULL, "calloc wrapped\n");
    expect(malloc(huge) == NULL, "a huge malloc came back\n");
    free(malloc(0));
    resizes();
    aligned();
    _exit(0);
}
