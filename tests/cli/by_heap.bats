#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# What each heap of a mapped row served: in the JSON, the tables and the report.
# tests: heap_memory.c page_heaps.c heap_grids.c

load helpers

write_workload() {
    cat >frames.yaml <<Y
allocbench: 1
name: frames
seed: 3
sets:
  - {name: frame, kind: region}
  - {name: parts, count: 300}
phases:
  - name: load
    measure: false
    do:
      - {alloc: parts, size: 48, count: all}
  - name: frames
    until: iters(40)
    do:
      - {alloc: frame, size: "uniform(16, 400)", count: 100}
      - {replace: parts, at: random, size: 48, count: 30}
      - {resize: parts, at: random, size: "uniform(16, 400)", count: 5}
      - {reset: frame}
Y
}

@test "all mapped to one heap: its numbers are the row's" {
    write_workload
    bench run frames.yaml --rounds 2 -b glibc --map '*=pool' --json "$OUT/r.json"
    expect_code 0
    expect_json '[.heaps[] | .heap] | unique == ["pool"]' "$OUT/r.json"
    # Whatever the worker read: the samples are the same ones.
    expect_json 'def key: [.phase, .op, .round];
        ([.heaps[] | select(.op != "reset") | [key, .n, .hdr_v2, .mean, .p50, .p99]] | sort) ==
        ([.results[] | select(.backend == "@map" and .op != "reset") | [key, .n, .hdr_v2, .mean, .quantiles.p50, .quantiles.p99]] | sort)
        and (.heaps | length) > 6' "$OUT/r.json"
    expect_json '[.heaps[] | select(.op == "all") | [.phase, .round, .n_calls]] ==
        [.results[] | select(.backend == "@map" and .op == "all") | [.phase, .round, .n_ops]]' "$OUT/r.json"
    expect_json '.backends[1].map.heaps[0].live_peak_bytes == .config.tape.live_peak_bytes' "$OUT/r.json"
}

@test "of several heaps each has what it served" {
    write_workload
    bench run frames.yaml --rounds 1 -b glibc --map 'frame=arena,parts=pool' --json "$OUT/r.json"
    expect_code 0
    # 40 frames of 100; 30 free and alloc, and 5 resizes, each of the pool's.
    expect_json '[.heaps[] | select(.op != "reset") | [.heap, .op, .n_calls]] | sort == [
        ["arena", "all", 8000], ["arena", "alloc", 4000], ["arena", "free", 4000],
        ["pool", "all", 2600], ["pool", "alloc", 1200], ["pool", "free", 1200], ["pool", "resize", 200]]' "$OUT/r.json"
    expect_json '.heaps[] | select(.heap == "arena" and .op == "free") | .n == 0 and .p50 == null and .time_ns == null' "$OUT/r.json"
    expect_json '[.heaps[] | select(.op == "all") | [.heap, .live_peak_blocks]] | sort == [["arena", 100], ["pool", 300]]' "$OUT/r.json"
    expect_json '[.heaps[] | select(.op == "reset") | [.heap, .n_calls]] | . == [["arena", 40]] or . == []' "$OUT/r.json"
}

@test "a row of one heap has none, and a stored result gives the same again" {
    write_workload
    bench run frames.yaml --rounds 2 -b pool --map 'frame=arena,*=pool' --json "$OUT/r.json" --html "$OUT/r.html" --embed=full
    expect_code 0
    expect_json '[.heaps[].backend] | unique == ["@map"]' "$OUT/r.json"
    grep -q '<caption>@map: frames</caption>' "$OUT/r.html" || fail "no table in the report"
    grep -q '<th scope="row">arena</th><td><code>frame</code></td><td class="n">75.5 %' "$OUT/r.html" || fail "no row of the arena"
    for from in "$OUT/r.json" "$OUT/r.html"; do
        bench report "$from" --json "$OUT/again.json"
        expect_code 0
        [ "$(jq -cS .heaps "$OUT/r.json")" = "$(jq -cS .heaps "$OUT/again.json")" ]
    done
}

@test "a heap that its row does not have is said with its place" {
    write_workload
    bench run frames.yaml --rounds 1 -b glibc --map 'frame=arena,*=pool' --json "$OUT/r.json"
    expect_code 0
    jq '.heaps[1].heap = "slab" | del(.checksum)' "$OUT/r.json" >"$OUT/bad.json"
    bench report "$OUT/bad.json"
    expect_code 3
    expect_error 'heaps\[1\].heap: "slab" is not among the heaps of @map'
}

