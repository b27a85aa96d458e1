/* SPDX-License-Identifier: MIT
 *
 * The tables of the workload language: every verb, every option of a verb and every key of a file.
 *
 * The preprocessor makes from these tables the enums, the records that libcyaml fills and their
 * schema. Other code uses the tables to find unknown keys and wrong shapes, to read plain values
 * with their ranges and defaults, and to write error messages.
 */
#ifndef AB_WORKLOAD_WORKLOAD_LANGUAGE_H
#define AB_WORKLOAD_WORKLOAD_LANGUAGE_H

#include <stddef.h>
#include <stdint.h>

enum ab_set_kind {
    AB_SET_SLOTS,
    AB_SET_LIST,
    AB_SET_REGION,
    AB_SET_QUEUE,
    AB_SET_WINDOW,
    AB_SET_MODEL
};
enum { /* one bit for each enum ab_set_kind, for masks of the kinds that a verb works on */
       AB_IN_SLOTS = 1 << AB_SET_SLOTS,
       AB_IN_LIST = 1 << AB_SET_LIST,
       AB_IN_REGION = 1 << AB_SET_REGION,
       AB_IN_QUEUE = 1 << AB_SET_QUEUE,
       AB_IN_WINDOW = 1 << AB_SET_WINDOW,
       AB_IN_MODEL = 1 << AB_SET_MODEL,
       AB_IN_POSITIONS = AB_IN_SLOTS | AB_IN_LIST | AB_IN_WINDOW
};

/* Rule by which a verb chooses positions or blocks of its set. */
enum ab_pick {
    AB_PICK_FREE, /* the empty position that was vacated last */
    AB_PICK_NEXT, /* the position at the set's cursor, which moves on by one and wraps around */
    AB_PICK_RANDOM,
    AB_PICK_EMPTY, /* a random empty position */
    AB_PICK_OCCUPIED,
    /* the position at the verb's own cursor, which moves on by one and wraps around */
    AB_PICK_ROUND_ROBIN,
    AB_PICK_STRIDE,
    AB_PICK_BINS,
    AB_PICK_OWN, /* a random position in the part of a shared set that belongs to the lane */
    /* this value and the values below are for `order`: they choose live blocks, before the first of
     * them is touched */
    AB_PICK_FIFO,
    AB_PICK_LIFO,
    AB_PICK_SHUFFLED,
    AB_PICK_EVERY,
};

enum ab_verb_trait {
    /* the verb makes one step for the whole set, or none if the set has no live block. Without this
     * flag it makes one step for each block or position */
    AB_VERB_WHOLE = 1,
    /* the verb moves blocks to other positions, or out of the set without a free, so the slot of
     * each position must be stored. Without this flag the slot of a position is fixed */
    AB_VERB_MOVES = 2,
    /* with `count: all` or `fraction` the verb takes the oldest blocks first, whatever its default
     * order is */
    AB_VERB_BY_AGE = 4,
    /* each step makes an op, whatever is live, so `check` knows the number of ops before a tape is
     * made. Not true for blocks that come from another set */
    AB_VERB_SURE = 8,
};

/* ---- verbs: X(P, NAME, key, options, kinds of sets, default of `at` or `order`, traits) ----
 *
 * The last verb, choose, is the only one whose value is a list. */

