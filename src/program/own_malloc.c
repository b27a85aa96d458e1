/* SPDX-License-Identifier: MIT
 *
 * Finds the malloc library that a program is linked to. Asks the dynamic linker which files it
 * would load (LD_TRACE_LOADED_OBJECTS, as ldd does), and looks which of them define malloc.
 */
#include "base/clock.h"
#include "core/elf.h"
#include "core/text.h"
#include "program/program.h"
#include "runner/supervise.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { LISTED_MOST = 1 << 16 };
#define LIST_MOST_NS UINT64_C(10000000000)

/* Runs the program's dynamic linker, which writes its list to `fd`. */
static enum ab_status start_listing(const char *program, const char *const *argv, int fd,
                                    struct ab_program_started *out, struct ab_err *err)
{
    static const char *const list[] = {"LD_TRACE_LOADED_OBJECTS=1", NULL};
    char **envp = ab_environment_build(NULL, list);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    struct ab_program_start s = {.path = program,
                                 .argv = argv,
                                 .envp = envp,
                                 .stdin_fd = null,
                                 .stdout_fd = fd,
                                 .stderr_fd = null};
    enum ab_status status = null < 0 ? ab_fail_errno(err, AB_SYSTEM, "cannot open /dev/null")
                                     : ab_program_start(&s, out, err);
    if (null >= 0)
        close(null);
    ab_environment_free(envp);
    return status;
}

static enum ab_status list_objects(const char *program, const char *const *argv,
                                   struct ab_text *out, struct ab_err *err)
{
    struct ab_program_started started;
    char buf[4096];
    ssize_t n;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return ab_fail_errno(err, AB_SYSTEM, "cannot start the program: pipe");
    enum ab_status status = start_listing(program, argv, ends[1], &started, err);
    close(ends[1]);
    while (status == AB_OK && out->n < LISTED_MOST &&
           (n = read(ends[0], buf, sizeof buf - 1)) > 0) {
        buf[n] = 0;
        ab_text_add(out, buf);
    }
    close(ends[0]);
    if (status == AB_OK)
        ab_supervise(started.pid, ab_clock_now_ns() + LIST_MOST_NS, UINT64_MAX);
    return status;
}

static struct ab_proof_wanted of_file(const char *path, const struct ab_elf *elf)
{
    return (struct ab_proof_wanted){.path = path, .dev = elf->dev, .ino = elf->ino};
}

/* Parses a line of the list, "\tlibm.so.6 => /lib/libm.so.6 (0x7f…)" or the same without the first
 * two words, and stores the library if it defines malloc. */
static void take_line(const char *line, size_t n, struct ab_own_malloc *own)
{
    static const char *const names[] = {"malloc", "gnu_get_libc_version"};
    char path[sizeof own->path];
    struct ab_elf elf;
    const char *slash = memchr(line, '/', n), *end = memchr(line, '(', n);
    if (slash == NULL || end == NULL || end < slash + 2)
        return;
    AB_FIT(path, "%.*s", (int)(end - 1 - slash), slash);
    if (ab_elf_read(path, names, 2, &elf, NULL) != AB_OK)
        return;
    if (strncmp(elf.soname, "libstdc++.so", 12) == 0)
        AB_COPY(own->libcxx_path, path);
    if ((elf.defined & 1) == 0)
        return;
    if ((elf.defined & 2) != 0) {
        AB_COPY(own->libc_path, path);
        own->libc = of_file(own->libc_path, &elf);
    } else if (own->served.path == NULL && own->libc.path == NULL &&
               /* a malloc of a library that comes after the C library is never called */
               strncmp(elf.soname, "ld-linux", 8) != 0) {
        AB_COPY(own->path, path);
        own->served = of_file(own->path, &elf);
    }
}

enum ab_status ab_own_malloc_find(const char *program, const char *const *argv,
                                  struct ab_own_malloc *out, struct ab_err *err)
{
    static const char *const names[] = {"malloc"};
    struct ab_text listed = {0};
    struct ab_elf elf;
    *out = (struct ab_own_malloc){.is_program = false};
    /* Lists the libraries only with glibc's linker, because another one would run the program. The
     * interpreter of a script is not examined, because it has no allocator of its own that would be
     * worth a row. */
    if (ab_elf_read(program, names, 1, &elf, NULL) != AB_OK ||
        strstr(elf.interp, "/ld-linux") == NULL)
        return AB_OK;
    AB_TRY(list_objects(program, argv, &listed, err));
    for (const char *s = listed.s; s != NULL && *s != 0; s += strspn(s, "\n")) {
        size_t n = strcspn(s, "\n");
        take_line(s, n, out);
        s += n;
    }
    ab_text_fini(&listed);
    if ((elf.defined & 1) != 0) {
        out->is_program = true;
        AB_COPY(out->path, program);
        out->served = of_file(out->path, &elf);
    }
    return AB_OK;
}
