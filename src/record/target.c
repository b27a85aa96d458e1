/* SPDX-License-Identifier: MIT
 *
 * ld.so ignores LD_PRELOAD for privileged programs, static ones have no ld.so, and a library of
 * another machine or C library cannot be loaded: all of these would run and record nothing.
 */
#include "record/target.h"

#include "core/text.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { HOPS_MAX = 4, LINE_MAX_BYTES = 256, PHDRS_MAX = 512 };

#if defined(__x86_64__)
enum { MACHINE = EM_X86_64 };
#elif defined(__aarch64__)
enum { MACHINE = EM_AARCH64 };
#else
#error "add the ELF machine number of this architecture"
#endif

static enum ab_status refuse(const char *path, int *exit_code, const char *why, struct ab_err *err)
{
    char shown[512];
    *exit_code = AB_RECORD_FAILED;
    return ab_fail(err, AB_INPUT, "cannot record '%s': %s",
                   ab_text_printable(shown, sizeof shown, path), why);
}

static bool is_regular(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static enum ab_status not_found(const char *command, bool is_there, int *exit_code,
                                struct ab_err *err)
{
    char shown[512];
    ab_text_printable(shown, sizeof shown, command);
    *exit_code = is_there ? AB_RECORD_NOT_EXECUTABLE : AB_RECORD_NOT_FOUND;
    return is_there ? ab_fail(err, AB_INPUT, "cannot run '%s': not an executable file", shown)
                    : ab_fail(err, AB_INPUT, "cannot run '%s': command not found", shown);
}

/* Like execvp: the first file in PATH that may be executed. */
static enum ab_status search(const char *command, char *path, size_t cap, int *exit_code,
                             struct ab_err *err)
{
    const char *at = getenv("PATH");
    bool is_there = false;
    if (strchr(command, '/') != NULL) {
        snprintf(path, cap, "%s", command);
        if (is_regular(path) && access(path, X_OK) == 0)
            return AB_OK;
        return not_found(command, access(path, F_OK) == 0, exit_code, err);
    }
    for (at = at != NULL ? at : "/usr/bin:/bin"; *command != 0 && at != NULL;) {
        const char *colon = strchrnul(at, ':');
        int n = snprintf(path, cap, "%.*s%s%s", (int)(colon - at), at, colon > at ? "/" : "",
                         command);
        if (n > 0 && (size_t)n < cap && is_regular(path)) {
            if (access(path, X_OK) == 0)
                return AB_OK;
            is_there = true;
        }
        at = *colon == ':' ? colon + 1 : NULL;
    }
    return not_found(command, is_there, exit_code, err);
}

/* Will the kernel start it with privileges that this process has not? */
static const char *check_privilege(int fd)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return "its mode cannot be read";
    if ((st.st_mode & S_ISUID) != 0 && st.st_uid != geteuid())
        return "it is setuid, and ld.so loads no recorder into privileged programs";
    if ((st.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) && st.st_gid != getegid())
        return "it is setgid, and ld.so loads no recorder into privileged programs";
    if (geteuid() != 0 && fgetxattr(fd, "security.capability", NULL, 0) > 0)
        return "it has file capabilities, and ld.so loads no recorder into privileged programs";
    return NULL;
}

static const char *check_interpreter(int fd, const Elf64_Phdr *p)
{
    char name[PATH_MAX] = {0};
    size_t n = p->p_filesz < sizeof name ? (size_t)p->p_filesz : sizeof name - 1;
    if (p->p_offset > INT64_MAX || pread(fd, name, n, (off_t)p->p_offset) != (ssize_t)n)
        return "its ELF header is damaged";
    if (strstr(name, "/ld-musl") != NULL)
        return "it uses musl, and the recorder is built for the GNU C library";
    return NULL;
}

static const char *check_elf(int fd, const Elf64_Ehdr *e)
{
    if (e->e_ident[EI_CLASS] != ELFCLASS64)
        return "it is a 32-bit program, and the recorder is 64-bit";
    if (e->e_ident[EI_DATA] != ELFDATA2LSB || e->e_machine != MACHINE)
        return "it is a program for another machine";
    if ((e->e_type != ET_EXEC && e->e_type != ET_DYN) || e->e_phnum > PHDRS_MAX ||
        e->e_phentsize != sizeof(Elf64_Phdr) || e->e_phoff > INT64_MAX - (1 << 20))
        return "its ELF header is damaged or that of no program";
    for (unsigned i = 0; i < e->e_phnum; i++) {
        Elf64_Phdr p;
        if (pread(fd, &p, sizeof p, (off_t)(e->e_phoff + i * sizeof p)) != (ssize_t)sizeof p)
            return "its ELF header is damaged";
        if (p.p_type == PT_INTERP)
            return check_interpreter(fd, &p);
    }
    return "it is statically linked: there is no ld.so that could load the recorder into it; link "
           "it dynamically to record it";
}

/* "#! /usr/bin/perl -w" → "/usr/bin/perl" in place; NULL when there is none. */
static char *script_interpreter(char *line)
{
    line[strcspn(line, "\n")] = 0;
    char *at = line + 2 + strspn(line + 2, " \t");
    at[strcspn(at, " \t\r")] = 0;
    return *at != 0 ? at : NULL;
}

static enum ab_status check_file(const char *path, unsigned hops, int *exit_code,
                                 struct ab_err *err)
{
    union {
        Elf64_Ehdr elf;
        char line[LINE_MAX_BYTES + 1];
    } head = {.line = {0}};
    const char *why = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return refuse(path, exit_code, "it cannot be read, so that it cannot be told whether a "
                      "recorder can be loaded into it", err);
    ssize_t n = pread(fd, head.line, LINE_MAX_BYTES, 0);
    if (n >= 2 && memcmp(head.line, "#!", 2) == 0) {
        close(fd);
        char *next = script_interpreter(head.line);
        if (next == NULL || hops == HOPS_MAX)
            return refuse(path, exit_code, "its #! line names no interpreter", err);
        if (!is_regular(next) || access(next, X_OK) != 0)
            return not_found(next, access(next, F_OK) == 0, exit_code, err);
        return check_file(next, hops + 1, exit_code, err);
    }
    if (n < (ssize_t)sizeof head.elf || memcmp(head.line, ELFMAG, SELFMAG) != 0)
        why = "it is neither an ELF program nor a script with a #! line";
    else if ((why = check_privilege(fd)) == NULL)
        why = check_elf(fd, &head.elf);
    close(fd);
    return why == NULL ? AB_OK : refuse(path, exit_code, why, err);
}

enum ab_status ab_target_find(const char *command, char *path, size_t cap, int *exit_code,
                              struct ab_err *err)
{
    enum ab_status status = search(command, path, cap, exit_code, err);
    return status == AB_OK ? check_file(path, 0, exit_code, err) : status;
}