#define AB_OPTS_BLOCK (AB_OPT_SIZE | AB_OPT_ALIGN | AB_OPT_TOUCH)
#define AB_OPTS_MANY (AB_OPT_AT | AB_OPT_ORDER | AB_OPT_COUNT | AB_OPT_FRACTION)
#define AB_VERBS(X, P) AB_TEXT_VERBS(X, P) X(P, CHOOSE, choose, 0, 0, AB_PICK_NEXT, 0)
#define AB_TEXT_VERBS(X, P) \
    X(P, ALLOC, alloc, AB_OPT_AT | AB_OPT_COUNT | AB_OPTS_BLOCK, AB_IN_POSITIONS | AB_IN_REGION, \
      AB_PICK_FREE, AB_VERB_SURE) \
    X(P, FREE, free, AB_OPTS_MANY | AB_OPT_FN, AB_IN_POSITIONS, AB_PICK_FIFO, 0) \
    X(P, REPLACE, replace, AB_OPTS_MANY | AB_OPTS_BLOCK | AB_OPT_FN, AB_IN_POSITIONS, \
      AB_PICK_NEXT, AB_VERB_BY_AGE | AB_VERB_SURE) \
    X(P, RESIZE, resize, AB_OPTS_MANY | AB_OPT_SIZE | AB_OPT_TOUCH, \
      AB_IN_POSITIONS | AB_IN_REGION, AB_PICK_NEXT, AB_VERB_BY_AGE) \
    X(P, REPEAT, repeat, AB_OPT_DO, 0, AB_PICK_NEXT, 0) \
    X(P, TOGGLE, toggle, AB_OPT_AT | AB_OPT_COUNT | AB_OPTS_BLOCK | AB_OPT_FN, AB_IN_SLOTS, \
      AB_PICK_NEXT, AB_VERB_SURE) \
    X(P, EXCHANGE, exchange, \
      AB_OPT_AT | AB_OPT_COUNT | AB_OPTS_BLOCK | AB_OPT_WITH | AB_OPT_WITH_AT | AB_OPT_FN, \
      AB_IN_SLOTS, AB_PICK_NEXT, AB_VERB_MOVES | AB_VERB_SURE) \
    X(P, RESET, reset, AB_OPT_ORDER, AB_IN_REGION, AB_PICK_FIFO, AB_VERB_WHOLE) \
    X(P, SEND, send, \
      AB_OPT_AT | AB_OPT_ORDER | AB_OPT_COUNT | AB_OPTS_BLOCK | AB_OPT_FROM | AB_OPT_TO, \
      AB_IN_QUEUE, AB_PICK_FIFO, AB_VERB_SURE) \
    X(P, RECV, recv, AB_OPT_AT | AB_OPT_COUNT | AB_OPT_THEN | AB_OPT_INTO | AB_OPT_FN, \
      AB_IN_QUEUE, AB_PICK_FREE, 0) \
    X(P, SHUFFLE, shuffle, 0, AB_IN_SLOTS, AB_PICK_NEXT, AB_VERB_WHOLE | AB_VERB_MOVES) \
    X(P, ACCESS, access, AB_OPTS_MANY | AB_OPT_MODE, AB_IN_POSITIONS | AB_IN_REGION, AB_PICK_NEXT, \
      AB_VERB_BY_AGE) \
    X(P, SCOPE, scope, AB_OPT_DO, AB_IN_REGION, AB_PICK_LIFO, 0) \
    X(P, MAYBE, maybe, AB_OPT_DO, 0, AB_PICK_NEXT, 0) \
    X(P, WALK, walk, AB_OPT_ORDER, AB_IN_POSITIONS | AB_IN_REGION, AB_PICK_FIFO, AB_VERB_WHOLE) \
    X(P, PLAY, play, AB_OPT_TOUCH, AB_IN_MODEL, AB_PICK_NEXT, 0) \
    X(P, SETTLE, settle, 0, 0, AB_PICK_NEXT, 0) \
    X(P, EVERY, every, AB_OPT_DO, 0, AB_PICK_NEXT, 0)

/* ---- options: X(P, NAME, key, type); the types are explained below. `do` is not here, because its
 * value is a list ---- */

#define AB_VERB_OPTIONS(X, P) \
    X(P, AT, at, SPECIAL) \
    X(P, ORDER, order, SPECIAL) \
    X(P, COUNT, count, SPECIAL) \
    X(P, FRACTION, fraction, REAL(0, 1, ab_verb, fraction)) \
    X(P, SIZE, size, SPECIAL) \
    X(P, ALIGN, align, BYTES(8, UINT64_C(1) << 30, ab_verb, align)) \
    X(P, TOUCH, touch, SPECIAL) \
    X(P, FROM, from, SPECIAL) \
    X(P, TO, to, FLAG(to_words, ab_verb, to_next_lane)) \
    X(P, THEN, then, FLAG(then_words, ab_verb, is_freed)) \
    X(P, INTO, into, SPECIAL) \
    X(P, WITH, with, SPECIAL) \
    X(P, WITH_AT, with_at, WORD(with_at_words, AB_PICK_RANDOM, ab_verb, with_pick)) \
    X(P, MODE, mode, WORD(mode_words, AB_ACCESS_READ, ab_verb, mode)) \
    X(P, FN, fn, WORD(fn_words, false, ab_verb, is_sized))

