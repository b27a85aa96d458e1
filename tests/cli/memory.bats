#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# What is said of memory, on libraries whose every page is known, and on the real ones.

load helpers

memory() { # WORKLOAD BACKENDS OPTION…
    local workload=$1 backends=$2
    shift 2
    bench run "$WORKLOADS/$workload.yaml" -b "$backends" --rounds 1 --json "$OUT/result.json" "$@"
    expect_code 0
}

# A condition on the entry of PHASE at PLACE.
expect_at() { # PHASE PLACE CONDITION
    jq -e ".memory[] | select(.phase == \"$1\" and .at == \"$2\") | $3" "$OUT/result.json" \
        >/dev/null || fail "$1, $2: not $3: $(jq -c ".memory[] | select(.phase == \"$1\" and
            .at == \"$2\") | del(.drained_bytes)" "$OUT/result.json")"
}

# On every page: what was asked for, what blocks have beyond that, what else lies there.
readonly ADDS_UP='.live_bytes + (.internal_bytes // 0) + .external_bytes + .retained_bytes
    == .footprint_bytes and .live_bytes + .untouched_bytes + .baseline_bytes == .requested_bytes
    and ([.live_bytes, .internal_bytes // 0, .external_bytes, .retained_bytes, .untouched_bytes,
        .baseline_bytes] | min >= 0) and .discrepancy_bytes == 0'

@test "blocks of 1 KiB rounded up to 4096 show as internal waste, three times what was asked for" {
    memory memory "$GUESTS/libround4096.so" --set size=1KiB --set n=20000
    # A cell of 8 KiB: header of 16, block of 1 KiB, and 3 KiB of rounding, whose last 16 bytes lie on
    # the second page, to which nobody writes.
    for at in footprint_peak live_peak end; do
        expect_at fill $at "$ADDS_UP and .live_bytes == 1024 * 20000
            and .internal_bytes == (3 * 1024 - 16) * 20000 and .external_bytes == 16 * 20000
            and .retained_bytes == 0 and .overhead == 4 and .internal_ratio == 2.984375"
    done
    expect_at fill end '.usable_bytes == 4 * 1024 * 20000 and .untouched_bytes == 0'
}

@test "of equal footprints the peak is the one with the most live bytes" {
    cat >again.yaml <<'Y'
allocbench: 1
name: again
seed: 1
sets:
  - {name: all, count: 5000}
phases:
  - name: warm_up
    do:
      - {alloc: all, size: 200, count: all, touch: all}
      - {free: all, count: all}
  - name: again
    do:
      - {alloc: all, size: 200, count: all, touch: all}
      - {free: all, count: all}
Y
    bench run again.yaml -b "$GUESTS/libtoy.so,pool" --rounds 1 --no-store --json "$OUT/result.json"
    expect_code 0
    expect_json '[.memory[] | select(.phase == "again" and .at == "footprint_peak")]
        | length == 2 and all(.live_bytes > 0.98 * 5000 * 200 and .retained_bytes < 0.05 * .footprint_bytes)' \
        "$OUT/result.json"
}

@test "freed pages that are kept show as retained where the survivors lie together" {
    memory memory "$GUESTS/libtoy.so" --set size=48 --set n=60000
    # cells of 64 bytes: header 16, block 48, no rounding
    # (the first of them on a page that the C library's own start has written to: in no footprint)
    expect_at fill end "$ADDS_UP and .live_bytes + .baseline_bytes == 60000 * 48
        and .internal_bytes == 0 and .retained_bytes == 0 and .baseline_bytes < 4096
        and (.external_bytes - 60000 * 16 | fabs) <= 4096"
    expect_at thin end "$ADDS_UP and .live_bytes + .baseline_bytes == 6000 * 48
        and .internal_bytes == 0 and (.external_bytes - 6000 * 16 | fabs) <= 4096
        and (.retained_bytes - 54000 * 64 | fabs) <= 8192"
}

@test "the same pages show as external where the survivors are scattered" {
    memory scattered "$GUESTS/libtoy.so" --set size=48 --set n=60000
    # 64 cells a page, one in ten lives: a page without one is rarer than one in 800
    expect_at thin end "$ADDS_UP and .live_bytes + .baseline_bytes == 6000 * 48
        and .internal_bytes == 0
        and .external_bytes > 0.98 * (60000 * 64 - 6000 * 48) and .retained_bytes < 16 * 4096"
}

