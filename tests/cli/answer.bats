#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# What the terminal says first: it fits, names who was fastest, and more is told by topic.

load helpers

# The back end with the least time of the whole run, median of the rounds, out of the JSON.
fastest() { # RESULT
    jq -r 'def median: sort | (.[(length - 1) / 2 | floor] + .[length / 2 | floor]) / 2;
        [.results[] | select(.op == "all")] | group_by(.backend)
        | map({name: .[0].backend, t: (group_by(.round) | map(map(.ns_per_op * .n_ops) | add) | median)})
        | min_by(.t).name' "$1"
}

@test "in a pipe the answer takes 80 columns at most, and 40 lines" {
    bench run "$WORKLOADS/tiny.yaml" --drain 0 --rounds 2 -b glibc,arena,slab --json "$OUT/r.json"
    expect_code 0
    # a machine on which others run adds its warnings
    [ "$(sed '/^warning: /,$d' "$OUT/stdout" | wc -l)" -le 40 ] || fail "$(cat "$OUT/stdout")"
    awk 'length($0) > 80 {exit 1}' "$OUT/stdout" || fail "wider than 80"
    sed -n 2p "$OUT/stdout" | grep -q '^No verdict: 2 rounds ' || fail "no verdict is said first"
    cp "$OUT/stdout" "$OUT/run.txt"
    COLUMNS=80 bench report "$OUT/r.json"
    cmp "$OUT/stdout" "$OUT/run.txt" || fail "report says it otherwise"
}

@test "-v tells more by topic, and names the topics and phases that there are" {
    bench run "$WORKLOADS/tiny.yaml" --drain 0 --rounds 1 -b glibc --json "$OUT/r.json"
    ! grep -Eq '^all ops|latency by size' "$OUT/stdout" || fail "more than the answer"
    bench report -v time "$OUT/r.json"
    grep -q '^all ops' "$OUT/stdout" || fail "no times"
    ! grep -q 'latency by size' "$OUT/stdout" || fail "sizes as well"
    bench report -v size "$OUT/r.json"
    grep -q 'latency by size' "$OUT/stdout" || fail "no sizes"
    bench report -v phase=churn "$OUT/r.json"
    grep -q '/ churn: ' "$OUT/stdout" || fail "not this phase"
    ! grep -q '/ fill: ' "$OUT/stdout" || fail "another phase"
    bench report -v phase=chrn "$OUT/r.json"
    expect_code 2
    expect_error 'no such phase among .*; did you mean churn\?'
    bench report --verbose=sizes "$OUT/r.json"
    expect_code 2
    expect_error 'did you mean size\?'
    bench run "$WORKLOADS/tiny.yaml" -v phase=no --rounds 1 -b glibc
    expect_code 2
}

# bats test_tags=full
@test "on the workloads that come with it the fastest by the whole run is the one that is named" {
    n=0
    for config in "$ROOT"/configs/*.yaml; do
        bench run "$config" --drain 0 --rounds 1 --processes 1 -b glibc,jemalloc,tcmalloc,mimalloc \
            --no-store --json "$OUT/r.json"
        [ "$code" -le 1 ] || continue # gates of a workload may fail here
        first=$(fastest "$OUT/r.json")
        grep -q "^So far $first is ahead of " "$OUT/stdout" ||
            fail "$config: $first, but $(sed -n 2,4p "$OUT/stdout")"
        n=$((n + 1))
    done
    [ $n -ge 8 ] || fail "only $n workloads"
}
