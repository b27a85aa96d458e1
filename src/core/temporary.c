/* SPDX-License-Identifier: MIT
 *
 * Makes and removes temporary folders, and finds those that a killed process has left.
 */
#include "core/temporary.h"

#include "core/text.h"
#include "core/unfinished.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#define PREFIX "allocbench-"
#define LOCK_FILE ".owner"
#define NEW_LOCK_FILE ".owner.new"
enum { TRIES = 100, DEPTH_MOST = 6 };

const char *ab_temporary_place(void)
{
    const char *paths[] = {getenv(AB_TEMPORARY_PLACE), getenv("TMPDIR")};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        if (paths[i] != NULL && paths[i][0] == '/')
            return paths[i];
    return "/tmp";
}

/* Writes the line that the lock file contains: a lock says nothing of processes on another host. */
static size_t host_line(char line[80])
{
    struct utsname host = {.nodename = ""};
    uname(&host);
    return (size_t)snprintf(line, 80, "host: %.64s\n", host.nodename);
}

/* The file is locked before it has its name, so that no other process can lock it first. */
static int own(int folder)
{
    char line[80];
    size_t n = host_line(line);
    int fd = openat(folder, NEW_LOCK_FILE, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return -1;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 && write(fd, line, n) == (ssize_t)n &&
        renameat(folder, NEW_LOCK_FILE, folder, LOCK_FILE) == 0)
        return fd;
    unlinkat(folder, NEW_LOCK_FILE, 0);
    close(fd);
    return -1;
}

int ab_temporary_own(const char *folder)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), lock = fd < 0 ? -1 : own(fd);
    if (fd >= 0)
        close(fd);
    return lock;
}

/* Chooses a name of 64 random bits. */
static bool choose_name(const char *use, char name[64])
{
    uint64_t random;
    if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random)
        return false;
    snprintf(name, 64, PREFIX "%.20s-%016llx", use, (unsigned long long)random);
    return true;
}

static bool make_in(const char *in, const char *use, struct ab_temporary *t)
{
    t->parent = open(in, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; t->parent >= 0 && i < TRIES && choose_name(use, t->name); i++) {
        if (!ab_unfinished_enter_folder(t->parent, t->name))
            break;
        if (mkdirat(t->parent, t->name, 0700) == 0)
            return true;
        ab_unfinished_forget(t->parent, t->name);
        if (errno != EEXIST)
            break;
    }
    int saved = errno;
    if (t->parent >= 0)
        close(t->parent);
    errno = saved;
    return false;
}

enum ab_status ab_temporary_make(const char *use, struct ab_temporary *out, struct ab_err *err)
{
    struct ab_temporary t = {.lock = -1};
    const char *in = ab_temporary_place();
    if (strlen(in) + sizeof t.name + 1 > sizeof t.path || !make_in(in, use, &t))
        return ab_fail_errno(err, AB_SYSTEM, "cannot make a folder in %s", AB_SHOWN(512, in));
    snprintf(t.path, sizeof t.path, "%.900s/%s", in, t.name);
    t.lock = ab_temporary_own(t.path);
    *out = t;
    return AB_OK;
}

void ab_temporary_remove(struct ab_temporary *t)
{
    if (t->path[0] == 0)
        return;
    ab_unfinished_remove_folder(t->parent, t->name);
    ab_unfinished_forget(t->parent, t->name);
    close(t->parent);
    if (t->lock >= 0)
        close(t->lock);
    *t = (struct ab_temporary){.path = ""};
}

/* ---- what was left ---- */

/* Looks for `name` below an open folder, which is closed. Where it is found, the names on the way to
 * the folder that contains it are added to `path`. */
static bool find(int folder, const char *name, int depth, char path[PATH_MAX])
{
    DIR *dir = folder < 0 ? NULL : fdopendir(folder);
    size_t n = strlen(path);
    bool is_found = false;
    if (dir == NULL && folder >= 0)
        close(folder);
    for (struct dirent *e; dir != NULL && !is_found && (e = readdir(dir)) != NULL;) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        if ((is_found = strcmp(e->d_name, name) == 0) || depth == 0)
            continue;
        snprintf(path + n, PATH_MAX - n, "/%s", e->d_name);
        is_found = find(
            openat(dirfd(dir), e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), name,
            depth - 1, path);
        path[is_found ? strlen(path) : n] = 0;
    }
    if (dir != NULL)
        closedir(dir);
    return is_found;
}

/* Locks the lock file of a folder. Returns -1 where there is none of this host, or its process lives. */
static int take_over(int folder)
{
    char line[80], own_line[80];
    size_t n = host_line(own_line);
    int lock = openat(folder, LOCK_FILE, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (lock < 0)
        return -1;
    if (read(lock, line, sizeof line) == (ssize_t)n && memcmp(line, own_line, n) == 0 &&
        flock(lock, LOCK_EX | LOCK_NB) == 0)
        return lock;
    close(lock);
    return -1;
}

/* Removes the folder, or says where in it something is to stay. */
static void clear(int parent, const char *name, int folder, const char *kept,
                  void (*visit)(const char *path, void *user), void *user)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%.1500s/%s", ab_temporary_place(), name);
    if (find(dup(folder), kept, DEPTH_MOST, path))
        visit(path, user);
    else
        ab_unfinished_remove_folder(parent, name);
}

void ab_temporary_sweep(const char *kept, void (*visit)(const char *path, void *user), void *user)
{
    DIR *dir = opendir(ab_temporary_place());
    for (struct dirent *e; dir != NULL && (e = readdir(dir)) != NULL;) {
        struct stat st;
        if (strncmp(e->d_name, PREFIX, sizeof PREFIX - 1) != 0)
            continue;
        int folder = openat(dirfd(dir), e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        bool is_ours = folder >= 0 && fstat(folder, &st) == 0 && st.st_uid == geteuid();
        int lock = is_ours ? take_over(folder) : -1;
        if (lock >= 0) {
            clear(dirfd(dir), e->d_name, folder, kept, visit, user);
            close(lock);
        }
        if (folder >= 0)
            close(folder);
    }
    if (dir != NULL)
        closedir(dir);
}
