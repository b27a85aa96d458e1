/* SPDX-License-Identifier: MIT
 *
 * Rows that are settings of one back end begin alike: "jemalloc{MALLOC_CONF=narenas:1}". What they
 * share is left out of all of them, so that what differs has room; a legend says it once.
 */
#ifndef AB_REPORT_TABLE_TABLE_LABELS_H
#define AB_REPORT_TABLE_TABLE_LABELS_H

#include <stddef.h>

enum { AB_LABEL_HEAD_BYTES = 128 };

struct ab_table;

/* What is left out, "jemalloc{MALLOC_CONF="; "" = nothing: fewer than two rows of back ends have
 * settings, or they are of several back ends. */
void ab_table_label_head(const struct ab_table *t, char head[AB_LABEL_HEAD_BYTES]);
/* The label with "{" in the place of `head`, in dst; the label itself where it begins otherwise. */
const char *ab_table_label_short(char *dst, size_t cap, const char *head, const char *label);

#endif
