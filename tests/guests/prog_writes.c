/* SPDX-License-Identifier: MIT
 *
 * Writes known shares of large blocks. usage: prog_writes HOW
 * Exits with 9 where errno or a block is not as it was. The blocks of a MiB are mappings of their own
 * under glibc, their first page holds its header: 255 of their pages are whole ones of the block.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MIB = 1 << 20, PAGE = 4096 };

static void require(int is_right)
{
    if (!is_right)
        _exit(9);
}

/* Writes whole pages of it, `from` to `to`. */
static void write_pages(char *block, size_t from, size_t to)
{
    char *first = (char *)(((uintptr_t)block + PAGE - 1) & ~(uintptr_t)(PAGE - 1));
    for (size_t i = from; i < to; i++)
        first[i * PAGE] = 1;
}

static char *get(size_t n_pages)
{
    errno = 77;
    char *block = malloc(MIB);
    require(errno == 77);
    write_pages(block, 0, n_pages);
    return block;
}

static void give(void *block)
{
    errno = 78;
    free(block);
    require(errno == 78);
}

static void *in_thread(void *arg)
{
    for (int i = 0; i < 50; i++)
        give(get((size_t)(intptr_t)arg));
    return NULL;
}

static void run_threads(void)
{
    pthread_t threads[4];
    for (intptr_t i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, in_thread, (void *)(10 * (i + 1)));
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

/* From 1 to 3 MiB, of which the last page is written too; a resize that fails changes nothing. */
static void grow(void)
{
    char *block = get(20);
    char *volatile none = realloc(block, (size_t)1 << 60);
    require(none == NULL);
    block = realloc(block, 3 * MIB);
    write_pages(block, 300, 330);
    give(block);
}

/* 200 steps of a page: at each of them the new page is written. */
static void creep(void)
{
    char *block = get(255);
    for (size_t i = 1; i <= 200; i++) {
        block = realloc(block, MIB + i * PAGE);
        write_pages(block, 254 + i, 255 + i);
    }
    give(block);
}

/* The heap's own memory, which the second block finds written. */
static void reuse(void)
{
    for (int i = 0; i < 2; i++) {
        char *block = malloc(100000);
        memset(block, i, 100000);
        char *guard = malloc(10);
        give(block);
        free(guard);
    }
}

static void forbid_mincore(unsigned what_then)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mincore, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, what_then),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
    require(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    require(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
}

/* A page of it is no longer mapped when it goes: nothing is known of it. */
static void punch(void)
{
    char *block = get(20);
    char *page = (char *)(((uintptr_t)block + 100 * PAGE) & ~(uintptr_t)(PAGE - 1));
    require(munmap(page, PAGE) == 0);
    give(block);
}

static void run_child(void)
{
    char *block = get(20);
    if (fork() == 0) {
        write_pages(block, 20, 50);
        give(block);
        give(get(5));
        exit(0);
    }
    wait(NULL);
    give(block);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    char *volatile kept;
    if (strcmp(how, "threads") == 0)
        run_threads();
    if (strcmp(how, "grow") == 0)
        grow();
    if (strcmp(how, "creep") == 0)
        creep();
    if (strcmp(how, "reuse") == 0)
        reuse();
    if (strcmp(how, "punch") == 0)
        punch();
    if (strcmp(how, "fork") == 0)
        run_child();
    if (strcmp(how, "forbidden") == 0 || strcmp(how, "deadly") == 0) {
        kept = get(20);
        forbid_mincore(how[0] == 'f' ? SECCOMP_RET_ERRNO | EPERM : SECCOMP_RET_KILL_PROCESS);
        give(kept);
        give(get(20));
    }
    if (strcmp(how, "kept") == 0 || strncmp(how, "kept-", 5) == 0)
        kept = get(20);
    (void)kept;
    if (strcmp(how, "kept-_exit") == 0)
        _exit(0);
    if (strcmp(how, "kept-exec") == 0)
        execl("/bin/true", "true", (char *)NULL);
    if (strcmp(how, "kept-killed") == 0)
        kill(getpid(), SIGKILL);
    return 0;
}
