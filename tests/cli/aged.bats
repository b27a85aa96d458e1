#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# --aged: rows on an aged heap, recounted by the allocator itself.
# tests: backend/aged_rows.c worker/aged_heap.c exec_aging.c aging_library.c expressions.c

load helpers

# The calls of the throughput run, as the allocator under test counts them: "malloc free".
counted() { # NAME SUFFIX
    cp "$GUESTS/libcountshim.so" "$OUT/$1.so"
    bench replay "$ROOT/traces/sqlite-index.abt" -b "$OUT/$1.so$2" --rounds 1 --passes memory:1 --drain 0 \
        --json "$OUT/$1.json" -q
    expect_code 0
    tail -n1 "$OUT/$1.so.counts" | cut -d' ' -f1,2
}

@test "what was allocated, and what of it stayed, is what the allocator has counted" {
    local fresh littered
    read -r -a fresh <<<"$(counted fresh '')"
    read -r -a littered <<<"$(counted littered ':litter=0.75x2')"
    expect_json ".backends[] | select(.litter != null) | .litter | .made_blocks == $((littered[0] - fresh[0]))
        and .made_blocks - .blocks == $((littered[1] - fresh[1]))" "$OUT/littered.json"
    # To within a block.
    expect_json '.config.tape.live_peak_bytes as $peak | .config.tape.largest_bytes as $most
        | .backends[] | select(.litter != null) | .litter
        | .made_bytes >= 2 * $peak and .made_bytes < 2 * $peak + $most
        and .bytes <= 0.75 * .made_bytes and .bytes > 0.75 * .made_bytes - $most
        and .occupancy == 0.75 and .multiple == 2 and .seed == 1' "$OUT/littered.json"
}

@test "each back end has a row of each aged heap, and rows of a kind have the same one" {
    bench run "$WORKLOADS/small.yaml" -b glibc,slab,pool --aged 0,0.25,0.75x2 --rounds 1 --passes memory:1,latency,tail \
        --drain 0 --json "$OUT/r.json"
    expect_code 0
    expect_json '[.backends[] | select(.name != "null") | .name] == ["glibc", "glibc:litter=0.25",
        "glibc:litter=0.75x2", "slab", "slab:litter=0.25", "slab:litter=0.75x2", "pool", "pool:litter=0.25",
        "pool:litter=0.75x2"]' "$OUT/r.json"
    expect_json '[.backends[] | select(.status != "ok")] == []' "$OUT/r.json"
    expect_json '[.backends[] | select(.litter != null) | .litter] | unique | length == 2' "$OUT/r.json"
    # The pages add up, and more lives by what the litter has: it is in the heap until the end.
    expect_json '[.memory[] | select(.retained_bytes != null)
        | .live_bytes + .internal_bytes + .external_bytes + .retained_bytes == .footprint_bytes] | all' "$OUT/r.json"
    expect_json '(.backends | map({key: .name, value: (.litter.bytes // 0)}) | from_entries) as $litter
        | [.memory[] | select(.backend != "null" and .at == "end") | [.phase, .requested_bytes - $litter[.backend]]]
        | unique | length == ([.[] | .[0]] | unique | length)' "$OUT/r.json"
    grep -q 'aged  *= peak' "$OUT/stdout" || fail "$(cat "$OUT/stdout")"
    expect_nothing_left
}

@test "lanes, bursts, iterations and instructions are measured on an aged heap" {
    bench run "$ROOT/configs/exchange.yaml" -b glibc,slab --aged 0.5 --rounds 1 --passes memory:1 --drain 0 --json "$OUT/r.json" -q
    expect_code 0
    expect_json '[.backends[] | select(.name != "null") | .litter.blocks > 0] | all' "$OUT/r.json"
    bench replay "$ROOT/traces/sqlite-index.abt" --tape-mem 256KiB -b glibc --aged 0.5 --rounds 1 --passes memory:1 --drain 0 \
        --json "$OUT/r.json" -q
    expect_code 0
    expect_json '[.backends[] | select(.name != "null") | .litter.blocks > 0] | all' "$OUT/r.json"
}

@test "pins have no row on an aged heap" {
    bench replay "$ROOT/traces/sqlite-index.abt" -b glibc --aged 0,0.5 --rounds 1 --passes memory:1 --drain 0 \
        -v pins --json "$OUT/r.json"
    expect_code 0
    expect_json '[.pins[].backend] | unique == ["glibc"]' "$OUT/r.json"
}

@test "what cannot free single blocks has no such row, with the reason" {
    bench run "$WORKLOADS/small.yaml" -b arena,slab --aged 0,0.5 --rounds 1 --passes memory:1 --drain 0 --json "$OUT/r.json"
    expect_code 0
    expect_json '.backends[] | select(.name == "arena:litter=0.5")
        | .status == "absent" and .reason == "cannot free single blocks, so its heap cannot be aged"' "$OUT/r.json"
    grep -q 'no aged heap, because they cannot free single blocks: arena:litter=0.5' "$OUT/stdout" || fail "$(cat "$OUT/stdout")"
    bench check "$WORKLOADS/small.yaml" -b arena:litter=0.5
    expect_code 0
    grep -q '^     arena:litter=0.5: cannot free single blocks' "$OUT/stdout" || fail "$(cat "$OUT/stdout")"
    bench run "$WORKLOADS/small.yaml" -b "$GUESTS/libplug_nofree.so:litter=0.5" --rounds 1 --passes memory:1
    expect_code 4
    expect_error 'cannot free single blocks'
}

