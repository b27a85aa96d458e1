/* SPDX-License-Identifier: MIT
 *
 * Keeps the lines of `gates:` and `claims:` with their places, unread.
 */
#include "workload/parse/gate_lines.h"

#include "workload/parse/read.h"

#include <stdlib.h>
#include <string.h>

const struct ab_remarks *ab_workload_gates(const struct ab_workload *w)
{
    return &w->gates;
}

const struct ab_remarks *ab_workload_claims(const struct ab_workload *w)
{
    return &w->claims;
}

struct ab_source_text ab_workload_source(const struct ab_workload *w)
{
    return (struct ab_source_text){w->file, w->text, w->n_text};
}

void ab_remarks_fini(struct ab_remarks *remarks)
{
    for (size_t i = 0; i < remarks->n; i++) {
        free(remarks->items[i].node.text);
        free(remarks->items[i].says);
        free(remarks->items[i].source);
    }
    free(remarks->items);
    *remarks = (struct ab_remarks){0};
}

/* Keeps a line with its place; false after an error. */
static bool keep(const struct ab_reader *r, const struct ab_yaml_field *f, struct ab_remarks *to)
{
    struct ab_remark *kept = &to->items[to->n];
    if (f->text[strspn(f->text, " \t\n")] == 0 || strlen(f->text) > 1000)
        return AB_REFUSE_FIELD(r, f, "a line of 1 to 1000 characters is needed");
    kept->node = *f->node;
    kept->node.key = NULL;
    kept->node.text = strdup(f->text);
    if (kept->node.text == NULL)
        return ab_field_fail(r, f, 0, 1, "out of memory");
    to->n++;
    return true;
}

void ab_read_gates(const struct ab_reader *r, const struct ab_node *list, char *const *raw,
                   unsigned n)
{
    struct ab_remarks *gates = &r->w->gates;
    const struct ab_node *node = ab_tree_first(r->tree, list);
    gates->items = ab_read_new_records(r, list, n, sizeof gates->items[0]);
    for (unsigned i = 0; i < n && gates->items != NULL; i++, node = ab_tree_next(r->tree, node)) {
        struct ab_yaml_field f = {node, raw[i]};
        keep(r, &f, gates);
    }
}

void ab_read_claims(const struct ab_reader *r, const struct ab_node *list,
                    const struct ab_raw_claim *raw, unsigned n)
{
    struct ab_remarks *claims = &r->w->claims;
    const struct ab_node *node = ab_tree_first(r->tree, list);
    claims->items = ab_read_new_records(r, list, n, sizeof claims->items[0]);
    for (unsigned i = 0; i < n && claims->items != NULL; i++, node = ab_tree_next(r->tree, node)) {
        struct ab_yaml_field f = ab_field_of(r, node, "claim", raw[i].claim);
        if (f.text == NULL)
            ab_field_missing(r, node, "claim", "a claim");
        if (f.text == NULL || !keep(r, &f, claims))
            continue;
        struct ab_remark *kept = &claims->items[claims->n - 1];
        kept->says = strdup(raw[i].says != NULL ? raw[i].says : "");
        kept->source = strdup(raw[i].source != NULL ? raw[i].source : "");
        if (kept->says == NULL || kept->source == NULL)
            ab_field_fail(r, &f, 0, 1, "out of memory");
    }
}
