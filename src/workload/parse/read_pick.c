/* SPDX-License-Identifier: MIT
 *
 * Which positions a verb takes, and how many of them: at, order, count, fraction.
 */
#include "workload/parse/read_pick.h"

#include "base/bits.h"
#include "core/memory.h"

#include <stdlib.h>

/* ---- at, order ---- */

static const char *const at_names[] = {
    "next", "random", "empty", "occupied", "round_robin", "stride(p)", "bins(prob:fraction, ...)",
    NULL};
static const enum ab_pick at_picks[] = {AB_PICK_NEXT, AB_PICK_RANDOM, AB_PICK_EMPTY,
                                        AB_PICK_OCCUPIED, AB_PICK_ROUND_ROBIN};
static const char *const order_names[] = {"fifo", "lifo", "shuffled", "every(k)", NULL};
static const enum ab_pick order_picks[] = {AB_PICK_FIFO, AB_PICK_LIFO, AB_PICK_SHUFFLED};

/* The set whose positions are picked: of send and recv the one that blocks come from or go to. */
static const struct ab_set_def *picked_set(const struct verb_reader *vr)
{
    bool is_queue = vr->v->kind == AB_VERB_SEND || vr->v->kind == AB_VERB_RECV;
    return &vr->r->w->sets[is_queue && vr->v->other != AB_NO_SET ? vr->v->other : vr->v->set];
}

static bool grows(const struct ab_set_def *set)
{
    return set->kind == AB_SET_LIST || set->kind == AB_SET_REGION;
}

/* Does the verb put blocks at empty positions? */
static bool fills(const struct verb_reader *vr)
{
    return vr->v->kind == AB_VERB_ALLOC || vr->v->kind == AB_VERB_RECV;
}

