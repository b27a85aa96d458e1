/* SPDX-License-Identifier: MIT
 *
 * Call sites: those that go into heaps, those that stay and why, and those whose blocks outlive what
 * they were thought to.
 */
#include "core/text.h"
#include "core/units_show.h"
#include "report/format.h"
#include "report/html/advice/advice.h"
#include "report/html/pages/pages.h"

#include <math.h>
#include <string.h>

enum { SITES_MOST = 200 };

static void put_sizes(struct ab_html *h, const json_t *g)
{
    double least = ab_advice_number(g, "size_least"), most = ab_advice_number(g, "size_most");
    ab_html_f(h, "<td class=\"n\" data-v=\"%.0f\">%s", most, AB_BYTES(least));
    if (most > least)
        ab_html_f(h, " to %s", AB_BYTES(most));
    ab_html_f(h, "</td>");
}

static void put_site(struct ab_html *h, const json_t *d, const json_t *g)
{
    char place[400];
    ab_html_f(h, "<tr><th scope=\"row\" class=\"site\"><code>%s</code></th>",
              ab_advice_place(g, place, sizeof place));
    ab_advice_put_count(h, ab_advice_number(g, "calls"));
    ab_advice_put_share(h, ab_advice_number(g, "calls") / ab_advice_number(d, "calls"));
    put_sizes(h, g);
    ab_advice_put_bytes(h, ab_advice_number(g, "live_most_bytes"));
    ab_advice_put_count(h, ab_advice_number(g, "never_freed"));
}

static void put_reason(struct ab_html *h, const json_t *d, const json_t *g)
{
    const char *name = ab_advice_text(g, "heap");
    const json_t *heap;
    size_t i;
    json_array_foreach(json_object_get(d, "heaps"), i,
                       heap) if (strcmp(ab_advice_text(heap, "name"), name) == 0)
    {
        ab_html_f(h, "<td>%s: %s: %s</td></tr>\n", name, ab_advice_text(heap, "proposal"),
                  ab_advice_text(heap, "refusal"));
        return;
    }
    ab_html_f(h, "<td>%s</td></tr>\n", ab_advice_text(g, "why"));
}

/* Those that go into a heap that is advised, or the others. */
static void put_list(struct ab_html *h, const json_t *d, bool is_advised, const char *caption)
{
    const char *const columns[] = {"call site",
                                   "#calls",
                                   "#share",
                                   "#sizes",
                                   "#most live",
                                   "#never freed",
                                   is_advised ? "goes into" : "why",
                                   NULL};
    const json_t *g;
    size_t i, n = 0;
    double rest = 0;
    json_array_foreach(json_object_get(d, "groups"), i, g)
    {
        const char *heap = ab_advice_text(g, "heap");
        if (ab_advice_is_advised(d, heap) != is_advised)
            continue;
        if (n == 0)
            ab_page_table_begin(h, caption, columns);
        if (n++ >= SITES_MOST) {
            rest += ab_advice_number(g, "calls");
            continue;
        }
        put_site(h, d, g);
        if (is_advised)
            ab_html_f(h, "<td>%s: %s</td></tr>\n", heap, ab_advice_text(g, "kind"));
        else
            put_reason(h, d, g);
    }
    if (n == 0)
        return;
    ab_page_table_end(h);
    if (n > SITES_MOST)
        ab_html_f(h, "<p>%zu more with %.0f calls together.</p>\n", n - SITES_MOST, rest);
}

void ab_advice_put_sites(struct ab_html *h, const void *user)
{
    const struct ab_advice_report *r = user;
    put_list(h, r->document, true, "What goes into the heaps that are advised");
}

void ab_advice_put_malloc(struct ab_html *h, const void *user)
{
    const struct ab_advice_report *r = user;
    put_list(h, r->document, false, "What stays in malloc");
}

/* ---- survivors ---- */

static void put_scope(struct ab_html *h, const json_t *survivor, const char *key)
{
    double scope = ab_advice_number(survivor, key);
    if (isnan(scope))
        ab_html_f(h, "<td class=\"n\">never</td>");
    else
        ab_html_f(h, "<td class=\"n\">%.0f</td>", scope);
}

static void put_survivor(struct ab_html *h, const json_t *g, const json_t *survivor, bool is_first)
{
    char place[400];
    const char *heap = ab_advice_text(g, "heap");
    ab_html_f(h, "<tr><th scope=\"row\" class=\"site\"><code>%s</code></th>",
              is_first ? ab_advice_place(g, place, sizeof place) : "");
    ab_html_f(h, "<td class=\"n\">%s</td>", AB_BYTES(ab_advice_number(survivor, "bytes")));
    put_scope(h, survivor, "born");
    put_scope(h, survivor, "died");
    ab_html_f(h, "<td class=\"n\">%.0f of %.0f</td><td>%s</td></tr>\n",
              ab_advice_number(g, "n_survivors"), ab_advice_number(g, "calls"),
              heap[0] != 0 ? heap : "malloc");
}

static void put_survivor_table(struct ab_html *h, const json_t *d)
{
    static const char *const columns[] = {
        "call site", "#size", "#born in scope", "#freed in scope", "#outlive theirs",
        "goes into", NULL};
    const json_t *g, *s;
    size_t i, k, n = 0;
    json_array_foreach(json_object_get(d, "groups"), i, g)
    {
        if (!ab_advice_flag(g, "nearly_scoped") || n++ >= SITES_MOST)
            continue;
        if (n == 1)
            ab_page_table_begin(h, "Not in an arena of a scope: some of their blocks outlive it",
                                columns);
        json_array_foreach(json_object_get(g, "survivors"), k, s) put_survivor(h, g, s, k == 0);
    }
    if (n > 0)
        ab_page_table_end(h);
}

/* Of nested scopes. */
static void put_stragglers(struct ab_html *h, const json_t *d)
{
    static const char *const columns[] = {"call site", "#size", "#outlive theirs", "goes into",
                                          NULL};
    const json_t *g;
    size_t i, n = 0;
    char place[400];
    json_array_foreach(json_object_get(d, "groups"), i, g)
    {
        const char *heap = ab_advice_text(g, "heap");
        if (!(ab_advice_number(g, "outlived_nested") > 0))
            continue;
        if (n++ == 0)
            ab_page_table_begin(h, "Not in a nested scope: some of their blocks outlive it",
                                columns);
        ab_html_f(
            h, "<tr><th scope=\"row\" class=\"site\"><code>%s</code></th><td class=\"n\">%s</td>",
            ab_advice_place(g, place, sizeof place),
            AB_BYTES(ab_advice_number(g, "outlived_nested_size")));
        ab_html_f(h, "<td class=\"n\">%.0f of %.0f</td><td>%s</td></tr>\n",
                  ab_advice_number(g, "outlived_nested"), ab_advice_number(g, "calls"),
                  heap[0] != 0 ? heap : "malloc");
    }
    if (n > 0)
        ab_page_table_end(h);
}

void ab_advice_put_survivors(struct ab_html *h, const void *user)
{
    const struct ab_advice_report *r = user;
    put_survivor_table(h, r->document);
    put_stragglers(h, r->document);
}