/* ---- keys ----
 *
 *     P##TEXT(owner, key, type)           a scalar, always loaded as text
 *     P##TEXTS(owner, key)                a list of scalars, each loaded as text
 *     P##LIST(owner, member, key, child)  a list of maps, each a `child`
 *     P##MIXED(owner, key, child)         a list of texts or maps (`child`); left to the tree
 *     P##VALUES(owner, key)               a scalar or a list of them; left to the tree
 *     P##MAP(owner, key, child)           a map, a `child`; left to the tree
 *
 * Types of texts. `record` and `member` are the destination of the value; SPECIAL ones are read by
 * code:
 *
 *     COUNT(least, most, value if absent, record, member), BYTES(least, most, record, member)
 *     REAL(least, most, record, member), BOOL(value if absent, record, member)
 *     NAME(record, member)
 *     WORD(words, value if absent, record, member)
 *     FLAG(words, record, member)         one word: true if it is given */

#define AB_COUNT_MOST ((UINT64_C(1) << 63) - 1)

#define AB_KEYS_TOP(P) \
    P##TEXT(top, allocbench, SPECIAL) P##TEXT(top, name, NAME(ab_workload, name)) \
        P##TEXT(top, about, SPECIAL) \
            P##TEXT(top, seed, COUNT(0, AB_COUNT_MOST, 1, ab_workload, seed)) \
                P##LIST(top, params, "params", param) P##LIST(top, sizes, "sizes", size) \
                    P##LIST(top, sets, "sets", set) P##LIST(top, phases, "phases", phase) \
                        P##LIST(top, backends, "backends", backend) P##MIXED(top, "gates", gate) \
                            P##LIST(top, claims, "claims", claim)

#define AB_KEYS_PARAM(P) P##TEXT(param, name, SPECIAL) P##VALUES(param, value)

#define AB_KEYS_SIZE(P) \
    P##TEXT(size, name, SPECIAL) P##TEXT(size, dist, SPECIAL) P##LIST(size, mix, "mix", part)

#define AB_KEYS_PART(P) \
    P##TEXT(part, weight, REAL(0, 1e9, ab_dist_row, share)) P##TEXT(part, dist, SPECIAL) \
        P##TEXT(part, times, COUNT(1, 1000000, 1, ab_dist_row, times))

#define AB_KEYS_SET(P) \
    P##TEXT(set, name, SPECIAL) P##TEXT(set, kind, \
                                        WORD(kind_words, AB_SET_SLOTS, ab_set_def, kind)) \
        P##TEXT(set, count, COUNT(1, AB_MAX_POSITIONS, 0, ab_set_def, count)) \
            P##TEXT(set, per, WORD(per_words, false, ab_set_def, is_shared)) P##TEXT( \
                set, unit, COUNT(1, AB_MAX_POSITIONS, 1, ab_set_def, unit)) \
                P##TEXT(set, order, WORD(end_words, false, ab_set_def, is_lifo)) P##TEXT( \
                    set, on_full, WORD(on_full_words, AB_ON_FULL_BLOCK, ab_set_def, on_full)) \
                    P##TEXT(set, via, SPECIAL) P##TEXT(set, fixed, SPECIAL) \
                        P##TEXT(set, survive, REAL(0, 1, ab_set_def, survive)) P##TEXT( \
                            set, below, WORD(end_words, false, ab_set_def, is_below_lifo)) \
                            P##TEXT(set, above, WORD(end_words, true, ab_set_def, is_above_lifo)) \
                                P##TEXT(set, blocks, SPECIAL) P##TEXT(set, sequence, SPECIAL) \
                                    P##TEXT(set, part, \
                                            COUNT(1, UINT64_C(1) << 30, 0, ab_set_def, \
                                                  model.part_calls))

