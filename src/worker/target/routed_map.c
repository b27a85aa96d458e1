/* SPDX-License-Identifier: MIT
 *
 * Maps the file of a placement, and brings a burst's part of it into memory as its ops are.
 */
#include "worker/target/routed.h"

#include <sys/mman.h>
#include <unistd.h>

static void bring_in(struct ab_worker *w, uint64_t last, uint64_t next, uint64_t bytes)
{
    if (!ab_worker_bring_in(w->route, last, next, bytes))
        ab_worker_fail(w, AB_FAILURE_SYSTEM, "cannot read the placement", NULL);
}

void ab_routed_map_file(struct ab_worker *w)
{
    off_t bytes = lseek(AB_WORKER_FD_ROUTE, 0, SEEK_END);
    const struct ab_route_image *image = mmap(NULL, (size_t)bytes, PROT_READ, MAP_SHARED,
                                              AB_WORKER_FD_ROUTE, 0);
    if (image == MAP_FAILED || image->magic != AB_ROUTE_MAGIC || image->size != sizeof *image ||
        image->n_lanes != w->image->n_lanes || image->n_bursts < w->image->n_bursts)
        ab_worker_fail(w, AB_FAILURE_SYSTEM, "cannot map the placement", NULL);
    w->route = image;
    bring_in(w, 0, 0, ab_route_part(image, 0)); /* all that comes before the parts */
    ab_routed_bring_in(w, 0, 0);
}

void ab_routed_bring_in(struct ab_worker *w, uint32_t last, uint32_t next)
{
    bring_in(w, ab_route_part(w->route, last), ab_route_part(w->route, next), w->route->most_bytes);
}
