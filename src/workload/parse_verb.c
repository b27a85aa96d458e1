/* SPDX-License-Identifier: MIT
 *
 * Reads verbs, their options and defaults. workload/workload_language.h defines which options a
 * verb has, and on which kinds of sets it works.
 */
#include "base/bits.h"
#include "core/alloc.h"
#include "workload/parse.h"

/* State while one verb is read. */
struct verb_reader {
    struct ab_reader *r;
    const struct ab_node *node, *verb; /* node: entry of the body; verb: value of the verb's key */
    const struct ab_raw_verb *raw;
    const struct ab_verb_def *def;
    struct ab_verb *v;
    bool has_set; /* True if v->set is valid */
};

/* Returns the field of an option of the verb; its text is NULL if the entry lacks the option. */
#define AB_VERB_FIELD(vr, key) AB_FIELD((vr)->r, (vr)->node, (vr)->raw, key)

static const struct ab_limits count_range = {AB_UNIT_COUNT, 1, AB_COUNT_MOST};

static const char *const kind_names[] = {"slots",   "a list",   "a region",
                                         "a queue", "a window", "a model"};

/* ---- kinds of verbs ---- */

static void fail_without_verb(const struct verb_reader *vr)
{
    char names[160] = "";
    for (size_t i = 0; i < AB_VERB_KIND_COUNT; i++)
        ab_text_join(names, sizeof names, ", ", ab_verbs[i].name);
    ab_diag_add(vr->r->diag, vr->node->at, "no verb; expected one of %s", names);
}

static bool find_verb(struct verb_reader *vr)
{
    for (size_t kind = 0; kind < AB_VERB_KIND_COUNT; kind++) {
        const struct ab_node *n = ab_tree_get(vr->r->tree, vr->node, ab_verbs[kind].name);
        if (n == NULL)
            continue;
        if (vr->def != NULL) {
            ab_diag_add(
                vr->r->diag, n->key_at,
                "one verb per entry: '%s' is given already; begin another entry '- {%s: …}'",
                vr->def->name, ab_verbs[kind].name);
            return false;
        }
        vr->def = &ab_verbs[kind];
        vr->verb = n;
        vr->v->kind = (enum ab_verb_kind)kind;
        vr->v->place = n->key_at;
    }
    if (vr->def == NULL && !vr->node->has_bad_key)
        fail_without_verb(vr);
    return vr->def != NULL;
}

/* Writes the names of the verb's options to buf, as in "at, count, do"; `do` comes last. */
static void list_options(const struct verb_reader *vr, char *buf, size_t cap)
{
    const struct ab_key_block *block = &ab_blocks[AB_BLOCK_verb];
    for (size_t i = 0; i < block->n_keys; i++)
        if ((vr->def->options & block->keys[i].option) != 0)
            ab_text_join(buf, cap, ", ", block->keys[i].name);
    if ((vr->def->options & AB_OPT_DO) != 0)
        ab_text_join(buf, cap, ", ", "do");
}

/* Reads the options whose type is in the table. Reports options that the verb does not take. */
static void read_options(const struct verb_reader *vr)
{
    const struct ab_key_block *block = &ab_blocks[AB_BLOCK_verb];
    char takes[160] = "";
    list_options(vr, takes, sizeof takes);
    for (size_t i = 0; i < block->n_keys; i++) {
        const struct ab_key *key = &block->keys[i];
        bool is_do = key->child == &ab_blocks[AB_BLOCK_verb];
        unsigned option = is_do ? (unsigned)AB_OPT_DO : key->option;
        const struct ab_node *n = ab_tree_get(vr->r->tree, vr->node, key->name);
        if (n != NULL && option != 0 && (vr->def->options & option) == 0)
            ab_diag_add(vr->r->diag, n->key_at, "'%s' does not take '%s'; it takes %s",
                        vr->def->name, key->name, takes[0] != 0 ? takes : "no options");
        else if (!is_do && (vr->def->options & option) != 0)
            ab_read_key(vr->r, key, vr->node, vr->raw, vr->v);
    }
}

