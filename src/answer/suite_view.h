/* SPDX-License-Identifier: MIT
 *
 * The answer of several workloads as data: workloads by allocators, the means, sentences about
 * them, and the picture of time against memory. Terminal, Markdown and HTML draw it. Texts belong
 * to the view; names may be hostile.
 */
#ifndef AB_ANSWER_SUITE_VIEW_H
#define AB_ANSWER_SUITE_VIEW_H

#include "answer/grid.h"
#include "document/suite_document.h"

enum {
    AB_SUITE_SENTENCES = 4,
    AB_SUITE_COLUMNS = 12 /* most back ends shown beside each other */
};

struct ab_suite_dot { /* a dot of the picture: ratios to the base, less is better */
    const char *name;
    double time, memory;
    double time_low, time_high, memory_low, memory_high; /* NaN = no interval */
    bool is_front;                                       /* True if no other back end is both faster
                                                            and smaller */
};

struct ab_suite_view {
    const struct ab_suite *suite;
    const char *title;
    const char *sentences[AB_SUITE_SENTENCES];
    unsigned n_sentences;
    struct ab_grid matrix;     /* a row for each workload; all cells are texts */
    struct ab_grid means;      /* a row for each back end; all cells are texts */
    struct ab_suite_dot *dots; /* in the order of time */
    size_t n_dots;
    /* n_verdicts verdicts that did not pass, each with the name of its workload */
    const char **verdicts;
    size_t n_verdicts, cap_verdicts;
    const char *n_judged; /* "2 failed, 14 passed"; "" = nothing was judged */
    struct ab_view_texts texts;
};

void ab_suite_view_make(const struct ab_suite *suite, struct ab_suite_view *out);
void ab_suite_view_fini(struct ab_suite_view *v);

#endif
