/* SPDX-License-Identifier: MIT
 *
 * Reads and writes the document of a suite, and computes the figures in it.
 */
#include "document/suite_document.h"

#include "core/alloc.h"
#include "core/text.h"
#include "document/checks_json.h"
#include "document/session_record.h"
#include "result/shown.h"

#include <sha2.h>
#include <stdlib.h>
#include <string.h>

#define SCHEMA "allocbench-suite/1"

/* ---- one result ---- */

void ab_suite_item_take(struct ab_suite_item *item, const struct ab_session *session)
{
    if (item->document != NULL)
        ab_stored_fini(&item->stored);
    ab_json_free(item->document);
    item->document = ab_session_json(session);
    item->reason = "";
    ab_stored_copy(session, AB_CHECKSUM_GOOD, &item->stored);
}

void ab_suite_item_copy(const struct ab_suite_item *item, struct ab_stored *out)
{
    struct ab_session session = item->stored.session;
    session.n_gates = 0;
    session.comparison = NULL;
    ab_stored_copy(&session, item->stored.checksum, out);
}

const struct ab_suite_item *ab_suite_find(const struct ab_suite *suite, const char *name)
{
    for (uint32_t i = 0; i < suite->n; i++)
        if (strcmp(suite->items[i].name, name) == 0)
            return &suite->items[i];
    return NULL;
}

/* ---- what follows from the results ---- */

static void forget(struct ab_suite *s)
{
    uint32_t n = s->figures.n_works;
    ab_suite_figures_fini(&s->figures);
    for (uint32_t i = 0; i < n; i++)
        free(s->names[i]);
    free(s->names);
    free(s->works);
    free(s->sha256);
    free(s->summary.backends);
    free(s->summary.gates);
    s->works = NULL;
    s->names = NULL;
    s->sha256 = NULL;
    s->summary = (struct ab_session){0};
}

/* Computes one digest of the work of all items. */
static void digest_works(struct ab_suite *s)
{
    struct ab_text t = {0};
    for (uint32_t i = 0; i < s->n; i++) {
        const char *tape = s->items[i].document != NULL ? s->items[i].stored.session.tape_sha256
                                                        : NULL;
        ab_text_addf(&t, "%s %s\n", s->items[i].name, tape != NULL ? tape : "");
    }
    s->sha256 = ab_alloc_zeroed(1, SHA256_DIGEST_STRING_LENGTH);
    SHA256Data((const uint8_t *)t.s, t.n, s->sha256);
    ab_text_fini(&t);
}

static void summarize(struct ab_suite *s)
{
    struct ab_session *to = &s->summary;
    digest_works(s);
    to->tape_sha256 = s->sha256;
    to->kind = s->kind;
    to->name = "suite";
    to->command_line = s->command_line;
    to->is_complete = s->is_complete;
    to->backends = ab_alloc_zeroed(s->figures.n_rows + 1u, sizeof to->backends[0]);
    to->n_backends = s->figures.n_rows;
    for (uint32_t r = 0; r < s->figures.n_rows; r++) {
        struct ab_backend_info *b = &to->backends[r];
        AB_COPY(b->name, s->figures.rows[r].name);
        AB_COPY(b->full_name, s->figures.rows[r].full_name);
        b->status = s->figures.rows[r].is_compared ? AB_BACKEND_OK : AB_BACKEND_ABSENT;
    }
    ab_backends_set_labels(to->backends, to->n_backends);
}

/* Returns the number of works of an item: one for each combination of its parameter values, or
 * 1. */
static uint32_t works_of(const struct ab_suite_item *item)
{
    uint32_t n = item->document != NULL ? item->stored.session.n_combinations : 0;
    return n > 0 ? n : 1;
}

static void add_works(struct ab_suite *s, uint32_t first, const struct ab_suite_item *item)
{
    const struct ab_session *session = item->document != NULL ? &item->stored.session : NULL;
    for (uint32_t k = 0; k < works_of(item); k++) {
        struct ab_suite_work *w = &s->works[first + k];
        *w = (struct ab_suite_work){item->name, item->path, session, item->reason, k};
        if (session != NULL && session->n_combinations > 0)
            w->name = s->names[first + k] = ab_strdupf("%s[%s]", item->name,
                                                       session->combinations[k].values);
    }
}

