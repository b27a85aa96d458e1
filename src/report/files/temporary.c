/* SPDX-License-Identifier: MIT
 *
 * Makes files without a name, or with a temporary one, and gives them their name when they are
 * whole.
 */
#include "report/files/temporary.h"

#include "core/leftover.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/random.h>
#include <unistd.h>

static bool has_name(const char *temporary)
{
    return temporary != NULL && temporary[0] != 0;
}

/* Enters an unused name among the leftovers; false with errno. */
static bool choose_name(int directory, char name[AB_TEMPORARY_NAME])
{
    unsigned long long random;
    if (getrandom(&random, sizeof random, 0) != sizeof random)
        return false;
    snprintf(name, AB_TEMPORARY_NAME, ".allocbench-%016llx.tmp", random);
    errno = ENFILE;
    return ab_leftover_enter(directory, name);
}

static int create_named(int directory, mode_t mode, char name[AB_TEMPORARY_NAME])
{
    int fd = -1;
    errno = EEXIST;
    for (int attempt = 0; attempt < 16 && fd < 0 && errno == EEXIST; attempt++) {
        if (!choose_name(directory, name))
            return -1;
        fd = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
        if (fd < 0)
            ab_leftover_forget(directory, name);
    }
    return fd;
}

/* A file without a name is given one through /proc: without that it needs one from the start. */
int ab_temporary_create(int directory, mode_t mode, char name[AB_TEMPORARY_NAME])
{
    int fd = -1;
    name[0] = 0;
    if (access("/proc/self/fd", X_OK) == 0)
        fd = openat(directory, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, mode);
    return fd >= 0 ? fd : create_named(directory, mode, name);
}

void ab_temporary_remove(int directory, const char *temporary)
{
    if (!has_name(temporary))
        return;
    unlinkat(directory, temporary, 0);
    ab_leftover_forget(directory, temporary);
}

static int link_nameless(int fd, int directory, const char *name)
{
    char self[64];
    snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
    return linkat(AT_FDCWD, self, directory, name, AT_SYMLINK_FOLLOW) == 0 ? 0 : errno;
}

int ab_temporary_name(int fd, int directory, const char *temporary, const char *name)
{
    if (!has_name(temporary))
        return link_nameless(fd, directory, name);
    int reason = linkat(directory, temporary, directory, name, 0) == 0 ? 0 : errno;
    if (reason != 0 && reason != EEXIST) /* FAT has no links */
        reason = renameat2(directory, temporary, directory, name, RENAME_NOREPLACE) == 0 ? 0
                                                                                         : errno;
    if (reason == 0)
        ab_temporary_remove(directory, temporary);
    return reason;
}

/* Only a rename replaces, and it needs a name to begin with. */
static int rename_over(int directory, const char *temporary, const char *name)
{
    int reason = renameat(directory, temporary, directory, name) == 0 ? 0 : errno;
    ab_temporary_remove(directory, temporary);
    return reason;
}

int ab_temporary_replace(int fd, int directory, const char *temporary, const char *name)
{
    char made[AB_TEMPORARY_NAME];
    if (has_name(temporary))
        return rename_over(directory, temporary, name);
    int reason = link_nameless(fd, directory, name);
    if (reason != EEXIST)
        return reason;
    if (!choose_name(directory, made))
        return errno;
    reason = link_nameless(fd, directory, made);
    if (reason == 0)
        return rename_over(directory, made, name);
    ab_leftover_forget(directory, made);
    return reason;
}
