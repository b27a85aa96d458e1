/* SPDX-License-Identifier: MIT
 *
 * Keeps the lines of `gates:` and `claims:` with their places, unread.
 */
#include "workload/parse/gate_lines.h"

#include "core/memory.h"
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
    kept->node.text = ab_strdup(f->text);
    to->n++;
    return true;
}

/* `level:` of a gate: error, the default, or warn. */
static bool read_level(const struct ab_reader *r, const struct ab_node *level, bool *is_warning)
{
    struct ab_yaml_field f = {level, level != NULL ? level->text : NULL};
    *is_warning = f.text != NULL && strcmp(f.text, "warn") == 0;
    return f.text == NULL || *is_warning || strcmp(f.text, "error") == 0 ||
           ab_field_fail(r, &f, 0, strlen(f.text), "level must be error or warn");
}

static void read_gate(const struct ab_reader *r, const struct ab_node *node,
                      struct ab_remarks *gates)
{
    const struct ab_node *text = node, *level = NULL;
    bool is_warning;
    if (node->kind == AB_NODE_MAP) {
        text = ab_tree_get(r->tree, node, "gate");
        level = ab_tree_get(r->tree, node, "level");
    }
    if (text == NULL) {
        ab_field_missing(r, node, "gate", "a gate");
        return;
    }
    struct ab_yaml_field f = {text, text->text};
    if (f.text != NULL && read_level(r, level, &is_warning) && keep(r, &f, gates))
        gates->items[gates->n - 1].is_warning = is_warning;
}

void ab_read_gates(const struct ab_reader *r, const struct ab_node *list)
{
    struct ab_remarks *gates = &r->w->gates;
    unsigned n = 0;
    for (const struct ab_node *x = ab_tree_first(r->tree, list); x != NULL;
         x = ab_tree_next(r->tree, x))
        n++;
    gates->items = ab_read_new_records(r, list, n, sizeof gates->items[0]);
    if (gates->items == NULL)
        return;
    for (const struct ab_node *x = ab_tree_first(r->tree, list); x != NULL;
         x = ab_tree_next(r->tree, x))
        read_gate(r, x, gates);
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
        kept->says = ab_strdup(raw[i].says != NULL ? raw[i].says : "");
        kept->source = ab_strdup(raw[i].source != NULL ? raw[i].source : "");
    }
}
