/* SPDX-License-Identifier: MIT
 *
 * Verbs: which one it is, which options it takes, what they default to. The table at the top is
 * the whole truth about which option belongs to which verb.
 */
#include "workload/dist_read.h"
#include "workload/read.h"

#include "core/bits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum option {
    OPT_AT = 1,
    OPT_ORDER = 2,
    OPT_COUNT = 4,
    OPT_FRACTION = 8,
    OPT_SIZE = 16,
    OPT_ALIGN = 32,
    OPT_TOUCH = 64,
    OPT_DO = 128,
};

static const struct verb_def {
    const char *name;
    unsigned options;
} verb_defs[] = {
    [AB_VERB_ALLOC] = {"alloc", OPT_AT | OPT_COUNT | OPT_SIZE | OPT_ALIGN | OPT_TOUCH},
    [AB_VERB_FREE] = {"free", OPT_AT | OPT_ORDER | OPT_COUNT | OPT_FRACTION},
    [AB_VERB_REPLACE] = {"replace", OPT_AT | OPT_ORDER | OPT_COUNT | OPT_FRACTION | OPT_SIZE |
                                        OPT_ALIGN | OPT_TOUCH},
    [AB_VERB_RESIZE] = {"resize", OPT_AT | OPT_ORDER | OPT_COUNT | OPT_FRACTION | OPT_SIZE |
                                      OPT_TOUCH},
    [AB_VERB_REPEAT] = {"repeat", OPT_DO},
};

static const struct {
    const char *name;
    unsigned option;
} options[] = {
    {"at", OPT_AT}, {"order", OPT_ORDER}, {"count", OPT_COUNT}, {"fraction", OPT_FRACTION},
    {"size", OPT_SIZE}, {"align", OPT_ALIGN}, {"touch", OPT_TOUCH}, {"do", OPT_DO},
};

/* A verb while it is read. */
struct verb_reader {
    struct ab_reader *r;
    const struct ab_node *node;
    const struct ab_raw_verb *raw;
    const struct verb_def *def;
    struct ab_verb *v;
};

static struct ab_field field(const struct verb_reader *vr, const char *key, const char *text)
{
    return ab_field_of(vr->r, vr->node, key, text);
}

/* ---- which verb ---- */

static const char *verb_text(const struct ab_raw_verb *raw, enum ab_verb_kind kind)
{
    const char *texts[] = {raw->alloc, raw->free, raw->replace, raw->resize, raw->repeat};
    return texts[kind];
}

static bool find_verb(struct verb_reader *vr)
{
    for (size_t kind = 0; kind < AB_ARRAY_LEN(verb_defs); kind++) {
        const struct ab_node *n = ab_tree_get(vr->r->tree, vr->node, verb_defs[kind].name);
        if (n == NULL || verb_text(vr->raw, (enum ab_verb_kind)kind) == NULL)
            continue;
        if (vr->def != NULL) {
            ab_diag_add(vr->r->diag, n->key_at, "one verb in each entry: '%s' is there already; "
                                                "begin another entry '- {%s: …}'",
                        vr->def->name, verb_defs[kind].name);
            return false;
        }
        vr->def = &verb_defs[kind];
        vr->v->kind = (enum ab_verb_kind)kind;
        vr->v->place = n->key_at;
    }
    if (vr->def == NULL && !vr->node->has_bad_key)
        ab_diag_add(vr->r->diag, vr->node->at,
                    "no verb here; one of alloc, free, replace, resize, repeat is needed");
    return vr->def != NULL;
}

/* Options that the verb does not take. */
static void check_options(const struct verb_reader *vr)
{
    char takes[120] = "";
    for (size_t i = 0; i < AB_ARRAY_LEN(options); i++) {
        size_t used = strlen(takes);
        if ((vr->def->options & options[i].option) != 0)
            snprintf(takes + used, sizeof takes - used, "%s%s", used == 0 ? "" : ", ",
                     options[i].name);
    }
    for (size_t i = 0; i < AB_ARRAY_LEN(options); i++) {
        const struct ab_node *n = ab_tree_get(vr->r->tree, vr->node, options[i].name);
        if (n != NULL && (vr->def->options & options[i].option) == 0)
            ab_diag_add(vr->r->diag, n->key_at, "'%s' does not take '%s'; it takes %s",
                        vr->def->name, options[i].name, takes);
    }
}

