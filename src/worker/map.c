/* SPDX-License-Identifier: MIT
 *
 * Memory of the worker's own.
 */
#include "worker/worker.h"

#include <string.h>
#include <sys/mman.h>

void *ab_worker_map(struct ab_worker *w, size_t bytes, const char *what)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE,
                   -1, 0);
    if (p == MAP_FAILED)
        ab_worker_fail(w, AB_FAILURE_SYSTEM, "cannot map the ", what, NULL);
    return memset(p, 0, bytes);
}
