#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# The verdicts of `make bench`: what a bound says of numbers that spread.

load helpers

judge() { # LEAST MOST TEXT NUMBER…
    (
        cd "$ROOT" || exit
        bench_figures=$OUT/figures
        . scripts/bench-bounds
        bound "$@"
        echo "failed $bench_failed"
    ) >"$OUT/judged" 2>&1
}

expect_judged() { # VERDICT FAILED
    grep -q "^$1 " "$OUT/judged" && grep -qx "failed $2" "$OUT/judged" || fail "$(cat "$OUT/judged")"
}

@test "a bound is missed only where the whole interval is beyond it" {
    judge 0 1.05 time 1.00 1.02 1.04
    expect_judged ok 0
    judge 0 1.05 time 1.04 1.07 1.09 # the median is beyond it
    expect_judged near 0
    judge 0 1.05 time 1.06 1.07 1.09
    expect_judged MISS 1
    judge 0.95 1.05 time 0.90 0.93 0.94
    expect_judged MISS 1
    judge 0.95 1.05 time 0.90 0.93 0.96
    expect_judged near 0
}

@test "one number of many that is out of line decides nothing" {
    judge 0 1.05 time 1.01 1.20 1.20 1.21 1.22 1.22 1.23 1.24 1.25
    expect_judged MISS 1
    judge 0 1.05 time 9.9 1.01 1.01 1.02 1.02 1.03 1.03 1.04 1.04
    expect_judged ok 0
    grep -q '\[1.01, 1.04\]' "$OUT/judged" || fail "$(cat "$OUT/judged")"
}

@test "what was not measured is a failure, and what is counted has no interval" {
    judge 0 20 instructions
    expect_judged MISS 1
    judge 0 20 instructions 21
    expect_judged MISS 1
    judge 0 20 instructions 19
    expect_judged ok 0
    grep -q counted "$OUT/judged" || fail "$(cat "$OUT/judged")"
}

@test "the figure of the last release stands beside the new one, and new ones are written on request" {
    printf 'instructions\t18.5\n' >"$OUT/figures"
    AB_BENCH_FIGURES=$OUT/new judge 0 20 instructions 19
    grep -Eq '^ok +19 +counted +<= 20 +18.5  instructions$' "$OUT/judged" || fail "$(cat "$OUT/judged")"
    [ "$(cat "$OUT/new")" = "instructions	19" ] || fail "$(cat "$OUT/new")"
}