static bool check_kind(const struct verb_reader *vr, const struct ab_yaml_field *f,
                       const struct ab_set_def *set, unsigned kinds)
{
    char allowed[80] = "";
    if ((kinds & 1u << set->kind) != 0)
        return true;
    for (unsigned k = 0; k < AB_ARRAY_LEN(kind_names); k++)
        if ((kinds & 1u << k) != 0)
            ab_text_join(allowed, sizeof allowed, " or ", kind_names[k]);
    const char *hint = set->kind == AB_SET_REGION  ? "; its blocks are freed together, by 'reset'"
                       : set->kind == AB_SET_QUEUE ? "; its blocks are added by 'send' and removed "
                                                     "by 'recv'"
                       : set->kind == AB_SET_MODEL ? "; its blocks come and go by 'play'"
                                                   : "";
    return AB_REFUSE_FIELD(vr->r, f, "'%s' needs %s; '%s' is %s%s", f->node->key, allowed,
                           set->name, kind_names[set->kind], hint);
}

/* Finds the set that a field names. Reports an error if its kind is not in `kinds`. */
static bool find_set(const struct verb_reader *vr, const struct ab_yaml_field *f, unsigned kinds,
                     uint32_t *index)
{
    const struct ab_workload *w = vr->r->w;
    const char *names[AB_MAX_ENTRIES];
    char suggestion[AB_SUGGESTION_BYTES];
    for (size_t i = 0; i < w->n_sets; i++) {
        names[i] = w->sets[i].name;
        if (strcmp(f->text, names[i]) != 0)
            continue;
        *index = (uint32_t)i;
        ab_set_add_lanes(&w->sets[i], vr->r->first_lane, vr->r->end_lane);
        return !w->sets[i].is_broken && check_kind(vr, f, &w->sets[i], kinds);
    }
    if (vr->r->has_nameless_set)
        return false;
    return AB_REFUSE_FIELD(
        vr->r, f, "unknown set '%s'%s", AB_QUOTED(f->text, strlen(f->text)),
        ab_suggest(suggestion, f->text, names, w->n_sets, "; it must be defined in 'sets' above"));
}

/* ---- from, into, with: the other set ---- */

/* Reports an error if both of two exclusive options are given, or neither of them. If `least` is 0,
 * neither is allowed. */
static bool check_choice(const struct verb_reader *vr, const struct ab_yaml_field *a,
                         const struct ab_yaml_field *b, const char *names, int least)
{
    if (a->text != NULL && b->text != NULL)
        return AB_REFUSE_FIELD(vr->r, b, "%s, not both", names);
    if (a->text == NULL && b->text == NULL && least > 0) {
        ab_diag_add(vr->r->diag, vr->node->at, "'%s' needs %s", vr->def->name, names);
        return false;
    }
    return true;
}

/* Reports an error if option `f` is given. Call it if the option `beside`, which `f` requires, is
 * missing. */
static bool check_beside(const struct verb_reader *vr, struct ab_yaml_field f, const char *beside)
{
    return f.text == NULL ||
           AB_REFUSE_FIELD(vr->r, &f, "'%s' of '%s' requires '%s', which is missing", f.node->key,
                           vr->def->name, beside);
}

/* Reports an error if `fn` is given. Call it if the option `with` is given, because the verb then
 * frees nothing. */
static bool check_no_free(const struct verb_reader *vr, const char *with)
{
    struct ab_yaml_field fn = AB_VERB_FIELD(vr, fn);
    return fn.text == NULL ||
           AB_REFUSE_FIELD(vr->r, &fn, "'fn' says how blocks are freed; '%s' with '%s' frees none",
                           vr->def->name, with);
}

/* Reports an error if options of new blocks (`align`, `touch`) are given, because the verb
 * allocates none here. */
static bool check_no_request(const struct verb_reader *vr)
{
    return check_beside(vr, AB_VERB_FIELD(vr, align), "size") &&
           check_beside(vr, AB_VERB_FIELD(vr, touch), "size");
}

/* Finds the second set of a verb (`from`, `into`, `with`) and records that its blocks change
 * position. */
