/* SPDX-License-Identifier: MIT
 *
 * The frame of every HTML file: head with style and content security policy, title, navigation,
 * footer, script. Sections are written into memory first, so that the navigation lists only those
 * that are not empty.
 */
#ifndef AB_REPORT_HTML_FRAME_H
#define AB_REPORT_HTML_FRAME_H

#include "report/html/html.h"

#include <stddef.h>

/* Runs `write` and stores its output in *out, whose text the caller frees. Pictures go to the same
 * place as those of *like. */
void ab_frame_write(const struct ab_html *like, void (*write)(struct ab_html *h, const void *user),
                    const void *user, struct ab_html_text *out);

/* A section of a page, left out if `write` writes nothing. If id is NULL, there is no section: the
 * output follows all sections as it is. */
struct ab_frame_part {
    const char *id, *title;
    void (*write)(struct ab_html *h, const void *user);
    const void *user;
};
/* Writes a page of n parts. `about` is a line below the title (NULL or "" = none). `version` is the
 * version that the page names (NULL = this program's). */
void ab_frame_document(struct ab_html *h, const char *title, const char *about, const char *version,
                       const struct ab_frame_part *parts, size_t n);

/* ---- the style sheet and the script of every report ---- */

struct ab_asset {
    const char *text;
    size_t n;
};
struct ab_asset ab_asset_style(void);
struct ab_asset ab_asset_script(void);

/* Writes "sha256-…" as in a content security policy, for the concatenated pieces. */
enum { AB_ASSET_DIGEST_BYTES = 64 };
void ab_asset_digest(const struct ab_asset *pieces, size_t n, char out[AB_ASSET_DIGEST_BYTES]);

#endif
