/* SPDX-License-Identifier: MIT
 *
 * Reads the object "comparison" as compare_json.c writes it; keys that came later may be missing.
 */
#include "report/read/read_comparison.h"

#include "core/memory.h"
#include "report/session_record.h"
#include "stats/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Text, or NULL where there is null: such as the phase of what is of the whole run. */
static const char *text_or_null(struct ab_json_reader *r, const struct ab_json_node *o,
                                const char *key)
{
    const char *text = ab_json_text(r, o, key);
    return text[0] != 0 ? text : NULL;
}

static void read_effect(struct ab_json_reader *r, const struct ab_json_node *o, struct ab_effect *e)
{
    const char *methods[AB_EFFECT_METHOD_COUNT];
    for (unsigned i = 0; i < AB_EFFECT_METHOD_COUNT; i++)
        methods[i] = ab_effect_method_name((enum ab_effect_method)i);
    e->ratio = ab_json_number(r, o, "ratio");
    e->low = ab_json_number(r, o, "low");
    e->high = ab_json_number(r, o, "high");
    e->sd = e->p_larger = e->p_smaller = NAN;
    e->n_base = (uint32_t)ab_json_whole(r, o, "n_base", UINT32_MAX, 0);
    e->n_new = (uint32_t)ab_json_whole(r, o, "n_new", UINT32_MAX, 0);
    e->method = (enum ab_effect_method)ab_json_one_of(r, o, "method", methods,
                                                      AB_EFFECT_METHOD_COUNT);
}

static void read_relative(struct ab_json_reader *r, const struct ab_json_node *cell,
                          struct ab_cell *c)
{
    c->relative = (struct ab_effect){.ratio = NAN, .low = NAN, .high = NAN, .sd = NAN};
    c->machine_ratio = NAN;
    if (!ab_json_has(r, cell, "relative"))
        return;
    struct ab_json_node o = ab_json_object(r, cell, "relative");
    c->relative.ratio = ab_json_number(r, &o, "ratio");
    c->relative.low = ab_json_number(r, &o, "low");
    c->relative.high = ab_json_number(r, &o, "high");
    c->machine_ratio = ab_json_number(r, &o, "machine_ratio");
    ab_json_text_into(r, &o, "witnesses", c->witnesses, sizeof c->witnesses);
}

static void read_verdict(struct ab_json_reader *r, const struct ab_json_node *o, struct ab_cell *c)
{
    const char *verdicts[AB_VERDICT_COUNT];
    for (unsigned i = 0; i < AB_VERDICT_COUNT; i++)
        verdicts[i] = ab_verdict_name((enum ab_verdict)i);
    c->limit = ab_json_number(r, o, "limit");
    if (ab_json_text(r, o, "verdict")[0] != 0)
        c->verdict = (enum ab_verdict)ab_json_one_of(r, o, "verdict", verdicts, AB_VERDICT_COUNT);
    else if (!isnan(c->limit))
        ab_json_fail(r, o, "has a limit and no verdict");
    bool is_judged = !isnan(c->limit) && c->verdict != AB_VERDICT_FAILED;
    if (is_judged && !(isfinite(c->effect.ratio) && c->effect.ratio > 0))
        ab_json_fail(r, o, "has a verdict and no ratio");
    ab_json_text_into(r, o, "reason", c->reason, sizeof c->reason);
    c->rounds_needed = (uint32_t)ab_json_whole(r, o, "rounds_needed", UINT32_MAX - 1, 0);
    c->n_confirm = (uint32_t)ab_json_whole(r, o, "confirm_rounds", UINT32_MAX, 0);
    c->confirm_ratio = ab_json_number(r, o, "confirm_ratio");
}