@test "a footprint of a page for each block is exact to the page, and falls with each free" {
    memory memory "$GUESTS/libpagewise.so" --set size=4000 --set n=5000
    for at in footprint_peak live_peak end; do
        expect_at fill $at "$ADDS_UP and .footprint_bytes == 5000 * 4096
            and .live_bytes == 5000 * 4000 and .internal_bytes == 5000 * 64
            and .external_bytes == 5000 * 32 and .retained_bytes == 0"
    done
    expect_at fill end '.rss_peak_bytes == 5000 * 4096 and .faults_minor >= 5000
        and .faults_minor <= 5002 and .live_peak_bytes == 5000 * 4000
        and (.overhead_peak - 1.024 | fabs) < 1e-9'
    expect_at thin end "$ADDS_UP"' and .footprint_bytes == 500 * 4096
        and .external_bytes == 500 * 32 and .retained_bytes == 0
        and .drained_bytes["0s"] == 0 and .drained_bytes["0.1s"] == 0'
    expect_at fill footprint_peak '.drained_bytes | all(. == null)'
}

@test "what is resident only within a call is in the peak: 50 MB that live there, both places of a block that moves" {
    cat >within.yaml <<'Y'
allocbench: 1
name: within
seed: 1
sets:
  - {name: small, count: 2000}
  - {name: odd, count: 1}
  - {name: large, count: 1}
phases:
  - name: still
    do:
      - {alloc: small, size: 100, count: all, touch: all}
  - name: flash
    do:
      - {free: small, count: all}
      - {alloc: small, size: 100, count: 1000, touch: all}
      - {alloc: odd, size: 777, count: all}
      - {alloc: small, size: 100, count: 1000, touch: all}
  - name: move
    do:
      - {free: small, count: all}
      - {alloc: large, size: 20MiB, count: all, touch: all}
      - {resize: large, size: 30MiB, count: all, touch: all}
Y
    bench run within.yaml -b "$GUESTS/libflash.so,$GUESTS/libpagewise.so" --rounds 1 --no-store \
        --json "$OUT/result.json"
    expect_code 0
    expect_json '.memory | all(.peak_bytes == .rss_peak_bytes + .during_calls_bytes)' "$OUT/result.json"
    # 20 MiB at both places, 30 MiB afterwards. To the batches in which a kernel may count pages: 1 MB.
    expect_json 'def during($b; $p): .memory[] | select((.backend | test($b)) and .phase == $p
            and .at == "end") | .during_calls_bytes;
        during("flash"; "still") == 0 and during("pagewise"; "still") == 0
        and (during("flash"; "flash") - 50e6 | fabs) < 1e6 and during("pagewise"; "flash") == 0
        and (during("pagewise"; "move") - 10 * 1048576 | fabs) < 1e6' "$OUT/result.json"
    # The parts still add up to what was read after a call.
    expect_at move end "$ADDS_UP"' and .rss_peak_bytes < 33e6 or .backend != "libpagewise"'
    # It is what rows are compared by, and what a gate can bound.
    expect_json '[.memory[] | select(.backend | test("flash")) | .peak_bytes] as $of
        | [.memory[] | select(.backend | test("pagewise")) | .peak_bytes] as $by
        | (.ratios[] | select(.metric == "peak_bytes") | .ratio) as $r
        | (.backends[0].name | test("flash")) and ($r - ($by | max) / ($of | max) | fabs) < 1e-6' \
        "$OUT/result.json"
    grep -q 'in calls' "$OUT/stdout" || fail "no column"
    bench run within.yaml -b "$GUESTS/libpagewise.so" --rounds 1 --no-store --gate 'move/memory/rss_peak < 33MB'
    expect_code 0
    bench run within.yaml -b "$GUESTS/libpagewise.so" --rounds 1 --no-store --gate 'move/memory/peak < 33MB'
    expect_code 1
}