static bool find_set(const struct verb_reader *vr)
{
    struct ab_field f = field(vr, vr->def->name, verb_text(vr->raw, vr->v->kind));
    const struct ab_workload *w = vr->r->w;
    const char *names[AB_MAX_ENTRIES];
    char word[200];
    for (size_t i = 0; i < w->n_sets; i++) {
        names[i] = w->sets[i].name;
        if (strcmp(f.text, names[i]) == 0) {
            vr->v->set = (uint32_t)i;
            return w->sets[i].count > 0; /* else its own error is enough */
        }
    }
    if (vr->r->has_nameless_set)
        return false;
    const char *near = ab_text_nearest(f.text, names, w->n_sets);
    ab_diag_quote(word, sizeof word, f.text, strlen(f.text));
    return ab_field_fail(vr->r, &f, 0, strlen(f.text), "unknown set '%s'%s%s%s", word,
                         near != NULL ? "; did you mean '" : "; it must stand in 'sets' above",
                         near != NULL ? near : "", near != NULL ? "'?" : "");
}

/* ---- at, order ---- */

static const char *const at_names[] = {"next", "random", "empty", "occupied", "round_robin",
                                       "stride(p)", "bins(prob:fraction, ...)", NULL};
static const enum ab_pick at_picks[] = {AB_PICK_NEXT, AB_PICK_RANDOM, AB_PICK_EMPTY,
                                        AB_PICK_OCCUPIED, AB_PICK_ROUND_ROBIN};
static const char *const order_names[] = {"fifo", "lifo", "shuffled", "every(k)", NULL};
static const enum ab_pick order_picks[] = {AB_PICK_FIFO, AB_PICK_LIFO, AB_PICK_SHUFFLED};

static bool is_call(const struct ab_value *v, const char *name)
{
    return v->kind == AB_VALUE_CALL && strlen(name) == v->n_text &&
           memcmp(v->text, name, v->n_text) == 0;
}

static bool read_bin(const struct verb_reader *vr, const struct ab_field *f,
                     const struct ab_arg *arg, double *share, double *reach)
{
    double fraction = 0;
    if (!arg->is_pair || arg->name != NULL)
        return ab_field_fail(vr->r, f, arg->first.offset, arg->first.n,
                             "a bin is probability:fraction, as in bins(0.9:0.1, 0.1:0.9)");
    if (!ab_field_real(vr->r, f, "probability", &arg->first, 0, 1, share) ||
        !ab_field_real(vr->r, f, "fraction", &arg->second, 0, 1, &fraction))
        return false;
    *reach += fraction;
    return true;
}

static bool is_one(double x)
{
    return x > 1 - 1e-6 && x < 1 + 1e-6;
}

static bool read_bins(const struct verb_reader *vr, const struct ab_field *f,
                      const struct ab_value *v)
{
    uint32_t count = vr->r->w->sets[vr->v->set].count, begin = 0;
    double share = 0, total = 0, reach = 0;
    char sum[40];
    struct ab_bin *bins = calloc(v->n_args + 1, sizeof bins[0]);
    vr->v->bins = bins;
    if (bins == NULL || v->n_args == 0)
        return ab_field_fail(vr->r, f, v->offset, v->n, "%s", bins == NULL ? "out of memory"
                             : "no bins; it is bins(probability:fraction, ...)");
    for (size_t i = 0; i < v->n_args; i++) {
        if (!read_bin(vr, f, &v->args[i], &share, &reach))
            return false;
        bins[i].share = total += share;
        double end = reach * count + 0.5;
        bins[i].begin = begin;
        bins[i].end = begin = i + 1 == v->n_args || end > count ? count : (uint32_t)end;
    }
    if (!is_one(total) || !is_one(reach))
        return ab_field_fail(vr->r, f, v->offset, v->n, "the %s of all bins must add up to 1, "
                             "found %s", is_one(total) ? "fractions" : "probabilities",
                             ab_print_real(sum, sizeof sum, is_one(total) ? reach : total));
    for (size_t i = 0; i < v->n_args; i++)
        if (bins[i].begin == bins[i].end)
            return ab_field_fail(vr->r, f, v->args[i].first.offset, v->args[i].first.n,
                                 "no position of the %u falls into this bin", count);
    bins[v->n_args - 1].share = 1;
    vr->v->n_bins = v->n_args;
    vr->v->pick = AB_PICK_BINS;
    return true;
}

static bool read_step(const struct verb_reader *vr, const struct ab_field *f,
                      const struct ab_value *v, enum ab_pick pick)
{
    vr->v->pick = pick;
    return ab_field_argument(vr->r, f, v, (struct ab_range){AB_UNIT_COUNT, 1, AB_MAX_POSITIONS},
                             &vr->v->step);
}