static bool find_other(const struct verb_reader *vr, const struct ab_yaml_field *f)
{
    struct ab_set_def *sets = vr->r->w->sets;
    if (!find_set(vr, f, AB_IN_SLOTS | AB_IN_LIST, &vr->v->other))
        return false;
    sets[vr->v->other].is_moving = true;
    return true;
}

static bool check_to(const struct verb_reader *vr)
{
    struct ab_yaml_field to = AB_VERB_FIELD(vr, to);
    const struct ab_set_def *set = &vr->r->w->sets[vr->v->set];
    return to.text == NULL || !set->is_shared ||
           AB_REFUSE_FIELD(vr->r, &to,
                           "'to' selects a lane's queue; '%s' is one queue for all lanes",
                           set->name);
}

/* Returns the distribution of the set's `fixed` size; SIZE_MAX = the set has none. */
static size_t fixed_size(const struct verb_reader *vr)
{
    return vr->v->set == AB_NO_SET ? SIZE_MAX : vr->r->w->sets[vr->v->set].fixed;
}

static bool needs_size(const struct verb_reader *vr)
{
    return fixed_size(vr) == SIZE_MAX;
}

static bool read_send(const struct verb_reader *vr)
{
    struct ab_yaml_field size = AB_VERB_FIELD(vr, size), from = AB_VERB_FIELD(vr, from);
    if (!check_choice(vr, &size, &from, "'size' for new blocks or 'from' for those of a set",
                      needs_size(vr)) ||
        !check_to(vr))
        return false;
    if (from.text != NULL)
        return find_other(vr, &from) && check_no_request(vr);
    return check_beside(vr, AB_VERB_FIELD(vr, at), "from") &&
           check_beside(vr, AB_VERB_FIELD(vr, order), "from");
}

static bool read_recv(const struct verb_reader *vr)
{
    struct ab_yaml_field then = AB_VERB_FIELD(vr, then), into = AB_VERB_FIELD(vr, into);
    if (!check_choice(vr, &then, &into, "'then: free' or 'into' a set", 0))
        return false;
    if (into.text != NULL)
        return check_no_free(vr, "into") && find_other(vr, &into);
    return check_beside(vr, AB_VERB_FIELD(vr, at), "into");
}

static bool read_exchange(const struct verb_reader *vr)
{
    struct ab_yaml_field size = AB_VERB_FIELD(vr, size), with = AB_VERB_FIELD(vr, with);
    if (!check_choice(vr, &size, &with, "'size' for a new block or 'with' for one of another set",
                      needs_size(vr)))
        return false;
    if (with.text == NULL)
        return check_beside(vr, AB_VERB_FIELD(vr, with_at), "with");
    return check_no_request(vr) && check_no_free(vr, "with") && find_other(vr, &with) &&
           (vr->v->other != vr->v->set ||
            AB_REFUSE_FIELD(vr->r, &with, "'exchange' needs two sets"));
}

/* Reads and checks the options that only send, recv and exchange have. */
static bool read_other(const struct verb_reader *vr)
{
    switch (vr->v->kind) {
    case AB_VERB_SEND:
        return read_send(vr);
    case AB_VERB_RECV:
        return read_recv(vr);
    case AB_VERB_EXCHANGE:
        return read_exchange(vr);
    default:
        return true;
    }
}

/* ---- size, align, touch ---- */

static bool read_size(const struct verb_reader *vr)
{
    struct ab_yaml_field f = AB_VERB_FIELD(vr, size);
    bool may_lack = vr->v->kind == AB_VERB_SEND || vr->v->kind == AB_VERB_EXCHANGE;
    if (!needs_size(vr) && (f.text != NULL || vr->v->kind == AB_VERB_RESIZE)) {
        ab_diag_add(vr->r->diag, f.text != NULL ? f.node->key_at : vr->v->place,
                    vr->v->kind == AB_VERB_RESIZE ? "blocks of '%s' keep their 'fixed' size"
                                                  : "'%s' has a 'fixed' size; drop 'size'",
                    vr->r->w->sets[vr->v->set].name);
        return false;
    }
    vr->v->dist = fixed_size(vr);
    if (f.text == NULL)
        return !needs_size(vr) || may_lack ||
               ab_field_missing(vr->r, vr->node, "size", vr->def->name);
    vr->v->dist = SIZE_MAX;
    if (!ab_dist_read(vr->r, &f, &vr->v->dist) || vr->v->dist == SIZE_MAX)
        return false;
    if (vr->v->kind == AB_VERB_RESIZE && vr->r->w->dists.items[vr->v->dist].min == 0)
        return AB_REFUSE_FIELD(vr->r, &f,
                               "a resize to size 0 frees the block; sizes must begin at 1 here");
    return true;
}