@test "what a library takes before its first block is said, and is in no row of the memory" {
    memory memory "glibc,$GUESTS/libheavy.so,arena" --set size=1KiB --set n=2000 -v memory
    expect_json '[.backends[] | select(.library_bytes != null) | .name] == ["heavy"]
        and (.backends[] | select(.name == "heavy") | (.library_private_bytes - 8 * 1048576 | fabs) < 1048576
            and .library_bytes >= .library_private_bytes)
        and ([.memory[] | select(.backend == "heavy") | .peak_bytes] | max < 4 * 1048576)' "$OUT/result.json"
    tr -s '\n ' '  ' <"$OUT/stdout" |
        grep -Eq 'Memory that libraries take before their first block, which no row above includes: heavy [0-9.]+ MiB' || fail "not said"
    # Of a program it is in the peak already.
    bench exec -b "glibc,$GUESTS/libheavy.so" --rounds 1 --no-store --json "$OUT/exec.json" -- true
    expect_json '[.backends[].library_bytes] | all(. == null)' "$OUT/exec.json"
    expect_json '.ratios[] | select(.metric == "rss_peak_bytes" or .metric == "peak_bytes") | .ratio > 1.5' \
        "$OUT/exec.json"
}

# A condition on the distribution of METRIC over the ops of PHASE.
expect_dist() { # PHASE METRIC CONDITION
    jq -e ".memory_distributions[] | select(.phase == \"$1\" and .metric == \"$2\") | $3" \
        "$OUT/result.json" >/dev/null || fail "$1, $2: not $3: $(jq -c ".memory_distributions[] |
            select(.phase == \"$1\" and .metric == \"$2\") | del(.hdr_v2)" "$OUT/result.json")"
}

