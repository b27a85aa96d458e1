/* SPDX-License-Identifier: MIT
 *
 * Mapped rows out of a stored result.
 */
#ifndef AB_REPORT_HEAPS_HEAPS_READ_H
#define AB_REPORT_HEAPS_HEAPS_READ_H

#include "report/read/read_records.h"

/* backend.map; older results do not have it, and null is one heap. */
void ab_stored_mapping(struct ab_json_reader *r, const struct ab_json_node *backend,
                       struct ab_backend_info *b);
/* record.heaps of a memory record, whose back end is known; all n/a where it is not there. */
void ab_stored_heap_memory(struct ab_stored_reader *r, const struct ab_json_node *record,
                           struct ab_memory *m);
/* document.heaps; older results do not have it. */
void ab_stored_heaps(struct ab_stored_reader *r, const struct ab_json_node *document);

#endif
