#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# What grows, planted in real runs: a leak, memory that is kept without blocks, holes between blocks.
# Each is named rightly whatever the draws are.

load helpers

BASE='
sets: [{name: heap, count: 2000}, {name: burst, kind: list}, {name: even, kind: list}, {name: odd, kind: list}, {name: pin, count: 1}]
phases:
  - {name: start, do: [{alloc: heap, size: "uniform(16, 4096)", count: all}, {alloc: pin, size: 64}]}'

leaked() {
    cat <<'YAML'
  - name: service
    until: seconds(1200)
    do: [{every: 1s, do: [{replace: heap, at: random, size: "uniform(16, 4096)", count: 40},
                          {alloc: burst, size: "uniform(16, 1024)", count: 4}]}]
YAML
}

# Each burst is larger than the one before, and all of it is freed below a block that lives.
retained() {
    for k in $(seq 24); do
        echo "  - {name: n$k, do: [{alloc: burst, size: 'uniform(16, 2048)', count: $((k * 400))}, {replace: pin, size: 3000},
    {free: burst, order: lifo, count: all}, {settle: 60s}]}"
    done
}

# The same, but of blocks of about one size one in six stays until the next burst has been freed.
fragmented() {
    local now=even old=odd last
    for k in $(seq 24); do
        echo "  - {name: n$k, do: [{repeat: $((k * 33)), do: [{alloc: burst, size: 'uniform(400, 512)', count: 5}, {alloc: $now, size: 500}]},
    {free: burst, order: shuffled, count: all}, {free: $old, order: shuffled, count: all}, {settle: 60s}]}"
        last=$now now=$old old=$last
    done
}

# In 20 seeds, or a few of them; with glibc, and mimalloc where it is installed. Not with jemalloc, which
# gives back at random times: there it may remain unknown.
expect_named() { # VERDICT
    local backends seeds=3
    backends=$(installed_backends '.name == "glibc" or .name == "mimalloc"')
    [ -z "${AB_FULL-}" ] || seeds=20
    { echo "allocbench: 1"; echo "name: $1$BASE"; "$1"; } >growth.yaml
    for seed in $(seq $seeds); do
        bench run growth.yaml --seed "$seed" -b "$backends" --rounds 1 --passes memory --drain 0 --json - -q
        expect_code 0
        expect_json "[.growth[].verdict] | unique == [\"$1\"]" || fail "seed $seed: $(jq -c .growth "$OUT/stdout")"
    done
}

@test "a planted leak is named" {
    expect_named leaked
}

@test "planted pages without blocks are named" {
    expect_named retained
}

@test "planted holes between blocks are named" {
    expect_named fragmented
}

@test "a leak names the set whose blocks it is, where the owners of blocks are asked for" {
    { echo "allocbench: 1"; echo "name: leaked$BASE"; leaked; } >growth.yaml
    bench run growth.yaml -b glibc --rounds 1 --passes memory --drain 0 --json result.json -v pins
    expect_code 0
    jq -e '.growth[0] | .verdict == "leaked" and .sites[0].function == "burst"
        and .sites[0].bytes > 100000' result.json
    grep -q '^live bytes grow in burst by .*, in the second half of the time\.' "$OUT/stdout"
    bench run growth.yaml -b glibc --rounds 1 --passes memory --drain 0 --json result.json
    jq -e '.growth[0] | has("sites") | not' result.json
}