#define AB_KEYS_PHASE(P) \
    P##TEXT(phase, name, SPECIAL) P##TEXT(phase, until, SPECIAL) \
        P##TEXT(phase, repeat, COUNT(1, AB_COUNT_MOST, 1, ab_phase_def, repeat)) \
            P##TEXT(phase, measure, BOOL(true, ab_phase_def, is_measured)) \
                P##TEXT(phase, lanes, COUNT(1, AB_LANES_MAX, 1, ab_phase_def, n_lanes)) \
                    P##TEXT(phase, run_as, FLAG(run_as_words, ab_phase_def, is_run_by_main)) \
                        P##LIST(phase, roles, "roles", role) P##LIST(phase, body, "do", verb) \
                            P##MAP(phase, "each", each) P##MAP(phase, "cap", cap) \
                                P##LIST(phase, finally, "finally", verb) P##TEXT( \
                                    phase, renew, COUNT(1, UINT32_MAX, 0, ab_phase_def, renew)) \
                                    P##TEXT(phase, over, SPECIAL)

#define AB_KEYS_ROLE(P) \
    P##TEXT(role, name, SPECIAL) P##TEXT(role, lanes, COUNT(1, AB_LANES_MAX, 1, ab_role, n_lanes)) \
        P##LIST(role, body, "do", verb) P##LIST(role, finally, "finally", verb) \
            P##TEXT(role, renew, COUNT(1, UINT32_MAX, 0, ab_role, renew))

#define AB_VERB_KEY(P, NAME, key, options, kinds, pick, traits) P##TEXT(verb, key, SPECIAL)
#define AB_OPTION_KEY(P, NAME, key, type) P##OPTION(NAME, key, type)
#define AB_KEYS_VERB(P) \
    AB_TEXT_VERBS(AB_VERB_KEY, P) \
    P##LIST(verb, choose, "choose", branch) P##LIST(verb, body, "do", verb) \
        AB_VERB_OPTIONS(AB_OPTION_KEY, P)

#define AB_KEYS_BRANCH(P) \
    P##TEXT(branch, weight, REAL(0, 1e9, ab_verb, share)) P##LIST(branch, body, "do", verb)

#define AB_KEYS_BACKEND(P) \
    P##TEXT(backend, name, SPECIAL) P##TEXTS(backend, params) P##TEXTS(backend, env)

#define AB_KEYS_GATE(P) P##TEXT(gate, gate, SPECIAL) P##TEXT(gate, level, SPECIAL)

#define AB_KEYS_EACH(P) P##TEXT(each, name, SPECIAL) P##TEXT(each, budget, SPECIAL)

#define AB_KEYS_CAP(P) \
    P##TEXT(cap, set, SPECIAL) P##TEXT(cap, live, SPECIAL) P##TEXT(cap, evict, SPECIAL)

#define AB_KEYS_CLAIM(P) \
    P##TEXT(claim, claim, SPECIAL) P##TEXT(claim, says, SPECIAL) P##TEXT(claim, source, SPECIAL)

/* X(owner, OWNER, name of the map in messages) for each kind of map. A child comes before its
 * parents. */
#define AB_BLOCKS(X) \
    X(verb, VERB, "a verb") \
    X(branch, BRANCH, "a choice") \
    X(param, PARAM, "a param") \
    X(part, PART, "a part of a mix") \
    X(size, SIZE, "a size") \
    X(set, SET, "a set") \
    X(role, ROLE, "a role") \
    X(each, EACH, "'each'") \
    X(cap, CAP, "'cap'") \
    X(phase, PHASE, "a phase") \
    X(backend, BACKEND, "a back end") \
    X(claim, CLAIM, "a claim") \
    X(gate, GATE, "a map {gate: TEXT, level: warn}") \
    X(top, TOP, "the workload")

/* ---- enums and records made from these tables ---- */

