/* SPDX-License-Identifier: MIT
 *
 * The space that a spool takes of the disk, given back while it is written.
 */
#ifndef AB_RECORD_CONVERTER_SPOOL_SPACE_H
#define AB_RECORD_CONVERTER_SPOOL_SPACE_H

#include "record/spool_reader.h"

/* Gives the space of chunks back that were read. Returns how many bytes; 0 also where they are few,
 * and where the file system cannot. */
uint64_t ab_spool_free_read(struct ab_stream *s, const char *folder,
                            const struct ab_spool_entry *image);

/* Was space of it given back, so that its events are not all there? */
bool ab_spool_is_freed(const char *folder, const struct ab_spool_entry *image);

#endif
