/* SPDX-License-Identifier: MIT
 *
 * Makes any program one that calls mtrace(3): preloaded behind libc_malloc_debug.so.0.
 */
#include <mcheck.h>

__attribute__((constructor)) static void begin(void)
{
    mtrace();
}

__attribute__((destructor)) static void end(void)
{
    muntrace();
}
