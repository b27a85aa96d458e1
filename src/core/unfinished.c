/* SPDX-License-Identifier: MIT
 *
 * The table of temporary files and folders, and the signal handler that removes them before the
 * process ends.
 */
#include "core/unfinished.h"

#include "core/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/utsname.h>
#include <unistd.h>

volatile sig_atomic_t ab_stop_signal;

enum { ENTRIES = 64, NAME_BYTES = 64, DEPTH_MOST = 8, PASSES_MOST = 4 };

static struct entry {
    /* is set last and cleared first, so that a signal handler sees complete entries only */
    volatile sig_atomic_t is_used;
    bool is_folder;
    int directory;
    char name[NAME_BYTES];
} entries[ENTRIES];

static pid_t owner; /* process that owns the table; a forked child must not remove its files */

static bool is_child(const char *name)
{
    return name[0] != '.' || (name[1] != 0 && (name[1] != '.' || name[2] != 0));
}

static void remove_any(int parent, const char *name, int depth);

/* Empties a folder. Returns false if it was empty. Does not use readdir, which would allocate. */
static bool empty(int folder, int depth)
{
    alignas(struct dirent64) char buf[2048];
    bool was_there = false;
    ssize_t n;
    while ((n = getdents64(folder, buf, sizeof buf)) > 0)
        for (ssize_t at = 0; at < n;) {
            const struct dirent64 *e = (const void *)(buf + at);
            at += e->d_reclen;
            if (!is_child(e->d_name))
                continue;
            was_there = true;
            remove_any(folder, e->d_name, depth);
        }
    return was_there;
}

/* Removes a file, or a folder with its contents. Does not follow symbolic links. */
static void remove_any(int parent, const char *name, int depth)
{
    if (unlinkat(parent, name, 0) == 0 || errno == ENOENT || depth == 0)
        return;
    int folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    for (int i = 0; folder >= 0 && i < PASSES_MOST && empty(folder, depth - 1); i++)
        /* reads the folder again, because removing files while reading may skip entries */
        lseek(folder, 0, SEEK_SET);
    if (folder >= 0)
        close(folder);
    unlinkat(parent, name, AT_REMOVEDIR);
}

void ab_unfinished_remove(void)
{
    if (owner != getpid())
        return;
    for (size_t i = 0; i < ENTRIES; i++)
        if (entries[i].is_used && entries[i].is_folder)
            remove_any(entries[i].directory, entries[i].name, DEPTH_MOST);
        else if (entries[i].is_used)
            unlinkat(entries[i].directory, entries[i].name, 0);
}

static void end_process(int signal_number)
{
    ab_unfinished_remove();
    signal(signal_number, SIG_DFL);
    /* the signal is blocked in this handler, and ends the process when the handler returns */
    raise(signal_number);
}

static void catch_signals(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    struct sigaction action = {.sa_handler = end_process}, old;
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
            sigaction(signals[i], &action, NULL);
}

static bool enter(int directory, const char *name, bool is_folder)
{
    size_t i = 0, n = strlen(name);
    while (i < ENTRIES && entries[i].is_used)
        i++;
    if (i == ENTRIES || n >= NAME_BYTES)
        return false;
    owner = getpid();
    catch_signals();
    entries[i].directory = directory;
    entries[i].is_folder = is_folder;
    memcpy(entries[i].name, name, n + 1);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    entries[i].is_used = 1;
    return true;
}

bool ab_unfinished_enter(int directory, const char *name)
{
    return enter(directory, name, false);
}

void ab_unfinished_forget(int directory, const char *name)
{
    for (size_t i = 0; i < ENTRIES; i++)
        if (entries[i].is_used && entries[i].directory == directory &&
            strcmp(entries[i].name, name) == 0) {
            entries[i].is_used = 0;
            return;
        }
}

/* ---- temporary folders ---- */

#define PREFIX "allocbench-"
#define LOCK_FILE ".owner"
#define NEW_LOCK_FILE ".owner.new"
enum { TRIES = 100 };

const char *ab_temporary_place(void)
{
    const char *path = getenv("TMPDIR");
    return path != NULL && path[0] == '/' ? path : "/tmp";
}

/* Writes the line of the lock file that names this host. The line is needed because locks do not
 * reach other hosts. Returns its length. */
static size_t host_line(char line[80])
{
    struct utsname host = {.nodename = ""};
    uname(&host);
    return (size_t)snprintf(line, 80, "host: %.64s\n", host.nodename);
}

/* Creates the lock file of a folder and returns its descriptor; -1 on failure. The file is locked
 * before it gets its name, so that no other process can lock it first. */
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

/* Chooses a name with 64 random bits. Returns false on failure. */
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
        if (!enter(t->parent, t->name, true))
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
    AB_FIT(t.path, "%s/%s", in, t.name);
    t.lock = ab_temporary_own(t.path);
    *out = t;
    return AB_OK;
}

void ab_temporary_remove(struct ab_temporary *t)
{
    if (t->path[0] == 0)
        return;
    remove_any(t->parent, t->name, DEPTH_MOST);
    ab_unfinished_forget(t->parent, t->name);
    close(t->parent);
    if (t->lock >= 0)
        close(t->lock);
    *t = (struct ab_temporary){.path = ""};
}

/* ---- folders that dead processes have left ---- */

/* Looks for `name` below an open folder, and closes the folder. If `name` is found, appends to
 * `path` the names of the folders on the way to it. Returns true if it is found. */
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

/* Locks the lock file of a folder and returns its descriptor. Returns -1 if the folder has no lock
 * file of this host, or if the process that owns the folder still lives. */
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

/* Removes the folder. If something in it must stay, calls `visit` instead. */
static void clear(int parent, const char *name, int folder, const char *kept,
                  void (*visit)(const char *path, void *user), void *user)
{
    char path[PATH_MAX];
    AB_FIT(path, "%s/%s", ab_temporary_place(), name);
    if (find(dup(folder), kept, DEPTH_MOST, path))
        visit(path, user);
    else
        remove_any(parent, name, DEPTH_MOST);
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