@test "a table by heap: with one mapped row in the answer, with several under -v" {
    write_workload
    bench run frames.yaml --rounds 1 -b glibc --map 'frame=arena,size:1-48=pool,*=slab' --json "$OUT/r.json"
    expect_code 0
    grep -Eq '^@map by heap, frames +calls +time' "$OUT/stdout" || fail "no table"
    # 8,000 of 10,600 calls are the arena's.
    grep -Eq '^  arena +75\.5% .* frame$' "$OUT/stdout" || fail "no row of the arena"
    grep -Eq '^  pool .* size:1-48$' "$OUT/stdout" || fail "no row of the pool"
    bench run frames.yaml --rounds 1 -b glibc --map 'frame=arena,*=slab' --map '*=slab' --json "$OUT/two.json"
    expect_code 0
    ! grep -q 'by heap' "$OUT/stdout" || fail "two rows are too long for the answer"
    bench report "$OUT/two.json" -v
    grep -q '^@map by heap, frames' "$OUT/stdout" && grep -q '^@map2 by heap, frames' "$OUT/stdout" || fail "no tables"
    expect_json '[.backends[].map | select(. != null).heaps[] | .keys] == ["frame", "*", "*"]' "$OUT/two.json"
}

@test "what takes less than a step of the clock has no share of the time" {
    write_workload
    bench run frames.yaml --rounds 1 -b glibc --map 'frame=arena,*=slab' --json "$OUT/r.json"
    expect_code 0
    jq '.timer.floor_ns = 0 | .timer.quantum_ns = 0.1 | del(.checksum)' "$OUT/r.json" >"$OUT/fine.json"
    bench report "$OUT/fine.json"
    grep -Eq '^  arena +75\.5% +[0-9.]+% ' "$OUT/stdout" || fail "no share"
    ! grep -q 'no times:' "$OUT/stdout" || fail "a note"
    jq '.timer.quantum_ns = 1e6 | del(.checksum)' "$OUT/r.json" >"$OUT/coarse.json"
    bench report "$OUT/coarse.json" --html "$OUT/r.html"
    grep -Eq '^  arena +75\.5% +- ' "$OUT/stdout" || fail "a share"
    grep -q '^no times: too many calls are shorter than one clock tick' "$OUT/stdout" || fail "no note"
    grep -q '<th scope="row">arena</th><td><code>frame</code></td>.*75.5 %.*<td class="n">n/a</td>' "$OUT/r.html"
}

@test "each heap says which library it was" {
    write_workload
    bench run frames.yaml --rounds 1 -b glibc --map 'frame=arena,*=glibc' --json "$OUT/r.json"
    expect_code 0
    expect_json '.backends[0].build_id as $id | .backends[0].version as $version |
        [.backends[1].map.heaps[] | [.name, .version, .build_id]] ==
        [["arena", null, null], ["glibc", $version, $id]] and $id != null' "$OUT/r.json"
    bench report "$OUT/r.json" --json "$OUT/again.json"
    [ "$(jq -cS '.backends[1].map' "$OUT/r.json")" = "$(jq -cS '.backends[1].map' "$OUT/again.json")" ]
}

# Of each record of a mapped row with pages: its heaps and what is of none alone.
ADDS_UP='([.heaps[].footprint_bytes] | add) as $held | .footprint_bytes - $held | . >= 0 and . <= 65536'