void ab_suite_settle(struct ab_suite *s)
{
    uint32_t n = 0, at = 0;
    forget(s);
    for (uint32_t i = 0; i < s->n; i++) {
        n += works_of(&s->items[i]);
        s->is_unsealed |= s->items[i].stored.session.is_unsealed;
    }
    s->works = ab_alloc_zeroed(n + 1u, sizeof s->works[0]);
    s->names = ab_alloc_zeroed(n + 1u, sizeof s->names[0]);
    for (uint32_t i = 0; i < s->n; at += works_of(&s->items[i++]))
        add_works(s, at, &s->items[i]);
    ab_suite_figures_make(s->works, n, s->base, &s->figures);
    summarize(s);
}

void ab_suite_fini(struct ab_suite *s)
{
    forget(s);
    for (uint32_t i = 0; i < s->n; i++) {
        if (s->items[i].document != NULL)
            ab_stored_fini(&s->items[i].stored);
        ab_json_free(s->items[i].document);
    }
    free(s->items);
    ab_json_free(s->document);
    *s = (struct ab_suite){0};
}

/* ---- figures in the document: written only for readers, and computed again when it is read
 * ---- */

struct effect_row {
    double ratio, low, high;
};
struct cell_row {
    const char *workload, *backend, *failure;
    double time_ns, peak_bytes;
    struct effect_row time, memory;
};
struct mean_row {
    const char *backend, *metric, *better;
    struct effect_row mean;
    uint32_t rank, n;
};
struct left_out_row {
    const char *workload, *why;
};

static const struct ab_member effect_members[] = {
    AB_NUMBER("ratio", struct effect_row, ratio),
    AB_NUMBER("low", struct effect_row, low),
    AB_NUMBER("high", struct effect_row, high),
};
AB_TABLE(effect, struct effect_row);

static const struct ab_member cell_members[] = {
    AB_TEXT("workload", struct cell_row, workload),
    AB_TEXT("backend", struct cell_row, backend),
    AB_TEXT("failure", struct cell_row, failure),
    AB_NUMBER("time_ns", struct cell_row, time_ns),
    AB_RECORD("time", struct cell_row, time, &effect_record),
    AB_NUMBER("peak_bytes", struct cell_row, peak_bytes),
    AB_RECORD("memory", struct cell_row, memory, &effect_record),
};
AB_TABLE(cell, struct cell_row);

static const struct ab_member mean_members[] = {
    AB_TEXT("backend", struct mean_row, backend),
    AB_TEXT("metric", struct mean_row, metric),
    AB_PART(&effect_record, .offset = offsetof(struct mean_row, mean)),
    AB_WHOLE("rank", struct mean_row, rank, UINT32_MAX, 0, .flags = AB_ZERO),
    AB_WHOLE("n_workloads", struct mean_row, n, UINT32_MAX, 0),
    AB_TEXT("better_in_both", struct mean_row, better),
};
AB_TABLE(mean, struct mean_row);

static const struct ab_member left_out_members[] = {
    AB_TEXT("workload", struct left_out_row, workload),
    AB_TEXT("reason", struct left_out_row, why),
};
AB_TABLE(left_out, struct left_out_row);

static struct effect_row effect_of(const struct ab_effect *e)
{
    return (struct effect_row){e->ratio, e->low, e->high};
}

static json_t *write_cells(const struct ab_writing *x)
{
    const struct ab_suite_figures *f = &((const struct ab_suite *)x->record)->figures;
    json_t *list = json_array();
    for (uint32_t w = 0; w < f->n_works; w++)
        for (uint32_t r = 0; r < f->n_rows; r++) {
            const struct ab_suite_cell *c = &f->cells[(size_t)w * f->n_rows + r];
            const struct cell_row stored = {
                .workload = f->works[w].name,
                .backend = f->rows[r].name,
                .failure = c->failure,
                .time_ns = c->value[AB_SUITE_TIME],
                .peak_bytes = c->value[AB_SUITE_MEMORY],
                .time = effect_of(&c->ratio[AB_SUITE_TIME]),
                .memory = effect_of(&c->ratio[AB_SUITE_MEMORY]),
            };
            ab_json_append(list, ab_record_json(&cell_record, &stored, NULL));
        }
    return list;
}

