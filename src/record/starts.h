/* SPDX-License-Identifier: MIT
 *
 * The programs that were started under the recorder and have left nothing in the spool.
 */
#ifndef AB_RECORD_STARTS_H
#define AB_RECORD_STARTS_H

#include "record/spool_reader.h"

struct ab_unseen {  /* processes of one program, with one reason */
    char path[240]; /* as it was called */
    uint32_t why;   /* enum ab_spool_stop; AB_SPOOL_RUNNING = it did not take the recorder in */
    uint64_t n;
};

/* Those that have none of the images; *out is to be freed. *n_lost: how many more there may be. */
enum ab_status ab_starts_read(const char *folder, const struct ab_spool_entry *images,
                              size_t n_images, struct ab_unseen **out, size_t *n, uint64_t *n_lost,
                              struct ab_err *err);

#endif
