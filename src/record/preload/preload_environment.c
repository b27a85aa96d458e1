/* SPDX-License-Identifier: MIT
 *
 * Reads variables where the kernel left them, until the C library does: its environ is not there yet
 * when a program allocates before all constructors (.preinit_array), and everything that it calls
 * until its own end would go unrecorded.
 */
#include "record/preload/preload_environment.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

extern void *__libc_stack_end; /* the dynamic linker's: argc, argv, NULL, variables, NULL */

AB_HIDDEN const char *ab_environment(const char *name)
{
    char **at = (char **)__libc_stack_end;
    size_t n = strlen(name);
    if (environ != NULL || at == NULL || getauxval(AT_SECURE) != 0)
        return secure_getenv(name);
    at += 1 + (size_t) * (long *)__libc_stack_end + 1;
    for (; *at != NULL; at++)
        if (strncmp(*at, name, n) == 0 && (*at)[n] == '=')
            return *at + n + 1;
    return NULL;
}