static void check_align(const struct verb_reader *vr)
{
    struct ab_yaml_field f = AB_VERB_FIELD(vr, align);
    if (vr->v->align != 0 && !ab_is_pow2(vr->v->align))
        AB_REFUSE_FIELD(vr->r, &f, "'align' must be a power of two, found %llu",
                        (unsigned long long)vr->v->align);
}

static bool read_touch_value(const struct verb_reader *vr, const struct ab_yaml_field *f,
                             const struct ab_value *value)
{
    static const char *const names[] = {AB_TOUCH_NAMES("first(n)"), "n%"};
    struct ab_word words[AB_ARRAY_LEN(names)];
    unsigned touch = 0;
    uint64_t n = 0;
    double share = 0;
    if (value->is_percent) {
        if (!ab_field_real(vr->r, f, "touch", value, 1.0 / AB_TOUCH_WHOLE, 1, &share))
            return false;
        vr->v->touch = AB_TOUCH_SHARE;
        vr->v->touch_bytes = (uint32_t)(share * AB_TOUCH_WHOLE + 0.5);
        return true;
    }
    for (unsigned i = 0; i < AB_ARRAY_LEN(words); i++)
        words[i] = (struct ab_word){names[i], i};
    if (!ab_field_choose(vr->r, f, value, words, AB_ARRAY_LEN(words), &touch))
        return false;
    if (touch > AB_TOUCH_APART)
        return AB_REFUSE_FIELD(vr->r, f, "'touch' takes a share such as 5%%");
    vr->v->touch = touch;
    if (vr->v->touch == AB_TOUCH_FIRST &&
        !ab_field_argument(vr->r, f, value, (struct ab_limits){AB_UNIT_BYTES, 1, (1u << 29) - 1},
                           &n))
        return false;
    vr->v->touch_bytes = (uint32_t)n;
    return true;
}

static bool read_touch(const struct verb_reader *vr)
{
    struct ab_yaml_field f = AB_VERB_FIELD(vr, touch);
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

/* ---- choice of positions and their number: at, order, count, fraction ---- */

/* ---- at, order ---- */

static const struct ab_word at_words[] = {
    {"next", AB_PICK_NEXT},
    {"random", AB_PICK_RANDOM},
    {"empty", AB_PICK_EMPTY},
    {"occupied", AB_PICK_OCCUPIED},
    {"round_robin", AB_PICK_ROUND_ROBIN},
    {"stride(p)", AB_PICK_STRIDE},
    {"bins(prob:fraction, ...)", AB_PICK_BINS},
    {"own", AB_PICK_OWN},
};

/* A send takes blocks one by one, so only the first two orders are allowed. A verb on a whole set
 * takes all blocks, in any order except the last. */
static const struct ab_word order_words[] = {{"fifo", AB_PICK_FIFO},
                                             {"lifo", AB_PICK_LIFO},
                                             {"shuffled", AB_PICK_SHUFFLED},
                                             {"every(k)", AB_PICK_EVERY}};

/* Returns the set in which the verb picks positions. For send and recv this is the set that the
 * blocks come from or go to, if there is one. */
static const struct ab_set_def *picked_set(const struct verb_reader *vr)
{
    bool is_queue = vr->v->kind == AB_VERB_SEND || vr->v->kind == AB_VERB_RECV;
    return &vr->r->w->sets[is_queue && vr->v->other != AB_NO_SET ? vr->v->other : vr->v->set];
}

static bool grows(const struct ab_set_def *set)
{
    return set->kind == AB_SET_LIST || set->kind == AB_SET_REGION;
}

/* True if the set itself chooses the position of a new block, so that `at` is not allowed. */
static bool places_blocks(const struct ab_set_def *set)
{
    return grows(set) || set->kind == AB_SET_WINDOW;
}

/* True if the verb puts blocks into empty positions. */
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
    return true;
}

