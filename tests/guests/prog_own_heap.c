/* SPDX-License-Identifier: MIT
 *
 * Memory that malloc is not asked for. `heap`: 48 MiB from mmap, 2 from malloc; `gone`: it is given
 * back before the end, and the program does not exit as others do; `linked`: an allocator of its own names that is linked in
 * serves 40 MiB in small blocks, malloc 2. `variables`: 48 MiB of
 * variables, stacks of 4 MiB, 16 MiB of malloc in small blocks of which most are freed again.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MB = 1 << 20, BLOCKS = 400000 };
static char zeroed[24 * MB], given[24 * MB] = {1};
static char *blocks[BLOCKS];

static void *run(void *user)
{
    char deep[4 * MB];
    memset(deep, 1, sizeof deep);
    __asm__ volatile("" : : "r"(deep) : "memory");
    return user;
}

static void use_variables(void)
{
    pthread_t threads[4];
    memset(zeroed, 1, sizeof zeroed);
    memset(given, 1, sizeof given);
    __asm__ volatile("" : : "r"(zeroed), "r"(given) : "memory");
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, run, NULL);
    run(NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < BLOCKS; i++)
        if ((blocks[i] = malloc(24)) != NULL)
            blocks[i][0] = 1;
    for (int i = 0; i < BLOCKS; i++)
        if (i % 100 != 0)
            free(blocks[i]);
}

/* ---- as a static jemalloc has it ---- */

void *je_malloc(size_t size);
void je_free(void *p);

static char *chunk, *chunk_end;

void *je_malloc(size_t size)
{
    size = (size + 15) & ~(size_t)15;
    if ((size_t)(chunk_end - chunk) < size) {
        chunk = mmap(NULL, 2 * MB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (chunk == MAP_FAILED)
            _exit(1);
        chunk_end = chunk + 2 * MB;
    }
    char *p = chunk;
    chunk += size;
    return p;
}

void je_free(void *p)
{
    (void)p;
}

static void use_linked(void)
{
    char *block = malloc(2 * MB);
    for (int i = 0; i < 40 * MB / 64; i++) {
        char *p = je_malloc(64);
        memset(p, 1, 64);
        je_free(p);
    }
    if (block != NULL)
        memset(block, 1, 2 * MB);
    __asm__ volatile("" : : "r"(block) : "memory");
}

int main(int n, char **words)
{
    if (n > 1 && strcmp(words[1], "linked") == 0) {
        use_linked();
        return 0;
    }
    if (n > 1 && strcmp(words[1], "variables") == 0) {
        use_variables();
        return 0;
    }
    char *heap = mmap(NULL, 48 * MB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *block = malloc(2 * MB);
    if (heap == MAP_FAILED || block == NULL)
        return 1;
    memset(heap, 1, 48 * MB);
    memset(block, 1, 2 * MB);
    __asm__ volatile("" : : "r"(heap), "r"(block) : "memory");
    if (n > 1 && strcmp(words[1], "gone") == 0) {
        usleep(2000000);
        munmap(heap, 48 * MB);
        _exit(0);
    }
    return 0;
}
