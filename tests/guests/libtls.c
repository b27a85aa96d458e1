/* SPDX-License-Identifier: MIT
 *
 * A library with much thread-local memory, that the dynamic linker has to allocate when it is first
 * used: tls_use says how many times this thread used it.
 */
#include <string.h>

int tls_use(void);

/* Through __tls_get_addr, as of every library that is opened late. */
#define LATE __attribute__((tls_model("global-dynamic")))
static __thread char large[20000] LATE;
static __thread int n_used LATE;

int tls_use(void)
{
    memset(large, n_used, sizeof large);
    return ++n_used;
}
