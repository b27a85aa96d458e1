/* SPDX-License-Identifier: MIT
 *
 * A table with a member of each type: what is written, what is read back, what is refused.
 */
#include "document/record_table.h"

#include "base/bits.h"
#include "support/cmocka.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const colours[] = {"red", "green"}, *const axes[] = {"x", "y"};

struct item {
    uint32_t n;
    double x;
};
static const struct ab_member item_members[] = {
    AB_WHOLE("n", struct item, n, 10, UINT32_MAX),
    AB_NUMBER("x", struct item, x),
};
static const struct ab_record item_record = AB_RECORD_OF(struct item, item_members);

static const struct ab_member pair_members[] = {
    AB_WHOLE(NULL, struct item, n, 10, 0, .flags = AB_NEVER_NULL, .text = "must be a pair"),
    AB_NUMBER(NULL, struct item, x),
};
static const struct ab_record pair_record = AB_RECORD_OF(struct item, pair_members);

struct all {
    const char *text, *word;
    char chars[8];
    double number, numbers[2], nothing;
    uint64_t whole;
    int32_t index;
    bool flag, is_there, is_old;
    unsigned colour;
    struct item inner, part;
    struct item *list, *pairs;
    uint32_t n_list, n_pairs, n_counts;
    uint64_t counts[3];
    const char *const *texts;
};

static void check_all(const struct ab_reading *x)
{
    if (((struct all *)x->record)->whole == 7)
        ab_json_fail(x->r, x->o, "is seven");
}

static const struct ab_member members[] = {
    AB_TEXT("text", struct all, text),
    AB_WORD("word", struct all, word, 2, .names = colours),
    AB_CHARS("chars", struct all, chars),
    AB_NUMBER("number", struct all, number),
    AB_NUMBER("nothing", struct all, nothing, .flags = AB_ZERO),
    AB_NUMBERS("numbers", struct all, numbers, 2, axes),
    AB_WHOLE("whole", struct all, whole, INT64_MAX, UINT64_MAX),
    AB_INDEX("index", struct all, index),
    AB_FLAG("flag", struct all, flag),
    AB_FLAG("old", struct all, is_old, .unknown = true, .flags = AB_LATER),
    AB_NAME("colour", struct all, colour, 2, .names = colours),
    AB_RECORD("inner", struct all, inner, &item_record, AB_WHEN(struct all, is_there)),
    AB_MEMBER(PART, NULL, struct all, part, .record = &item_record, .flags = AB_LATER),
    AB_LIST("list", struct all, list, n_list, 3, .record = &item_record),
    AB_LIST("pairs", struct all, pairs, n_pairs, 3, .record = &pair_record),
    AB_ARRAY("counts", struct all, counts, n_counts, 3, .values = AB_IS_WHOLE,
             .stride = sizeof(uint64_t), .unknown = 99, .text = "must be a count"),
    AB_MEMBER(LIST, "texts", struct all, texts, .most = 3, .values = AB_IS_TEXT,
              .stride = sizeof(const char *), .text = "must be a string",
              .flags = AB_ENDS | AB_LATER),
};
static const struct ab_record record = AB_RECORD_OF(struct all, members, .check = check_all);

#define DOCUMENT \
    "{\"text\": \"a\", \"word\": \"green\", \"chars\": \"abc\", \"number\": 1.5, " \
    "\"nothing\": null, \"numbers\": {\"x\": 1, \"y\": null}, \"whole\": 5, \"index\": null, " \
    "\"flag\": true, \"old\": false, \"colour\": \"red\", \"inner\": {\"n\": 1, \"x\": null}, " \
    "\"n\": 2, \"x\": 3, \"list\": [{\"n\": null, \"x\": 1}], \"pairs\": [[4, null]], " \
    "\"counts\": [1, null], \"texts\": [\"t\", null]}"

static enum ab_status read_all(json_t *json, struct all *out, struct ab_err *err)
{
    struct ab_json_reader r = {.file = "file", .err = err};
    struct ab_json_node o = {.json = json};
    *out = (struct all){.number = 0};
    ab_record_read(&r, &o, &record, out, NULL);
    return r.status;
}

