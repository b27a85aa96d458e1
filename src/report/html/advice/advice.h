/* SPDX-License-Identifier: MIT
 *
 * What the sections of the page of an advice have in common: reading its document, which is ours and
 * whole.
 */
#ifndef AB_REPORT_HTML_ADVICE_ADVICE_H
#define AB_REPORT_HTML_ADVICE_ADVICE_H

#include "report/html/advice/advice_report.h"
#include "report/html/html.h"
#include "report/html/palette.h"

/* NaN and "" of what is null or not there. */
double ab_advice_number(const json_t *object, const char *key);
const char *ab_advice_text(const json_t *object, const char *key);
bool ab_advice_flag(const json_t *object, const char *key);
/* A time of a whole replay as that of a scope, or of a million calls. */
double ab_advice_unit_time(const json_t *document, double ns);

/* Of heap number i, from 0 on. */
enum ab_colour ab_advice_colour(size_t heap);

/* "game.c:88 draw_label" of a group, cut where it is long; its rule where neither is known. */
const char *ab_advice_place(const json_t *group, char *buf, size_t cap);
/* Is the heap that a group was put into advised? "" is none. */
bool ab_advice_is_advised(const json_t *document, const char *heap);

/* Cells of a table, with data-v for the script that sorts; n/a of NaN. */
void ab_advice_put_time(struct ab_html *h, double ns);
void ab_advice_put_bytes(struct ab_html *h, double bytes);
void ab_advice_put_count(struct ab_html *h, double n);
void ab_advice_put_share(struct ab_html *h, double share);

/* The sections; nothing where there is nothing to show. user: struct ab_advice_report. */
void ab_advice_put_answer(struct ab_html *h, const void *user);
void ab_advice_put_budget(struct ab_html *h, const void *user);
void ab_advice_put_sites(struct ab_html *h, const void *user);
void ab_advice_put_malloc(struct ab_html *h, const void *user);
void ab_advice_put_survivors(struct ab_html *h, const void *user);
void ab_advice_put_flames(struct ab_html *h, const void *user);
void ab_advice_put_texts(struct ab_html *h, const void *user);

#endif
