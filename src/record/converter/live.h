/* SPDX-License-Identifier: MIT
 *
 * A converter of an image whose process runs.
 */
#ifndef AB_RECORD_CONVERTER_LIVE_H
#define AB_RECORD_CONVERTER_LIVE_H

#include "record/converter.h"

/* Opens it; to be closed also when it fails. Nothing is there before the first refresh. `image` stays
 * the caller's, and is changed by refreshes. */
enum ab_status ab_converter_open_live(struct ab_converter *c, const char *folder,
                                      struct ab_spool_entry *image,
                                      struct ab_convert_report *report, struct ab_err *err);
/* Sees what has come since: then what is known to be in order can be run through. */
enum ab_status ab_converter_refresh(struct ab_converter *c, struct ab_spool_entry *image,
                                    struct ab_err *err);
/* Once nothing more is recorded: what is left can be run through, as of any other image. */
enum ab_status ab_converter_settle(struct ab_converter *c, struct ab_err *err);

#endif
