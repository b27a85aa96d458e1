/* SPDX-License-Identifier: MIT
 *
 * CSV in long form: one row a number, so that a new number is no new column. RFC 4180 quoting;
 * cells that a spreadsheet would run as a formula are defused; numbers have a '.'.
 */
#include "report/sink.h"

#include "core/text.h"
#include "measure/result_fields.h"
#include "report/format.h"

#include <inttypes.h>
#include <string.h>

/* One text cell, quoted where needed. Control characters come as \xNN, so that a row is a line. */
static void put_text(FILE *to, const char *s)
{
    char text[2048];
    ab_text_printable(text, sizeof text, s);
    bool is_formula = text[0] != 0 && strchr("=+-@", text[0]) != NULL;
    bool is_quoted = strpbrk(text, ",\"") != NULL || text[0] == ' ';
    if (is_quoted)
        fputc('"', to);
    if (is_formula)
        fputc('\'', to);
    for (const char *c = text; *c != 0; c++) {
        if (*c == '"')
            fputc('"', to);
        fputc(*c, to);
    }
    if (is_quoted)
        fputc('"', to);
}

/* 1 = ran first in its block; 0 = unknown. */
static uint32_t order_of(const struct ab_session *s, const struct ab_result *r)
{
    for (uint32_t b = 0; b < s->n_blocks; b++) {
        if (s->blocks[b].index != r->block)
            continue;
        for (uint32_t i = 0; i < s->blocks[b].n_order; i++)
            if (s->blocks[b].order[i] == r->backend)
                return i + 1;
    }
    return 0;
}

static void put_number(FILE *to, const struct ab_field *f, const struct ab_result *r)
{
    if (f->type == AB_FIELD_U64)
        fprintf(to, "%" PRIu64, ab_field_u64(f, r));
    else
        fprintf(to, "%.12g", ab_field_f64(f, r));
}

static void put_result(FILE *to, const struct ab_session *s, const struct ab_result *r)
{
    uint32_t order = order_of(s, r);
    for (size_t i = 0; i < ab_field_count; i++) {
        const struct ab_field *f = &ab_fields[i];
        if (!ab_field_exists(f, r))
            continue;
        fprintf(to, "%.12s-%" PRIu64 ",%" PRIu32 ",", s->tape_sha256 != NULL ? s->tape_sha256 : "",
                s->seed, r->block);
        if (order > 0)
            fprintf(to, "%" PRIu32, order);
        fputc(',', to);
        put_text(to, s->backends[r->backend].name);
        fputc(',', to);
        put_text(to, r->phase);
        fprintf(to, ",%s,%s,", ab_result_op_name(r->op), f->name);
        put_number(to, f, r);
        fprintf(to, ",%s\r\n", f->unit);
    }
}

void ab_sink_csv(FILE *to, const struct ab_session *session)
{
    struct ab_format_guard guard;
    ab_format_begin(&guard);
    fputs("run,block,order,backend,phase,op,metric,value,unit\r\n", to);
    for (uint32_t i = 0; i < session->n_results; i++) {
        const struct ab_result *r = &session->results[i];
        if (r->backend < session->n_backends &&
            ab_backend_status_has_numbers(session->backends[r->backend].status))
            put_result(to, session, r);
    }
    ab_format_end(&guard);
}
