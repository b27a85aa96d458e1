#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# --litter: rows on a heap that is not fresh, recounted by the allocator itself.
# tests: backend/litter.c worker/litter.c

load helpers

# The calls of the throughput run, as the allocator under test counts them: "malloc free".
counted() { # NAME SUFFIX
    cp "$AB_BUILD/guests/libcountshim.so" "$OUT/$1.so"
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

@test "each back end has a row of each, and all of a kind have the same litter" {
    bench run "$WORKLOADS/small.yaml" -b glibc,slab,pool --litter 0,0.25,0.75x2 --rounds 1 --passes memory:1,latency,tail \
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
    grep -q 'litter  *= peak' "$OUT/stdout" || fail "$(cat "$OUT/stdout")"
    expect_nothing_left
}

@test "lanes, bursts, iterations and instructions are measured with litter" {
    bench run @exchange -b glibc,slab --litter 0.5 --rounds 1 --passes memory:1 --drain 0 --json "$OUT/r.json" -q
    expect_code 0
    expect_json '[.backends[] | select(.name != "null") | .litter.blocks > 0] | all' "$OUT/r.json"
    bench replay "$ROOT/traces/sqlite-index.abt" --tape-mem 256KiB -b glibc --litter 0.5 --rounds 1 --passes memory:1 --drain 0 \
        --json "$OUT/r.json" -q
    expect_code 0
    expect_json '[.backends[] | select(.name != "null") | .litter.blocks > 0] | all' "$OUT/r.json"
}

@test "pins have no row of litter" {
    bench replay "$ROOT/traces/sqlite-index.abt" -b glibc --litter 0,0.5 --rounds 1 --passes memory:1 --drain 0 \
        -v pins --json "$OUT/r.json"
    expect_code 0
    expect_json '[.pins[].backend] | unique == ["glibc"]' "$OUT/r.json"
}

@test "what cannot free single blocks has no such row, with the reason" {
    bench run "$WORKLOADS/small.yaml" -b arena,slab --litter 0,0.5 --rounds 1 --passes memory:1 --drain 0 --json "$OUT/r.json"
    expect_code 0
    expect_json '.backends[] | select(.name == "arena:litter=0.5")
        | .status == "absent" and .reason == "cannot free single blocks: it has no litter"' "$OUT/r.json"
    grep -q 'no litter, for they cannot free single blocks: arena:litter=0.5' "$OUT/stdout" || fail "$(cat "$OUT/stdout")"
    bench run "$WORKLOADS/small.yaml" -b "$AB_BUILD/guests/libplug_nofree.so:litter=0.5" --rounds 1 --passes memory:1
    expect_code 4
    expect_error 'cannot free single blocks'
}

@test "what is wrong with it is said" {
    bench run "$WORKLOADS/small.yaml" -b glibc --litter 0.99
    expect_code 2
    expect_error '0.01 to 0.95'
    bench run "$WORKLOADS/small.yaml" -b glibc --litter 0.5x99
    expect_code 2
    expect_error '0.01 to 16 times'
    bench run "$WORKLOADS/small.yaml" -b glibc --litter half
    expect_code 2
    expect_error '"half" is no occupancy'
    bench run "$WORKLOADS/small.yaml" -b glibc:litter=0
    expect_code 2
    expect_error 'without litter the heap is fresh'
    bench run "$WORKLOADS/small.yaml" -b glibc --litter 0.5,0.5
    expect_code 2
    expect_error 'given twice'
}