static bool read_step(const struct verb_reader *vr, const struct ab_yaml_field *f,
                      const struct ab_value *v)
{
    return ab_field_argument(vr->r, f, v, (struct ab_limits){AB_UNIT_COUNT, 1, AB_MAX_POSITIONS},
                             &vr->v->step);
}

/* Checks that a verb that fills positions does not pick live blocks, and that other verbs do not
 * pick empty positions. */
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

/* Checks `at: own`: the set must be shared slots, with at least one position for each lane. */
static bool check_own(const struct verb_reader *vr, const struct ab_yaml_field *f,
                      const struct ab_value *v)
{
    const struct ab_set_def *set = picked_set(vr);
    uint32_t n_lanes = vr->r->end_lane - vr->r->first_lane;
    if (!set->is_shared || set->kind != AB_SET_SLOTS)
        return AB_REFUSE_VALUE(vr->r, f, v,
                               "'own' is a lane's part of slots that are 'per: all'; '%s' is not",
                               set->name);
    return set->count >= n_lanes ||
           AB_REFUSE_VALUE(vr->r, f, v, "%u positions of '%s' are too few for %u lanes", set->count,
                           set->name, n_lanes);
}

static bool read_at(const struct verb_reader *vr, const struct ab_yaml_field *f,
                    const struct ab_value *v)
{
    unsigned pick = 0;
    if (!ab_field_choose(vr->r, f, v, at_words, AB_ARRAY_LEN(at_words), &pick))
        return false;
    vr->v->pick = (enum ab_pick)pick;
    return pick == AB_PICK_OWN      ? check_own(vr, f, v)
           : pick == AB_PICK_STRIDE ? read_step(vr, f, v)
           : pick == AB_PICK_BINS   ? read_bins(vr, f, v)
                                    : check_at(vr, f, v);
}

static const struct ab_word walk_words[] = {{"allocation", AB_WALK_ALLOCATION},
                                            {"address", AB_WALK_ADDRESS},
                                            {"random", AB_WALK_RANDOM},
                                            {"linked", AB_WALK_LINKED}};

static bool read_walk(const struct verb_reader *vr, const struct ab_yaml_field *f,
                      const struct ab_value *v)
{
    unsigned order = 0;
    bool ok = ab_field_choose(vr->r, f, v, walk_words, AB_ARRAY_LEN(walk_words), &order);
    vr->v->walk = (enum ab_walk_order)order;
    return ok;
}

static bool read_order(const struct verb_reader *vr, const struct ab_yaml_field *f,
                       const struct ab_value *v)
{
    unsigned pick = 0;
    bool is_send = vr->v->kind == AB_VERB_SEND, is_whole = (vr->def->traits & AB_VERB_WHOLE) != 0;
    size_t n = is_send ? 2 : is_whole ? 3 : AB_ARRAY_LEN(order_words);
    if (!ab_field_choose(vr->r, f, v, order_words, n, &pick))
        return false;
    vr->v->pick = (enum ab_pick)pick;
    return pick != AB_PICK_EVERY || read_step(vr, f, v);
}

/* Reads `at` or `order`, or sets the default of the verb. Call it after the amount and the sets are
 * read. */
