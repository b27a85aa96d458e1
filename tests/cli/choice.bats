#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Which back ends are measured where none is named: the malloc libraries that are installed, and
# the built-in allocators that suit the work.
# tests: backend_choice.c

load helpers

# The libraries that are here, without a second name for tcmalloc.
libraries() {
    allocbench list backends --json - 3>&- |
        jq -c '[.backends[] | select(.status == "ok" and .default == "where it is installed") | .name]'
}

# check plans the libraries and these.
expect_choice() { # FILE JSON-LIST REASONS
    bench check "$1" --json -
    expect_code 0
    jq -e --argjson libraries "$(libraries)" ".cost.backends == \$libraries + $2" "$OUT/stdout" >/dev/null ||
        fail "$1: $(jq -c .cost.backends "$OUT/stdout")"
    [ "$(jq '.cost.backends | length' "$OUT/stdout")" -le 8 ]
    bench check "$1"
    grep -Eq "^back ends: [0-9]+ malloc librar(y|ies)( \(not installed: [a-z, ]+\))?$3; choose: -b LIST\$" \
        "$OUT/stdout" || fail "$1: $(grep '^back ends' "$OUT/stdout")"
}

@test "the work decides which built-in allocators are measured" {
    printf '%s\n' 'allocbench: 1' 'name: equal' 'sets: [{name: heap, count: 1000}]' 'phases:' \
        '  - {name: fill, do: [{alloc: heap, size: 48, count: all}]}' \
        '  - {name: churn, do: [{replace: heap, size: "uniform(40, 48)", at: random, count: 20000}]}' >equal.yaml
    printf '%s\n' 'allocbench: 1' 'name: once' 'sets: [{name: heap, count: 1000}]' 'phases:' \
        '  - {name: fill, do: [{alloc: heap, size: "uniform(1000, 100000)", count: all}]}' \
        '  - {name: end, do: [{free: heap, count: all}]}' >once.yaml
    printf '%s\n' 'allocbench: 1' 'name: big' 'sets: [{name: heap, count: 1000}]' 'phases:' \
        '  - {name: fill, do: [{alloc: heap, size: "uniform(1000, 100000)", count: all}]}' \
        '  - {name: churn, do: [{replace: heap, size: "uniform(1000, 100000)", at: random, count: 9000}]}' >big.yaml
    bench init frame
    expect_choice "$ROOT/configs/churn.yaml" '["slab"]' ', slab \(small mixed sizes\)'
    expect_choice "$ROOT/configs/region.yaml" '["arena", "slab"]' \
        ', arena \(frees in bulk\), slab \(small mixed sizes\)'
    expect_choice frame.yaml '["slab", "@map"]' ', slab \(small mixed sizes\)' # objects live beside the frames
    expect_choice equal.yaml '["pool"]' ', pool \(one size\)'
    expect_choice once.yaml '["arena"]' ', arena \(frees in bulk\)'
    expect_choice big.yaml '[]' ''
    rm ./*.yaml
}

@test "a run measures what check planned, and says it in one line, but not with -q" {
    bench run "$WORKLOADS/small.yaml" --rounds 1 --passes memory:1 --drain 0 --json "$OUT/r.json"
    expect_code 0
    [ "$(grep -c '^back ends: .*slab (small mixed sizes); choose: -b LIST$' "$OUT/stderr")" = 1 ]
    jq -e --argjson libraries "$(libraries)" '[.backends[] | select(.status == "ok") | .name]
        | map(select(. != "null")) == $libraries + ["slab"]' "$OUT/r.json" >/dev/null ||
        fail "$(jq -c '[.backends[].name]' "$OUT/r.json")"
    bench run "$WORKLOADS/small.yaml" -b glibc --rounds 1 --passes memory:1 --drain 0
    ! grep -q '^back ends:' "$OUT/stderr" || fail "it was named"
    expect_nothing_left
}

@test "a trace is looked at, too" {
    bench replay "$ROOT/traces/sqlite-index.abt" --rounds 1 --passes memory:1 --drain 0 --json "$OUT/r.json" -q
    expect_code 0
    [ ! -s "$OUT/stderr" ] || fail "not quiet"
    jq -e --argjson libraries "$(libraries)" '[.backends[].name] - $libraries - ["null"]
        - ["arena", "pool", "slab"] == []' "$OUT/r.json" >/dev/null || fail "others"
    jq -e --argjson libraries "$(libraries)" '$libraries - [.backends[].name] == []' "$OUT/r.json" >/dev/null ||
        fail "not all libraries"
    expect_nothing_left
}

@test "all and libraries stand for what is here, in a list with others" {
    bench check "$WORKLOADS/small.yaml" -b libraries,arena:commit=4KiB --json -
    jq -e --argjson libraries "$(libraries)" '.cost.backends == $libraries + ["arena:commit=4KiB"]' \
        "$OUT/stdout" >/dev/null || fail "libraries"
    bench check "$WORKLOADS/small.yaml" -b all --json -
    jq -e --argjson libraries "$(libraries)" '.cost.backends
        - ["slab_malloc"] == $libraries + ["arena", "pool", "slab", "paged", "handle"]' "$OUT/stdout" >/dev/null ||
        fail "all"
    bench check "$WORKLOADS/small.yaml" -b libraries,glibc --json -
    jq -e --argjson libraries "$(libraries)" '.cost.backends == $libraries' "$OUT/stdout" >/dev/null ||
        fail "glibc twice"
    bench check "$WORKLOADS/small.yaml" -b all --sweep slab --json -
    expect_json '[.cost.backends[] | select(. == "slab")] == ["slab"]'
    expect_json '.cost.backends | index("slab:classes=fine") != null'
    bench check "$WORKLOADS/small.yaml" -b glibc,glibc
    expect_code 2
    expect_error 'glibc is given twice'
}

@test "list backends tells the rule that is followed" {
    bench list backends
    expect_code 0
    grep -q '^without -b' "$OUT/stdout"
    local name
    for name in arena pool slab; do
        grep -q "^  $name: where " "$OUT/stdout" || fail "no rule for $name"
    done
    [ "$(sed -n '/^without -b/,/^$/p' "$OUT/stdout" | awk 'length > 80' | wc -l)" -eq 0 ] || fail "too wide"
    bench list backends --json -
    expect_json '[.backends[] | select(.default == "never") | .name] == ["system", "null", "skeleton"]'
    expect_json '.backends[] | select(.name == "tcmalloc_minimal") | .default == "in place of another"'
}
