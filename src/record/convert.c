/* SPDX-License-Identifier: MIT
 *
 * Converts one image when all is over: begins with what a fork inherited, and takes every event.
 */
#include "record/convert.h"

#include "record/conversion.h"
#include "trace/format.h"

#include <sched.h>
#include <stdlib.h>

static enum ab_status inherit(struct ab_converter *c, struct ab_family *family, struct ab_err *err)
{
    struct ab_held *blocks = NULL;
    size_t n = 0;
    enum ab_status status = ab_family_inherited(family, c->image, &blocks, &n, err);
    if (status == AB_OK)
        status = ab_converter_inherit(c, blocks, n, err);
    free(blocks);
    return status;
}

/* Is there more than one block to pack, and a CPU for it beside ours? */
static bool wants_thread(const struct ab_spool_entry *image)
{
    cpu_set_t set;
    return image->n_events > AB_TRACE_CHUNK_EVENTS_MAX &&
           sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 1;
}

enum ab_status ab_convert(struct ab_family *family, const struct ab_spool_entry *image, FILE *to,
                          struct ab_convert_report *report, ab_convert_progress *progress,
                          void *user, struct ab_err *err)
{
    struct ab_conversion *v = calloc(1, sizeof *v);
    if (v == NULL)
        return ab_fail(err, AB_SYSTEM, "out of memory");
    *report = (struct ab_convert_report){0};
    ab_conversion_note_image(report, &image->image);
    enum ab_status status = ab_converter_open(&v->c, ab_family_folder(family), image, report, err);
    if (status == AB_OK)
        status = ab_conversion_begin(v, to, wants_thread(image), err);
    if (status == AB_OK)
        status = inherit(&v->c, family, err);
    if (status == AB_OK)
        status = ab_conversion_take_all(v, progress, user, err);
    if (status == AB_OK)
        status = ab_conversion_close(v, err);
    ab_conversion_end(v);
    free(v);
    return status;
}
