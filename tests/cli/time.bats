#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Times of the work: what check says of them, that timed passes wait for nothing, and what becomes of
# those of a recording.

load helpers

workload() {
    cat >time.yaml <<'YAML'
allocbench: 1
name: time
sets: [{name: heap, count: 1000}]
phases:
  - {name: burst, over: 10s, do: [{alloc: heap, size: 1KiB, count: all}, {free: heap, fraction: 95%}]}
  - {name: idle, do: [{settle: 3600s}]}
  - {name: service, until: seconds(60), do: [{every: 1s, do: [{replace: heap, size: 4KiB, count: 50}]}]}
YAML
}

@test "check says how long the work takes, and how long of it nothing is called" {
    workload
    bench check time.yaml
    expect_code 0
    grep -qx 'time     3670 s, 3600 s of it idle (1 stretch); it passes in the memory pass alone' \
        "$OUT/stdout" || fail "$(cat "$OUT/stdout")"
    bench check time.yaml --json -
    expect_json '.duration_ns == 3670e9 and .idle_ns == 3600e9 and .idle_stretches == 1'
}

@test "an hour of the work takes no hour; a phase without ops leaves the whole run comparable" {
    workload
    bench run time.yaml -b glibc --rounds 2
    expect_code 0
    grep -q 'no calls in this phase' "$OUT/stdout" || fail "$(cat "$OUT/stdout")"
    ! grep -q 'no round is complete' "$OUT/stdout" || fail "$(cat "$OUT/stdout")"
}

@test "a recording keeps its pauses: info counts them, cut keeps those within, replay takes none" {
    bench record --time -o pause.abt -- sh -c 'a=$(echo 1); sleep 1.2; b=$(echo 2); c=$(echo 3)'
    expect_code 0
    bench trace info pause.abt --json -
    expect_json '.idle_stretches >= 1 and .idle_us >= 1000000 and .idle_us <= .time_us'
    bench trace cut pause.abt --events "1..$(jq .events "$OUT/stdout")" -o cut.abt
    expect_code 0
    bench trace info cut.abt --json -
    expect_json '.idle_stretches >= 1'
    bench replay pause.abt -b glibc --rounds 2
    expect_code 0
}

@test "idle-holes: jemalloc gives nothing back by itself, and most of it when it is told to" {
    need_library jemalloc
    bench run "$ROOT/configs/time/idle-holes.yaml" -b jemalloc,jemalloc:purge=5s --rounds 1 \
        --passes memory --json - -q
    expect_code 0
    expect_json '[.memory_over_time[] | select(.phase == "idle")] | group_by(.backend)
        | map({(.[0].backend): (.[-1].resident_bytes / .[0].resident_bytes)}) | add
        | .jemalloc > 0.95 and ."jemalloc:purge=5s" < 0.4'
    expect_json '[.backends[].clock] == ["virtual", "virtual"]'
}

@test "burst-idle: a thread of the allocator gives memory back in virtual time" {
    need_library jemalloc
    bench run "$ROOT/configs/time/burst-idle.yaml" --rounds 1 --passes memory --json - -q \
        -b 'jemalloc,jemalloc{MALLOC_CONF=background_thread:true}'
    expect_code 0
    expect_json '[.memory_over_time[] | select(.phase == "idle")] | group_by(.backend)
        | map(.[-1].resident_bytes / .[0].resident_bytes) | .[0] > 0.95 and .[1] < 0.2'
}

@test "trim-in-vain: a trim each minute saves next to nothing, and what grows is named fragmented" {
    bench run "$ROOT/configs/time/trim-in-vain.yaml" -b glibc,glibc:trim=60s --rounds 1 --passes memory \
        --json - -q
    expect_code 0
    expect_json '[.growth[].verdict] == ["fragmented", "fragmented"]'
    expect_json '[.memory_over_time[] | select(.idle == "end")] | group_by(.backend)
        | map(.[-1].resident_bytes) | .[1] > 0.95 * .[0]'
}

# jemalloc and scudo draw from where they lie in the address space, and tcmalloc differs now and then.
@test "two virtual runs of one thread give the same bytes at each second" {
    local i
    for i in 1 2; do
        bench run "$ROOT/configs/time/idle-holes.yaml" -q --rounds 1 --passes memory --drain 0 --json "$OUT/$i.json" \
            -b "$(installed_backends '.name == "glibc" or .name == "mimalloc" or .name == "slab"')"
        expect_code 0
        jq -c '.memory_over_time[]' "$OUT/$i.json" >"$OUT/$i"
    done
    [ "$(wc -l <"$OUT/1")" -gt 140 ] || fail "$(wc -l <"$OUT/1") rows"
    cmp "$OUT/1" "$OUT/2"
}

waits_workload() { # idle.yaml: 20 s in which a block of 512 bytes is replaced each second
    cat >idle.yaml <<'YAML'
allocbench: 1
name: idle
sets: [{name: a, count: 200}]
phases:
  - {name: burst, do: [{alloc: a, size: 512, count: all}, {free: a, fraction: 95%}]}
  - {name: idle, until: seconds(20), do: [{every: 1s, do: [{replace: a, at: random, size: 512}]}]}
YAML
}

@test "however a library waits or asks for the time, it has the work's: 64 MiB are back after 5 s" {
    waits_workload
    for how in futex bitset timerfd epoll poll select sem raw blocked gettime rawtime; do
        echo "w-$how=$GUESTS/libwaits.so{WAITS=$how}"
    done | paste -sd, >rows
    bench run idle.yaml -b "$(cat rows)" --rounds 1 --passes memory --json "$OUT/r.json" -q
    expect_code 0
    expect_json '[.backends[] | .clock] | length == 11 and unique == ["virtual"]' "$OUT/r.json"
    expect_json '[.memory_over_time[] | select(.time_ns == 4e9) | .resident_bytes > 60e6] | length >= 11 and all' "$OUT/r.json"
    expect_json '[.memory_over_time[] | select(.time_ns == 7e9) | .resident_bytes < 6e6] | length >= 11 and all' "$OUT/r.json"
}

@test "a wait that the virtual clock does not serve makes the row real, with the system call's name" {
    waits_workload
    bench run idle.yaml -b "$GUESTS/libwaits.so{WAITS=semtimedop}" --rounds 1 --passes memory --json "$OUT/r.json"
    expect_code 0
    expect_json '.backends[0] | .clock == "real" and (.clock_reason | test("^it waits in semtimedop"))' "$OUT/r.json"
    grep -q 'semtimedop' "$OUT/stdout" || fail "$(cat "$OUT/stdout")"
}

@test "where no filter may be installed, a library that nobody sees ask is real, and so is a thread that waits" {
    waits_workload
    "$GUESTS/prog_nofilter" allocbench run idle.yaml --rounds 1 --passes memory --json "$OUT/r.json" -q --no-store \
        -b "glibc,arena,w=$GUESTS/libwaits.so{WAITS=rawtime},x=$GUESTS/libwaits.so{WAITS=futex},j=$GUESTS/libdecays.so{DECAYS=thread}" >"$OUT/stdout"
    expect_json '[.backends[] | .clock] == ["none", "none", "real", "real", "virtual"]' "$OUT/r.json"
    expect_json '.backends[2].clock_reason | test("no seccomp filter")' "$OUT/r.json"
    expect_json '.backends[3].clock_reason | test("^it waits in futex")' "$OUT/r.json"
}
