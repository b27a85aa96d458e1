/* SPDX-License-Identifier: MIT
 *
 * Published figures beside what was measured here, one table a source. Both as "times better",
 * like the speeds of the other tables: less is better of times and sizes, more of rates.
 */
#include "report/table/sink_claims.h"

#include "base/bits.h"
#include "core/text.h"
#include "report/format.h"
#include "report/table/table.h"

#include <math.h>
#include <string.h>

static void format_times(char cell[AB_CELL_BYTES], const struct ab_claim_result *c, double ratio,
                         double low, double high)
{
    if (c->is_higher_better)
        ab_format_effect(cell, ratio, low, high);
    else
        ab_format_effect(cell, 1 / ratio, 1 / high, 1 / low);
}

static bool is_throughput(const struct ab_claim_result *c)
{
    return strcmp(c->op, "all") == 0 && strcmp(c->stat, "ns_per_op") == 0;
}

static void add_claim(struct ab_table *t, const struct ab_claim_result *c, bool has_net, bool utf8)
{
    char label[AB_TABLE_LABEL_BYTES];
    snprintf(label, sizeof label, is_throughput(c) ? "%.120s %.64s" : "%.120s %.64s %s %s",
             c->backend, c->phase, c->op, c->stat);
    struct ab_table_row *row = ab_table_add(t, label, false);
    if (row == NULL)
        return;
    unsigned of = has_net ? 4 : 3;
    ab_format_label(row->cells[0], AB_CELL_BYTES, c->base, 12, utf8);
    format_times(row->cells[1], c, c->claimed, NAN, NAN);
    format_times(row->cells[2], c, c->measured, c->interval_low, c->interval_high);
    if (is_throughput(c) && c->n_rounds > 0)
        format_times(row->cells[3], c, c->net, c->net_interval_low, c->net_interval_high);
    if (c->reason[0] != 0)
        ab_format_label(row->cells[of], AB_CELL_BYTES, c->reason, AB_CELL_BYTES - 4, utf8);
    else
        snprintf(row->cells[of], AB_CELL_BYTES, "%u round%s", c->n_rounds,
                 c->n_rounds == 1 ? "" : "s");
}

/* Claims [first, end) share a source. */
static void print_source(FILE *to, const struct ab_session *s, uint32_t first, uint32_t end,
                         struct ab_table_style style)
{
    bool has_net = false;
    for (uint32_t i = first; i < end; i++)
        has_net = has_net || is_throughput(&s->claims[i]);
    const struct ab_table_column net = {"net of harness", 0}, of = {"of", 3};
    const struct ab_table_column columns[] = {
        {"than", 2}, {"claimed", 0}, {"measured", 0}, has_net ? net : of, of,
    };
    struct ab_table t;
    struct ab_text note = {0};
    ab_table_init(&t, columns, has_net ? 5 : 4);
    ab_table_add(&t, "times better", true);
    for (uint32_t i = first; i < end; i++)
        add_claim(&t, &s->claims[i], has_net, style.utf8);
    ab_table_print(to, &t, style);
    ab_table_fini(&t);
    const char *between = "says: ";
    for (uint32_t i = first; i < end; i++)
        if (s->claims[i].says[0] != 0) {
            ab_text_addf(&note, "%s%s", between, s->claims[i].says);
            between = "; ";
        }
    if (s->claims[first].source[0] != 0)
        ab_text_addf(&note, "%s%s",
                     note.n > 0 ? " | source: " : "source: ", s->claims[first].source);
    if (note.s != NULL)
        ab_table_prose(to, style, AB_FAINT, note.s);
    ab_text_fini(&note);
}

void ab_sink_claims(FILE *to, const struct ab_session *session, struct ab_table_style style)
{
    struct ab_format_guard guard;
    const struct ab_claim_result *claims = session->claims;
    if (session->n_claims == 0)
        return;
    ab_format_begin(&guard);
    fputc('\n', to);
    ab_table_line(to, style, AB_STRONG, "published vs. measured (no verdict)");
    for (uint32_t i = 0, end; i < session->n_claims; i = end) {
        for (end = i + 1;
             end < session->n_claims && strcmp(claims[end].source, claims[i].source) == 0; end++) {
        }
        print_source(to, session, i, end, style);
    }
    ab_format_end(&guard);
}