@test "memory over the ops is that of a heap whose every page is known at every op" {
    memory memory "$GUESTS/libpagewise.so" --set size=4000 --set n=5000
    # op k of 4500 leaves 5000 - k blocks: a page each, 64 bytes of it internal and 32 external
    for metric in external_ratio:0.008 internal_ratio:0.016 retained_ratio:0 overhead:1.024; do
        expect_dist thin ${metric%:*} ".n_samples >= 1000 and .n_ops == 4500 and .n == 4500
            and .reason == null and (([.p50, .p90, .p99, .max][] - ${metric#*:} | fabs) < 1e-9)"
    done
    expect_dist thin external_bytes '(.p50 - 32 * 2750 | fabs) < 300
        and (.p90 - 32 * 4550 | fabs) < 300 and (.p99 - 32 * 4955 | fabs) < 300
        and .max >= 32 * 4990 and .max <= 32 * 5000'
    expect_json '.timelines[0] | [.points, .external] | transpose | length > 300
        and all(.[1] == .[0][1] / 4000 * 32 or .[0][0] <= 10000 and .[0][0] % 2 == 1)' \
        "$OUT/result.json"
    memory memory "$GUESTS/libtoy.so" --set size=48 --set n=60000
    # cells of 64 bytes that lie together: op k of 54000 leaves 64 * k bytes of them retained
    expect_dist thin retained_bytes '(.p50 - 64 * 27000 | fabs) < 8192
        and (.p99 - 64 * 53460 | fabs) < 8192 and (.max - 64 * 54000 | fabs) < 8192'
    expect_dist thin external_bytes '(.p50 - 16 * 33000 | fabs) < 8192'
}

@test "gates bound memory over the ops, by live bytes and in bytes" {
    local run=(run "$WORKLOADS/memory.yaml" -b "$GUESTS/libpagewise.so" --rounds 1 --drain 0
        --set size=4000 --set n=5000 --no-store)
    bench "${run[@]}" --gate 'thin/memory/external.p99 < 0.9%' \
        --gate 'thin/memory/external.max <= 160000B' --gate 'thin/memory/overhead.p50 < 1.03x live'
    expect_code 0
    bench "${run[@]}" --gate 'thin/memory/external.p99 < 0.7%'
    expect_code 1
    bench "${run[@]}" --gate 'thin/memory/external.p99 < 128KiB'
    expect_code 1
    bench "${run[@]}" --gate 'thin/memory/external.p42 < 1%'
    expect_code 2
    expect_error "did you mean 'external.p"
    # what is not known fails: the heap of an arena has no usable_size
    bench run "$WORKLOADS/memory.yaml" -b arena --rounds 1 --drain 0 --no-store \
        --gate 'thin/memory/internal.p50 < 1000%'
    expect_code 1
    grep -q 'no usable_size' "$OUT/stdout" || fail 'no reason'
}

@test "a heap that loses a page of a live block has no distribution of that phase" {
    memory memory "$GUESTS/libforgets.so" --set size=1000 --set n=20000
    expect_dist fill external_ratio '.p50 != null'
    expect_dist thin external_ratio '.p50 == null and .hdr_v2 == null
        and (.reason | test("two counts of the pages differ"))'
}

@test "what is not in a private footprint is n/a with the reason" {
    memory memory "$GUESTS/libshared.so"
    expect_at thin end '.footprint_bytes == null and .overhead_peak == null
        and .retained_bytes == null and .live_bytes == null and .untouched_bytes == null
        and .drained_bytes["0s"] == null and (.reason | test("^footprint: .*shared mappings"))'
    expect_at thin end '.requested_bytes == 2000000'
    expect_json '.timelines[0].points | all(.[3] == null and .[1] != null)' "$OUT/result.json"
}

@test "an allocator that closes low descriptors is still watched" {
    memory memory "$GUESTS/libclosesfds.so"
    expect_at thin end '.retained_ratio > 8'
}

@test "what was asked for and never written is untouched, and in no sum" {
    # a page for each block; its head is written, 8000 bytes of the block reach into two more
    memory memory "$GUESTS/libpagewise.so" --set size=8000 --set n=3000 --set touch=none
    expect_at fill end "$ADDS_UP and .requested_bytes == 3000 * 8000
        and .live_bytes == 3000 * 4064 and .untouched_bytes == 3000 * (8000 - 4064)
        and .internal_bytes == 0 and .external_bytes == 3000 * 32 and .retained_bytes == 0"
}

@test "malloc_trim gives back what glibc retained" {
    memory memory glibc
    expect_at thin end '.retained_ratio > 8 and .drained_bytes.purge < .drained_bytes["0s"] / 10'
}

# bats test_tags=installed
@test "the bytes add up to the footprint on every back end that is here" {
    local all=glibc,jemalloc,tcmalloc,mimalloc,scudo,tbb,arena,paged,paged:form=pool
    all+=,pool,slab,slab:classes=fine,slab:huge=on,system,skeleton,handle
    # Who gives memory back by the clock may have its peak elsewhere than in the run that looked for
    # it, where the machine halts for a moment: then nobody looked there.
    local unseen='(.at == "footprint_peak" and .live_bytes == null
        and (.backend | test("^(jemalloc|mimalloc|scudo)$")))'
    bench run "$ROOT/configs/churn.yaml" -b $all --rounds 1 --drain 0 --set slots=5k --set ops=50k \
        --json "$OUT/churn.json"
    bench run "$WORKLOADS/scattered.yaml" -b $all --rounds 1 --drain 0 --json "$OUT/scattered.json"
    for file in "$OUT/churn.json" "$OUT/scattered.json"; do
        expect_json '([.backends[] | select(.status | test("ok|partial"))] | length) as $n | $n > 8
            and (.memory | length) == $n * (.config.phases | length) * 3' "$file"
        expect_json ".memory | all($unseen or ($ADDS_UP))" "$file"
        expect_json '[.memory[] | select(.overhead != null)] | length > 20
            and all(1 + (.internal_ratio // 0) + .external_ratio + .retained_ratio - .overhead
                | fabs < 1e-9)' "$file"
        expect_json '.memory | all(.rss_peak_bytes >= .footprint_bytes)' "$file"
        expect_json '.memory | all(.at != "footprint_peak"
            or .footprint_bytes >= .rss_peak_bytes * 0.99)' "$file"
        expect_json '.memory | all(.live_peak_bytes >= .requested_bytes)' "$file"
        expect_json '[.memory[] | select(.external_bytes != null)]
            | all(.external_2m_bytes >= .external_bytes)' "$file"
    done
    # every block was written to the end, and what is scattered is external
    expect_json '[.memory[] | select(.live_bytes != null)] | length > 20
        and all(.untouched_bytes == 0)' "$OUT/scattered.json"
    expect_json '[.memory[] | select(.phase == "thin" and .at == "end"
        and (.backend | test("^(glibc|jemalloc|tcmalloc|mimalloc)")))]
        | length > 0 and all(.external_ratio > 1)' "$OUT/scattered.json"
    # the same tape has the same live bytes whoever serves it
    expect_json '[.memory[] | select(.at == "end")] | group_by(.phase)
        | all([.[] | [.requested_bytes, .live_peak_bytes, .position]] | unique | length == 1)' \
        "$OUT/scattered.json"
}

