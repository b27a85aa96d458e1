/* SPDX-License-Identifier: MIT
 *
 * The results of several workloads in one document, allocbench-suite/1. It contains the unchanged
 * allocbench/2 document of each workload. Beside them are the ratios of every back end in every
 * workload, their means and verdicts. All of these are computed again from the results when the
 * document is read.
 */
#ifndef AB_DOCUMENT_SUITE_DOCUMENT_H
#define AB_DOCUMENT_SUITE_DOCUMENT_H

#include "document/read_result.h"
#include "stats/suite_means.h"

enum { AB_SUITE_MOST = 1000 }; /* limit on the number of workloads */

struct ab_suite_item {
    const char *name;   /* file name without its suffix, or the path if that name is not unique */
    const char *path;   /* path as the user gave it */
    const char *reason; /* why there is no result; "" = there is one, or it was not measured yet */
    void *document;     /* document of the result, with its checksum; NULL = no result */
    struct ab_stored stored; /* the same result as a session, read or copied */
};

struct ab_suite {
    enum ab_session_kind kind; /* whether the items are workloads or traces */
    const char *command_line;  /* command that measured the suite */
    /* version of the allocbench that measured the suite; NULL = this build */
    const char *version;
    double time_budget_s; /* for all workloads together; 0 = none */
    bool is_complete;     /* True if every workload was measured to its end, or cannot be
                                 measured */
    /* True if the suite or one of its results comes from a file without a checksum */
    bool is_unsealed;
    struct ab_suite_item *items;
    uint32_t n;
    const char *base; /* the back end that the others are compared with; NULL = none */
    void *document;   /* document that the suite was read from; NULL = none */
    enum ab_checksum checksum;

    /* The members below are computed from the items. The summary contains the back ends and the
     * gates on means, so that verdicts can be shown like those of a result. */
    /* one for each item, or for each combination of an item's parameter values */
    struct ab_suite_work *works;
    /* names of the works: "churn[n=1000]"; figures.n_works entries, NULL = the same as the item's
     * name */
    char **names;
    struct ab_suite_figures figures;
    struct ab_session summary;
    char *sha256; /* digest of the names and tapes of all items */
};

/* Stores a copy of a session and its document in an item. */
void ab_suite_item_take(struct ab_suite_item *item, const struct ab_session *session);
/* Copies the result of an item without its verdicts. The caller frees *out with ab_stored_fini. */
void ab_suite_item_copy(const struct ab_suite_item *item, struct ab_stored *out);
/* Returns the item of this name; NULL = none. */
const struct ab_suite_item *ab_suite_find(const struct ab_suite *suite, const char *name);

/* Computes all members that depend on the items again. Drops the gates of the summary. */
void ab_suite_settle(struct ab_suite *suite);
void ab_suite_write(FILE *to, const struct ab_suite *suite);
/* Reads a suite; its gates have their stored verdicts. On failure returns AB_INPUT with a message,
 * like ab_stored_read. */
enum ab_status ab_suite_read(const char *path, struct ab_suite *out, struct ab_err *err);
/* Like ab_suite_read, for callers that use the numbers: also returns AB_INPUT if the document was
 * altered. */
enum ab_status ab_suite_read_unaltered(const char *path, struct ab_suite *out, struct ab_err *err);
/* Frees the suite. Does not free texts such as `name`, `path` and `reason` of the items, which
 * belong to the document or to the caller that measured. */
void ab_suite_fini(struct ab_suite *suite);

#endif
