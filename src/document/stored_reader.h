/* SPDX-License-Identifier: MIT
 *
 * State and helpers shared by all tables that read a stored result. `json` keeps the first error.
 */
#ifndef AB_DOCUMENT_STORED_READER_H
#define AB_DOCUMENT_STORED_READER_H

#include "document/json_in.h"
#include "result/hdr.h"
#include "result/result.h"

/* State while a stored result is read. */
struct ab_stored_reader {
    struct ab_json_reader json;
    /* back ends, phases and rounds of the session are read before its records */
    struct ab_session *session;
    struct ab_hdr_room *room;
    uint64_t hdr_bytes_left;
};

/* Returns the index of the back end with this full name, including its values. If there is none,
 * fails with an error about `at` and returns 0. */
uint32_t ab_stored_named(struct ab_stored_reader *r, const struct ab_json_node *at,
                         const char *name);

#endif
