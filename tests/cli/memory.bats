#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# What is said of memory, on libraries whose every page is known, and on the real ones.

load helpers

memory() { # WORKLOAD BACKENDS OPTION…
    local workload=$1 backends=$2
    shift 2
    bench run "$WORKLOADS/$workload.yaml" -b "$backends" --reps 1 --json "$OUT/result.json" "$@"
    expect_code 0
}

# A condition on the entry of PHASE at PLACE.
expect_at() { # PHASE PLACE CONDITION
    jq -e ".memory[] | select(.phase == \"$1\" and .at == \"$2\") | $3" "$OUT/result.json" \
        >/dev/null || fail "$1, $2: not $3: $(jq -c ".memory[] | select(.phase == \"$1\" and
            .at == \"$2\") | del(.drained_bytes)" "$OUT/result.json")"
}

@test "blocks of 1 KiB rounded up to 4096 show as internal waste, three times what was asked for" {
    memory memory "$GUESTS/libround4096.so" --set size=1KiB
    for at in footprint_peak live_peak end; do
        expect_at fill $at '(.internal - 3 | fabs) <= 0.02'
    done
    expect_at fill end '.usable_bytes == 4 * .live_bytes and (.spread | fabs) < 0.01
        and (.retained | fabs) < 0.01'
}

@test "freed pages that are kept show as retained where the survivors lie together" {
    memory memory "$GUESTS/libtoy.so" --set size=48 --set n=60000
    expect_at fill end '(.overhead - 64 / 48 + 1 | fabs) < 0.01 and (.retained | fabs) < 0.01'
    expect_at thin end '.retained > 8.5 and .spread < 0.4 and .internal == 0'
}

@test "the same pages show as spread where the survivors are scattered" {
    memory scattered "$GUESTS/libtoy.so" --set size=48 --set n=60000
    expect_at thin end '.spread > 11 and .retained < 0.05 and .internal == 0'
}

@test "a footprint of a page for each block is exact to the page, and falls with each free" {
    memory memory "$GUESTS/libpagewise.so" --set size=4000 --set n=5000
    for at in footprint_peak live_peak end; do
        expect_at fill $at '.footprint_bytes == 5000 * 4096 and .page_bytes == 5000 * 4096'
    done
    expect_at fill end '.rss_peak_bytes == 5000 * 4096 and .faults_minor >= 5000
        and .faults_minor <= 5002 and .live_peak_bytes == 5000 * 4000
        and (.overhead_peak - 0.024 | fabs) < 1e-9'
    expect_at thin end '.footprint_bytes == 500 * 4096 and .page_bytes == 500 * 4096
        and .retained == 0 and .drained_bytes["0s"] == 0 and .drained_bytes["0.1s"] == 0'
    expect_at fill footprint_peak '.drained_bytes | all(. == null)'
}

@test "what is not in a private footprint is n/a with the reason" {
    memory memory "$GUESTS/libshared.so"
    expect_at thin end '.footprint_bytes == null and .overhead_peak == null and .retained == null
        and .drained_bytes["0s"] == null and (.reason | test("shared mappings"))'
    expect_at thin end '.internal == 0 and .live_bytes == 2000000'
    expect_json '.timelines[0].points | all(.[3] == null and .[1] != null)' "$OUT/result.json"
}

@test "an allocator that closes low descriptors is still watched" {
    memory memory "$GUESTS/libclosesfds.so"
    expect_at thin end '.retained > 8'
}

@test "an untouched workload has no pages and says so" {
    memory truth glibc
    expect_at fill end '.page_bytes == null and .spread == null and .retained == null
        and (.reason | test("untouched workload: 100 %")) and .internal > 0'
}

@test "malloc_trim gives back what glibc retained" {
    memory memory glibc
    expect_at thin end '.retained > 8 and .drained_bytes.purge < .drained_bytes["0s"] / 10'
}