static json_t *write_means(const struct ab_writing *x)
{
    const struct ab_suite_figures *f = &((const struct ab_suite *)x->record)->figures;
    json_t *list = json_array();
    for (unsigned m = 0; m < AB_SUITE_METRICS; m++)
        for (uint32_t r = 0; r < f->n_rows; r++) {
            const struct ab_suite_row *row = &f->rows[r];
            const struct mean_row stored = {
                .backend = row->name,
                .metric = ab_suite_metric_names[m],
                .better = row->better != UINT32_MAX ? f->rows[row->better].name : NULL,
                .mean = {row->mean[m].ratio, row->mean[m].low, row->mean[m].high},
                .rank = row->mean[m].rank,
                .n = f->n_counted[m],
            };
            ab_json_append(list, ab_record_json(&mean_record, &stored, NULL));
        }
    return list;
}

static json_t *write_left_out(const struct ab_writing *x)
{
    const struct ab_suite_figures *f = &((const struct ab_suite *)x->record)->figures;
    json_t *list = json_array();
    for (uint32_t w = 0; w < f->n_works; w++) {
        const struct left_out_row stored = {f->works[w].name, f->why[w]};
        if (stored.why[0] != 0)
            ab_json_append(list, ab_record_json(&left_out_record, &stored, NULL));
    }
    return list;
}

static json_t *write_base(const struct ab_writing *x)
{
    const struct ab_suite_figures *f = &((const struct ab_suite *)x->record)->figures;
    return ab_json_string(f->base != UINT32_MAX ? f->rows[f->base].name : NULL);
}

static void read_base(const struct ab_reading *x)
{
    const char *name = ab_json_text(x->r, x->o, x->m->key);
    ((struct ab_suite *)x->record)->base = name != NULL && name[0] != 0 ? name : NULL;
}

/* ---- the document ---- */

static json_t *write_result(const struct ab_writing *x)
{
    const struct ab_suite_item *item = x->record;
    return item->document != NULL ? json_incref(item->document) : json_null();
}

/* Reads the result of an item, with the stored verdicts. Reads from a copy of the document, because
 * reading removes the histograms from it. */
static enum ab_status read_item(struct ab_suite_item *item, json_t *document, const char *shown,
                                struct ab_err *err)
{
    AB_TRY(ab_stored_take(json_deep_copy(document), shown, &item->stored, err));
    enum ab_status status = ab_stored_read_checks(shown, &item->stored, err);
    if (status == AB_OK)
        item->document = json_incref(document);
    else
        ab_stored_fini(&item->stored);
    return status;
}

static void read_result(const struct ab_reading *x)
{
    struct ab_suite_item *item = x->record;
    struct ab_json_node node = ab_json_member(x->r, x->o, x->m->key);
    char shown[600];
    if (x->r->status != AB_OK || json_is_null(node.json))
        return;
    AB_FIT(shown, "%s, %s", x->r->file, item->name != NULL ? item->name : "");
    x->r->status = read_item(item, node.json, shown, x->r->err);
}

static void read_schema(const struct ab_reading *x)
{
    static const char *const schemas[] = {SCHEMA};
    ab_json_one_of(x->r, x->o, x->m->key, schemas, 1);
}

static const struct ab_member item_members[] = {
    AB_TEXT("name", struct ab_suite_item, name),
    AB_TEXT("path", struct ab_suite_item, path),
    AB_TEXT("reason", struct ab_suite_item, reason),
    AB_RULE("result", struct ab_suite_item, document, .write = write_result, .read = read_result),
};
static const struct ab_record item_record = AB_RECORD_OF(struct ab_suite_item, item_members);

