#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# What a back end is compared with, and how sure the ratio is: in the table, in the JSON, and again
# from a stored result.
# tests: decision.c session_record.c

load helpers

small() { # OPTION…
    bench run "$WORKLOADS/tiny.yaml" --drain 0 "$@"
}

@test "a ratio carries its interval from 6 rounds on, in the table and in the JSON" {
    small -b glibc,arena,slab --rounds 6 --json "$OUT/r.json"
    expect_code 0
    [ "$(grep -Ec ' ~?[0-9.]+x (faster|slower) \[[0-9.]+, [0-9.]+\] ' "$OUT/stdout")" -ge 2 ] || fail "no intervals"
    expect_json '
        (.ratios | length) >= 6 and
        all(.ratios[]; .base == "glibc" and .rounds == 6 and .method != "few_rounds"
            and (.ratio == null or (.low <= .ratio and .ratio <= .high)))' "$OUT/r.json"
    expect_json '[.ratios[] | select(.metric == "ns_per_op" and .ratio != null)] | length >= 2' "$OUT/r.json"
}

@test "the ratio is that of the two medians, so that a reader can work it out" {
    small -b glibc,arena --rounds 7 --json "$OUT/r.json"
    expect_code 0
    expect_json '
        def median: sort | .[length / 2 | floor];
        . as $d | all(.ratios[] | select(.metric == "ns_per_op"); . as $r
            | [$d.results[] | select(.op == "all" and .phase == $r.phase)] as $all
            | ([$all[] | select(.backend == $r.backend) | .ns_per_op] | median) as $a
            | ([$all[] | select(.backend == $r.base) | .ns_per_op] | median) as $b
            | ($a / $b / $r.ratio - 1 | fabs) < 1e-9)' "$OUT/r.json"
}

@test "below 6 rounds there is a ratio without an interval, and nothing is clear" {
    small -b glibc,arena --rounds 5 --json "$OUT/r.json"
    expect_code 0
    grep -Eq ' ~[0-9.]+x (faster|slower) ' "$OUT/stdout" || fail "no ratio"
    ! grep -Eq 'x (faster|slower) \[' "$OUT/stdout" || fail "an interval"
    grep -q 'at least 6' "$OUT/stdout" || fail "not said why"
    expect_json 'all(.ratios[] | select(.ratio != null); .method == "few_rounds" and .low == null and .high == null)' \
        "$OUT/r.json"
}

@test "--base names what the others are compared with, and is kept" {
    small -b glibc,arena,slab --rounds 6 --base slab --json "$OUT/r.json"
    expect_code 0
    grep -q 'vs slab ' "$OUT/stdout" || fail "another base"
    expect_json '.config.base == "slab" and (.ratios | length) > 0 and all(.ratios[]; .base == "slab" and .backend != "slab")' \
        "$OUT/r.json"
    cp "$OUT/stdout" "$OUT/run.txt"
    bench report "$OUT/r.json"
    expect_code 0
    cmp "$OUT/stdout" "$OUT/run.txt"
    bench report "$OUT/r.json" --base arena
    expect_code 0
    grep -q 'vs arena ' "$OUT/stdout" || fail "another base"
    bench report "$OUT/r.json" --base arena --json -
    expect_json '.config.base == "arena" and all(.ratios[]; .base == "arena")'
}

@test "without --base it is glibc, else the first" {
    small -b arena,glibc --rounds 1 --json "$OUT/r.json"
    expect_json '.config.base == null and all(.ratios[]; .base == "glibc")' "$OUT/r.json"
    small -b slab,arena --rounds 1 --json "$OUT/r.json"
    expect_json 'all(.ratios[]; .base == "slab")' "$OUT/r.json"
    small -b arena --rounds 1 --json "$OUT/r.json"
    expect_json '.ratios == []' "$OUT/r.json"
}

@test "a name that is not there is refused before anything runs, with the nearest one" {
    small -b glibc,arena --base areena --json "$OUT/r.json"
    expect_code 2
    expect_error "^allocbench: --base: no back end 'areena' to compare with; did you mean 'arena'\? there are: glibc, arena$"
    [ ! -e "$OUT/r.json" ] || fail "a result"
    small -b glibc,null --base null
    expect_code 2
    expect_error "no back end 'null' to compare with; there are: glibc$"
    expect_nothing_left
    small -b glibc,arena --rounds 1 --json "$OUT/r.json"
    bench report "$OUT/r.json" --base glbc
    expect_code 2
    expect_error "r.json: --base: no back end 'glbc' to compare with; did you mean 'glibc'\?"
}

@test "a base that fails leaves nothing to compare, and says so" {
    small -b "glibc,arena,$GUESTS/libctorcrash.so" --base ctorcrash --rounds 1 --json "$OUT/r.json"
    expect_json '.ratios == []' "$OUT/r.json"
    tr -s '\n ' '  ' <"$OUT/stdout" | grep -q 'no ratios: the base, ctorcrash, has no numbers' || fail "not said"
}
