/* SPDX-License-Identifier: MIT
 *
 * Finds the file of a command in PATH and checks it before it runs.
 */
#include "program/program_file.h"

#include "core/elf.h"
#include "core/text.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { SCRIPT_DEPTH_MAX = 4 };

static bool is_program(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

bool ab_program_file_find(const char *command, char *out, size_t cap)
{
    if (strchr(command, '/') != NULL) {
        snprintf(out, cap, "%s", command);
        return is_program(out);
    }
    const char *path = getenv("PATH");
    for (const char *p = path != NULL ? path : "/usr/local/bin:/usr/bin:/bin"; *p != 0;) {
        size_t n = strcspn(p, ":");
        snprintf(out, cap, "%.*s%s%s", (int)n, p, n > 0 ? "/" : "./", command);
        if (is_program(out))
            return true;
        p += n + (p[n] == ':');
    }
    return false;
}

const char *ab_program_file_hint(const char *command)
{
    char first[PATH_MAX], found[PATH_MAX];
    AB_FIT(first, "%.*s", (int)strcspn(command, " "), command);
    bool has_arguments = strchr(command, ' ') != NULL;
    return has_arguments && ab_program_file_find(first, found, sizeof found)
               ? ": leave out the quotes around the program and its arguments"
               : "";
}

/* Reads the interpreter from the "#!" line of a script. Returns false if the file is not a
 * script. */
static bool read_interpreter(const char *path, char *out, size_t cap)
{
    char line[PATH_MAX + 2] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, line, sizeof line - 1);
    if (fd >= 0)
        close(fd);
    if (n < 3 || line[0] != '#' || line[1] != '!')
        return false;
    line[n] = 0;
    char *begin = line + 2 + strspn(line + 2, " \t");
    begin[strcspn(begin, " \t\n")] = 0;
    snprintf(out, cap, "%s", begin);
    return true;
}

static enum ab_status refuse_privileged(const char *path, const char *shown,
                                        const struct ab_program_use *use, struct ab_err *err)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return ab_fail_errno(err, AB_USAGE, "cannot read %s", shown);
    if (((st.st_mode & S_ISUID) != 0 && st.st_uid != geteuid()) ||
        ((st.st_mode & S_ISGID) != 0 && st.st_gid != getegid()))
        return ab_fail(err, AB_USAGE,
                       "%s is setuid or setgid: the system does not preload %s into it", shown,
                       use->loaded);
    if (geteuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0)
        return ab_fail(err, AB_USAGE,
                       "%s has file capabilities: the system does not preload %s into it", shown,
                       use->loaded);
    return AB_OK;
}

/* True if the file is ELF. Unreadable files count as ELF, because ab_elf_read then reports the
 * reason. */
static bool is_elf(const char *path)
{
    char magic[4] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 4 : read(fd, magic, sizeof magic);
    if (fd < 0)
        return true;
    close(fd);
    return n == 4 && memcmp(magic, "\177ELF", 4) == 0;
}

enum ab_status ab_program_file_check(const char *path, const struct ab_program_use *use,
                                     struct ab_err *err)
{
    char real[PATH_MAX], shown[512], interpreter[256];
    struct ab_elf elf;
    struct ab_err why;
    ab_text_printable(shown, sizeof shown, path);
    AB_COPY(real, path);
    for (int depth = 0; read_interpreter(real, real, sizeof real); depth++) {
        if (depth == SCRIPT_DEPTH_MAX)
            return ab_fail(err, AB_USAGE, "%s: nested scripts", shown);
        if (access(real, X_OK) != 0)
            return ab_fail_errno(err, AB_USAGE, "%s cannot be run: its interpreter %s", shown,
                                 ab_text_printable(interpreter, sizeof interpreter, real));
    }
    if (!is_elf(real))
        return ab_fail(err, AB_USAGE,
                       "%s is neither a program nor a script whose first line names "
                       "an interpreter (#!)",
                       shown);
    if (ab_elf_read(real, NULL, 0, &elf, &why) != AB_OK)
        return ab_fail(err, AB_USAGE, "%s cannot be %s: it %s", shown, use->done, why.text);
    if (elf.interp[0] == 0)
        return ab_fail(err, AB_USAGE, "%s is statically linked: %s cannot be preloaded", shown,
                       use->loaded);
    if (strstr(elf.interp, "musl") != NULL)
        return ab_fail(err, AB_USAGE, "%s uses musl, %s", shown, use->needs);
    return refuse_privileged(real, shown, use, err);
}
