/* SPDX-License-Identifier: MIT
 *
 * Gathers the facts of a trace: totals, marks, scopes, call sites.
 */
#ifndef AB_APP_TRACE_TRACE_FACTS_H
#define AB_APP_TRACE_TRACE_FACTS_H

#include "app/request_parts.h"
#include "app/trace/trace_pass.h"
#include "symbols/site_match.h"
#include "trace_tools/event_text.h"
#include "trace_tools/scopes.h"
#include "trace_tools/site_stats.h"
#include "trace_tools/to_tape.h"
#include "trace_tools/trace_stats.h"

struct ab_facts_request {
    struct ab_trace_pass pass;
    bool wants_digest, wants_sites, wants_scopes;
    bool wants_page; /* True to gather also the facts that only the HTML page shows */
    enum ab_scopes_wish scopes_wish;
};

struct ab_trace_scopes { /* begins as {0} */
    struct ab_scopes scopes;
    struct ab_scope_stats stats;
    double median_calls;
    uint64_t time_us; /* duration of the trace; 0 = unknown */
    enum ab_scopes_wish wish;
    bool wants_each;        /* True to fill `each` */
    struct ab_trace_scope { /* sums of the requests within one scope */
        uint64_t allocs, bytes;
    } * each; /* sums of each of the scopes.n scopes; NULL unless wants_each */
};

struct ab_trace_facts { /* facts about one file */
    const char *path;
    struct ab_trace_info info;
    struct ab_survey survey;
    bool wants_sites, wants_scopes;
    struct ab_site_table site_table; /* {0} = not requested */
    struct ab_site_stats sites;
    struct ab_mark_table marks, requests;
    struct ab_mark_stats *mark_sums, *request_sums; /* sums for each name of a mark or a request */
    struct ab_trace_scopes scopes;
    char digest[65]; /* digest of the calls, in hexadecimal; "" = not requested */
    /* collects sizes and lifetimes for the page; NULL = no page requested */
    struct ab_overview_maker *look;
    char why_no_scopes[300]; /* reason that the page shows; "" = scopes were searched for */
};

/* Reads the facts by reading the file up to six times; *out begins as {0}. The caller ends with
 * ab_trace_facts_fini(), also after a failure. Fails with AB_USAGE if call sites are wanted and the
 * trace has none. Fails with AB_USAGE if scopes are wanted and the file can be read only once. */
enum ab_status ab_trace_facts_read(const struct ab_facts_request *r, struct ab_trace_facts *out,
                                   struct ab_err *err);
void ab_trace_facts_fini(struct ab_trace_facts *f);

struct ab_trace_site_row {
    uint32_t site;
    uint64_t key;
};
/* Returns the sites with a nonzero key, the largest first; the caller frees them. */
struct ab_trace_site_row *ab_trace_sort_sites(const struct ab_trace_facts *f,
                                              enum ab_site_order order, size_t *n);
/* Writes the innermost frames of a call site as printable texts, "new in parse parse.cc:12".
 * Returns the number of texts. */
enum { AB_TRACE_SITE_FRAMES = 4, AB_TRACE_FRAME_BYTES = 256 };
size_t ab_trace_site_frames(struct ab_site_names *names, uint32_t site,
                            char out[AB_TRACE_SITE_FRAMES][AB_TRACE_FRAME_BYTES]);

#endif