@test "the factors multiply to the overhead, P fits R, for the allocators that are installed" {
    bench run "$ROOT/configs/churn.yaml" -b glibc,jemalloc,tcmalloc,mimalloc,arena --reps 1 \
        --set slots=20k --set ops=200k --json "$OUT/churn.json"
    bench run "$WORKLOADS/scattered.yaml" -b glibc,jemalloc,tcmalloc,mimalloc,arena --reps 1 \
        --json "$OUT/scattered.json"
    for file in "$OUT/churn.json" "$OUT/scattered.json"; do
        expect_json '([.backends[] | select(.status == "ok")] | length) as $n | $n > 0
            and (.memory | length) == $n * (.config.phases | length) * 3' "$file"
        expect_json '[.memory[] | select(.spread != null and .retained != null)]
            | all((1 + .overhead) / ((1 + .internal) * (1 + .spread) * (1 + .retained)) - 1
                | fabs < 1e-9)' "$file"
        expect_json '.memory | all(.rss_peak_bytes >= .footprint_bytes)' "$file"
        expect_json '.memory | all(.live_peak_bytes >= .live_bytes)' "$file"
        expect_json '[.memory[] | select(.page_bytes != null and .footprint_bytes != null)]
            | all(.page_bytes <= .footprint_bytes + 1048576)' "$file"
        expect_json '.memory | all(.overhead_peak >= 0 and .overhead_peak < 3)' "$file"
    done
    # every page was written: nothing may be missing, and what is scattered is spread
    expect_json '[.memory[] | select(.backend != "arena")] | all(.reason == null
        or (.reason | test("untouched|statm|mincore|resident") | not))' "$OUT/scattered.json"
    expect_json '[.memory[] | select(.phase == "thin" and .at == "end" and .backend != "arena")]
        | length > 0 and all(.spread > 1)' "$OUT/scattered.json"
    # the same tape has the same live bytes whoever serves it
    expect_json '[.memory[] | select(.at == "end")] | group_by(.phase)
        | all([.[] | [.live_bytes, .live_peak_bytes, .position]] | unique | length == 1)' \
        "$OUT/scattered.json"
}

@test "an arena never frees: all that was asked for, and one reset gives it back" {
    memory scattered arena
    expect_at thin end '.internal == null and .spread == null and .retained != null
        and (.reason | test("no usable_size"))'
    expect_at thin end '.drained_bytes["0s"] > 20000000 and .drained_bytes.purge < 65536'
}

@test "the time line has at most 1,000 points, from the first op to the last, peaks included" {
    bench run "$ROOT/configs/churn.yaml" -b glibc --reps 2 --set ops=100k --json "$OUT/result.json"
    expect_json '.timelines | length == 2 and ([.[].block] | sort) == [0, 1]' "$OUT/result.json"
    expect_json '.config.tape.n_ops as $n | .timelines
        | all(.points | length > 300 and length <= 1000 and .[0][0] == 0 and .[-1][0] == $n
            and ([.[][0]] | . == (unique)))' "$OUT/result.json"
    expect_json '[.timelines[0].points[][3]] | max as $max | $max > 0' "$OUT/result.json"
    expect_json '[.memory[] | select(.block == 0 and .at == "footprint_peak") | .footprint_bytes]
        as $peaks | [.timelines[] | select(.block == 0) | .points[][3]]
        | contains($peaks)' "$OUT/result.json"
}

@test "--drain says how long to wait, and a later point is n/a" {
    memory memory "$GUESTS/libtoy.so" --drain 0
    expect_at thin end '.drained_bytes["0s"] > 0 and .drained_bytes["0.1s"] == null
        and (.reason | test("--drain=10s"))'
    memory memory "$GUESTS/libtoy.so" --drain 1s
    expect_at thin end '.drained_bytes["1s"] > 0 and .drained_bytes["10s"] == null'
    bench run "$WORKLOADS/memory.yaml" -b glibc --drain 11s
    expect_code 2
    expect_error '--drain 11s: at most 10s'
}

@test "with several lanes checkpoints stand still: still exact to the page" {
    memory crowd "$GUESTS/libpagewise.so"
    expect_json '.memory | length == 6 and all(.page_bytes == .footprint_bytes
        and .usable_bytes == .footprint_bytes / 4096 * 4064)' "$OUT/result.json"
    expect_at run live_peak '.live_bytes == .live_peak_bytes and .live_bytes > 0'
    expect_at drain end '.footprint_bytes == 0 and .drained_bytes["0s"] == 0'
    live=$(jq '[.memory[].live_peak_bytes] | max' "$OUT/result.json")
    expect_json ".config.tape.live_peak_bytes == $live" "$OUT/result.json"
}
