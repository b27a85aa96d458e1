/* SPDX-License-Identifier: MIT
 *
 * Head, policy, navigation and script around sections that are given.
 */
#include "report/html/frame.h"

#include "core/text.h"
#include "report/html/assets.h"
#include "report/html/palette.h"

#include <stdlib.h>

bool ab_frame_write(struct ab_html *like, void (*write)(struct ab_html *h, const void *user),
                    const void *user, struct ab_html_text *out)
{
    struct ab_html h = *like;
    h.to = open_memstream(&out->text, &out->n);
    if (h.to == NULL)
        return false;
    write(&h, user);
    bool ok = ferror(h.to) == 0 && !h.is_short_of_memory;
    return fclose(h.to) == 0 && ok;
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
    if (colours.s == NULL) {
        h->is_short_of_memory = true;
        return;
    }
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

void ab_frame_begin(struct ab_html *h, const char *title, const char *about)
{
    put_head(h, title);
    ab_html_f(h, "<body>\n<header>\n<h1>%s</h1>\n", title);
    if (about != NULL && about[0] != 0)
        ab_html_f(h, "<p class=\"soft\">%s</p>\n", about);
    ab_html_f(h, "</header>\n");
}

static void put_navigation(struct ab_html *h, const struct ab_frame_section *sections, size_t n)
{
    ab_html_f(h, "<nav aria-label=\"Pages\">\n<ul>");
    for (size_t i = 0; i < n; i++)
        if (sections[i].text.n > 0)
            ab_html_f(h, "<li><a href=\"#%s\">%s</a></li>", sections[i].id, sections[i].title);
    ab_html_f(h, "</ul>\n</nav>\n");
}

void ab_frame_sections(struct ab_html *h, const struct ab_frame_section *sections, size_t n)
{
    put_navigation(h, sections, n);
    ab_html_f(h, "<main>\n");
    for (size_t i = 0; i < n; i++) {
        if (sections[i].text.n == 0)
            continue;
        ab_html_f(h, "<section id=\"%s\">\n<h2>%s</h2>\n", sections[i].id, sections[i].title);
        fwrite(sections[i].text.text, 1, sections[i].text.n, h->to);
        ab_html_f(h, "</section>\n");
    }
    ab_html_f(h, "</main>\n");
}

void ab_frame_footer(struct ab_html *h, const char *version)
{
    ab_html_f(h, "<footer class=\"soft\">allocbench %s</footer>\n",
              version != NULL ? version : AB_VERSION);
}

void ab_frame_end(struct ab_html *h)
{
    struct ab_asset script = ab_asset_script();
    ab_html_f(h, "<script>");
    fwrite(script.text, 1, script.n, h->to);
    ab_html_f(h, "</script>\n</body>\n</html>\n");
}

bool ab_frame_document(struct ab_html *h, const char *title, const char *about,
                       const struct ab_frame_part *parts, size_t n, const void *user)
{
    struct ab_frame_section *sections = calloc(n, sizeof sections[0]);
    bool ok = sections != NULL;
    for (size_t i = 0; i < n && ok; i++) {
        sections[i] = (struct ab_frame_section){.id = parts[i].id, .title = parts[i].title};
        ok = ab_frame_write(h, parts[i].write, user, &sections[i].text);
    }
    if (ok) {
        ab_frame_begin(h, title, about);
        ab_frame_sections(h, sections, n);
        ab_frame_footer(h, NULL);
        ab_frame_end(h);
    }
    for (size_t i = 0; i < n && sections != NULL; i++)
        free(sections[i].text.text);
    free(sections);
    return ok && !h->is_short_of_memory;
}
