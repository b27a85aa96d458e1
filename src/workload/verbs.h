/* SPDX-License-Identifier: MIT
 *
 * Every verb and every option of verbs, once: the enums, the keys of the language, the table of
 * what goes with what, what kind of work it is, and the error texts expand from here.
 */
#ifndef AB_WORKLOAD_VERBS_H
#define AB_WORKLOAD_VERBS_H

enum ab_set_kind { AB_SET_SLOTS, AB_SET_LIST, AB_SET_REGION, AB_SET_QUEUE };
enum { /* the same as bits: which kinds a verb works on */
       AB_IN_SLOTS = 1 << AB_SET_SLOTS,
       AB_IN_LIST = 1 << AB_SET_LIST,
       AB_IN_REGION = 1 << AB_SET_REGION,
       AB_IN_QUEUE = 1 << AB_SET_QUEUE
};

/* Which positions of the set a verb takes, one after the other. */
enum ab_pick {
    AB_PICK_FREE, /* the empty position that was vacated last */
    AB_PICK_NEXT, /* the set's cursor, around and around */
    AB_PICK_RANDOM,
    AB_PICK_EMPTY, /* a random one of the empty ones */
    AB_PICK_OCCUPIED,
    AB_PICK_ROUND_ROBIN, /* the verb's own cursor */
    AB_PICK_STRIDE,
    AB_PICK_BINS,
    AB_PICK_FIFO, /* from here on `order`: live blocks, chosen before the first is touched */
    AB_PICK_LIFO,
    AB_PICK_SHUFFLED,
    AB_PICK_EVERY,
};

enum ab_verb_trait {
    /* One step for the whole set, none where nothing lives in it. Without it: one a block, or a
     * position. */
    AB_VERB_WHOLE = 1,
    /* Its blocks change their position, or leave the set without a free: each position must note
     * its slot. Without it the slot of a position is fixed. */
    AB_VERB_MOVES = 2,
    /* With `count: all` or a fraction it takes the oldest first, whatever it does else. */
    AB_VERB_BY_AGE = 4,
    /* Each step makes an op, whatever lives: `check` then knows the cost before a tape is made.
     * Not of blocks that come from another set. */
    AB_VERB_SURE = 8,
};

/* X(P, NAME, key, options, kinds of sets, pick without `at` and `order`, traits); P as given. */
#define AB_OPTS_BLOCK (AB_OPT_SIZE | AB_OPT_ALIGN | AB_OPT_TOUCH)
#define AB_OPTS_MANY (AB_OPT_AT | AB_OPT_ORDER | AB_OPT_COUNT | AB_OPT_FRACTION)
#define AB_VERBS(X, P) \
    X(P, ALLOC, alloc, AB_OPT_AT | AB_OPT_COUNT | AB_OPTS_BLOCK, \
      AB_IN_SLOTS | AB_IN_LIST | AB_IN_REGION, AB_PICK_FREE, AB_VERB_SURE) \
    X(P, FREE, free, AB_OPTS_MANY, AB_IN_SLOTS | AB_IN_LIST, AB_PICK_FIFO, 0) \
    X(P, REPLACE, replace, AB_OPTS_MANY | AB_OPTS_BLOCK, AB_IN_SLOTS | AB_IN_LIST, AB_PICK_NEXT, \
      AB_VERB_BY_AGE | AB_VERB_SURE) \
    X(P, RESIZE, resize, AB_OPTS_MANY | AB_OPT_SIZE | AB_OPT_TOUCH, \
      AB_IN_SLOTS | AB_IN_LIST | AB_IN_REGION, AB_PICK_NEXT, AB_VERB_BY_AGE) \
    X(P, REPEAT, repeat, AB_OPT_DO, 0, AB_PICK_NEXT, 0) \
    X(P, TOGGLE, toggle, AB_OPT_AT | AB_OPT_COUNT | AB_OPTS_BLOCK, AB_IN_SLOTS, AB_PICK_NEXT, \
      AB_VERB_SURE) \
    X(P, EXCHANGE, exchange, \
      AB_OPT_AT | AB_OPT_COUNT | AB_OPTS_BLOCK | AB_OPT_WITH | AB_OPT_WITH_AT, AB_IN_SLOTS, \
      AB_PICK_NEXT, AB_VERB_MOVES | AB_VERB_SURE) \
    X(P, RESET, reset, AB_OPT_ORDER, AB_IN_REGION, AB_PICK_FIFO, AB_VERB_WHOLE) \
    X(P, SEND, send, \
      AB_OPT_AT | AB_OPT_ORDER | AB_OPT_COUNT | AB_OPTS_BLOCK | AB_OPT_FROM | AB_OPT_TO, \
      AB_IN_QUEUE, AB_PICK_FIFO, AB_VERB_SURE) \
    X(P, RECV, recv, AB_OPT_AT | AB_OPT_COUNT | AB_OPT_THEN | AB_OPT_INTO, AB_IN_QUEUE, \
      AB_PICK_FREE, 0) \
    X(P, SHUFFLE, shuffle, 0, AB_IN_SLOTS, AB_PICK_NEXT, AB_VERB_WHOLE | AB_VERB_MOVES) \
    X(P, ACCESS, access, AB_OPTS_MANY | AB_OPT_MODE, AB_IN_SLOTS | AB_IN_LIST | AB_IN_REGION, \
      AB_PICK_NEXT, AB_VERB_BY_AGE) \
    X(P, SCOPE, scope, AB_OPT_DO, AB_IN_REGION, AB_PICK_LIFO, 0)

/* X(P, NAME, key); `do` is a list and among the lists. */
#define AB_VERB_OPTIONS(X, P) \
    X(P, AT, at) \
    X(P, ORDER, order) \
    X(P, COUNT, count) \
    X(P, FRACTION, fraction) \
    X(P, SIZE, size) \
    X(P, ALIGN, align) \
    X(P, TOUCH, touch) \
    X(P, FROM, from) \
    X(P, TO, to) \
    X(P, THEN, then) \
    X(P, INTO, into) \
    X(P, WITH, with) \
    X(P, WITH_AT, with_at) \
    X(P, MODE, mode)

/* Verbs and options of the language that this version does not know yet. */
#define AB_VERB_KEYS_LATER(X) \
    X("swap") \
    X("churn") \
    X("leak") \
    X("walk") \
    X("sample") \
    X("settle") \
    X("choose") \
    X("maybe") \
    X("every") \
    X("fn") \
    X("how") \
    X("think") \
    X("p")

enum ab_verb_kind {
#define KIND(p, name, key, options, kinds, pick, traits) AB_VERB_##name,
    AB_VERBS(KIND, ) AB_VERB_KIND_COUNT
#undef KIND
};

#define AB_OPTION_BIT(p, name, key) AB_OPTION_BIT_##name,
enum { AB_VERB_OPTIONS(AB_OPTION_BIT, ) AB_OPTION_BIT_DO };
#undef AB_OPTION_BIT
#define AB_OPTION_MASK(p, name, key) AB_OPT_##name = 1 << AB_OPTION_BIT_##name,
enum ab_verb_option { AB_VERB_OPTIONS(AB_OPTION_MASK, ) AB_OPT_DO = 1 << AB_OPTION_BIT_DO };
#undef AB_OPTION_MASK

struct ab_verb_def {
    const char *name;
    unsigned options; /* enum ab_verb_option */
    unsigned kinds;   /* of sets: AB_IN_… */
    enum ab_pick pick;
    unsigned traits; /* enum ab_verb_trait */
};

extern const struct ab_verb_def ab_verbs[AB_VERB_KIND_COUNT]; /* by enum ab_verb_kind */

#endif