static void all_fini(struct all *all)
{
    free(all->list);
    free(all->pairs);
    free((void *)(uintptr_t)all->texts);
}

static void what_is_read_is_written_again(void **state)
{
    (void)state;
    struct ab_err err = {.text = ""};
    struct all all;
    json_t *json = json_loads(DOCUMENT, 0, NULL);
    if (read_all(json, &all, &err) != AB_OK)
        fail_msg("%s", err.text);
    assert_true(all.word == colours[1] && all.nothing == 0 && isnan(all.numbers[1]));
    assert_int_equal(all.index, -1);
    assert_true(all.is_there && !all.is_old && all.part.n == 2 && all.part.x == 3);
    assert_true(all.list[0].n == UINT32_MAX && all.pairs[0].n == 4 && isnan(all.pairs[0].x));
    assert_true(all.n_counts == 2 && all.counts[1] == 99);
    assert_string_equal(all.texts[0], "t");
    assert_string_equal(all.texts[1], "");
    assert_null(all.texts[2]);
    all.list[0].n = 9;
    all.counts[1] = UINT64_MAX;
    json_t *again = ab_record_json(&record, &all, NULL);
    json_object_set_new(json_array_get(json_object_get(json, "list"), 0), "n", json_integer(9));
    assert_true(json_equal(json, again));
    json_decref(again);
    json_decref(json);
    all_fini(&all);
}

static void a_copy_outlives_its_original(void **state)
{
    (void)state;
    struct ab_err err = {.text = ""};
    json_t *texts = json_array();
    struct all all, copy;
    json_t *json = json_loads(DOCUMENT, 0, NULL);
    assert_int_equal(read_all(json, &all, &err), AB_OK);
    json_t *before = ab_record_json(&record, &all, NULL);
    ab_record_copy(&record, &all, &copy, texts, NULL);
    all.list[0].n = 8;
    memset(all.pairs, 0, sizeof all.pairs[0]);
    all_fini(&all);
    json_decref(json); /* it owns the texts of the original */
    json_t *after = ab_record_json(&record, &copy, NULL);
    assert_true(json_equal(before, after));
    json_decref(before);
    json_decref(after);
    json_decref(texts);
    all_fini(&copy);
}

static void what_came_later_may_be_missing(void **state)
{
    (void)state;
    struct ab_err err = {.text = ""};
    struct all all;
    json_t *json = json_loads(DOCUMENT, 0, NULL);
    json_object_del(json, "old");
    json_object_del(json, "n"); /* the first member of the part */
    json_object_del(json, "texts");
    json_object_set_new(json, "inner", json_null());
    if (read_all(json, &all, &err) != AB_OK)
        fail_msg("%s", err.text);
    assert_true(all.is_old && !all.is_there && all.part.x == 0 && all.texts == NULL);
    json_decref(json);
    all_fini(&all);
}

