/* SPDX-License-Identifier: MIT
 *
 * The rules of a mapping: what they name, in which order they apply, what is refused and how.
 */
#include "placement/rules.h"
#include "support/cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const sets[] = {"frame", "parts"};
static const struct ab_placement_terms of_sets = {sets, 2, 4, NULL};
static const struct ab_placement_terms of_trace = {NULL, 0, 2, NULL};
static struct ab_err err;

static void parse(const char *text, const struct ab_placement_terms *terms,
                  struct ab_placement_rules *p)
{
    err.text[0] = 0;
    if (ab_rules_parse(text, terms, "--map", p, &err) != AB_OK)
        fail_msg("%s: %s", text, err.text);
}

static void refuse(const char *text, const struct ab_placement_terms *terms, const char *why)
{
    struct ab_placement_rules p;
    err.text[0] = 0;
    assert_int_equal(ab_rules_parse(text, terms, "--map", &p, &err), AB_USAGE);
    if (strstr(err.text, why) == NULL)
        fail_msg("%s: \"%s\" has no \"%s\"", text, err.text, why);
    ab_rules_fini(&p);
}

static bool asks_anything(const struct ab_placement_rule *rule)
{
    bool asks = rule->asks_site || rule->asks_scope;
    for (unsigned i = 0; i < AB_PLACEMENT_RANGES; i++)
        asks = asks || rule->ranges[i].is_asked;
    return asks;
}

static bool asks_only(const struct ab_placement_rule *rule, enum ab_placement_range range,
                      uint64_t least, uint64_t most)
{
    struct ab_placement_rule rest = *rule;
    rest.ranges[range].is_asked = false;
    return rule->ranges[range].is_asked && rule->ranges[range].least == least &&
           rule->ranges[range].most == most && !asks_anything(&rest);
}

static void rules_apply_in_order_and_the_rest_comes_last(void **state)
{
    (void)state;
    struct ab_placement_rules p;
    parse("*=slab, parts=pool,size:1-64=arena,lane:3=pool:slot=64,frame=pool", &of_sets, &p);
    assert_int_equal(p.n_rules, 5);
    assert_true(asks_only(&p.rules[0], AB_PLACEMENT_GROUP, 1, 1));
    assert_true(asks_only(&p.rules[1], AB_PLACEMENT_SIZE, 1, 64));
    assert_true(asks_only(&p.rules[2], AB_PLACEMENT_LANE, 3, 3));
    assert_false(asks_anything(&p.rules[4]));
    assert_int_equal(p.rules[3].heap, p.rules[0].heap); /* one pool for both */
    assert_int_equal(p.heaps.n, 4);
    assert_string_equal(p.heaps.items[p.rules[4].heap].name, "slab");
    assert_string_equal(p.text, "parts=pool,size:1-64=arena,lane:3=pool:slot=64,frame=pool,*=slab");
    assert_string_equal(p.name, "@map");
    ab_rules_fini(&p);
}

static void what_no_rule_names_is_glibcs(void **state)
{
    (void)state;
    struct ab_placement_rules p;
    parse("size:4KiB=slab", &of_trace, &p);
    assert_int_equal(p.n_rules, 2);
    assert_true(asks_only(&p.rules[0], AB_PLACEMENT_SIZE, 4096, 4096));
    assert_false(asks_anything(&p.rules[1]));
    assert_int_equal(p.heaps.items[p.rules[1].heap].source, AB_SOURCE_LIBC);
    ab_rules_fini(&p);
    parse("frame=arena,parts=general", &of_sets, &p);
    assert_int_equal(p.heaps.n, 2); /* "general" is it, too */
    assert_string_equal(p.text, "frame=arena,parts=general,*=glibc");
    ab_rules_fini(&p);
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    refuse("frme=arena", &of_sets,
           "unknown set 'frme'; did you mean 'frame'? Allowed: frame, parts");
    refuse("frame=arena", &of_trace, "unknown key 'frame'; allowed: site:PATTERN");
    refuse("frame=arenna", &of_sets, "did you mean \"arena\"");
    refuse("frame=arena,frame=pool", &of_sets, "'frame' is mapped twice");
    refuse("*=arena,*=pool", &of_sets, "'*' is mapped twice");
    refuse("frame", &of_sets, "'frame' must be KEY=BACKEND");
    refuse("frame=", &of_sets, "must be KEY=BACKEND");
    refuse("frame=arena,,parts=pool", &of_sets, "an empty rule");
    refuse("", &of_sets, "an empty rule");
    refuse("frame=handle", &of_sets, "gives handles");
    refuse("frame=checked+arena", &of_sets, "is not measured");
    refuse("frame=inline+null", &of_sets, "price of the loop; arena, pool and slab can be");
    refuse("frame=inline+glibc", &of_sets, "only arena, pool, slab and null can be inlined");
    refuse("frame=all", &of_sets, "stands for several back ends");
    refuse("lane:4=arena", &of_sets, "has 4 threads");
    refuse("thread:2=arena", &of_trace, "has 2 threads");
    refuse("size:64-1=arena", &of_sets, "must not be above");
    refuse("size:x=arena", &of_sets, "'size:x': 'x': ");
}

