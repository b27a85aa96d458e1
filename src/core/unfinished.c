/* SPDX-License-Identifier: MIT
 *
 * The table of temporary files and folders, and the signal handler that removes them before the
 * process ends.
 */
#include "core/unfinished.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdalign.h>
#include <stddef.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

enum { ENTRIES = 64, NAME_BYTES = 64, DEPTH_MOST = 8, PASSES_MOST = 4 };

static struct entry {
    volatile sig_atomic_t is_used; /* set last, cleared first: a handler sees whole entries only */
    bool is_folder;
    int directory;
    char name[NAME_BYTES];
} entries[ENTRIES];

static pid_t owner; /* a child's copy of the table is none of its business */

static bool is_child(const char *name)
{
    return name[0] != '.' || (name[1] != 0 && (name[1] != '.' || name[2] != 0));
}

static void remove_any(int parent, const char *name, int depth);

/* Removes what is in a folder. Returns false where there was nothing. readdir would allocate. */
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

/* A file, or a folder with what is in it. Links are not followed. */
static void remove_any(int parent, const char *name, int depth)
{
    if (unlinkat(parent, name, 0) == 0 || errno == ENOENT || depth == 0)
        return;
    int folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    for (int i = 0; folder >= 0 && i < PASSES_MOST && empty(folder, depth - 1); i++)
        lseek(folder, 0, SEEK_SET); /* removing while reading may skip entries */
    if (folder >= 0)
        close(folder);
    unlinkat(parent, name, AT_REMOVEDIR);
}

void ab_unfinished_remove_folder(int directory, const char *name)
{
    remove_any(directory, name, DEPTH_MOST);
}

void ab_unfinished_remove(void)
{
    if (owner != getpid())
        return;
    for (size_t i = 0; i < ENTRIES; i++)
        if (entries[i].is_used && entries[i].is_folder)
            ab_unfinished_remove_folder(entries[i].directory, entries[i].name);
        else if (entries[i].is_used)
            unlinkat(entries[i].directory, entries[i].name, 0);
}

static void end_process(int signal_number)
{
    ab_unfinished_remove();
    signal(signal_number, SIG_DFL);
    raise(signal_number); /* blocked in here; ends the process as the handler returns */
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

bool ab_unfinished_enter_folder(int directory, const char *name)
{
    return enter(directory, name, true);
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
