/* SPDX-License-Identifier: MIT
 *
 * The style sheet and the script that every report has, as they are in report.css and report.js.
 */
#ifndef AB_REPORT_HTML_ASSETS_H
#define AB_REPORT_HTML_ASSETS_H

#include <stddef.h>

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
