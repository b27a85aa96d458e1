#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# check: what a run will cost, and notes on what is valid but probably not meant.

load helpers

# A workload of one measured phase p with these verbs, over a region, a list and slots.
odd() { # VERB…
    printf '%s\n' 'allocbench: 1' 'name: odd' \
        'sets: [{name: r, kind: region}, {name: parts, kind: list}, {name: s, count: 10}]' \
        'phases:' '  - {name: p, until: iters(3000), do: [' >odd.yaml
    printf '      %s,\n' "$@" >>odd.yaml
    echo '    ]}' >>odd.yaml
}

# The notes of odd.yaml are just these, ID@LINE:COLUMN each.
expect_notes() {
    bench check odd.yaml --json -
    expect_code 0
    expect_one_document
    local found
    found=$(jq -r '[.lints[] | "\(.id)@\(.line):\(.column)"] | join(" ")' "$OUT/stdout")
    [ "$found" = "$*" ] || fail "$found"
    rm odd.yaml
}

@test "the last line is the whole run: back ends, rounds, processes, time and memory" {
    bench check "$WORKLOADS/small.yaml" -b glibc,arena
    expect_code 0
    # 8 of throughput and one of latency in each round, tail and memory in 6, a pre-flight, a first look
    grep -Eq "^run: 2 back ends x 10 rounds, $((10 * 9 + 2 * 6 + 2)) processes a back end, about [0-9.]+ m?s, at most [0-9.]+ [KM]iB$" \
        "$OUT/stdout" || fail "$(cat "$OUT/stdout")"
    grep -q '(latency in all rounds, tail in 6, memory in 6;' "$OUT/stdout"
    grep -q 'estimated at 100 ns per op and 5 us per new page' "$OUT/stdout"
}

@test "time grows with the back ends, memory only with one that never frees; absent ones do not count" {
    local one two
    bench check "$WORKLOADS/small.yaml" -b glibc --json -
    cp "$OUT/stdout" "$OUT/one"
    one=$(jq .cost.time_ns "$OUT/one")
    bench check "$WORKLOADS/small.yaml" -b glibc,slab --json -
    two=$(jq .cost.time_ns "$OUT/stdout")
    expect_json ".cost.time_ns > 1.5 * $one and .cost.time_ns < 2 * $one" # the null runs once for both
    bench check "$WORKLOADS/small.yaml" -b glibc,slab,pool --json -
    expect_json "((.cost.time_ns - $two) / ($two - $one) - 1 | fabs) < 1e-6"
    bench check "$WORKLOADS/small.yaml" -b glibc,slab --json -
    expect_json ".cost.memory_bytes == $(jq .cost.memory_bytes "$OUT/one")"
    bench check "$WORKLOADS/small.yaml" -b glibc,arena --json -
    expect_json ".cost.memory_bytes > $(jq .cost.memory_bytes "$OUT/one")"
    bench check "$WORKLOADS/small.yaml" -b glibc,/nowhere/libx.so --json -
    expect_json '.cost.backends == ["glibc"]'
    expect_json ".cost.time_ns == $(jq .cost.time_ns "$OUT/one")"
}

@test "the time is that of the passes that a run would have: a gate on memory has it in every round" {
    bench check "$WORKLOADS/small.yaml" -b glibc --json -
    expect_json '.cost | .passes == {latency: "all", tail: 6, memory: 6} and .processes == 11 and .processes_total == 104'
    local plain
    plain=$(jq .cost.time_ns "$OUT/stdout")
    bench check "$WORKLOADS/small.yaml" -b glibc --json - --gate 'churn/memory/rss_peak < 1GiB'
    expect_json ".cost | .passes.memory == \"all\" and .processes_total == 108 and .time_ns > $plain"
    bench check "$WORKLOADS/small.yaml" -b glibc --json - --rounds 3 --passes memory:2 --processes 1
    expect_json '.cost | .passes == {latency: 0, tail: 0, memory: 2} and .rounds == 3 and .processes_total == 3 + 3 + 1'
    bench check "$WORKLOADS/small.yaml" -b glibc --passes memory:1 --gate 'churn/all/p99 < 1s'
    expect_code 2
    bench run "$WORKLOADS/small.yaml" -b glibc --no-store -q --json -
    expect_json '.config.passes == {latency: "all", tail: 6, memory: 6}'
}

@test "the document has the plan that a run will have" {
    bench check "$WORKLOADS/small.yaml" --seed 5 --json - --gate 'churn/all/ns_per_op < 1s'
    expect_code 0
    expect_json '.schema == "allocbench-check/1" and .seed == 5 and .gates == 1'
    expect_json '[.phases[].name] == ["fill", "churn", "grow", "drain"]'
    expect_json '.phases[0].ops == {"alloc": 6000}'
    local digest
    digest=$(jq -r .tape_sha256 "$OUT/stdout")
    bench run "$WORKLOADS/small.yaml" --seed 5 -b glibc --rounds 1 --json -
    expect_json ".config.tape_sha256 == \"$digest\" or .tape.sha256 == \"$digest\""
    bench check "$WORKLOADS/small.yaml" --json "$OUT/plan.json"
    grep -q '^run: ' "$OUT/stdout"
    expect_one_document "$OUT/plan.json"
    bench check "$WORKLOADS/small.yaml" --json /nowhere/x.json
    expect_code 2
}