@test "memory: all mapped to one heap is the row's, and the row is the unmapped one's" {
    write_workload
    bench run frames.yaml --rounds 1 --drain 0.1s -b arena,pool --map '*=arena' --map '*=pool' --json "$OUT/r.json"
    expect_code 0
    for pair in arena:@map pool:@map2; do
        expect_json "[.memory[] | select(.backend == \"${pair#*:}\")] as \$rows
            | [.memory[] | select(.backend == \"${pair%:*}\")] as \$alone
            | (\$rows | length) == 3 and ([\$alone[] | has(\"heaps\")] | any | not)
            and ([\$rows[] | [.heaps[].heap] == [\"${pair%:*}\"]] | all)
            and ([\$rows[].footprint_bytes] == [\$alone[].footprint_bytes])
            and ([\$rows[] | .heaps[0] | [.requested_bytes, .live_bytes, .internal_bytes, .external_bytes, .mapped_bytes]]
                == [\$alone[] | [.requested_bytes, .live_bytes, .internal_bytes, .external_bytes, .mapped_bytes]])
            and ([\$rows[] | .heaps[0].retained_bytes <= .retained_bytes] | all)
            and ([\$rows[] | $ADDS_UP] | all)" "$OUT/r.json"
    done
}

@test "memory: several heaps add up to the row, and each says what it committed" {
    write_workload
    bench run frames.yaml --rounds 2 --drain 0.1s -b glibc --map 'frame=arena,parts=slab,*=glibc' \
        --map 'frame=pool,parts=glibc' --json "$OUT/r.json" --csv "$OUT/r.csv" --html "$OUT/r.html" --embed=full
    expect_code 0
    expect_json "[.memory[] | select(has(\"heaps\")) | $ADDS_UP] | length == 12 and all" "$OUT/r.json"
    expect_json '[.memory[] | select(has("heaps")) | . as $row | (["live_bytes", "external_bytes", "requested_bytes"][]
        | . as $key | ([$row.heaps[][$key]] | add) == $row[$key])] | length == 36 and all' "$OUT/r.json"
    # On its pages a heap has what it committed at the most; an arena keeps its frames until a purge.
    expect_json '[.memory[].heaps[]? | select(.mapped_bytes != null) | .footprint_bytes <= .mapped_bytes] | length > 10 and all' "$OUT/r.json"
    expect_json '[.memory[].heaps[]? | select(.heap == "glibc") | .mapped_bytes] | unique == [null]' "$OUT/r.json"
    expect_json '[.memory[] | select(.backend == "@map" and .at == "end") | .heaps[] | select(.heap == "arena")
        | .requested_bytes == 0 and .footprint_bytes > 0 and .drained_bytes["0s"] == .footprint_bytes] | all' "$OUT/r.json"
    for from in "$OUT/r.json" "$OUT/r.html"; do
        bench report "$from" --json "$OUT/again.json"
        [ "$(jq -cS .memory "$OUT/r.json")" = "$(jq -cS .memory "$OUT/again.json")" ] || fail "$from is read otherwise"
    done
    [ "$(jq '.memory[] | select(.backend == "@map" and .at == "end" and .round == 1).heaps[0].footprint_bytes' "$OUT/r.json")" = \
        "$(awk -F, '$2 == 1 && $4 ~ /@map$/ && $6 == "end" && $7 == "heap:arena:footprint_bytes" { print $8 }' "$OUT/r.csv")" ]
    grep -q '<caption>@map memory by heap: frames</caption>' "$OUT/r.html" || fail "no table in the report"
    bench report "$OUT/r.json" -v memory
    grep -q '^memory by heap / @map2, frames: at its peak' "$OUT/stdout" || fail "no table"
    grep -Eq '^  of none alone ' "$OUT/stdout" || fail "no rest"
    jq '.memory |= map(del(.heaps)) | del(.checksum)' "$OUT/r.json" >"$OUT/old.json" # of an older version
    bench report "$OUT/old.json" -v memory
    expect_code 0
    grep -Eq '^  arena +- ' "$OUT/stdout" || fail "a number from nowhere"
}

@test "memory: a forged heap is said with its place" {
    write_workload
    bench run frames.yaml --rounds 1 -b glibc --map 'frame=arena,*=glibc' --json "$OUT/r.json"
    expect_code 0
    jq '(.memory[] | select(has("heaps")).heaps[0].heap) = "slab" | del(.checksum)' "$OUT/r.json" >"$OUT/bad.json"
    bench report "$OUT/bad.json"
    expect_code 3
    expect_error 'memory\[[0-9]*\].heaps\[0\].heap: "slab" is not among the heaps of @map'
    jq '(.memory[] | select(has("heaps")).heaps[0].live_bytes) = "much" | del(.checksum)' "$OUT/r.json" >"$OUT/bad.json"
    bench report "$OUT/bad.json"
    expect_code 3
    expect_error 'memory\[[0-9]*\].heaps\[0\].live_bytes'
}

@test "latency: a heap of a known 1 us has it, and the others have not" {
    write_workload
    bench run frames.yaml --rounds 2 --drain 0 -b glibc --map "frame=arena,*=$GUESTS/libslow1us.so" \
        --json "$OUT/r.json" --csv "$OUT/r.csv"
    expect_code 0
    expect_json '[.heaps[] | select(.heap == "slow1us" and .op == "alloc") | .p50 >= 900 and .n > 100] | length == 2 and all' "$OUT/r.json"
    # Those of the arena are told from them: half of them take less than half of that.
    expect_json '. as $r | [range(2) as $round
        | [("arena", "slow1us") as $h | $r.heaps[] | select(.heap == $h and .op == "alloc" and .round == $round) | .p50]
        | length == 2 and .[0] < .[1] / 2] | length == 2 and all' "$OUT/r.json"
    # Each call is of one heap, and so is each that was timed.
    expect_json '. as $r | [range(2) as $round | ("alloc", "free", "resize", "all") as $op
        | [$r.heaps[] | select(.op == $op and .round == $round)] as $parts
        | ($r.results[] | select(.backend == "@map" and .op == $op and .round == $round))
        | .n == ([$parts[].n] | add) and ($op != "all" or .n_ops == ([$parts[].n_calls] | add))]
        | length == 8 and all' "$OUT/r.json"
    bench report "$OUT/r.json" -v time
    grep -Eq '^@map by heap and op, frames +timed +p50' "$OUT/stdout" || fail "no table"
    grep -Eq '^  arena alloc +[0-9.]+k? ' "$OUT/stdout" || fail "no row of the arena"
    ! grep -Eq '^  arena free' "$OUT/stdout" || fail "a row of what was never timed"
    grep -q ',alloc,heap:arena:p50,' "$OUT/r.csv" || fail "no row in the CSV"
}