static bool read_pick(const struct verb_reader *vr)
{
    struct ab_yaml_field at = AB_VERB_FIELD(vr, at), order = AB_VERB_FIELD(vr, order);
    struct ab_value value;
    bool takes_at = (vr->def->options & AB_OPT_AT) != 0;
    bool takes_order = (vr->def->options & AB_OPT_ORDER) != 0;
    bool is_by_age = (vr->def->traits & AB_VERB_BY_AGE) != 0 && vr->v->amount != AB_AMOUNT_COUNT;
    vr->v->pick = is_by_age ? AB_PICK_FIFO : vr->def->pick;
    if (at.text != NULL && order.text != NULL && takes_order)
        return AB_REFUSE_FIELD(vr->r, &order,
                               "use either 'at' (picks positions) or 'order' (picks live blocks)");
    const struct ab_yaml_field *f = at.text != NULL && takes_at ? &at : takes_order ? &order : &at;
    if (f->text == NULL || (f == &at && !takes_at))
        return true;
    if (f == &at && fills(vr) && places_blocks(picked_set(vr)))
        return AB_REFUSE_FIELD(
            vr->r, f, "'%s' is not of kind slots: blocks go to %s, 'at' does not apply",
            picked_set(vr)->name, grows(picked_set(vr)) ? "its end" : "its next empty position");
    if (!ab_field_value(vr->r, f, AB_UNIT_COUNT, &value))
        return false;
    bool ok = f == &at                      ? read_at(vr, f, &value)
              : vr->v->kind == AB_VERB_WALK ? read_walk(vr, f, &value)
                                            : read_order(vr, f, &value);
    ab_value_fini(&value);
    return ok;
}

/* ---- count, fraction ---- */

/* True if `count: all` has no meaning for the verb, because nothing limits the number of blocks. */
static bool is_endless(const struct verb_reader *vr)
{
    const struct ab_workload *w = vr->r->w;
    return vr->v->kind == AB_VERB_SEND
               ? AB_VERB_FIELD(vr, from).text == NULL
               : vr->v->kind == AB_VERB_ALLOC && vr->has_set && grows(&w->sets[vr->v->set]);
}

static bool read_counts(const struct verb_reader *vr, const struct ab_yaml_field *f)
{
    vr->r->dist_unit = AB_UNIT_COUNT;
    bool ok = ab_dist_read(vr->r, f, &vr->v->counts);
    vr->r->dist_unit = AB_UNIT_BYTES;
    if (vr->v->counts != SIZE_MAX)
        vr->v->count = vr->r->w->dists.items[vr->v->counts].min;
    return ok;
}

static bool read_count(const struct verb_reader *vr, const struct ab_yaml_field *f)
{
    struct ab_value value;
    if (!ab_field_value(vr->r, f, AB_UNIT_COUNT, &value))
        return false;
    bool ok = true, is_repeat = vr->v->kind == AB_VERB_REPEAT;
    if (ab_value_is_word(&value, "all") && is_endless(vr))
        ok = AB_REFUSE_VALUE(
            vr->r, f, &value, "%s",
            vr->v->kind == AB_VERB_SEND
                ? "without 'from', 'count' must be a whole number"
                : "a set that grows is never full: 'count' must be a whole number");
    else if (ab_value_is_word(&value, "all") && !is_repeat)
        vr->v->amount = AB_AMOUNT_ALL;
    else if (value.kind == AB_VALUE_CALL)
        ok = read_counts(vr, f);
    else if (value.kind == AB_VALUE_WORD)
        ok = AB_REFUSE_VALUE(vr->r, f, &value, "'%s' must be a whole number%s or a distribution",
                             f->node->key, is_repeat ? "" : ", all");
    else
        ok = ab_field_whole(vr->r, f, f->node->key, &value, count_range, &vr->v->count);
    ab_value_fini(&value);
    return ok;
}

/* Reads `count` or `fraction`. */
static bool read_amount(const struct verb_reader *vr)
{
    struct ab_yaml_field count = AB_VERB_FIELD(vr, count);
    struct ab_yaml_field fraction = AB_VERB_FIELD(vr, fraction);
    if ((vr->def->options & AB_OPT_FRACTION) == 0)
        fraction.text = NULL;
    if (fraction.text != NULL)
        vr->v->amount = AB_AMOUNT_FRACTION;
    if (count.text != NULL && fraction.text != NULL)
        return AB_REFUSE_FIELD(vr->r, &fraction, "'count' or 'fraction', not both");
    return count.text == NULL || read_count(vr, &count);
}

/* ---- bodies ---- */

static bool read_do(const struct verb_reader *vr)
{
    const struct ab_node *body = ab_tree_get(vr->r->tree, vr->node, "do");
    if (body == NULL)
        return ab_field_missing(vr->r, vr->node, "do", vr->def->name);
    if (vr->raw->body_count == 0) {
        ab_diag_add(vr->r->diag, body->at, "'do' is empty; a %s needs at least one verb",
                    vr->def->name);
        return false;
    }
    ab_read_body(vr->r, body, vr->raw->body, vr->raw->body_count, &vr->v->body, &vr->v->n_body);
    return true;
}

