/* SPDX-License-Identifier: MIT
 *
 * Holds the two files inside the program, and their digests.
 */
#include "report/html/frame/assets.h"

#include "result/hdr_encode.h"

#include <sha2.h>
#include <stdint.h>
#include <stdio.h>

/* The assembler reads the file (the Makefile names it as a prerequisite of this object). */
#define ASSET(name, path) \
    __asm__(".section .rodata\n" #name ":\n.incbin \"" path "\"\n" #name "_end:\n.previous\n"); \
    extern const char name[] __attribute__((visibility("hidden"))); \
    extern const char name##_end[] __attribute__((visibility("hidden")));
ASSET(report_css, "src/report/html/report.css")
ASSET(report_js, "src/report/html/report.js")

struct ab_asset ab_asset_style(void)
{
    return (struct ab_asset){report_css, (size_t)(report_css_end - report_css)};
}

struct ab_asset ab_asset_script(void)
{
    return (struct ab_asset){report_js, (size_t)(report_js_end - report_js)};
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
