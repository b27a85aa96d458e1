/* SPDX-License-Identifier: MIT
 *
 * Reports what a checked heap found, and ends the process. Uses neither stdio nor malloc, which may
 * be broken.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* syscall */
#endif

#include "checked.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#if !defined(__cplusplus) && !defined(_DEFAULT_SOURCE)
/* not declared if a system header was included before in strict C */
extern long syscall(long, ...);
#endif

/* Dl_info and dladdr, which strict C does not declare; dladdr is NULL in a static program. */
struct place {
    const char *file;
    const unsigned char *base;
    const char *symbol;
    const void *address;
};
__attribute__((weak)) extern int ab_guard_dladdr(const void *, struct place *) __asm__("dladdr");

AB_COMMON_API const void **ab_guard_place(void)
{
    static __thread const void *place;
    return &place;
}

/* True if the bytes can be read; asks the kernel. If the kernel refuses to answer, returns true. */
AB_COMMON_API bool ab_guard_can_read(const void *from, size_t bytes)
{
    char copy[sizeof(struct ab_block_head)];
    struct iovec here = {copy, bytes < sizeof copy ? bytes : sizeof copy};
    struct iovec there = {(void *)(uintptr_t)from, here.iov_len};
    long n = syscall(SYS_process_vm_readv, syscall(SYS_getpid), &here, 1L, &there, 1L, 0L);
    return n == (long)here.iov_len || (n < 0 && errno != EFAULT);
}

/* A line of text; text that does not fit is cut off. */
struct line {
    char text[600];
    size_t n;
};

static void put(struct line *line, const char *text)
{
    while (*text != 0 && line->n + 1 < sizeof line->text)
        line->text[line->n++] = *text++;
}

static void put_number(struct line *line, uintptr_t number, unsigned base, size_t n_least)
{
    char digits[24];
    size_t first = sizeof digits - 1;
    digits[first] = 0;
    for (size_t n = 0; n < n_least || number != 0; n++, number /= base)
        digits[--first] = "0123456789abcdef"[number % base];
    put(line, &digits[first]);
}

static void put_name(struct line *line, const char *name, const void *block, const char *what)
{
    put(line, name);
    put(line, ": 0x");
    put_number(line, (uintptr_t)block, 16, 16);
    put(line, ": ");
    put(line, what);
}

/* Writes an address in the form that addr2line takes: the file and the offset in it, or the address
 * itself if the file is loaded at a fixed address. */
static void put_place(struct line *line, const char *did, const void *place)
{
    enum { ELF_TYPE = 16, ELF_TYPE_FIXED = 2 };
    struct place found = {NULL, NULL, NULL, NULL};
    if (place == NULL)
        return;
    put(line, did);
    uintptr_t at = (uintptr_t)place - 1; /* an address within the call instruction */
    if (ab_guard_dladdr != NULL && ab_guard_dladdr((const void *)at, &found) != 0 &&
        found.file != NULL) {
        put(line, found.file);
        put(line, "+");
        at -= found.base[ELF_TYPE] == ELF_TYPE_FIXED ? 0 : (uintptr_t)found.base;
    }
    put(line, "0x");
    put_number(line, at, 16, 1);
}

static void put_facts(struct line *line, const struct ab_block_death *of)
{
    if (of == NULL)
        return;
    put(line, "; ");
    put_number(line, of->size, 10, 1);
    put(line, " bytes");
    put_place(line, ", allocated at ", of->born);
    put_place(line, ", freed at ", of->died);
}

static void write_out(struct line *line)
{
    line->text[line->n++] = '\n';
    syscall(SYS_write, 2, line->text, line->n);
}

AB_COMMON_API void ab_guard_note(const char *name, const void *block, const char *what,
                                 const struct ab_block_death *of)
{
    struct line line;
    line.n = 0;
    put_name(&line, name, block, what);
    put_facts(&line, of);
    write_out(&line);
}

AB_COMMON_API __attribute__((noinline)) void ab_guard_end_at(const char *name, const void *block,
                                                             const char *what, ptrdiff_t at,
                                                             const struct ab_block_death *of)
{
    struct line line;
    line.n = 0;
    put_name(&line, name, block, what);
    if (at != AB_GUARD_NOWHERE) {
        put(&line, at < 0 ? ", at byte -" : ", at byte ");
        put_number(&line, (uintptr_t)(at < 0 ? -at : at), 10, 1);
    }
    put_facts(&line, of);
    write_out(&line);
    syscall(SYS_tgkill, syscall(SYS_getpid), syscall(SYS_gettid), SIGABRT);
    __builtin_trap();
}

AB_COMMON_API void ab_guard_end(const char *name, const void *block, const char *what)
{
    ab_guard_end_at(name, block, what, AB_GUARD_NOWHERE, NULL);
}
