#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Who pins the pages: by call site, by set, by size; that all owners add up to the row to the byte, and
# that a planted one comes first.
# tests: stats/pin_groups.c pins_grid.c owners.c

load helpers

pins() { # COMMAND…   with all five allocators, memory only, to result.json
    bench "$@" -b glibc,jemalloc,tcmalloc,mimalloc,slab_malloc --passes memory:1 --rounds 1 \
        -v pins --json result.json
}

# Each moment that is one of a memory record has owners that add up to it.
adds_up() { # LEAST moments
    jq -e --argjson least "$1" '
        def sum(f): map(f // 0) | add;
        [.memory[] | select(.external_bytes != null)] as $rows
        | [.pins | group_by([.backend, .round, .at, .phase, .position])[]
           | . as $p | $p[0] as $m
           | ([$rows[] | select(.backend == $m.backend and .round == $m.round
               and .phase == $m.phase and .position == $m.position)] | first) as $row
           | select($row != null)
           | if ($p | sum(.pinned_bytes)) == $row.external_bytes
                and ($p | sum(.internal_bytes)) == ($row.internal_bytes // 0)
                and ($p | sum(.live_bytes)) == $row.live_bytes
                and ($p | sum(.pinned_2m_bytes)) == $row.external_2m_bytes
                and ($row.retained_bytes == null
                     or ($p | sum(.retained_bytes)) == $row.retained_bytes)
             then 1 else error("\($m) does not add up to \($row)") end]
        | length >= $least' result.json
}

# bats test_tags=full
@test "no name of a result is markup in Markdown" {
    bench run "$WORKLOADS/small.yaml" -b glibc --rounds 2 --drain 0 --at 1000 -v pins --no-store -q --json r.json
    expect_code 0
    python3 "$ROOT/tests/cli/hostile_result.py" r.json hostile.json '<b>x</b> [go](http://a.b) |# *y*' >places
    grep -qFx 'pins[].function' places || fail "$(cat places)"
    jq '(.pins[].at | select(. == "1000")) = "<b>x</b> [go](http://a.b)"' hostile.json >r.json && mv r.json hostile.json
    bench report hostile.json -q --markdown hostile.md
    expect_code 0
    [ "$(grep -c 'go' hostile.md)" -gt 5 ] || fail "the names are not there"
    ! grep -nE '<b>|(^|[^\\])\[go|http://a' hostile.md || fail "markup"
}

@test "pins: a planted pinner is the first in the end, under each allocator, and all add up" {
    for seed in $(seq "$([ -n "${AB_FULL-}" ] && echo 10 || echo 2)"); do
        allocbench record --sites=8 -o "t$seed.abt" -- "$GUESTS/prog_pins" "$seed" >/dev/null 2>&1
        pins replay "t$seed.abt"
        [ "$code" -eq 0 ]
        jq -e '[.pins[] | select(.at == "end")] | group_by(.backend)
            | length >= 2 and all(.[]; .[0].function == "keep_header" and .[0].file == "prog_pins.c"
                and .[0].blocks == 3000 and .[0].median_bytes == 64)' result.json
        jq -e '[.pins[] | select(.at == "end") | select(.function == "(unknown)") | .pinned_bytes]
            | add // 0 | . == 0' result.json
        adds_up 6
    done
    grep -q '^keep_header (prog_pins.c:[0-9]*): 3.00 k blocks of 64 B, .* % of live bytes, pin' \
        "$OUT/stdout"
}

@test "pins: of a workload by its sets, of a trace without call sites by size" {
    pins run "$ROOT/configs/fragmentation/mesh.yaml"
    [ "$code" -eq 0 ]
    jq -e '[.pins[] | .group] | unique == ["set"]' result.json
    jq -e '[.pins[] | select(.at == "end" and .function == "kept")] | length >= 2' result.json
    adds_up 6
    allocbench record -o t.abt -- "$GUESTS/prog_pins" 1 >/dev/null 2>&1
    pins replay t.abt
    jq -e '[.pins[] | .group] | unique == ["size"]' result.json
    jq -e '[.pins[] | select(.function == "33-64 B" and .at == "end")] | length >= 2' result.json
    adds_up 6
}

@test "pins: without being asked for there are none" {
    bench run "$ROOT/configs/fragmentation/mesh.yaml" -b glibc --passes memory:1 \
        --rounds 1 --json result.json
    jq -e 'has("pins") | not' result.json
}

@test "pins: at marks, a number of ops and a time, whole and in bursts" {
    allocbench record --sites=8 -o t.abt -- "$GUESTS/prog_marks" frames 300 >/dev/null 2>&1
    local third=$(allocbench trace dump t.abt | awk '$3 == "mark" && $7 == "frame" && ++n == 3 { print $1 }')
    for how in "" "--burst 500"; do
        # shellcheck disable=SC2086
        bench replay t.abt -b glibc,mimalloc --passes memory:1 --rounds 1 -v pins $how \
            --at 'frame#3' --at 1k --json result.json
        [ "$code" -eq 0 ]
        jq -e --argjson third "$third" '[.pins[] | select(.backend == "glibc" or .backend == "mimalloc")]
            | group_by(.backend) | length == 2 and all(.[];
                (map(select(.at == "frame#3").position) | unique) == [$third]
                and (map(select(.at == "1k").position) | unique) == [1000]
                and (map(select(.at == "frame").position) | max) > $third
                and (map(select(.at == "begin")) | length) > 0)' result.json
    done
    grep -q '^who pins the pages at frame#3$' "$OUT/stdout"
    bench replay t.abt -b glibc --passes memory:1 --rounds 1 --gate 'frame/pins/*/live < 100MiB'
    [ "$code" -eq 0 ]
    bench replay t.abt -b glibc --passes memory:1 --rounds 1 --gate 'level/pins/*/live < 100MiB'
    [ "$code" -eq 1 ]
    grep -q 'the run has no moment level' "$OUT/stdout"
    for wrong in fame 0 1G 1000h; do
        bench replay t.abt -b glibc --at "$wrong"
        [ "$code" -eq 2 ]
    done
    bench replay t.abt -b glibc --at fame
    grep -q -- '--at fame: the trace has no such mark; it has 2 names, as frame$' "$OUT/stderr"
    bench run "$ROOT/configs/fragmentation/mesh.yaml" --at frame
    [ "$code" -eq 2 ]
    grep -q 'a workload has no marks' "$OUT/stderr"
}

@test "pins: --at, positions and n_ops count operations, neither touches nor waits" {
    cat >w.yaml <<'EOF'
allocbench: 1
name: w
sets:
  - {name: small, count: 700}
  - {name: large, count: 500}
phases:
  - name: p
    do:
      - {alloc: small, size: 48, count: all}
      - {alloc: large, size: 12KiB, count: all}
EOF
    bench run w.yaml -b glibc --passes memory --rounds 6 -v pins --at 900 --at 1200 --json result.json
    [ "$code" -eq 0 ]
    jq -e 'def blocks(at): [.pins[] | select(.at == at and .function == "large").blocks] | first;
        .config.tape.n_ops == 1200 and .config.tape.counts == "ops"
        and blocks("900") == 200 and blocks("1200") == 500
        and ([.pins[] | select(.at == "900").position] | unique) == [900]
        and ([.memory[] | select(.at == "end").position] | unique) == [1200]
        and ([.timelines[].points[][0]] | max) == 1200
        and ([.memory_distributions[].n_ops] | unique) == [1200]' result.json
    jq 'del(.checksum, .config.tape.counts) | .config.tape.n_ops = 1700' result.json >older.json
    bench compare older.json result.json
    grep -q 'operations were counted with what writes to blocks' "$OUT/stdout"
    bench run w.yaml -b glibc --passes memory --rounds 6 -v pins --at 900 --baseline older.json \
        --gate 'glibc:900/pins/large/blocks < +5%'
    grep -q 'the baseline counted operations otherwise' "$OUT/stdout"
    bench run w.yaml -b glibc --at 1201
    [ "$code" -eq 2 ]
    grep -q -- '--at 1201: the work has 1200 ops: 1 to that many' "$OUT/stderr"
    bench run "$ROOT/configs/init/pipeline.yaml" -b glibc --rounds 1 --json result.json
    [ "$code" -eq 0 ]
    jq -e '[.results[] | select(.op == "all").n_ops] == [.windows | map(.end) | max]
        and .config.tape.n_ops == 2 * .config.tape.total_blocks' result.json
}

# Blocks that live at the last mark of the trace.
live_at_mark() {
    allocbench trace dump "$1" | awk '
        $3 == "mark" { marked = n } $3 == "free" { n-- } $3 ~ /^alloc/ { n++ } END { print marked }'
}

@test "pins: at a mark of several threads all blocks of the trace are there" {
    allocbench record --sites=8 -o t.abt -- "$GUESTS/prog_marks" threads 200 >/dev/null 2>&1
    local last=$(allocbench trace dump t.abt | awk '$3 == "mark" { name = $7 } END { print name }')
    bench replay t.abt -b glibc,mimalloc --passes memory:1 --rounds 1 --at "$last" --json result.json
    [ "$code" -eq 0 ]
    jq -e --arg name "$last" --argjson live "$(live_at_mark t.abt)" '[.pins[] | select(.at == $name)]
        | group_by(.backend) | length == 2 and all(.[]; (map(.blocks) | add) == $live)' result.json
}

@test "pins: gates bound them, and ask for them" {
    allocbench record --sites=8 -o t.abt -- "$GUESTS/prog_pins" 1 >/dev/null 2>&1
    bench replay t.abt -b glibc --passes memory:1 --rounds 1 --json result.json \
        --gate 'end/pins/keep_*/pinned > 1MiB' --gate 'glibc:end/pins/prog_pins.c:*/blocks > 3000' \
        --gate 'live_peak/pins/*/pinned < 1x live'
    [ "$code" -eq 0 ]
    bench replay t.abt -b glibc --passes memory:1 --rounds 1 \
        --gate 'end/pins/keep_header/pinned < 1KiB'
    [ "$code" -eq 1 ]
    bench replay t.abt -b glibc --gate 'end/pins/keep_header/pined < 1KiB'
    [ "$code" -eq 2 ]
    grep -q "unknown statistic of pins 'pined'; did you mean 'pinned'?" "$OUT/stderr"
    bench replay t.abt -b glibc --gate 'ends/pins/keep_header/pinned < 1KiB'
    [ "$code" -eq 2 ]
    grep -q "unknown moment 'ends'; did you mean 'end'?" "$OUT/stderr"
    bench replay t.abt -b glibc --passes memory:1 --rounds 1 --gate 'end/pins/keep_haeder/pinned < 1KiB'
    [ "$code" -eq 1 ] # it does not pass with 0 bytes
    grep -q 'no owner fits the pattern' "$OUT/stdout"
    bench replay t.abt -b glibc --gate 'end/pins/pinned < 1KiB'
    grep -q 'MOMENT/pins/PATTERN/STAT' "$OUT/stderr"
}

@test "pins: a gate of the workload itself is on its sets" {
    { cat "$ROOT/configs/fragmentation/mesh.yaml"; echo 'gates: ["end/pins/kept/blocks > 1000"]'; } >mesh.yaml
    bench run mesh.yaml -b glibc --passes memory:1 --rounds 1 --json result.json
    [ "$code" -eq 0 ]
    jq -e '[.pins[].group] | unique == ["set"]' result.json
}

@test "pins: all outputs have them, and a stored result shows them again" {
    allocbench record --sites=8 -o t.abt -- "$GUESTS/prog_pins" 1 >/dev/null 2>&1
    bench replay t.abt -b glibc --passes memory:1 --rounds 1 -v pins --json result.json \
        --csv result.csv --markdown result.md --html result.html
    [ "$code" -eq 0 ]
    grep -q ',end,keep_header (prog_pins.c:[0-9]*)/pinned,[0-9]*,bytes' result.csv
    grep -q '^| keep\\_header | glibc | prog\\_pins.c:' result.md
    grep -q 'Who pins the pages at the end' result.html
    # The picture has all that is pinned at its most, by call stack, and lines of main apart.
    grep -A60 'Flame graph: pinned bytes at their maximum under glibc' result.html |
        sed -n 's/.*<title>main (prog_pins.c:\([0-9]*\)): .*, \([0-9.]*\) %<.*/\1 \2/p' | sort -u >lines
    [ "$(wc -l <lines)" -ge 2 ] || fail "one box for all lines of main: $(cat lines)"
    awk '{ sum += $2 } END { exit !(sum > 99 && sum < 101) }' lines || fail "not all: $(cat lines)"
    bench report -v pins result.json
    grep -A2 'who pins the pages at the end' "$OUT/stdout" | grep -q 'keep_header *prog_pins.c:'
}

@test "what lives under each of forty names is in the result of a paged arena, to the byte" {
    {
        printf '%s\n' 'allocbench: 1' 'name: tags' 'about: "many names"' 'seed: 1' 'sets:'
        for i in $(seq 40); do echo "  - {name: tag$i, count: $((i * 10))}"; done
        printf '%s\n' 'phases:' '  - name: load' '    do:'
        for i in $(seq 40); do echo "      - {alloc: tag$i, size: $((i * 16)), count: all, touch: all}"; done
    } >tags.yaml
    bench run tags.yaml -b paged,pool --passes memory:1 --rounds 1 --no-store -v pins --json r.json
    expect_code 0
    for backend in paged pool; do
        expect_json '[.pins[] | select(.backend == "'$backend'" and .at == "live_peak") | select(.function | startswith("tag"))]
            | length == 40 and all(.[]; (.function[3:] | tonumber) as $i
                | .group == "set" and .blocks == $i * 10 and .live_bytes == $i * 10 * $i * 16)' r.json
    done
}
