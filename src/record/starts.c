/* SPDX-License-Identifier: MIT
 *
 * Reads from the control file which programs were started, and counts those that left no image.
 */
#include "record/starts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool has_image(const struct ab_spool_start *start, const struct ab_spool_entry *images,
                      size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (images[i].image.pid == start->pid && images[i].generation >= start->generation)
            return true;
    return false;
}

static void count(struct ab_unseen *all, size_t *n, const struct ab_spool_start *start)
{
    size_t i = 0;
    while (i < *n && (all[i].why != start->why || strcmp(all[i].path, start->path) != 0))
        i++;
    if (i == *n) {
        all[i] = (struct ab_unseen){.why = start->why};
        snprintf(all[i].path, sizeof all[i].path, "%s", start->path);
        ++*n;
    }
    all[i].n++;
}

enum ab_status ab_starts_read(const char *folder, const struct ab_spool_entry *images,
                              size_t n_images, struct ab_unseen **out, size_t *n, uint64_t *n_lost,
                              struct ab_err *err)
{
    struct ab_spool_control *control = calloc(1, sizeof *control);
    struct ab_unseen *all = calloc(AB_SPOOL_STARTS, sizeof all[0]);
    size_t used = 0;
    if (control == NULL || all == NULL) {
        free(control);
        free(all);
        return ab_fail(err, AB_SYSTEM, "out of memory for the list of programs");
    }
    bool is_read = ab_spool_read_control(folder, control);
    for (size_t i = 0; is_read && i < AB_SPOOL_STARTS; i++) {
        struct ab_spool_start *start = &control->starts[i];
        start->path[sizeof start->path - 1] = 0;
        if (start->state == AB_SPOOL_START_NOTED &&
            (start->why != AB_SPOOL_RUNNING || !has_image(start, images, n_images)))
            count(all, &used, start);
    }
    *out = all;
    *n = used;
    *n_lost = is_read ? control->n_starts_lost : 0;
    free(control);
    return AB_OK;
}