static bool read_bin(const struct verb_reader *vr, const struct ab_yaml_field *f,
                     const struct ab_arg *arg, double *share, double *reach)
{
    double fraction = 0;
    if (!arg->is_pair || arg->name != NULL)
        return AB_REFUSE_VALUE(vr->r, f, &arg->first,
                               "expected probability:fraction, as in bins(0.9:0.1, 0.1:0.9)");
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

static bool read_bins(const struct verb_reader *vr, const struct ab_yaml_field *f,
                      const struct ab_value *v)
{
    uint32_t count = picked_set(vr)->count, begin = 0;
    double share = 0, total = 0, reach = 0;
    char sum[40];
    struct ab_bin *bins = ab_alloc_zeroed(v->n_args + 1, sizeof bins[0]);
    vr->v->bins = bins;
    if (grows(picked_set(vr)))
        return AB_REFUSE_VALUE(vr->r, f, v, "bins are for slots; a list has no fixed positions");
    if (v->n_args == 0)
        return AB_REFUSE_VALUE(vr->r, f, v, "no bins; expected bins(probability:fraction, ...)");
    for (size_t i = 0; i < v->n_args; i++) {
        if (!read_bin(vr, f, &v->args[i], &share, &reach))
            return false;
        bins[i].share = total += share;
        double end = reach * count + 0.5;
        bins[i].begin = begin;
        bins[i].end = begin = i + 1 == v->n_args || end > count ? count : (uint32_t)end;
    }
    if (!is_one(total) || !is_one(reach))
        return AB_REFUSE_VALUE(vr->r, f, v, "the %s of all bins must add up to 1, found %s",
                               is_one(total) ? "fractions" : "probabilities",
                               ab_print_real(sum, sizeof sum, is_one(total) ? reach : total));
    for (size_t i = 0; i < v->n_args; i++)
        if (bins[i].begin == bins[i].end)
            return AB_REFUSE_VALUE(vr->r, f, &v->args[i].first,
                                   "none of the %u positions falls into this bin", count);
    bins[v->n_args - 1].share = 1;
    vr->v->n_bins = v->n_args;
    vr->v->pick = AB_PICK_BINS;
    return true;
}

static bool read_step(const struct verb_reader *vr, const struct ab_yaml_field *f,
                      const struct ab_value *v, enum ab_pick pick)
{
    vr->v->pick = pick;
    return ab_field_argument(vr->r, f, v, (struct ab_limits){AB_UNIT_COUNT, 1, AB_MAX_POSITIONS},
                             &vr->v->step);
}

/* Empty positions are for what fills them, live blocks for what does not. */
static bool check_at(const struct verb_reader *vr, const struct ab_yaml_field *f,
                     const struct ab_value *v)
{
    enum ab_pick pick = vr->v->pick;
    if (vr->v->kind == AB_VERB_TOGGLE && (pick == AB_PICK_OCCUPIED || pick == AB_PICK_EMPTY))
        return AB_REFUSE_VALUE(vr->r, f, v,
                               "'toggle' takes positions of both kinds; "
                               "for one kind there are 'alloc' and 'free'");
    if (fills(vr) && pick == AB_PICK_OCCUPIED)
        return AB_REFUSE_VALUE(vr->r, f, v, "'%s' needs empty positions, not occupied ones",
                               vr->def->name);
    if (!fills(vr) && pick == AB_PICK_EMPTY)
        return AB_REFUSE_VALUE(vr->r, f, v,
                               "'empty' is only for alloc; an empty position has no block");
    return true;
}

static bool read_at(const struct verb_reader *vr, const struct ab_yaml_field *f,
                    const struct ab_value *v)
{
    for (size_t i = 0; i < AB_ARRAY_LEN(at_picks); i++) {
        if (ab_value_is_word(v, at_names[i])) {
            vr->v->pick = at_picks[i];
            break;
        }
        if (i + 1 < AB_ARRAY_LEN(at_picks))
            continue;
        return ab_value_is_call(v, "stride") ? read_step(vr, f, v, AB_PICK_STRIDE)
               : ab_value_is_call(v, "bins") ? read_bins(vr, f, v)
                                             : ab_field_not_in(vr->r, f, v, at_names, NULL);
    }
    return check_at(vr, f, v);
}

static bool read_order(const struct verb_reader *vr, const struct ab_yaml_field *f,
                       const struct ab_value *v)
{
    static const char *const ends[] = {"fifo", "lifo", NULL}; /* taken when it is their turn */
    static const char *const all[] = {"fifo", "lifo", "shuffled", NULL};
    bool is_send = vr->v->kind == AB_VERB_SEND, is_whole = (vr->def->traits & AB_VERB_WHOLE) != 0;
    for (size_t i = 0; i < (is_send ? 2 : AB_ARRAY_LEN(order_picks)); i++) {
        if (ab_value_is_word(v, order_names[i])) {
            vr->v->pick = order_picks[i];
            return true;
        }
    }
    if (ab_value_is_call(v, "every") && !is_send && !is_whole)
        return read_step(vr, f, v, AB_PICK_EVERY);
    return ab_field_not_in(vr->r, f, v, is_send ? ends : is_whole ? all : order_names, NULL);
}

static bool read_with_at(const struct verb_reader *vr)
{
    static const char *const names[] = {"next", "random", "occupied", NULL};
    static const enum ab_pick picks[] = {AB_PICK_NEXT, AB_PICK_RANDOM, AB_PICK_OCCUPIED};
    struct ab_yaml_field f = AB_VERB_FIELD(vr, with_at);
    unsigned index = 1;
    bool ok = (vr->def->options & AB_OPT_WITH_AT) == 0 ||
              ab_field_word(vr->r, &f, names, NULL, &index);
    vr->v->with_pick = picks[index];
    return ok;
}

bool ab_read_pick(const struct verb_reader *vr)
{
    struct ab_yaml_field at = AB_VERB_FIELD(vr, at), order = AB_VERB_FIELD(vr, order);
    struct ab_value value;
    bool takes_at = (vr->def->options & AB_OPT_AT) != 0;
    bool takes_order = (vr->def->options & AB_OPT_ORDER) != 0;
    bool is_by_age = (vr->def->traits & AB_VERB_BY_AGE) != 0 && vr->v->amount != AB_AMOUNT_COUNT;
    vr->v->pick = is_by_age ? AB_PICK_FIFO : vr->def->pick;
    if (!read_with_at(vr))
        return false;
    if (at.text != NULL && order.text != NULL && takes_order)
        return AB_REFUSE_FIELD(vr->r, &order,
                               "use either 'at' (picks positions) or 'order' (picks live blocks)");
    const struct ab_yaml_field *f = at.text != NULL && takes_at ? &at : takes_order ? &order : &at;
    if (f->text == NULL || (f == &at && !takes_at))
        return true;
    if (f == &at && fills(vr) && grows(picked_set(vr)))
        return AB_REFUSE_FIELD(
            vr->r, f, "'%s' is not of kind slots: blocks go to its end, 'at' does not apply",
            picked_set(vr)->name);
    if (!ab_field_value(vr->r, f, AB_UNIT_COUNT, &value))
        return false;
    bool ok = f == &at ? read_at(vr, f, &value) : read_order(vr, f, &value);
    ab_value_fini(&value);
    return ok;
}

/* ---- count, fraction ---- */

/* Is there nothing that `all` could mean? */
static bool is_endless(const struct verb_reader *vr)
{
    const struct ab_workload *w = vr->r->w;
    return vr->v->kind == AB_VERB_SEND
               ? AB_VERB_FIELD(vr, from).text == NULL
               : vr->v->kind == AB_VERB_ALLOC && vr->has_set && grows(&w->sets[vr->v->set]);
}

static bool read_count(const struct verb_reader *vr, const struct ab_yaml_field *f)
{
    struct ab_value value;
    if (!ab_field_value(vr->r, f, AB_UNIT_COUNT, &value))
        return false;
    bool ok = true;
    if (ab_value_is_word(&value, "all") && is_endless(vr))
        ok = AB_REFUSE_VALUE(
            vr->r, f, &value, "%s",
            vr->v->kind == AB_VERB_SEND
                ? "without 'from', 'count' must be a whole number"
                : "a set that grows is never full: 'count' must be a whole number");
    else if (ab_value_is_word(&value, "all"))
        vr->v->amount = AB_AMOUNT_ALL;
    else if (value.kind == AB_VALUE_WORD || value.kind == AB_VALUE_CALL)
        ok = AB_REFUSE_VALUE(vr->r, f, &value, "'count' must be a whole number or all%s",
                             value.kind == AB_VALUE_CALL
                                 ? "; a distribution of counts is not supported by this version"
                                 : "");
    else
        ok = ab_field_whole(vr->r, f, "count", &value, ab_count_range, &vr->v->count);
    ab_value_fini(&value);
    return ok;
}

static bool read_fraction(const struct verb_reader *vr, const struct ab_yaml_field *f)
{
    struct ab_value value;
    if (!ab_field_value(vr->r, f, AB_UNIT_FRACTION, &value))
        return false;
    bool ok = ab_field_real(vr->r, f, "fraction", &value, 0, 1, &vr->v->fraction);
    vr->v->amount = AB_AMOUNT_FRACTION;
    ab_value_fini(&value);
    return ok;
}

bool ab_read_amount(const struct verb_reader *vr)
{
    struct ab_yaml_field count = AB_VERB_FIELD(vr, count);
    struct ab_yaml_field fraction = AB_VERB_FIELD(vr, fraction);
    vr->v->count = 1;
    if ((vr->def->options & AB_OPT_FRACTION) == 0)
        fraction.text = NULL;
    if (count.text != NULL && fraction.text != NULL)
        return AB_REFUSE_FIELD(vr->r, &fraction, "'count' or 'fraction', not both");
    return count.text != NULL ? read_count(vr, &count)
                              : fraction.text == NULL || read_fraction(vr, &fraction);
}
