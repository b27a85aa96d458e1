/* SPDX-License-Identifier: MIT
 *
 * Names of histograms, for logs and file names.
 */
#ifndef AB_REPORT_SINKS_SINK_TAG_H
#define AB_REPORT_SINKS_SINK_TAG_H

/* Writes BACKEND.PHASE.OP. Special characters become %XX, so that no two histograms share a tag. */
enum { AB_TAG_BYTES = 1024 };
const char *ab_sink_tag(char buf[AB_TAG_BYTES], const char *backend, const char *phase,
                        const char *op);

/* Used in place of the op for numbers of iterations. */
#define AB_TAG_ITERATION "iteration"

#endif
