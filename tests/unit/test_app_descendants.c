/* SPDX-License-Identifier: MIT
 *
 * A grandchild that has a file mapped is found, whoever its parent is.
 */
#include "app/record/descendants.h"

#include "support/cmocka.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char path[] = "/tmp/test-descendants-XXXXXX";
static const char *name;
static ino_t inode;

static int make_file(void **state)
{
    struct stat st;
    int fd = mkstemp(path);
    (void)state;
    if (fd < 0 || ftruncate(fd, 4096) != 0 || fstat(fd, &st) != 0)
        return -1;
    inode = st.st_ino;
    name = strrchr(path, '/') + 1;
    return dup2(fd, 100) == 100 && close(fd) == 0 ? 0 : -1;
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

static void map_and_wait(int ready)
{
    void *p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, 100, 0);
    if (p == MAP_FAILED || write(ready, "r", 1) != 1)
        _exit(1);
    pause();
    _exit(0);
}

/* A child that waits for its own child, which has the file. */
static pid_t start_family(void)
{
    int ready[2];
    char c;
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        setpgid(0, 0);
        if (fork() == 0)
            map_and_wait(ready[1]);
        wait(NULL);
        _exit(0);
    }
    assert_true(child > 0);
    assert_int_equal(read(ready[0], &c, 1), 1);
    close(ready[0]);
    close(ready[1]);
    return child;
}

static bool has_mapped(void *user, pid_t pid)
{
    (void)user;
    return ab_process_maps(pid, name, inode);
}

static bool count(void *user, pid_t pid)
{
    (void)pid;
    ++*(int *)user;
    return false;
}

static void a_grandchild_is_found_while_it_lives(void **state)
{
    int n = 0;
    (void)state;
    assert_false(ab_descendants_each(getpid(), has_mapped, NULL));
    pid_t child = start_family();
    assert_true(ab_descendants_each(getpid(), has_mapped, NULL));
    assert_false(ab_process_maps(child, name, inode));
    assert_false(ab_process_maps(child, "another", inode));
    assert_false(ab_descendants_each(getpid(), count, &n));
    assert_int_equal(n, 2);
    kill(-child, SIGKILL);
    waitpid(child, NULL, 0);
    assert_false(ab_descendants_each(child, has_mapped, NULL));
}

static void a_process_knows_what_it_has_mapped(void **state)
{
    (void)state;
    assert_false(ab_process_maps(getpid(), name, inode));
    void *p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, 100, 0);
    assert_true(p != MAP_FAILED);
    assert_true(ab_process_maps(getpid(), name, inode));
    munmap(p, 4096);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_grandchild_is_found_while_it_lives),
        cmocka_unit_test(a_process_knows_what_it_has_mapped),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