@test "an arena never frees: all that was asked for, and one reset gives it back" {
    memory scattered arena
    expect_at thin end "$ADDS_UP"' and .internal_bytes == null and .internal_ratio == null
        and .usable_bytes == null and .external_ratio > 1
        and (.reason | test("internal: no usable_size"))'
    expect_at thin end '.drained_bytes["0s"] > 20000000 and .drained_bytes.purge < 65536'
}

@test "the time line has at most 1,000 points, from the first op to the last, peaks included" {
    bench run "$ROOT/configs/churn.yaml" -b glibc --rounds 2 --set ops=100k --json "$OUT/result.json"
    expect_json '.timelines | length == 2 and ([.[].round] | sort) == [0, 1]' "$OUT/result.json"
    expect_json '.config.tape.n_ops as $n | .timelines
        | all(.points | length > 300 and length <= 1000 and .[0][0] == 0 and .[-1][0] == $n
            and ([.[][0]] | . == (unique)))' "$OUT/result.json"
    expect_json '[.timelines[0].points[][3]] | max as $max | $max > 0' "$OUT/result.json"
    expect_json '[.memory[] | select(.round == 0 and .at == "footprint_peak") | .footprint_bytes]
        as $peaks | [.timelines[] | select(.round == 0) | .points[][3]]
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
    expect_error '--drain 11s: must be at most 10s'
}

# bats test_tags=full
@test "with several lanes checkpoints stand still: still exact to the page" {
    memory crowd "$GUESTS/libpagewise.so" --set ops=60000
    expect_json ".memory | length == 6 and all($ADDS_UP and .retained_bytes == 0
        and .usable_bytes == .footprint_bytes / 4096 * 4064)" "$OUT/result.json"
    expect_at run live_peak '.requested_bytes == .live_peak_bytes and .live_bytes > 0'
    expect_at drain end '.footprint_bytes == 0 and .drained_bytes["0s"] == 0'
    live=$(jq '[.memory[].live_peak_bytes] | max' "$OUT/result.json")
    expect_json ".config.tape.live_peak_bytes == $live" "$OUT/result.json"
}

@test "holes that no later request fits are external fragmentation, until all is freed" {
    bench run "$ROOT/configs/fragmentation/hole-punch.yaml" -b glibc --rounds 1 --no-store --json -
    expect_code 0
    expect_json '[.memory[] | select(.phase == "fill" and .at == "end") | .external_ratio < 0.1] == [true]'
    expect_json '[.memory[] | select(.phase == "refill" and .at == "end") | .external_ratio | . > 0.3 and . < 1] == [true]'
    expect_json '[.memory[] | select(.phase == "punch" and .at == "end") | .external_bytes > 0.8 * .live_bytes] == [true]'
    expect_json '[.memory[] | select(.phase == "drain" and .at == "end") | .external_bytes == 0] == [true]'
}

@test "a walk reads each block once, and what it touches is counted" {
    bench run "$WORKLOADS/walk.yaml" --rounds 1 -b arena,glibc,handle --json "$OUT/walk.json" --html "$OUT/walk.html"
    expect_code 0
    grep -q 'walk / walk: cache lines and pages of its blocks' "$OUT/stdout" || fail "no table"
    grep -q 'Walk, walk: cache lines and pages of its blocks' "$OUT/walk.html" || fail "not in the report"
    python3 "$ROOT/tests/cli/report_values.py" "$OUT/walk.html" "$OUT/walk.json" || fail "other numbers"
    cp "$OUT/walk.json" "$OUT/stdout"
    expect_json '[.results[] | select(.op == "all") | .n_ops] | all(. == 60000)'
    # of an arena the blocks lie side by side; glibc puts a header before each
    expect_json '[.memory[] | select(.backend == "arena") | [.walk_blocks, .walk_lines, .walk_pages]]
        | all(.[0] == 10000 and .[1] == 10000 and .[2] >= 157 and .[2] <= 158)'
    expect_json '[.memory[] | select(.backend == "glibc") | .walk_pages] | all(. >= 195 and . <= 197)'
}
