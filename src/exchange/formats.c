/* SPDX-License-Identifier: MIT
 *
 * The table of formats, and importing by it.
 */
#include "exchange/formats.h"

#include "base/bits.h"
#include "base/nearest.h"
#include "core/text.h"

#include <string.h>

#define AB_FORMAT(id, name, ...) {name, ab_import_##id},
static const struct ab_format formats[] = {AB_FORMATS(AB_FORMAT)};

const struct ab_format *ab_format_at(size_t i)
{
    return i < AB_ARRAY_LEN(formats) ? &formats[i] : NULL;
}

enum ab_status ab_format_find(const char *name, const struct ab_format **out, struct ab_err *err)
{
    const char *names[AB_ARRAY_LEN(formats)];
    char list[256] = "", shown[256];
    for (size_t i = 0; i < AB_ARRAY_LEN(formats); i++) {
        if (strcmp(names[i] = formats[i].name, name) == 0) {
            *out = &formats[i];
            return AB_OK;
        }
        ab_text_join(list, sizeof list, ", ", names[i]);
    }
    const char *near = ab_text_nearest(name, names, AB_ARRAY_LEN(formats));
    ab_text_printable(shown, sizeof shown, name);
    return near != NULL ? ab_fail(err, AB_USAGE, "unknown format %s; did you mean %s?", shown, near)
                        : ab_fail(err, AB_USAGE, "unknown format %s; allowed are %s", shown, list);
}

enum ab_status ab_import(const struct ab_import *import, struct ab_intake_report *report,
                         struct ab_err *err)
{
    struct ab_intake in = {.to = import->to, .progress = import->progress, .user = import->user};
    AB_TRY(ab_feed_open(import->path, import->is_partial, &in.from, err));
    struct ab_feed *from = in.from;
    enum ab_status status = import->format->read(from, &in, err);
    if (status == AB_OK)
        status = ab_intake_end(&in, err);
    if (status == AB_OK)
        *report = in.report;
    ab_intake_fini(&in);
    ab_feed_close(from);
    return status;
}
