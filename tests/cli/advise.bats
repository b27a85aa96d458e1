#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# `advise`: what is found in a recorded program, what is measured of it, and that the rules it writes
# are those that replay reads. Whether a proposal pays depends on the machine: no test asks that.

load helpers

@test "what cannot be advised on is refused" {
    bench advise
    expect_code 2
    bench advise - </dev/null
    expect_code 2
    grep -q 'standard input comes once; name a file' "$OUT/stderr"
    echo nonsense >broken.abt
    bench advise broken.abt
    expect_code 3
    bench advise @sqlite-index -b nosuch
    expect_code 2
    grep -q 'nosuch' "$OUT/stderr"
    bench advise @sqlite-index -o "$OUT/a" --json "$OUT/a"
    expect_code 2
    grep -q 'same file' "$OUT/stderr"
    bench advise @sqlite-index --budget 5
    expect_code 2
    expect_nothing_left
}

@test "an advice by size: rules, JSON and the screen say the same" {
    bench advise @sqlite-index --rounds 1 -b glibc --budget 1ms -o advice.map --json advice.json
    expect_code 0
    expect_one_document advice.json
    expect_json '.schema == "allocbench-advice/1" and .by == "size" and .calls > 1000' advice.json
    expect_json '([.groups[].calls] | add) == .calls' advice.json
    expect_json '.heaps | all(.alone.speed_low == null)' advice.json # of one round
    expect_json '.heaps | all(.advised | not)' advice.json
    grep -q '^Advice: keep malloc: no ' "$OUT/stdout"
    grep -q '^\*=glibc$' advice.map
    expect_json '.map == "*=glibc"' advice.json
}

@test "a general malloc that is not there is an error with its reason" {
    bench advise @sqlite-index --rounds 1 -b ./libnosuch.so
    [ "$STATUS" -ne 0 ]
    grep -q 'libnosuch' "$OUT/stderr"
}
