/* SPDX-License-Identifier: MIT
 *
 * The JSON document, schema allocbench/2 (session_record.h). Built whole, then written.
 */
#include "report/checksum.h"
#include "report/format.h"
#include "report/session_record.h"
#include "report/sinks/sinks.h"

bool ab_sink_json(FILE *to, const struct ab_session *session)
{
    struct ab_format_guard guard;
    char checksum[AB_CHECKSUM_BYTES];
    ab_format_begin(&guard);
    json_t *document = ab_record_json(&ab_session_record, session, session);
    ab_checksum_make(document, checksum); /* the last key: of all that stands before it */
    ab_json_put(document, AB_CHECKSUM_KEY, ab_json_string(checksum));
    ab_json_write(document, to, 12);
    ab_format_end(&guard);
    return true;
}
