/* SPDX-License-Identifier: MIT
 *
 * Private to read_result.c and read_records.c: the state of one reading, and the lists of records.
 */
#ifndef AB_REPORT_READ_READ_RECORDS_H
#define AB_REPORT_READ_READ_RECORDS_H

#include "report/read/json_in.h"
#include "report/read/read_result.h"

struct ab_stored_reader {
    struct ab_json_reader json;
    struct ab_session *session; /* back ends, phases and rounds are there before the records */
    struct ab_hdr_room *room;
    uint64_t hdr_bytes_left;
};

/* calloc of n records for a list; NULL after an error, and for none. */
void *ab_stored_records(struct ab_stored_reader *r, size_t n, size_t bytes);
/* The back end of this name, for what is at `at`; 0 after an error. */
uint32_t ab_stored_backend_named(struct ab_stored_reader *r, const struct ab_json_node *at,
                                 const char *name);
/* The back end that o[key] names; 0 after an error. */
uint32_t ab_stored_backend(struct ab_stored_reader *r, const struct ab_json_node *o,
                           const char *key);
/* o.phase and o.round, which have to exist. */
const char *ab_stored_phase(struct ab_stored_reader *r, const struct ab_json_node *o);
uint32_t ab_stored_round(struct ab_stored_reader *r, const struct ab_json_node *o);
/* One of ab_boundary_names. */
const char *ab_stored_boundary(struct ab_json_reader *r, const struct ab_json_node *o);
unsigned ab_stored_op(struct ab_stored_reader *r, const struct ab_json_node *o);
/* o.hdr_v2, which has to hold n values; NULL, or r->json.status, after an error. */
struct ab_hdr *ab_stored_histogram(struct ab_stored_reader *r, const struct ab_json_node *o,
                                   uint64_t n);

/* V2 knows only the counter that holds the maximum: this is it, if it lies there. */
void ab_stored_refine_max(struct ab_hdr *hdr, uint64_t max);

/* Each fills one list of the session from the document. */
void ab_stored_nulls(struct ab_stored_reader *r, const struct ab_json_node *timer);
void ab_stored_results(struct ab_stored_reader *r, const struct ab_json_node *document);

#endif
