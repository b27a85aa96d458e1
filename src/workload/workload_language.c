/* SPDX-License-Identifier: MIT
 *
 * The tables of the workload language: verbs, words, and the keys of each kind of map.
 */
#include "base/bits.h"
#include "workload/config.h"

const struct ab_verb_def ab_verbs[] = {
#define ROW(p, name, key, options, kinds, pick, traits) {#key, options, kinds, pick, traits},
    AB_VERBS(ROW, )
#undef ROW
};

/* ---- words ---- */

static const struct ab_word kind_words[] = {{"slots", AB_SET_SLOTS},   {"list", AB_SET_LIST},
                                            {"region", AB_SET_REGION}, {"queue", AB_SET_QUEUE},
                                            {"window", AB_SET_WINDOW}, {"model", AB_SET_MODEL}};
static const struct ab_word per_words[] = {{"lane", false}, {"all", true}};
static const struct ab_word end_words[] = {{"fifo", false}, {"lifo", true}};
static const struct ab_word on_full_words[] = {
    {"block", AB_ON_FULL_BLOCK}, {"drop", AB_ON_FULL_DROP}, {"free", AB_ON_FULL_FREE}};
static const struct ab_word run_as_words[] = {{"main", true}};
static const struct ab_word to_words[] = {{"next_lane", true}};
static const struct ab_word then_words[] = {{"free", true}};
static const struct ab_word fn_words[] = {{"plain", false}, {"sized", true}};
static const struct ab_word with_at_words[] = {
    {"next", AB_PICK_NEXT}, {"random", AB_PICK_RANDOM}, {"occupied", AB_PICK_OCCUPIED}};
static const struct ab_word mode_words[] = {{"read", AB_ACCESS_READ}, {"write", AB_ACCESS_WRITE}};

/* ---- keys ---- */

#define PLACE(record, member) \
    .at = offsetof(struct record, member), .bytes = sizeof(((struct record *)NULL)->member)
#define SPECIAL \
    { \
        .kind = AB_KEY_SPECIAL \
    }
#define COUNT(low, high, value, record, member) \
    { \
        .kind = AB_KEY_COUNT, .least = low, .most = high, .absent = value, PLACE(record, member) \
    }
#define BYTES(low, high, record, member) \
    { \
        .kind = AB_KEY_BYTES, .least = low, .most = high, PLACE(record, member) \
    }
#define REAL(low, high, record, member) \
    { \
        .kind = AB_KEY_REAL, .least = low, .most = (uint64_t)high, PLACE(record, member) \
    }
#define BOOL(value, record, member) \
    { \
        .kind = AB_KEY_BOOL, .absent = value, PLACE(record, member) \
    }
#define NAME(record, member) \
    { \
        .kind = AB_KEY_NAME, PLACE(record, member) \
    }
#define WORD(list, value, record, member) \
    { \
        .kind = AB_KEY_WORD, .words = list, .n_words = AB_ARRAY_LEN(list), .absent = value, \
        PLACE(record, member) \
    }
#define FLAG(list, record, member) \
    { \
        .kind = AB_KEY_FLAG, .words = list, .n_words = AB_ARRAY_LEN(list), PLACE(record, member) \
    }

#define ROW_TEXT(owner, key, how) \
    {.name = #key, .raw_at = offsetof(struct ab_raw_##owner, key), .type = how},
#define ROW_OPTION(NAME, key, ...) \
    {.name = #key, \
     .raw_at = offsetof(struct ab_raw_verb, key), \
     .option = AB_OPT_##NAME, \
     .type = __VA_ARGS__},
#define ROW_TEXTS(owner, key) {.name = #key, .shape = AB_SHAPE_TEXTS},
#define ROW_LIST(owner, member, key, of) \
    {.name = key, .shape = AB_SHAPE_LIST, .child = &ab_blocks[AB_BLOCK_##of]},
#define ROW_MIXED(owner, key, of) \
    {.name = key, .shape = AB_SHAPE_MIXED, .child = &ab_blocks[AB_BLOCK_##of]},
#define ROW_VALUES(owner, key) {.name = #key, .shape = AB_SHAPE_VALUES},
#define ROW_MAP(owner, key, of) \
    {.name = key, .shape = AB_SHAPE_MAP, .child = &ab_blocks[AB_BLOCK_##of]},

#define KEYS(owner, OWNER, text) \
    static const struct ab_key owner##_keys[] = {AB_KEYS_##OWNER(ROW_)};
AB_BLOCKS(KEYS)
#define BLOCK(owner, OWNER, text) {text, owner##_keys, AB_ARRAY_LEN(owner##_keys)},
const struct ab_key_block ab_blocks[] = {AB_BLOCKS(BLOCK)};