/* Of each length up to the limit, behind the rule for the rest, which comes last again. */
static void the_longest_rules_have_room_for_the_rest(void **state)
{
    (void)state;
    static const char rest[] = "*=slab:threads=none";
    for (int pad = 1; pad < 35; pad++) {
        char text[2 * AB_PLACEMENT_TEXT_MAX], good[AB_PLACEMENT_TEXT_MAX] = "";
        struct ab_placement_rules p;
        size_t n = (size_t)snprintf(text, sizeof text, "%s,size:%.*s-%.*s=pool", rest,
                                    (pad + 1) / 2, "111111111111111111", pad / 2 + 1,
                                    "222222222222222222");
        for (unsigned i = 1000; n < AB_PLACEMENT_TEXT_MAX + 40; i++) {
            if (ab_rules_parse(text, &of_sets, "--map", &p, &err) == AB_OK)
                memcpy(good, p.text, sizeof good);
            ab_rules_fini(&p);
            n += (size_t)snprintf(text + n, sizeof text - n, ",size:%u=pool:threads=none:slot=4096",
                                  i);
        }
        refuse(text, &of_sets, "the rules are longer than");
        assert_in_range(strlen(good), AB_PLACEMENT_TEXT_MAX - 200, AB_PLACEMENT_TEXT_MAX - 1);
        assert_string_equal(good + strlen(good) - strlen(rest), rest);
    }
}

static void one_process_has_one_environment(void **state)
{
    (void)state;
    struct ab_placement_rules p;
    refuse("frame=glibc{A=1},*=./a.so:prefix=x_{A=2}", &of_sets, "A=1 and A=2");
    refuse("frame=glibc{A=1;B=1;C=1;D=1;E=1;F=1},*=./a.so:prefix=x_{G=1;H=1;I=1}", &of_sets,
           "more than 8 variables");
    parse("frame=glibc{A=1},*=./a.so:prefix=x_{A=1;B=2}", &of_sets, &p);
    ab_rules_fini(&p);
}

static void a_file_has_a_rule_a_line_and_names_the_row(void **state)
{
    (void)state;
    char path[] = "/tmp/ab-test-XXXXXX.map", text[64];
    struct ab_placement_rules p;
    int fd = mkstemps(path, 4);
    assert_true(fd >= 0);
    FILE *f = fdopen(fd, "w");
    fputs("# advice\n\n  frame = arena # scratch\nparts=pool\n", f);
    fclose(f);
    snprintf(text, sizeof text, "@%s", path);
    parse(text, &of_sets, &p);
    assert_string_equal(p.text, "frame=arena,parts=pool,*=glibc");
    assert_memory_equal(p.name, "@ab-test-", 9);
    assert_null(strstr(p.name, ".map"));
    ab_rules_fini(&p);
    f = fopen(path, "a");
    fputs("part=pool\n", f);
    fclose(f);
    refuse(text, &of_sets, ".map:5: unknown set 'part'; did you mean 'parts'?");
    refuse("@/dev/zero", &of_sets, "/dev/zero:1: a line must be text");
    unlink(path);
    assert_int_equal(ab_rules_parse(text, &of_sets, "--map", &p, &err), AB_INPUT);
    ab_rules_fini(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_apply_in_order_and_the_rest_comes_last),
        cmocka_unit_test(what_no_rule_names_is_glibcs),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(the_longest_rules_have_room_for_the_rest),
        cmocka_unit_test(one_process_has_one_environment),
        cmocka_unit_test(a_file_has_a_rule_a_line_and_names_the_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
