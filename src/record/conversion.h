/* SPDX-License-Identifier: MIT
 *
 * One image on its way into a trace, from the opening of the trace to its end: what converting
 * when all is over (convert.c) and converting meanwhile (along.c) have in common.
 */
#ifndef AB_RECORD_CONVERSION_H
#define AB_RECORD_CONVERSION_H

#include "record/converter.h"

struct ab_conversion {
    struct ab_converter c;
    struct ab_site_table sites;
    struct ab_convert_marks marks;
};

/* Opens the trace, once the converter is open. To be ended also when it fails. */
enum ab_status ab_conversion_begin(struct ab_conversion *v, FILE *to, bool has_thread,
                                   struct ab_err *err);
/* Takes all events that are left. What is no spool of ours ends the trace there: what came before
 * is whole. */
enum ab_status ab_conversion_take_all(struct ab_conversion *v, ab_convert_progress *progress,
                                      void *user, struct ab_err *err);
/* Ends the trace. */
enum ab_status ab_conversion_close(struct ab_conversion *v, struct ab_err *err);
void ab_conversion_end(struct ab_conversion *v);

/* What the image itself says of it. */
void ab_conversion_note_image(struct ab_convert_report *report, const struct ab_spool_image *image);

#endif
