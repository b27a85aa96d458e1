/* SPDX-License-Identifier: MIT
 *
 * What every HTML file of ours has around its sections: head with style and policy, title, navigation,
 * footer, script. Sections are written into memory first, so that the navigation lists those that have
 * something to show.
 */
#ifndef AB_REPORT_HTML_FRAME_H
#define AB_REPORT_HTML_FRAME_H

#include "report/html/html.h"

#include <stddef.h>

/* What `write` writes goes to *out, to be freed. Ids go on where *like is, which may be alone. */
void ab_frame_write(const struct ab_html *like, void (*write)(struct ab_html *h, const void *user),
                    const void *user, struct ab_html_text *out);

/* What it writes is a section, left out where it is nothing; with id NULL what stands as it is
 * behind all sections. */
struct ab_frame_part {
    const char *id, *title;
    void (*write)(struct ab_html *h, const void *user);
    const void *user;
};
/* A page: its title, a line below it (about NULL or "" = none), so many parts, and the version that is
 * named (NULL = this program's). */
void ab_frame_document(struct ab_html *h, const char *title, const char *about, const char *version,
                       const struct ab_frame_part *parts, size_t n);

/* The style sheet and the script that every report has, as they are in report.css and report.js. */

struct ab_asset {
    const char *text;
    size_t n;
};
struct ab_asset ab_asset_style(void);
struct ab_asset ab_asset_script(void);

/* "sha256-…", as a content security policy spells it, of pieces one after the other. */
enum { AB_ASSET_DIGEST_BYTES = 64 };
void ab_asset_digest(const struct ab_asset *pieces, size_t n, char out[AB_ASSET_DIGEST_BYTES]);

#endif