static bool read_at(const struct verb_reader *vr, const struct ab_field *f,
                    const struct ab_value *v)
{
    for (size_t i = 0; i < AB_ARRAY_LEN(at_picks); i++) {
        if (ab_value_is_word(v, at_names[i])) {
            vr->v->pick = at_picks[i];
            break;
        }
        if (i + 1 < AB_ARRAY_LEN(at_picks))
            continue;
        return is_call(v, "stride") ? read_step(vr, f, v, AB_PICK_STRIDE)
             : is_call(v, "bins")   ? read_bins(vr, f, v)
                                    : ab_field_not_in(vr->r, f, v, at_names, NULL);
    }
    bool is_alloc = vr->v->kind == AB_VERB_ALLOC;
    if (vr->v->pick == (is_alloc ? AB_PICK_OCCUPIED : AB_PICK_EMPTY))
        return ab_field_fail(vr->r, f, v->offset, v->n, is_alloc
                             ? "'alloc' needs empty positions, not occupied ones"
                             : "'empty' is for alloc; there is no block at an empty position");
    return true;
}

static bool read_order(const struct verb_reader *vr, const struct ab_field *f,
                       const struct ab_value *v)
{
    for (size_t i = 0; i < AB_ARRAY_LEN(order_picks); i++) {
        if (ab_value_is_word(v, order_names[i])) {
            vr->v->pick = order_picks[i];
            return true;
        }
    }
    if (is_call(v, "every"))
        return read_step(vr, f, v, AB_PICK_EVERY);
    return ab_field_not_in(vr->r, f, v, order_names, NULL);
}

/* at or order, or the default of the verb. */
static bool read_pick(const struct verb_reader *vr)
{
    struct ab_field at = field(vr, "at", vr->raw->at);
    struct ab_field order = field(vr, "order", vr->raw->order);
    struct ab_value value;
    bool takes_all = vr->v->amount != AB_AMOUNT_COUNT;
    bool takes_order = vr->v->kind != AB_VERB_ALLOC;
    vr->v->pick = vr->v->kind == AB_VERB_ALLOC               ? AB_PICK_FREE
                : vr->v->kind == AB_VERB_FREE || takes_all ? AB_PICK_FIFO
                                                           : AB_PICK_NEXT;
    if (at.text != NULL && order.text != NULL && takes_order)
        return ab_field_fail(vr->r, &order, 0, strlen(order.text),
                             "'at' picks positions, 'order' picks live blocks: one of them");
    const struct ab_field *f = at.text != NULL ? &at : takes_order ? &order : &at;
    if (f->text == NULL)
        return true;
    if (!ab_field_value(vr->r, f, AB_UNIT_COUNT, &value))
        return false;
    bool ok = f == &at ? read_at(vr, f, &value) : read_order(vr, f, &value);
    ab_value_fini(&value);
    return ok;
}

/* ---- count, fraction ---- */

static const struct ab_range count_range = {AB_UNIT_COUNT, 1, (UINT64_C(1) << 63) - 1};

static bool read_count(const struct verb_reader *vr, const struct ab_field *f)
{
    struct ab_value value;
    if (!ab_field_value(vr->r, f, AB_UNIT_COUNT, &value))
        return false;
    bool ok = true;
    if (ab_value_is_word(&value, "all"))
        vr->v->amount = AB_AMOUNT_ALL;
    else if (value.kind == AB_VALUE_WORD || value.kind == AB_VALUE_CALL)
        ok = ab_field_fail(vr->r, f, value.offset, value.n, "'count' must be a whole number or "
                           "all%s", value.kind == AB_VALUE_CALL
                           ? "; a distribution of counts is not built yet in this version" : "");
    else
        ok = ab_field_whole(vr->r, f, "count", &value, count_range, &vr->v->count);
    ab_value_fini(&value);
    return ok;
}

static bool read_fraction(const struct verb_reader *vr, const struct ab_field *f)
{
    struct ab_value value;
    if (!ab_field_value(vr->r, f, AB_UNIT_FRACTION, &value))
        return false;
    bool ok = ab_field_real(vr->r, f, "fraction", &value, 0, 1, &vr->v->fraction);
    vr->v->amount = AB_AMOUNT_FRACTION;
    ab_value_fini(&value);
    return ok;
}

static bool read_amount(const struct verb_reader *vr)
{
    struct ab_field count = field(vr, "count", vr->raw->count);
    struct ab_field fraction = field(vr, "fraction", vr->raw->fraction);
    vr->v->count = 1;
    if ((vr->def->options & OPT_FRACTION) == 0)
        fraction.text = NULL;
    if (count.text != NULL && fraction.text != NULL)
        return ab_field_fail(vr->r, &fraction, 0, strlen(fraction.text),
                             "'count' or 'fraction', not both");
    return count.text != NULL ? read_count(vr, &count)
         : fraction.text == NULL || read_fraction(vr, &fraction);
}

/* ---- size, align, touch ---- */

static bool read_size(const struct verb_reader *vr)
{
    struct ab_field f = field(vr, "size", vr->raw->size);
    if (f.text == NULL)
        return ab_field_missing(vr->r, vr->node, "size", vr->def->name);
    vr->v->dist = SIZE_MAX;
    if (!ab_dist_read(vr->r, &f, &vr->v->dist) || vr->v->dist == SIZE_MAX)
        return false;
    if (vr->v->kind == AB_VERB_RESIZE && vr->r->w->dists.items[vr->v->dist].min == 0)
        return ab_field_fail(vr->r, &f, 0, strlen(f.text),
                             "a resize to size 0 frees the block; sizes must begin at 1 here");
    return true;
}

