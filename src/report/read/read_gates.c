/* SPDX-License-Identifier: MIT
 *
 * Reads the list "gates". Its exit codes are those of a gate, anything else is an error; keys that
 * came later may be missing.
 */
#include "report/read/read_gates.h"

#include "report/session_record.h"

#include <math.h>

enum { N_VERDICTS = AB_GATE_INCONCLUSIVE + 1 };

/* What a result says to end with, as a status. */
static enum ab_status status_of(struct ab_json_reader *r, const struct ab_json_node *o)
{
    static const enum ab_status allowed[] = {AB_OK, AB_GATE, AB_CONFIG, AB_INCONCLUSIVE};
    uint64_t code = ab_json_whole(r, o, "exit_code", UINT8_MAX, UINT8_MAX);
    for (size_t i = 0; i < sizeof allowed / sizeof allowed[0]; i++)
        if ((uint64_t)ab_status_exit_code(allowed[i]) == code)
            return allowed[i];
    ab_json_fail(r, o, "exit_code is not one of a gate");
    return AB_OK;
}

static double number_if_any(struct ab_json_reader *r, const struct ab_json_node *o, const char *key)
{
    return ab_json_has(r, o, key) ? ab_json_number(r, o, key) : (double)NAN;
}

static uint32_t whole_if_any(struct ab_json_reader *r, const struct ab_json_node *o,
                             const char *key)
{
    return ab_json_has(r, o, key) ? (uint32_t)ab_json_whole(r, o, key, UINT32_MAX, 0) : 0;
}

static void read_gate(struct ab_stored_reader *stored, const struct ab_json_node *o,
                      struct ab_gate_result *g)
{
    static const char *const levels[] = {"error", "warn"};
    struct ab_json_reader *r = &stored->json;
    const char *names[N_VERDICTS];
    for (unsigned i = 0; i < N_VERDICTS; i++)
        names[i] = ab_gate_verdict_name((enum ab_gate_verdict)i);
    g->text = ab_json_text(r, o, "gate");
    g->place = ab_json_text(r, o, "place");
    g->backend = ab_json_text(r, o, "backend")[0] == 0 ? UINT32_MAX
                                                       : ab_stored_backend(stored, o, "backend");
    g->verdict = (enum ab_gate_verdict)ab_json_one_of(r, o, "verdict", names, N_VERDICTS);
    g->status = status_of(r, o);
    g->value = ab_json_number(r, o, "value");
    g->bound = ab_json_number(r, o, "bound");
    g->unit = ab_json_text(r, o, "unit");
    ab_json_text_into(r, o, "reason", g->reason, sizeof g->reason);
    g->low = number_if_any(r, o, "low");
    g->high = number_if_any(r, o, "high");
    g->is_warning = ab_json_has(r, o, "level") && ab_json_one_of(r, o, "level", levels, 2) == 1;
    g->n_confirm = whole_if_any(r, o, "confirm_rounds");
    g->confirm_value = number_if_any(r, o, "confirm_value");
    g->rounds_needed = whole_if_any(r, o, "rounds_needed");
}

enum ab_status ab_stored_read_gates(const char *path, struct ab_stored *stored, struct ab_err *err)
{
    struct ab_session *s = &stored->session;
    struct ab_stored_reader r = {.json = {.file = path, .err = err}, .session = s};
    struct ab_json_node document = {.json = stored->document};
    struct ab_json_node list = ab_json_array(&r.json, &document, "gates");
    size_t n = ab_json_count(&r.json, &list, AB_STORED_RECORDS_MAX);
    s->gates = ab_stored_records(&r, n, sizeof s->gates[0]);
    for (size_t i = 0; i < n && r.json.status == AB_OK; i++) {
        struct ab_json_node o = ab_json_item_object(&r.json, &list, i);
        read_gate(&r, &o, &s->gates[s->n_gates++]);
    }
    return r.json.status;
}
