/* SPDX-License-Identifier: MIT
 *
 * The results of several workloads in one document, allocbench-suite/1. Each is the allocbench/2
 * document that its workload alone would have, unchanged; beside them the ratios of every back end
 * in every workload, their means and the verdicts on these, all worked out from the results again when
 * the document is read.
 */
#ifndef AB_REPORT_SUITE_H
#define AB_REPORT_SUITE_H

#include "report/read_result.h"
#include "stats/suite.h"

enum { AB_SUITE_MOST = 1000 }; /* workloads */

struct ab_suite_item {
    const char *name;   /* of the file, without its end; where two are the same, the path */
    const char *path;   /* as it was given */
    const char *reason; /* why there is no result, "" = there is one, or it was not measured yet */
    void *document;     /* the result, with its checksum; NULL = there is none */
    struct ab_stored stored; /* … read */
};

struct ab_suite {
    const char *kind;         /* "workload" or "trace" */
    const char *command_line; /* that measured it */
    const char *version;      /* of what measured it; NULL = this build */
    double time_budget_s;     /* of all together; 0 = none */
    bool is_complete;         /* every workload was measured to its end, or cannot be */
    bool is_unsealed;         /* it, or one of its results, comes from a file without a checksum */
    struct ab_suite_item *items;
    uint32_t n;
    const char *base; /* the back end that the others are compared with; NULL = none */
    void *document;   /* it was read from; NULL = none */
    enum ab_checksum checksum;

    /* Worked out. The summary has the back ends and the gates on means, for what shows verdicts. */
    struct ab_suite_work *works; /* one for each item; of params with lists, for each combination */
    char **names; /* of these: "churn[n=1000]"; of figures.n_works, NULL = the item's */
    struct ab_suite_figures figures;
    struct ab_session summary;
    char *sha256; /* of the names and tapes of all */
};

/* Takes a session as it would be stored. */
void ab_suite_item_take(struct ab_suite_item *item, const struct ab_session *session);
/* The result of an item once more, to be ended by itself; `shown` names it in errors. */
enum ab_status ab_suite_item_read(const struct ab_suite_item *item, const char *shown,
                                  struct ab_stored *out, struct ab_err *err);
/* The item of this name; NULL = none. */
const struct ab_suite_item *ab_suite_find(const struct ab_suite *suite, const char *name);

/* Works out what follows from the items, anew; gates of the summary end. */
void ab_suite_settle(struct ab_suite *suite);
void ab_suite_write(FILE *to, const struct ab_suite *suite);
/* AB_INPUT as ab_stored_read; gates as they were judged. */
enum ab_status ab_suite_read(const char *path, struct ab_suite *out, struct ab_err *err);
/* The same for whoever goes on with its numbers: AB_INPUT also where it was altered. */
enum ab_status ab_suite_read_unaltered(const char *path, struct ab_suite *out, struct ab_err *err);
/* All but what `name`, `path` and `reason` of items point to, and other texts, which belong to the
 * document or to whoever measured. */
void ab_suite_fini(struct ab_suite *suite);

#endif
