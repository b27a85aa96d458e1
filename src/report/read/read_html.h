/* SPDX-License-Identifier: MIT
 *
 * The result inside an HTML report: in a block of data that no browser runs, as the JSON document
 * that --json writes, compressed by zlib, in base64 with line breaks.
 */
#ifndef AB_REPORT_READ_READ_HTML_H
#define AB_REPORT_READ_READ_HTML_H

#include "core/status.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* What precedes and follows it. Text of users is escaped on the page: it contains neither. */
#define AB_HTML_RESULT_BEGIN \
    "<script type=\"application/vnd.allocbench.result+zlib\" id=\"allocbench-result\">"
#define AB_HTML_RESULT_END "</script>"

/* Does the file begin as an HTML document does? False also when it cannot be read. */
bool ab_html_is_page(const char *path);
/* The document in a page of at most `cap_bytes`; it must not have more bytes than that either, once
 * it is unpacked, and is read into at most `cap_memory`. AB_INPUT: there is none, it is truncated, or
 * it was altered. Free it with ab_json_free. */
enum ab_status ab_html_load(const char *path, size_t cap_bytes, size_t cap_memory, json_t **out,
                            struct ab_err *err);

#endif
