/* SPDX-License-Identifier: MIT
 *
 * prog_heirs BLOCKS CHILDREN: allocates BLOCKS, then forks CHILDREN one after the other; before
 * each it replaces a block. A child frees every other block that it inherited and forks a child of
 * its own, which frees the rest; both have blocks of their own besides. Exit code 0 when all ended
 * so.
 */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void **blocks;
static long n;

static int await(pid_t pid)
{
    int status = 1;
    return pid < 0 || waitpid(pid, &status, 0) != pid || status != 0;
}

static void free_from(long first)
{
    for (long i = first; i < n; i += 2)
        free(blocks[i]);
}

static void child(void)
{
    free_from(0);
    void *own = malloc(1000);
    pid_t pid = fork();
    if (pid == 0) {
        free_from(1);
        free(own);
        free(malloc(10));
        _exit(0);
    }
    _exit(await(pid));
}

int main(int argc, char **argv)
{
    n = argc > 2 ? atol(argv[1]) : 0;
    if (n < 2 || (blocks = malloc((size_t)n * sizeof blocks[0])) == NULL)
        return 2;
    for (long i = 0; i < n; i++)
        blocks[i] = malloc((size_t)(20 + i % 200));
    for (long k = 0; k < atol(argv[2]); k++) {
        free(blocks[k % n]);
        blocks[k % n] = malloc(300);
        pid_t pid = fork();
        if (pid == 0)
            child();
        if (await(pid))
            return 1;
    }
    return 0;
}
