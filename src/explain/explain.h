/* SPDX-License-Identifier: MIT
 *
 * Says what the words of screens, reports, help and documents mean: explain.def, and the numbers of
 * results and memory records, whose meaning is in the tables of result/. For `allocbench explain`,
 * the "?" of reports and the manual page.
 */
#ifndef AB_EXPLAIN_EXPLAIN_H
#define AB_EXPLAIN_EXPLAIN_H

#include "result/result_fields.h"

#include <stdbool.h>
#include <stddef.h>

/* X(ID, title), in the order in which they are listed. */
#define AB_EXPLAIN_GROUPS(X) \
    X(TIME, "Time") \
    X(LATENCY, "Latency") \
    X(MEMORY, "Memory") \
    X(NOISE, "Rounds and noise") \
    X(COMPARE, "Comparing") \
    X(WORK, "The work") \
    X(RESULT, "Results") \
    X(PROGRAM, "Real programs") \
    X(VERIFY, "Checks of verify")
enum ab_explain_group {
#define AB_EXPLAIN_GROUP(id, title) AB_EXPLAIN_##id,
    AB_EXPLAIN_GROUPS(AB_EXPLAIN_GROUP) AB_EXPLAIN_GROUP_COUNT
#undef AB_EXPLAIN_GROUP
};
extern const char *const ab_explain_group_titles[AB_EXPLAIN_GROUP_COUNT];

/* Strings are constant and never NULL; "" = there is nothing to say. */
struct ab_explanation {
    enum ab_explain_group group;
    const char *word, *synonyms; /* ", " between them */
    const char *what;            /* one paragraph */
    const char *formula, *todo;
    const char *see;             /* words and documents, ", " between them */
    const char *number;          /* its name in JSON, CSV and gates, where it is one */
    const char *unit;            /* unit or direction of the number */
    const char *number_is;       /* what just the number is, where `what` says more than that */
    enum ab_field_better better; /* unit or direction of the number */
};

/* Sets *out to explanation i of all, the rows of explain.def first. Returns false past the end. */
bool ab_explain_at(size_t i, struct ab_explanation *out);
/* Finds an explanation by its word, a synonym or the name of a number. Upper and lower case are the
 * same, and so are blanks, '_' and '-'. Returns false if there is none. */
bool ab_explain_find(const char *word, struct ab_explanation *out);
/* Returns the nearest spelling of all words, synonyms and numbers; NULL = none is near. */
const char *ab_explain_nearest(const char *word, char *buf, size_t cap);

#endif
