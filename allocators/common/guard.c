/* SPDX-License-Identifier: MIT
 *
 * How a guarded heap says what it found, and ends the process. Neither stdio nor malloc: they may
 * be what is broken.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* syscall */
#endif

#include "guard.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#if !defined(__cplusplus) && !defined(_DEFAULT_SOURCE)
extern long syscall(long, ...); /* not declared in strict C, where a header was read before this */
#endif

AB_COMMON_API const char *ab_guard_fault_text(enum ab_guard_fault fault)
{
    static const char *const texts[] = {"ok", "not from this heap",
                                        "freed already, or never allocated",
                                        "corrupted before its start", "overflow past its end"};
    return texts[fault];
}

static size_t put(char *line, size_t n, const char *text)
{
    while (*text != 0)
        line[n++] = *text++;
    return n;
}

static size_t put_place(char *line, const char *name, const void *block)
{
    size_t n = put(line, put(line, 0, name), ": 0x");
    for (int shift = 60; shift >= 0; shift -= 4)
        line[n++] = "0123456789abcdef"[(uintptr_t)block >> shift & 15];
    return put(line, n, ": ");
}

AB_COMMON_API void ab_guard_note(const char *name, const void *block, const char *what,
                                 size_t bytes)
{
    char line[160], digits[24];
    size_t n = put(line, put_place(line, name, block), what), first = sizeof digits - 1;
    digits[first] = 0;
    do
        digits[--first] = (char)('0' + bytes % 10);
    while ((bytes /= 10) != 0);
    n = put(line, put(line, put(line, n, ", "), &digits[first]), " bytes\n");
    syscall(SYS_write, 2, line, n);
}

AB_COMMON_API __attribute__((noinline)) void ab_guard_end(const char *name, const void *block,
                                                          const char *what)
{
    char line[160];
    size_t n = put(line, put_place(line, name, block), what);
    line[n++] = '\n';
    syscall(SYS_write, 2, line, n);
    syscall(SYS_tgkill, syscall(SYS_getpid), syscall(SYS_gettid), SIGABRT);
    __builtin_trap();
}

AB_COMMON_API void ab_guard_die(const char *name, const void *block, enum ab_guard_fault fault)
{
    ab_guard_end(name, block, ab_guard_fault_text(fault));
}
