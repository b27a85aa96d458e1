/* SPDX-License-Identifier: MIT
 *
 * The digest of a whole trace file, in hexadecimal, and its totals where info is not NULL.
 */
#ifndef TESTS_SUPPORT_TRACE_DIGEST_H
#define TESTS_SUPPORT_TRACE_DIGEST_H

#include "trace/reader.h"

enum ab_status ab_trace_digest(const char *path, bool is_partial, char hex[65],
                               struct ab_trace_info *info, struct ab_err *err);

#endif