@test "a region that is never reset in bulk is noted, with the set that is live" {
    odd '{alloc: r, size: 2000, count: 3}' '{alloc: parts, size: 8}' '{reset: r}'
    expect_notes reset@8:8
    odd '{alloc: parts, size: 8}' '{alloc: r, size: 2000, count: 3}' '{free: parts}' '{reset: r}'
    expect_notes
    odd '{alloc: r, size: 2000, count: 3}' '{reset: r}' '{reset: r}'
    expect_notes
    odd '{alloc: r, size: 2000, count: 3}' '{alloc: parts, size: 8}' '{reset: r}'
    bench check odd.yaml
    grep -Eq "^note +odd.yaml:8:8: region 'r' never resets in bulk, because 'parts' is live at each reset: the region's blocks" "$OUT/stdout"
    odd '{alloc: parts, size: 8}' '{scope: r, do: [{alloc: r, size: 2000, count: 3}]}'
    bench check odd.yaml
    ! grep -q 'never' "$OUT/stdout" || fail "what is older than the scope is in no heap's way"
    odd '{scope: r, do: [{alloc: r, size: 2000, count: 3}, {alloc: parts, size: 8}]}'
    bench check odd.yaml
    grep -q "^note  *odd.yaml:6:8: .* because 'parts' has blocks from within the scope that stay live: " "$OUT/stdout"
    odd '{scope: r, do: [{alloc: r, size: 2000}, {scope: r, do: [{alloc: r, size: 2000, count: 3}]}]}'
    bench check odd.yaml
    ! grep -q 'never' "$OUT/stdout"
}

@test "an alignment of malloc's own, too few ops, less than a page" {
    odd '{alloc: parts, size: 2000, align: 16}'
    expect_notes align@6:8
    odd '{alloc: parts, size: 2000, align: 32}'
    expect_notes
    odd '{alloc: s, size: 100}' '{free: s}'
    expect_notes small@5:22
    odd '{alloc: parts, size: 2000}'
    sed -i 's/3000/999/' odd.yaml
    expect_notes few-ops@5:22
    odd '{alloc: parts, size: 2000}'
    sed -i 's/3000/1000/' odd.yaml
    expect_notes
    odd '{repeat: 40, do: [{alloc: parts, size: 2000}]}' '{resize: parts, size: 2000}'
    sed -i 's/3000/99/' odd.yaml
    expect_notes few-samples@5:22
}

@test "no workload that comes with allocbench has a note" {
    for file in "$ROOT"/configs/*.yaml "$ROOT"/configs/seeds/*.yaml; do
        bench check "$file" --json -
        expect_code 0
        expect_json '.lints == []'
    done
}

@test "a loop that cannot reach its end is refused at once, by check and by run" {
    printf '%s\n' 'allocbench: 1' 'name: endless' 'sets: [{name: a, count: 2000}]' 'phases:' \
        '  - name: p' '    until: live(1TiB)' \
        '    do: [{alloc: a, size: 64, count: all}, {free: a, count: all}]' >endless.yaml
    local command
    for command in check run; do
        bench "$command" endless.yaml
        expect_code 2
        expect_error '^allocbench: endless.yaml:6:12: never ends: no more than 125 KiB can be live'
    done
}

# bats test_tags=full
@test "making a long tape shows how far it is, on a terminal and nowhere else" {
    command -v script >/dev/null || skip 'no script here'
    # few ops, many steps that find nothing to do
    printf '%s\n' 'allocbench: 1' 'name: slow' 'sets: [{name: a, count: 100_000}]' 'phases:' \
        '  - name: p' '    until: iters(600_000)' \
        '    do: [{alloc: a, size: 8}, {free: a, at: random, count: 60}, {free: a}]' >slow.yaml
    bench check slow.yaml -b glibc
    expect_code 0
    ! grep -q 'making the tape' "$OUT/stderr" || fail "progress in a file"
    TERM=xterm script -qec "allocbench check slow.yaml -b glibc" "$OUT/typescript" \
        </dev/null >/dev/null 3>&-
    grep -aq 'making the tape: [0-9.]* [kM] ops, .*/s' "$OUT/typescript" || fail "no progress"
}

@test "back ends of a workload run with their params and env, as -b spells them" {
    cp "$WORKLOADS/small.yaml" own.yaml
    printf '%s\n' 'backends:' '  - {name: glibc, env: ["GLIBC_TUNABLES=glibc.malloc.tcache_count=0", "A=b"]}' \
        '  - {name: glibc}' '  - {name: slab, params: ["threads=sharded"]}' >>own.yaml
    bench check own.yaml --json -
    expect_code 0
    [ "$(jq -c .cost.backends "$OUT/stdout")" = \
        '["glibc{GLIBC_TUNABLES=glibc.malloc.tcache_count=0;A=b}","glibc","slab:threads=sharded"]' ] ||
        fail "$(cat "$OUT/stdout")"
    rm own.yaml
}

@test "a size in k, M, G or T is said to be decimal, one in KiB or kB is not" {
    for size in 4k 'uniform(16, 2M)' 1T 1.5G; do
        sed "s/size: [^,}]*/size: $size/" >"$OUT/w.yaml" <<'YAML'
allocbench: 1
name: sizes
sets:
  - {name: heap, count: 1}
phases:
  - name: fill
    do:
      - {alloc: heap, size: 64} # size: 8k
YAML
        bench check "$OUT/w.yaml" -b glibc --json -
        expect_json '[.lints[] | select(.id == "decimal")] | length == 1 and .[0].line == 8'
    done
    bench check "$OUT/w.yaml" -b glibc
    expect_code 0
    grep -q 'size: 1.5G is 1.5 times 1,000,000,000 bytes; for 1,073,741,824 write 1.5GiB' "$OUT/stdout"
    sed -i 's/1.5G/4KiB/' "$OUT/w.yaml"
    bench check "$OUT/w.yaml" -b glibc --json -
    expect_json '[.lints[] | select(.id == "decimal")] == []'
    sed -i 's/4KiB/64-256/' "$OUT/w.yaml"
    bench check "$OUT/w.yaml"
    expect_error 'the difference is negative; a range of sizes is uniform\(64, 256\)'
}