@test "what is wrong with it is said" {
    bench run "$WORKLOADS/small.yaml" -b glibc --aged 0.99
    expect_code 2
    expect_error '0.01 to 0.95'
    bench run "$WORKLOADS/small.yaml" -b glibc --aged 0.5x99
    expect_code 2
    expect_error '0.01 to 16 times'
    bench run "$WORKLOADS/small.yaml" -b glibc --aged half
    expect_code 2
    expect_error '"half" is not an occupancy'
    bench run "$WORKLOADS/small.yaml" -b glibc:litter=0
    expect_code 2
    expect_error 'leave it out for a fresh heap'
    bench run "$WORKLOADS/small.yaml" -b glibc --aged 0.5,0.5
    expect_code 2
    expect_error 'given twice'
}

# Calls of perl under libcount.so, as that counts them in a file: "alloc … free", u64 each.
count_exec() { # NAME SUFFIX
    bench exec -b "$GUESTS/libcount.so$2{COUNT_FILE=$OUT/$1}" --rounds 1 --json "$OUT/$1.json" -q -- \
        "$GUESTS/prog_calls" 2000
    expect_code 0
    od -An -v -t u8 -w8 "$OUT/$1.prog_calls" | tr -d ' '
}

@test "in a real program the aged heap is what the allocator has counted, and the program prints the same" {
    local -a fresh littered
    mapfile -t fresh < <(count_exec fresh '')
    mapfile -t littered < <(count_exec littered ':litter=0.5x3')
    expect_json ".backends[] | select(.litter != null) | .litter | .made_blocks > 0
        and .made_blocks == $((littered[0] - fresh[0]))
        and .made_blocks - .blocks == $((littered[4] - fresh[4]))
        and .bytes <= 0.5 * .made_bytes and .bytes > 0.4 * .made_bytes" "$OUT/littered.json"
}

@test "a program runs under each allocator on an aged heap, and the cost of aging is no part of it" {
    # 200,000 blocks live at its peak: to make 4 times as many takes longer than the program.
    bench exec -b glibc --aged 0,0.5x4 --rounds 3 --json "$OUT/r.json" -- \
        perl -e 'my @x = map { "x$_" } 1 .. 200000; print scalar(@x), "\n"'
    expect_code 0
    expect_json '[.backends[] | select(.litter != null) | .litter | .blocks > 0 and .seed == 0] == [true]' "$OUT/r.json"
    # Its page faults are taken out: not even as many are left as the fresh heap has.
    expect_json '([.results[] | select(.op == "all" and .backend == "glibc") | .faults_minor] | min) as $fresh
        | [.results[] | select(.op == "all" and .backend != "glibc") | .faults_minor] | max < 1.5 * $fresh' "$OUT/r.json"
    # Nor is the moment at which all of it was there in the peak of the program, glibc's free pages are.
    expect_json '[.results[] | select(.op == "all" and .backend != "glibc") | .program.resident_peak_bytes] as $peaks
        | .backends[] | select(.litter != null) | ($peaks | min) > .litter.bytes' "$OUT/r.json"
    tr -s ' \n' ' ' <"$OUT/stdout" |
        grep -q 'litter=0.5x4: .* of them, .*, stay and count in its peak and mean memory (seed 0)' ||
        fail "$(cat "$OUT/stdout")"
    expect_nothing_left
}

@test "the example does the same with a region and with malloc" {
    local sources='allocators/arena/arena.c allocators/common/checked.c allocators/common/pages.c'
    need_compilers gcc
    (cd "$ROOT" && gcc -std=c11 -Wall -Wextra -Wpedantic -Werror -O1 -fsanitize=address,undefined -I. \
        -o "$OUT/expressions" allocators/examples/expressions/expressions.c $sources)
    "$OUT/expressions" region 500 20 >"$OUT/region"
    "$OUT/expressions" malloc 500 20 >"$OUT/malloc"
    cmp "$OUT/region" "$OUT/malloc"
    grep -qE '^20 requests of 500 leaves: [0-9]+$' "$OUT/region" || fail "$(cat "$OUT/region")"
}

@test "a program that cannot be recorded is named as that" {
    bench exec -b glibc --aged 0.5 --rounds 1 -- false
    [ "$code" -ne 0 ] || fail "it ran"
    expect_error 'could not be recorded'
}

@test "a service has no aged heap, because its recording would not end" {
    bench exec --server --ready tcp:1 --load true -b glibc --aged 0.5 --rounds 1 -- sleep 100
    expect_code 2
    expect_error 'aged and --server are mutually exclusive'
}