static const struct ab_member suite_members[] = {
    AB_FIXED("schema", SCHEMA, .read = read_schema),
    AB_TEXT("version", struct ab_suite, version, .text = AB_VERSION),
    AB_NAME("kind", struct ab_suite, kind, AB_SESSION_EXEC, .names = ab_session_kind_names),
    AB_TEXT("command", struct ab_suite, command_line),
    AB_FLAG("complete", struct ab_suite, is_complete),
    AB_UNSEALED(struct ab_suite),
    AB_NUMBER("time_budget_s", struct ab_suite, time_budget_s, .flags = AB_ZERO),
    AB_RULE("base", struct ab_suite, base, .write = write_base, .read = read_base),
    AB_RULE("means", struct ab_suite, figures, .write = write_means),
    AB_RULE("not_in_means", struct ab_suite, figures, .write = write_left_out),
    AB_RULE("cells", struct ab_suite, figures, .write = write_cells),
    AB_MEMBER(PART, NULL, struct ab_suite, summary, .record = &ab_gates_record, .flags = AB_SHOWN),
    AB_LIST("results", struct ab_suite, items, n, AB_SUITE_MOST, .record = &item_record),
};
static const struct ab_record suite_record = AB_RECORD_OF(struct ab_suite, suite_members);

void ab_suite_write(FILE *to, const struct ab_suite *suite)
{
    struct ab_format_guard guard;
    char checksum[AB_CHECKSUM_BYTES];
    ab_format_begin(&guard);
    json_t *document = ab_record_json(&suite_record, suite, NULL);
    ab_checksum_make(document, checksum);
    ab_json_put(document, AB_CHECKSUM_KEY, ab_json_string(checksum));
    ab_json_write(document, to, 12);
    ab_format_end(&guard);
}

/* Reads the gates into the summary, in the same way as those of a result. */
static enum ab_status read_gates(const char *path, struct ab_suite *s, struct ab_err *err)
{
    struct ab_stored_reader r = {.json = {.file = path, .err = err}, .session = &s->summary};
    struct ab_json_node document = {.json = s->document};
    ab_record_read(&r.json, &document, &ab_gates_record, &s->summary, &r);
    return r.json.status;
}

enum ab_status ab_suite_read(const char *path, struct ab_suite *out, struct ab_err *err)
{
    struct ab_suite suite = {0};
    json_t *document = NULL;
    AB_TRY(ab_json_load(path, AB_STORED_FILE_MAX, AB_STORED_DOCUMENT_MAX, &document, err));
    suite.document = document;
    suite.checksum = ab_checksum_take(document);
    bool is_unsealed = suite.checksum == AB_CHECKSUM_NONE;
    struct ab_json_node node = {.json = document};
    struct ab_json_reader r = {.file = path, .err = err};
    if (!json_is_object(document))
        ab_json_fail(&r, &node, "is not an allocbench result: not an object");
    ab_record_read(&r, &node, &suite_record, &suite, NULL);
    enum ab_status status = r.status;
    suite.is_unsealed |= is_unsealed;
    if (status == AB_OK) {
        ab_suite_settle(&suite);
        status = read_gates(path, &suite, err);
    }
    if (status == AB_OK)
        *out = suite;
    else
        ab_suite_fini(&suite);
    return status;
}

enum ab_status ab_suite_read_unaltered(const char *path, struct ab_suite *out, struct ab_err *err)
{
    struct ab_suite suite;
    AB_TRY(ab_suite_read(path, &suite, err));
    bool is_altered = suite.checksum == AB_CHECKSUM_WRONG;
    for (uint32_t i = 0; i < suite.n; i++)
        is_altered = is_altered || (suite.items[i].document != NULL &&
                                    suite.items[i].stored.checksum == AB_CHECKSUM_WRONG);
    if (!is_altered) {
        *out = suite;
        return AB_OK;
    }
    ab_suite_fini(&suite);
    return ab_fail(err, AB_INPUT,
                   "%s was altered after it was written: its checksum does not match; measure "
                   "again, or take an unaltered copy",
                   AB_SHOWN(512, path));
}