/* Reads a scope. The set must not be shared by lanes, because the end of one lane's scope would
 * free the blocks of others. */
static void read_scope(const struct verb_reader *vr)
{
    struct ab_yaml_field set = {vr->verb, vr->verb->text};
    if (find_set(vr, &set, vr->def->kinds, &vr->v->set) && vr->r->w->sets[vr->v->set].is_shared)
        AB_REFUSE_FIELD(vr->r, &set, "'scope' needs a set of each lane's own; '%s' is 'per: all'",
                        vr->r->w->sets[vr->v->set].name);
    read_do(vr);
}

static bool read_repeat(const struct verb_reader *vr)
{
    struct ab_yaml_field f = AB_VERB_FIELD(vr, repeat);
    bool ok = read_count(vr, &f);
    return read_do(vr) && ok;
}

static bool read_maybe(const struct verb_reader *vr)
{
    struct ab_yaml_field f = AB_VERB_FIELD(vr, maybe);
    struct ab_value value;
    bool ok = ab_field_value(vr->r, &f, AB_UNIT_FRACTION, &value);
    if (ok) {
        ok = ab_field_real(vr->r, &f, "maybe", &value, 0, 1, &vr->v->fraction);
        ab_value_fini(&value);
    }
    return read_do(vr) && ok;
}

/* Reads the time of `settle` or `every`. A plain number after `every` is an error: the message says
 * that `repeat` takes a count. */
static bool read_time(const struct verb_reader *vr)
{
    struct ab_yaml_field f = {vr->verb, vr->verb->text};
    struct ab_value value;
    if (!ab_field_value(vr->r, &f, AB_UNIT_COUNT, &value))
        return false;
    bool is_count = vr->v->kind == AB_VERB_EVERY && value.kind == AB_VALUE_WHOLE;
    bool ok = is_count ? AB_REFUSE_VALUE(
                             vr->r, &f, &value,
                             "'every' is followed by a time, such as 10s; what is to be done "
                             "so many times is 'repeat'")
                       : ab_field_duration(vr->r, &f, &value, &vr->v->time_ns);
    ab_value_fini(&value);
    return ok;
}

/* Reads one branch of `choose`. A branch is stored as a `repeat` verb that executes its body
 * once. */
static bool read_branch(const struct verb_reader *vr, const struct ab_node *node,
                        const struct ab_raw_branch *raw, struct ab_verb *v)
{
    const struct ab_node *body = ab_tree_get(vr->r->tree, node, "do");
    *v = (struct ab_verb){.kind = AB_VERB_REPEAT,
                          .place = node->at,
                          .set = AB_NO_SET,
                          .other = AB_NO_SET,
                          .count = 1,
                          .counts = SIZE_MAX};
    bool has_weight = ab_tree_get(vr->r->tree, node, "weight") != NULL;
    bool ok = has_weight ? ab_read_keys(vr->r, AB_BLOCK_branch, node, raw, v)
                         : ab_field_missing(vr->r, node, "weight", "a choice");
    if (body == NULL)
        return ab_field_missing(vr->r, node, "do", "a choice");
    if (raw->body_count == 0) {
        ab_diag_add(vr->r->diag, body->at, "'do' is empty; a choice needs at least one verb");
        return false;
    }
    ab_read_body(vr->r, body, raw->body, raw->body_count, &v->body, &v->n_body);
    return ok;
}

static bool read_choose(const struct verb_reader *vr)
{
    const struct ab_node *node = ab_tree_first(vr->r->tree, vr->verb);
    double sum = 0, so_far = 0;
    bool ok = true;
    vr->v->body = ab_alloc_zeroed(vr->raw->choose_count + 1u, sizeof vr->v->body[0]);
    for (unsigned i = 0; node != NULL; i++, node = ab_tree_next(vr->r->tree, node)) {
        ok = read_branch(vr, node, &vr->raw->choose[i], &vr->v->body[i]) && ok;
        sum += vr->v->body[i].share;
        vr->v->n_body++;
    }
    if (ok && sum <= 0) {
        ab_diag_add(vr->r->diag, vr->verb->at,
                    vr->v->n_body == 0 ? "'choose' is empty; it needs at least one choice"
                                       : "the weights of 'choose' must add up to more than 0");
        ok = false;
    }
    for (size_t i = 0; ok && i < vr->v->n_body; i++)
        vr->v->body[i].share = (so_far += vr->v->body[i].share) / sum;
    return ok;
}

