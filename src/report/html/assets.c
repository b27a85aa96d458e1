/* SPDX-License-Identifier: MIT
 *
 * Holds the two files inside the program, and their digests.
 */
#include "report/html/assets.h"

#include "core/embed.h"
#include "result/hdr.h"

#include <sha2.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

AB_EMBED(report_css, "src/report/html/report.css")
AB_EMBED(report_js, "src/report/html/report.js")

struct ab_asset ab_asset_style(void)
{
    return (struct ab_asset){report_css, strlen(report_css)};
}

struct ab_asset ab_asset_script(void)
{
    return (struct ab_asset){report_js, strlen(report_js)};
}

void ab_asset_digest(const struct ab_asset *pieces, size_t n, char out[AB_ASSET_DIGEST_BYTES])
{
    SHA2_CTX sha;
    uint8_t digest[SHA256_DIGEST_LENGTH];
    char text[(SHA256_DIGEST_LENGTH + 2) / 3 * 4 + 1];
    SHA256Init(&sha);
    for (size_t i = 0; i < n; i++)
        SHA256Update(&sha, (const uint8_t *)pieces[i].text, pieces[i].n);
    SHA256Final(digest, &sha);
    ab_hdr_base64(text, digest, sizeof digest);
    snprintf(out, AB_ASSET_DIGEST_BYTES, "sha256-%s", text);
}
