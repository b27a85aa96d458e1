/* SPDX-License-Identifier: MIT
 *
 * A change to what a document says is seen, a change to how it is written is not.
 */
#include "document/json.h"

#include "support/cmocka.h"

#include <stdlib.h>
#include <string.h>

static json_t *parse(const char *text)
{
    json_t *o = json_loads(text, 0, NULL);
    assert_non_null(o);
    return o;
}

static void make(const char *text, char sum[AB_CHECKSUM_BYTES])
{
    json_t *o = parse(text);
    ab_checksum_make(o, sum);
    json_decref(o);
}

static const char said[] = "{\"a\": 1.25, \"b\": [1, null, \"x\"], \"c\": {\"d\": true}}";

static void it_is_that_of_the_canonical_text(void **state)
{
    (void)state;
    char sum[AB_CHECKSUM_BYTES];
    make("{\"b\":1.5,\"a\":[]}", sum);
    /* printf '{"a":[],"b":1.5}' | sha256sum */
    assert_string_equal(sum,
                        "sha256:bd388f9bb30f977220e61221013b52395d45c12ef0eeef58cd9957cd0647eff0");
}

static void spelling_and_order_do_not_matter(void **state)
{
    (void)state;
    char one[AB_CHECKSUM_BYTES], two[AB_CHECKSUM_BYTES];
    make(said, one);
    make("{\n \"c\":{\"d\":true},\"b\":[1,null,\"\\u0078\"],\n\"a\":1.2500}", two);
    assert_string_equal(one, two);
}

static void every_change_of_meaning_is_seen(void **state)
{
    (void)state;
    static const char *const others[] = {
        "{\"a\": 1.26, \"b\": [1, null, \"x\"], \"c\": {\"d\": true}}",
        "{\"a\": 1.25, \"b\": [null, 1, \"x\"], \"c\": {\"d\": true}}",
        "{\"a\": 1.25, \"b\": [1, null, \"x\"], \"c\": {\"d\": false}}",
        "{\"a\": 1.25, \"b\": [1, null, \"x\"], \"c\": {\"e\": true}}",
        "{\"a\": 1.25, \"b\": [1, null, \"x\"], \"c\": {}}",
        "{\"a\": 1.25, \"b\": [1, null, \"x\"], \"c\": {\"d\": true}, \"e\": null}",
    };
    char one[AB_CHECKSUM_BYTES], two[AB_CHECKSUM_BYTES];
    make(said, one);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        make(others[i], two);
        assert_string_not_equal(one, two);
    }
}

static void a_document_tells_whether_it_is_as_it_was(void **state)
{
    (void)state;
    char sum[AB_CHECKSUM_BYTES];
    json_t *o = parse(said);
    assert_int_equal(ab_checksum_take(o), AB_CHECKSUM_NONE);
    ab_checksum_make(o, sum);
    json_object_set_new(o, AB_CHECKSUM_KEY, json_string(sum));
    assert_int_equal(ab_checksum_take(o), AB_CHECKSUM_GOOD);
    assert_null(json_object_get(o, AB_CHECKSUM_KEY));
    json_object_set_new(o, AB_CHECKSUM_KEY, json_string(sum));
    json_object_set_new(o, "a", json_real(1.5));
    assert_int_equal(ab_checksum_take(o), AB_CHECKSUM_WRONG);
    json_object_set_new(o, AB_CHECKSUM_KEY, json_integer(7));
    assert_int_equal(ab_checksum_take(o), AB_CHECKSUM_WRONG);
    json_decref(o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_that_of_the_canonical_text),
        cmocka_unit_test(spelling_and_order_do_not_matter),
        cmocka_unit_test(every_change_of_meaning_is_seen),
        cmocka_unit_test(a_document_tells_whether_it_is_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