static bool read_align(const struct verb_reader *vr)
{
    struct ab_field f = field(vr, "align", vr->raw->align);
    struct ab_range range = {AB_UNIT_BYTES, 8, UINT64_C(1) << 30};
    if (!ab_field_number(vr->r, &f, range, &vr->v->align))
        return false;
    if (f.text != NULL && !ab_is_pow2(vr->v->align))
        return ab_field_fail(vr->r, &f, 0, strlen(f.text),
                             "'align' must be a power of two, found %llu",
                             (unsigned long long)vr->v->align);
    return true;
}

static const char *const touch_names[] = {"none", "ends", "page", "line", "all", "first(n)", NULL};
static const enum ab_touch touches[] = {AB_TOUCH_NONE, AB_TOUCH_ENDS, AB_TOUCH_PAGE,
                                        AB_TOUCH_LINE, AB_TOUCH_ALL};

static bool read_touch_value(const struct verb_reader *vr, const struct ab_field *f,
                             const struct ab_value *value)
{
    uint64_t n = 0;
    for (size_t i = 0; i < AB_ARRAY_LEN(touches); i++) {
        if (ab_value_is_word(value, touch_names[i])) {
            vr->v->touch = touches[i];
            return true;
        }
    }
    if (!is_call(value, "first"))
        return ab_field_not_in(vr->r, f, value, touch_names, NULL);
    if (!ab_field_argument(vr->r, f, value, (struct ab_range){AB_UNIT_BYTES, 1, (1u << 29) - 1},
                           &n))
        return false;
    vr->v->touch = AB_TOUCH_FIRST;
    vr->v->touch_bytes = (uint32_t)n;
    return true;
}

static bool read_touch(const struct verb_reader *vr)
{
    struct ab_field f = field(vr, "touch", vr->raw->touch);
    struct ab_value value;
    vr->v->touch = AB_TOUCH_PAGE;
    if (f.text == NULL)
        return true;
    if (!ab_field_value(vr->r, &f, AB_UNIT_BYTES, &value))
        return false;
    bool ok = read_touch_value(vr, &f, &value);
    ab_value_fini(&value);
    return ok;
}

/* ---- bodies ---- */

static bool read_repeat(const struct verb_reader *vr)
{
    struct ab_field f = field(vr, "repeat", vr->raw->repeat);
    const struct ab_node *body = ab_tree_get(vr->r->tree, vr->node, "do");
    bool ok = ab_field_number(vr->r, &f, count_range, &vr->v->count);
    if (body == NULL)
        return ab_field_missing(vr->r, vr->node, "do", "repeat");
    if (vr->raw->body_count == 0) {
        ab_diag_add(vr->r->diag, body->at, "'do' is empty; a repeat needs at least one verb");
        return false;
    }
    ab_read_body(vr->r, body, vr->raw->body, vr->raw->body_count, &vr->v->body, &vr->v->n_body);
    return ok;
}

static void read_verb(struct verb_reader *vr)
{
    if (!find_verb(vr))
        return;
    check_options(vr);
    vr->v->cursor = vr->r->w->n_cursors++;
    if (vr->v->kind == AB_VERB_REPEAT) {
        read_repeat(vr);
        return;
    }
    bool has_set = find_set(vr);
    if (read_amount(vr) && has_set)
        read_pick(vr);
    if (vr->def->options & OPT_SIZE)
        read_size(vr);
    if (vr->def->options & OPT_ALIGN)
        read_align(vr);
    if (vr->def->options & OPT_TOUCH)
        read_touch(vr);
}

void ab_read_body(struct ab_reader *r, const struct ab_node *list, const struct ab_raw_verb *raw,
                  unsigned n, struct ab_verb **body, size_t *n_body)
{
    const struct ab_node *node = ab_tree_first(r->tree, list);
    *body = calloc(n, sizeof **body);
    *n_body = *body == NULL ? 0 : n;
    if (*body == NULL)
        ab_diag_add(r->diag, list->at, "out of memory");
    for (unsigned i = 0; i < *n_body; i++, node = ab_tree_next(r->tree, node)) {
        struct verb_reader vr = {.r = r, .node = node, .raw = &raw[i], .v = &(*body)[i]};
        read_verb(&vr);
    }
}

void ab_body_free(struct ab_verb *body, size_t n_body)
{
    for (size_t i = 0; i < n_body; i++) {
        free(body[i].bins);
        ab_body_free(body[i].body, body[i].n_body);
    }
    free(body);
}
