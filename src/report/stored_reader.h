/* SPDX-License-Identifier: MIT
 *
 * The reading of a stored result: what its records have in common. The first error sticks in `json`.
 */
#ifndef AB_REPORT_STORED_READER_H
#define AB_REPORT_STORED_READER_H

#include "report/json_in.h"
#include "result/hdr.h"
#include "result/result.h"

/* The state of one reading of a stored result. */
struct ab_stored_reader {
    struct ab_json_reader json;
    struct ab_session *session; /* back ends, phases and rounds are there before the records */
    struct ab_hdr_room *room;
    uint64_t hdr_bytes_left;
};

/* The row of this name, values and all; 0 after an error, which is about `at`. */
uint32_t ab_stored_named(struct ab_stored_reader *r, const struct ab_json_node *at,
                         const char *name);

#endif
