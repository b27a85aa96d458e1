/* SPDX-License-Identifier: MIT
 *
 * The name of a histogram, for logs and file names.
 */
#ifndef AB_REPORT_SINKS_SINK_TAG_H
#define AB_REPORT_SINKS_SINK_TAG_H

/* BACKEND.PHASE.OP: characters that could mean something there are %XX, so that no two histograms
 * share a tag. */
enum { AB_TAG_BYTES = 1024 };
const char *ab_sink_tag(char buf[AB_TAG_BYTES], const char *backend, const char *phase,
                        const char *op);

/* What stands for the op where numbers are of iterations. */
#define AB_TAG_ITERATION "iteration"

#endif