/* Reads a control verb, which determines whether, when or how often other verbs are executed.
 * Returns false if the verb is not a control verb. */
static bool read_control(const struct verb_reader *vr)
{
    switch (vr->v->kind) {
    case AB_VERB_REPEAT:
        read_repeat(vr);
        return true;
    case AB_VERB_SCOPE:
        read_scope(vr);
        return true;
    case AB_VERB_MAYBE:
        read_maybe(vr);
        return true;
    case AB_VERB_CHOOSE:
        read_choose(vr);
        return true;
    case AB_VERB_EVERY:
        read_time(vr);
        read_do(vr);
        return true;
    case AB_VERB_SETTLE:
        read_time(vr);
        return true;
    default:
        return false;
    }
}

/* Checks the body and the option values of an entry whose verb is unknown, to report further
 * mistakes. */
static void read_without_verb(const struct verb_reader *vr)
{
    const struct ab_key_block *block = &ab_blocks[AB_BLOCK_verb];
    const struct ab_node *body = ab_tree_get(vr->r->tree, vr->node, "do");
    for (size_t i = 0; i < block->n_keys; i++) {
        const struct ab_key *key = &block->keys[i];
        const struct ab_node *n = ab_tree_get(vr->r->tree, vr->node, key->name);
        struct ab_yaml_field f = {n, n != NULL ? n->text : NULL};
        struct ab_value value;
        bool is_special = key->type.kind == AB_KEY_SPECIAL;
        if (key->option == 0 || f.text == NULL)
            continue;
        if (!is_special)
            ab_read_key(vr->r, key, vr->node, vr->raw, vr->v);
        else if (ab_field_value(vr->r, &f, AB_UNIT_COUNT, &value))
            ab_value_fini(&value);
    }
    if (body != NULL && vr->raw->body_count > 0)
        ab_read_body(vr->r, body, vr->raw->body, vr->raw->body_count, &vr->v->body, &vr->v->n_body);
}

static void read_verb(struct verb_reader *vr)
{
    if (!find_verb(vr)) {
        read_without_verb(vr);
        return;
    }
    read_options(vr);
    vr->v->cursor = vr->r->w->n_cursors++;
    vr->v->other = AB_NO_SET;
    vr->v->set = AB_NO_SET; /* stays so in control verbs; all other verbs name a set */
    vr->v->count = 1;
    vr->v->counts = SIZE_MAX;
    if (read_control(vr))
        return;
    struct ab_yaml_field set = {vr->verb, vr->verb->text};
    vr->has_set = find_set(vr, &set, vr->def->kinds, &vr->v->set) && read_other(vr);
    if (vr->has_set && (vr->def->traits & AB_VERB_MOVES) != 0)
        vr->r->w->sets[vr->v->set].is_moving = true;
    if (read_amount(vr) && vr->has_set)
        read_pick(vr);
    if (vr->def->options & AB_OPT_SIZE)
        read_size(vr);
    if (vr->def->options & AB_OPT_TOUCH)
        read_touch(vr);
    check_align(vr);
}

void ab_read_body(struct ab_reader *r, const struct ab_node *list, const struct ab_raw_verb *raw,
                  unsigned n, struct ab_verb **body, size_t *n_body)
{
    const struct ab_node *node = ab_tree_first(r->tree, list);
    *body = ab_alloc_zeroed(n, sizeof **body);
    *n_body = n;
    for (unsigned i = 0; i < *n_body; i++, node = ab_tree_next(r->tree, node)) {
        struct verb_reader vr = {.r = r, .node = node, .raw = &raw[i], .v = &(*body)[i]};
        read_verb(&vr);
    }
}
