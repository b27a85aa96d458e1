/* SPDX-License-Identifier: MIT
 *
 * What every HTML file of ours has around its sections: head with style and policy, title, navigation,
 * footer, script. Sections are written into memory first, so that the navigation lists those that have
 * something to show. Call them in the order of this file.
 */
#ifndef AB_REPORT_HTML_FRAME_H
#define AB_REPORT_HTML_FRAME_H

#include "report/html/html.h"

struct ab_frame_section {
    const char *id, *title;
    struct ab_html_text text; /* n = 0: left out */
};

/* What `write` writes goes to *out, to be freed. Ids go on where *like is, which may be alone. False:
 * out of memory. */
bool ab_frame_write(struct ab_html *like, void (*write)(struct ab_html *h, const void *user),
                    const void *user, struct ab_html_text *out);

/* Up to the title of the page, and a line below it; about NULL or "" = none. */
void ab_frame_begin(struct ab_html *h, const char *title, const char *about);
void ab_frame_sections(struct ab_html *h, const struct ab_frame_section *sections, size_t n);
/* version NULL: this program's. */
void ab_frame_footer(struct ab_html *h, const char *version);
void ab_frame_end(struct ab_html *h);

/* What one of them writes with `user` is a section. */
struct ab_frame_part {
    const char *id, *title;
    void (*write)(struct ab_html *h, const void *user);
};
/* All of the above, of so many parts. False: out of memory, and *h has no page. */
bool ab_frame_document(struct ab_html *h, const char *title, const char *about,
                       const struct ab_frame_part *parts, size_t n, const void *user);

#endif