static void read_cell(struct ab_json_reader *r, const struct ab_json_node *o, struct ab_cell *c)
{
    c->backend = ab_json_text(r, o, "backend");
    c->base_backend = ab_json_text(r, o, "base_backend");
    c->phase = text_or_null(r, o, "phase");
    c->op = text_or_null(r, o, "op");
    c->iteration = ab_json_has(r, o, "iteration") ? text_or_null(r, o, "iteration") : NULL;
    c->metric = ab_json_text(r, o, "metric");
    c->unit = ab_json_text(r, o, "unit");
    c->base = ab_json_number(r, o, "base");
    c->now = ab_json_number(r, o, "new");
    read_effect(r, o, &c->effect);
    read_relative(r, o, c);
    read_verdict(r, o, c);
    if (c->backend[0] == 0 || c->metric[0] == 0)
        ab_json_fail(r, o, "must name a back end and a metric");
}

static void read_cells(struct ab_stored_reader *stored, const struct ab_json_node *o,
                       struct ab_comparison *c, struct ab_session *base)
{
    struct ab_json_reader *r = &stored->json;
    struct ab_json_node list = ab_json_array(r, o, "cells");
    size_t n = ab_json_count(r, &list, AB_STORED_RECORDS_MAX);
    c->cells = ab_stored_records(stored, n, sizeof c->cells[0]);
    for (size_t i = 0; i < n && r->status == AB_OK; i++) {
        struct ab_json_node cell = ab_json_item_object(r, &list, i);
        read_cell(r, &cell, &c->cells[c->n_cells]);
        uint32_t used = c->cells[c->n_cells++].effect.n_base;
        base->n_rounds = used > base->n_rounds ? used : base->n_rounds;
    }
}

static void read_notes(struct ab_stored_reader *stored, const struct ab_json_node *o,
                       struct ab_comparison *c)
{
    struct ab_json_reader *r = &stored->json;
    struct ab_json_node list = ab_json_array(r, o, "notes");
    size_t n = ab_json_count(r, &list, AB_STORED_RECORDS_MAX);
    c->notes = ab_stored_records(stored, n, sizeof c->notes[0]);
    for (size_t i = 0; i < n && r->status == AB_OK; i++) {
        struct ab_json_node item = ab_json_item(&list, i);
        const char *text = json_string_value(item.json);
        if (text == NULL || strlen(text) >= AB_COMPARE_NOTE_BYTES)
            ab_json_fail(r, &item, "must be a text below %d bytes", AB_COMPARE_NOTE_BYTES);
        else
            strcpy(c->notes[c->n_notes++], text);
    }
}

enum ab_status ab_stored_read_comparison(const char *path, struct ab_stored *stored,
                                         struct ab_err *err)
{
    struct ab_session *s = &stored->session;
    struct ab_stored_reader r = {.json = {.file = path, .err = err}, .session = s};
    struct ab_json_node document = {.json = stored->document};
    if (!ab_json_has(&r.json, &document, "comparison") ||
        json_is_null(json_object_get(document.json, "comparison")))
        return AB_OK;
    struct ab_json_node o = ab_json_object(&r.json, &document, "comparison");
    struct ab_comparison *c = ab_alloc_zeroed(1, sizeof *c);
    stored->comparison = c;
    stored->compared_with = ab_alloc_zeroed(1, sizeof *stored->compared_with);
    c->base = stored->compared_with;
    c->now = s;
    c->base_label = text_or_null(&r.json, &o, "base");
    c->now_label = text_or_null(&r.json, &o, "new");
    ab_json_text_into(&r.json, &o, "advisory", c->advisory, sizeof c->advisory);
    c->is_advisory = c->advisory[0] != 0;
    c->is_joint = ab_json_has(&r.json, &o, "jointly") && ab_json_flag(&r.json, &o, "jointly");
    read_notes(&r, &o, c);
    read_cells(&r, &o, c, stored->compared_with);
    if (c->base_label == NULL && c->now_label == NULL) /* of back ends with their base */
        c->base = s;
    s->comparison = c;
    return r.json.status;
}