static void wrong_values_are_named_with_their_place(void **state)
{
    (void)state;
    static const struct {
        const char *key, *value, *message;
    } wrong[] = {
        {"text", NULL, "file: text: is missing"},
        {"text", "1", "file: text: is a whole number, must be a string or null"},
        {"word", "\"gren\"", "file: word: is unknown: \"gren\"; one of red, green"},
        {"chars", "\"12345678\"", "file: chars: has 8 bytes, at most 7 are allowed"},
        {"number", "true", "file: number: is true, must be a number or null"},
        {"numbers", "{\"x\": 1}", "file: numbers.y: is missing"},
        {"whole", "-1", "file: whole: is -1, must be between 0 and 9223372036854775807"},
        {"whole", "7", "file: is seven"},
        {"flag", "null", "file: flag: is null, must be true or false"},
        {"colour", "null", "file: colour: is null, must be a string"},
        {"inner", "{\"n\": 11, \"x\": 1}", "file: inner.n: is 11, must be between 0 and 10"},
        {"list", "[{}]", "file: list[0].n: is missing"},
        {"list", "[1]", "file: list[0]: is a whole number, must be an object"},
        {"list", "[1, 2, 3, 4]", "file: list: has 4 entries, at most 3 are allowed"},
        {"pairs", "[[1, 2], [1]]", "file: pairs[1]: must be a pair"},
        {"pairs", "[[null, 2]]", "file: pairs[0]: must be a pair"},
        {"counts", "[\"1\"]", "file: counts[0]: must be a count"},
        {"texts", "[\"\", 1]", "file: texts[1]: must be a string"},
    };
    for (size_t i = 0; i < AB_ARRAY_LEN(wrong); i++) {
        struct ab_err err = {.text = ""};
        struct all all;
        json_t *json = json_loads(DOCUMENT, 0, NULL);
        if (wrong[i].value == NULL)
            json_object_del(json, wrong[i].key);
        else
            json_object_set_new(json, wrong[i].key,
                                json_loads(wrong[i].value, JSON_DECODE_ANY, NULL));
        assert_int_equal(read_all(json, &all, &err), AB_INPUT);
        if (strstr(err.text, wrong[i].message) == NULL)
            fail_msg("no \"%s\" in: %s", wrong[i].message, err.text);
        json_decref(json);
        all_fini(&all);
    }
}

static void numbers_are_rounded_wherever_they_are(void **state)
{
    (void)state;
    struct item items[] = {{1, 1.0000000000001}, {2, 2}};
    struct all all = {.number = 2.0000000000001, .list = items, .n_list = 2};
    ab_record_settle(&record, &all);
    assert_true(all.number == 2 && items[0].x == 1 && items[1].x == 2);
}

static void a_schema_says_types_names_limits_and_what_is_required(void **state)
{
    (void)state;
    json_t *schema = ab_record_schema(&record), *properties = json_object_get(schema, "properties");
    static const struct {
        const char *key, *expected;
    } rows[] = {
        {"text", "{\"type\": [\"string\", \"null\"]}"},
        {"word", "{\"enum\": [\"red\", \"green\"]}"},
        {"number", "{\"type\": [\"number\", \"null\"], \"minimum\": 0}"},
        {"whole", "{\"type\": [\"integer\", \"null\"], \"minimum\": 0}"},
        {"flag", "{\"type\": \"boolean\"}"},
        {"pairs", "{\"type\": \"array\", \"maxItems\": 3, \"items\": {\"type\": \"array\", "
                  "\"items\": {\"type\": [\"number\", \"null\"], \"minimum\": 0}, "
                  "\"minItems\": 2, \"maxItems\": 2}}"},
        {"inner", "{\"type\": [\"object\", \"null\"], \"required\": [\"n\", \"x\"], "
                  "\"properties\": {\"n\": {\"type\": \"integer\", \"minimum\": 0}, "
                  "\"x\": {\"type\": [\"number\", \"null\"], \"minimum\": 0}}}"},
        {"texts", "{\"type\": \"array\", \"maxItems\": 3, \"items\": {\"type\": \"string\"}}"},
    };
    for (size_t i = 0; i < AB_ARRAY_LEN(rows); i++) {
        char *text = json_dumps(json_object_get(properties, rows[i].key), 0);
        assert_string_equal(text, rows[i].expected);
        free(text);
    }
    char *required = json_dumps(json_object_get(schema, "required"), JSON_COMPACT);
    assert_string_equal(required, /* without those that came later: old, n, x, texts */
                        "[\"text\",\"word\",\"chars\",\"number\",\"nothing\",\"numbers\","
                        "\"whole\",\"index\",\"flag\",\"colour\",\"inner\",\"list\","
                        "\"pairs\",\"counts\"]");
    free(required);
    json_decref(schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_read_is_written_again),
        cmocka_unit_test(a_copy_outlives_its_original),
        cmocka_unit_test(a_schema_says_types_names_limits_and_what_is_required),
        cmocka_unit_test(what_came_later_may_be_missing),
        cmocka_unit_test(wrong_values_are_named_with_their_place),
        cmocka_unit_test(numbers_are_rounded_wherever_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
