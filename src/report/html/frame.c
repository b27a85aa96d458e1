/* SPDX-License-Identifier: MIT
 *
 * Writes head, policy, navigation and script around given sections.
 */
#include "report/html/frame.h"

#include "core/alloc.h"
#include "core/embed.h"
#include "core/text.h"
#include "core/units_show.h"
#include "report/html/palette.h"
#include "result/hdr.h"

#include <sha2.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ab_frame_write(const struct ab_html *like, void (*write)(struct ab_html *h, const void *user),
                    const void *user, struct ab_html_text *out)
{
    struct ab_html h = *like;
    h.to = open_memstream(&out->text, &out->n);
    if (h.to == NULL)
        ab_memory_end(0);
    write(&h, user);
    if (ferror(h.to) != 0 || fclose(h.to) != 0)
        ab_memory_end(0);
}

static void add_colours(struct ab_text *t)
{
    ab_text_add(t, ":root{color-scheme:light dark");
    for (unsigned i = 0; i < AB_COLOUR_COUNT; i++)
        ab_text_addf(t, ";--%s:light-dark(%s,%s)", ab_colours[i].class_name, ab_colours[i].light,
                     ab_colours[i].dark);
    ab_text_add(t, "}\n");
    for (unsigned i = 0; i < AB_COLOUR_COUNT; i++)
        ab_text_addf(t, ".%s{color:var(--%s)}\n", ab_colours[i].class_name,
                     ab_colours[i].class_name);
}

static void put_head(struct ab_html *h, const char *title)
{
    struct ab_text colours = {0};
    char style_digest[AB_ASSET_DIGEST_BYTES], script_digest[AB_ASSET_DIGEST_BYTES];
    struct ab_asset style = ab_asset_style(), script = ab_asset_script();
    add_colours(&colours);
    ab_asset_digest((const struct ab_asset[]){{colours.s, colours.n}, style}, 2, style_digest);
    ab_asset_digest(&script, 1, script_digest);
    ab_html_f(h,
              "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
              "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
              "style-src '%s'; script-src '%s'; base-uri 'none'; form-action 'none'\">\n"
              "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
              "<meta name=\"referrer\" content=\"no-referrer\">\n"
              "<meta name=\"generator\" content=\"allocbench\">\n"
              "<title>%s - allocbench</title>\n<style>",
              style_digest, script_digest, title);
    fwrite(colours.s, 1, colours.n, h->to);
    fwrite(style.text, 1, style.n, h->to);
    ab_html_f(h, "</style>\n</head>\n");
    ab_text_fini(&colours);
}

static void put_sections(struct ab_html *h, const struct ab_frame_part *parts,
                         const struct ab_html_text *texts, size_t n)
{
    ab_html_f(h, "<nav aria-label=\"Pages\">\n<ul>");
    for (size_t i = 0; i < n; i++)
        if (texts[i].n > 0)
            ab_html_f(h, "<li><a href=\"#%s\">%s</a></li>", parts[i].id, parts[i].title);
    ab_html_f(h, "</ul>\n</nav>\n<main>\n");
    for (size_t i = 0; i < n; i++) {
        if (texts[i].n == 0)
            continue;
        ab_html_f(h, "<section id=\"%s\">\n<h2>%s</h2>\n", parts[i].id, parts[i].title);
        fwrite(texts[i].text, 1, texts[i].n, h->to);
        ab_html_f(h, "</section>\n");
    }
    ab_html_f(h, "</main>\n");
}

void ab_frame_document(struct ab_html *h, const char *title, const char *about, const char *version,
                       const struct ab_frame_part *parts, size_t n)
{
    struct ab_html_text *texts = ab_alloc_zeroed(n, sizeof texts[0]);
    struct ab_asset script = ab_asset_script();
    for (size_t i = 0; i < n; i++)
        if (parts[i].id != NULL)
            ab_frame_write(h, parts[i].write, parts[i].user, &texts[i]);
    put_head(h, title);
    ab_html_f(h, "<body data-spans='[");
    for (const struct ab_span_unit *u = ab_span_units; u < ab_span_units + AB_SPAN_UNITS; u++)
        ab_html_f(h, "%s[%.17g,%.17g,\"%s\"]", u > ab_span_units ? "," : "", u->picture_least_ns,
                  u->ns, u->letter);
    ab_html_f(h, "]'>\n<header>\n<h1>%s</h1>\n", title);
    if (about != NULL && about[0] != 0)
        ab_html_f(h, "<p class=\"soft\">%s</p>\n", about);
    ab_html_f(h, "</header>\n");
    put_sections(h, parts, texts, n);
    ab_html_f(h, "<footer class=\"soft\">allocbench %s</footer>\n",
              version != NULL ? version : AB_VERSION);
    for (size_t i = 0; i < n; i++) {
        if (parts[i].id == NULL)
            parts[i].write(h, parts[i].user);
        free(texts[i].text);
    }
    free(texts);
    ab_html_f(h, "<script>");
    fwrite(script.text, 1, script.n, h->to);
    ab_html_f(h, "</script>\n</body>\n</html>\n");
}

/* ---- report.css and report.js, embedded in the program, and their digests ---- */

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