enum ab_verb_kind {
#define KIND(p, name, key, options, kinds, pick, traits) AB_VERB_##name,
    AB_VERBS(KIND, ) AB_VERB_KIND_COUNT
#undef KIND
};

#define AB_OPTION_BIT(p, name, key, type) AB_OPTION_BIT_##name,
enum { AB_VERB_OPTIONS(AB_OPTION_BIT, ) AB_OPTION_BIT_DO };
#undef AB_OPTION_BIT
#define AB_OPTION_MASK(p, name, key, type) AB_OPT_##name = 1 << AB_OPTION_BIT_##name,
enum ab_verb_option { AB_VERB_OPTIONS(AB_OPTION_MASK, ) AB_OPT_DO = 1 << AB_OPTION_BIT_DO };
#undef AB_OPTION_MASK

struct ab_verb_def {
    const char *name;
    unsigned options; /* enum ab_verb_option */
    unsigned kinds;   /* mask of the kinds of sets that the verb works on: AB_IN_… */
    enum ab_pick pick;
    unsigned traits; /* enum ab_verb_trait */
};

extern const struct ab_verb_def ab_verbs[AB_VERB_KIND_COUNT]; /* indexed by enum ab_verb_kind */

/* The records that libcyaml fills; NULL = the key is absent. libcyaml 1.3.1 reads numbers wrongly
 * (1e6 as 1, 64KiB as 64, -1 as 2^64-1), so all values are loaded as texts. */
#define AB_RAW_TEXT(owner, key, type) char *key;
#define AB_RAW_OPTION(NAME, key, type) char *key;
#define AB_RAW_TEXTS(owner, key) \
    char **key; \
    unsigned key##_count;
#define AB_RAW_LIST(owner, member, key, child) \
    struct ab_raw_##child *member; \
    unsigned member##_count;
#define AB_RAW_MIXED(owner, key, child)
#define AB_RAW_VALUES(owner, key)
#define AB_RAW_MAP(owner, key, child)
#define AB_RAW(owner, OWNER, what) \
    struct ab_raw_##owner { \
        AB_KEYS_##OWNER(AB_RAW_) \
    };
AB_BLOCKS(AB_RAW)

/* A word ("all") or a call ("ops(n)") that a key accepts, and the value that it stands for. */
struct ab_word {
    const char *text;
    unsigned value;
};

enum ab_key_shape {
    AB_SHAPE_TEXT,
    AB_SHAPE_TEXTS,
    AB_SHAPE_LIST,
    AB_SHAPE_MIXED,
    AB_SHAPE_VALUES,
    AB_SHAPE_MAP
};

struct ab_key_type {
    enum ab_key_kind {
        AB_KEY_SPECIAL,
        AB_KEY_COUNT,
        AB_KEY_BYTES,
        AB_KEY_REAL,
        AB_KEY_BOOL,
        AB_KEY_WORD,
        AB_KEY_FLAG,
        AB_KEY_NAME
    } kind;
    /* allowed range for COUNT, BYTES and REAL; a bound of REAL is rounded to a whole number */
    uint64_t least, most;
    const struct ab_word *words; /* words that WORD and FLAG accept */
    size_t n_words;
    uint64_t absent;  /* value that an absent key gets */
    size_t at, bytes; /* offset and size in bytes of the value's field in its record */
};

struct ab_key {
    const char *name;
    enum ab_key_shape shape;
    const struct ab_key_block *child; /* map that LIST, MIXED or MAP contains */
    /* bit in enum ab_verb_option; 0 = the key is not an option of a verb */
    unsigned option;
    size_t raw_at;           /* TEXT: offset of the text in its struct ab_raw_… */
    struct ab_key_type type; /* TEXT */
};

struct ab_key_block {
    const char *what;
    const struct ab_key *keys;
    size_t n_keys;
};

enum ab_block_id {
#define AB_BLOCK_ID(owner, OWNER, what) AB_BLOCK_##owner,
    AB_BLOCKS(AB_BLOCK_ID) AB_BLOCK_COUNT
#undef AB_BLOCK_ID
};
extern const struct ab_key_block ab_blocks[AB_BLOCK_COUNT];

#endif
