#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Iterations that are timed by themselves (`each`): how many, of how many calls, and what is missed.
# tests: latency_curve.c meters.c iterations.c

load helpers

write_frames() { # BUDGET [LANES]
    cat >frames.yaml <<Y
allocbench: 1
name: frames
sets:
  - {name: frame, kind: region, via: arena}
  - {name: parts, count: 100, via: pool}
phases:
  - name: load
    measure: false
    lanes: ${2-1}
    do: [{alloc: parts, size: 48, count: 50}]
  - name: frames
    until: iters(600)
    lanes: ${2-1}
    each: {name: frame${1:+, budget: $1}}
    do:
      - {alloc: frame, size: 64, count: 40, touch: all}
      - {replace: parts, at: occupied, size: 48, count: 10}
      - {access: parts, at: occupied, count: 5}
      - {reset: frame}
Y
}

@test "every iteration is in the result, with the calls that the back end served" {
    write_frames 60s
    bench run frames.yaml -b glibc,slab --rounds 2 --passes throughput,tail --json r.json
    expect_code 0
    # 40 allocations and frees, 10 replaced; an arena of its own is reset at once
    expect_json '[.iterations[] | .n + .n_scheduler] == [600, 600, 600, 600, 600, 600]' r.json
    expect_json 'all(.iterations[] | select(.backend != "@map"); .n_calls == .n * 100 and .n_calls_most == 100)' r.json
    expect_json 'all(.iterations[] | select(.backend == "@map"); .n_calls == .n * 61)' r.json
    expect_json 'all(.iterations[]; .call_ns > 0 and .n_over_budget == 0 and .budget_ns == 6e10)' r.json
    expect_json 'all(.iterations[]; .p50 <= .max and .phase == "frames" and .name == "frame")' r.json
    grep -q 'time in the allocator per frame' "$OUT/stdout" || fail "no table"
    allocbench report r.json >again
    diff <(grep -A8 'per frame' "$OUT/stdout") <(grep -A8 'per frame' again)
}

@test "iterations of all rounds are a distribution of --hgrm, of the run and of its result" {
    write_frames 60s
    bench run frames.yaml -b glibc --rounds 2 --passes throughput,tail --json r.json --hgrm h
    expect_code 0
    local n=$(jq '[.iterations[] | select(.backend == "glibc") | .n] | add' r.json)
    grep -Eq "Total count    = +$n\]" h.glibc.frames.iteration.hgrm || fail "not $n: $(tail -3 h.glibc.frames.iteration.hgrm)"
    [ ! -e h.glibc.load.iteration.hgrm ]
    bench report r.json --hgrm again
    cmp h.glibc.frames.iteration.hgrm again.glibc.frames.iteration.hgrm
    touch taken.glibc.frames.iteration.hgrm
    bench report r.json --hgrm taken
    expect_code 2
    expect_error "already exists and will not be overwritten"
}

@test "what timing a call takes is that of the mapping" {
    write_frames 60s
    bench run frames.yaml -b slab --rounds 1 --passes throughput,tail --map 'frame=arena,*=glibc' \
        --map 'parts=pool,frame=arena,*=glibc' --map 'frame=arena,*=slab' --json r.json
    expect_code 0
    expect_json '[.iterations[] | {key: .backend, value: .call_ns}] | from_entries
        | .["@map"] > 0 and .["@map2"] > 0 and .["@map3"] == .["@map"]' r.json
    expect_json '[.backends[] | select(.map != null) | .map.placement]
        | length == 3 and .[0] == .[2] and .[0] != .[1]' r.json
    expect_json '[.timer.null[].placement | select(. != null)] | unique | length == 2' r.json
}

@test "a budget that no allocator keeps is missed, none is missed without a budget" {
    write_frames 1ns
    bench run frames.yaml -b glibc --map '*=glibc' --rounds 1 --passes throughput,tail --json r.json
    expect_code 0
    # a sum below that of the null back end counts as 0, which keeps every budget
    expect_json 'all(.iterations[]; .n_over_budget > .n / 2)' r.json
    write_frames ''
    bench run frames.yaml -b glibc --rounds 1 --passes throughput,tail --json r.json
    expect_json 'all(.iterations[]; .n_over_budget == 0 and .budget_ns == null)' r.json
}

@test "lanes have iterations of their own, and the work is the same without any" {
    write_frames 1ms 3
    bench run frames.yaml -b glibc --rounds 1 --passes throughput,tail --json r.json
    expect_code 0
    expect_json '.iterations | length == 2' r.json
    expect_json 'all(.iterations[]; .n + .n_scheduler == 1800 and .n_calls == .n * 100)' r.json
    digest=$(jq -r .config.tape_sha256 r.json)
    sed -i /each/d frames.yaml
    bench run frames.yaml -b glibc --rounds 1 --passes throughput,tail --json s.json
    expect_json 'has("iterations") | not' s.json
    [ "$digest" = "$(jq -r .config.tape_sha256 s.json)" ]
}

@test "without the tail pass nothing is known of iterations" {
    write_frames 1ms
    bench run frames.yaml -b glibc --rounds 1 --passes throughput --json r.json
    expect_code 0
    expect_json 'has("iterations") | not' r.json
}

@test "a scope dies in one op, also within another one, where its heap can, else block by block" {
    cat >scopes.yaml <<'Y'
allocbench: 1
name: scopes
sets:
  - {name: frame, kind: region, via: arena}
  - {name: parts, count: 100, via: pool}
phases:
  - name: load
    measure: false
    do: [{alloc: parts, size: 48, count: 50}]
  - name: frames
    until: iters(200)
    each: {}
    do:
      - scope: frame
        do:
          - {alloc: frame, size: 64, count: 10}
          - {scope: frame, do: [{alloc: frame, size: 64, count: 5}]}
          - {resize: frame, order: lifo, size: 128}
Y
    bench run scopes.yaml -b glibc --rounds 1 --passes throughput,tail --json r.json
    expect_code 0
    # 15 allocations, 1 resize, 15 frees; in the arena a save point and the way back, and a reset
    expect_json 'all(.iterations[] | select(.backend == "glibc"); .n_calls == .n * 31)' r.json
    expect_json 'all(.iterations[] | select(.backend == "@map"); .n_calls == .n * 19)' r.json
    expect_json 'all(.iterations[]; .name == "iteration")' r.json
}

# 300 scopes of 20 blocks, last in, first out, beside a block that lives on.
write_trace() {
    awk 'BEGIN {
        print 20000000; print 6001; print 12001; print 1; print "a 0 100000"; id = 1
        for (s = 0; s < 300; s++) {
            f = id
            for (i = 0; i < 20; i++) print "a " id++ " " 16 + i * 8
            for (i = 19; i >= 0; i--) print "f " f + i
        }
    }' >scopes.rep
    allocbench trace import rep scopes.rep -o scopes.abt
}

@test "scopes of a trace are iterations of its replay, whole and in bursts" {
    write_trace
    for how in "" "--burst 1000"; do
        # shellcheck disable=SC2086
        bench replay scopes.abt -b glibc --each scope --budget 60s --rounds 1 $how --json r.json
        expect_code 0
        expect_json '.iterations | length == 1' r.json
        expect_json '.iterations[0] | .n + .n_scheduler >= 299 and .n + .n_scheduler <= 301' r.json
        expect_json '.iterations[0] | .name == "scope" and .phase == "replay" and .budget_ns == 6e10' r.json
        expect_json '.iterations[0] | .n_calls >= .n * 40 and .n_calls <= .n * 40 + 1' r.json
    done
    digest=$(jq -r .config.tape_sha256 r.json)
    bench replay scopes.abt -b glibc --rounds 1 --burst 1000 --json s.json
    expect_json 'has("iterations") | not' s.json
    [ "$digest" != "$(jq -r .config.tape_sha256 s.json)" ] # of heaps with save points it is other work
}

# The 138th scope has 3,000 blocks in place of 20.
@test "which iteration missed its budget: in the JSON, the CSV, the tables and the picture, whole and in bursts" {
    awk 'BEGIN {
        print 20000000; print 8981; print 17961; print 1; print "a 0 100000"; id = 1
        for (s = 1; s <= 300; s++) {
            f = id
            n = s == 138 ? 3000 : 20
            for (i = 0; i < n; i++) print "a " id++ " " 16 + i % 20 * 8
            for (i = n - 1; i >= 0; i--) print "f " f + i
        }
    }' >scopes.rep
    allocbench trace import rep scopes.rep -o scopes.abt
    for how in "" "--burst 1000"; do
        # shellcheck disable=SC2086
        bench replay scopes.abt -b glibc --each scope --budget 1us --rounds 3 --passes throughput,tail $how \
            --json r.json --csv-timeline t.csv --svg pictures -v worst
        expect_code 0
        # A round in which the scheduler took the CPU there does not have it.
        expect_json '[.iterations[] | select(.worst[0].iteration == 138)] | length >= 2' r.json
        expect_json 'all(.iterations[]; .stretch == 3 and (.stretches | length) >= 100
            and (.worst | length) <= 64 and (.worst == (.worst | sort_by(-.ns))))' r.json
        expect_json 'all(.iterations[] | select(.worst[0].iteration == 138);
            .stretches[45] == .worst[0].ns and (.stretches | max) == .worst[0].ns)' r.json
        grep -Eq '^ +glibc +138 +[0-9.]+ us .* missed$' "$OUT/stdout" || fail "$(cat "$OUT/stdout")"
        grep -Eq '^ +glibc .* of .* of 3 +138$' "$OUT/stdout" || fail "no slow call is in the longest scope"
        ns=$(jq '[.iterations[] | select(.worst[0].iteration == 138)][0] | .worst[0].ns' r.json)
        grep -q ",glibc,replay/iteration,138,$ns,ns" t.csv || fail "not in the CSV"
        grep -q ",glibc,replay/iteration_max,136,$ns,ns" t.csv || fail "the stretch is not in the CSV"
        grep -q '<title>scope 138: ' pictures/iterations-replay-one-scope-after-the-other.svg
        allocbench report r.json -v worst >again
        diff <(sed -n '/slowest iterations/,/^$/p' "$OUT/stdout") <(sed -n '/slowest iterations/,/^$/p' again)
        rm -r pictures t.csv
    done
}

@test "--each wants scopes, --budget wants --each" {
    printf '1000\n2\n4\n1\na 0 16\na 1 16\nf 0\nf 1\n' >none.rep
    allocbench trace import rep none.rep -o none.abt
    bench replay none.abt -b glibc --each scope
    expect_code 2
    expect_error 'none.abt.*no marks.*no scopes'
    bench replay none.abt -b glibc --budget 1ms
    expect_code 2
    expect_error '--budget needs --each scope'
    bench replay none.abt -b glibc --each frame
    expect_code 2
    expect_error '--each frame: must be the word scope, not the name of a mark'
    for budget in 0 61s; do
        bench replay none.abt --each scope --budget $budget
        expect_error 'must be from 1ns to 60s'
        bench advise none.abt --budget $budget
        expect_error 'must be from 1ns to 60s'
    done
}

@test "gates bound time per iteration and missed budgets" {
    write_frames 60s
    printf 'gates:\n  - "frames/frame/missed = 0"\n  - {gate: "*/frame/p50 < 1ns", level: warn}\n' >>frames.yaml
    bench run frames.yaml -b glibc --rounds 2 --passes throughput,tail --json r.json \
        --gate 'glibc:frames/frame/max < 60s' --gate 'frames/iteration/missed_percent < 0.1%'
    expect_code 0
    expect_json '[.gates[] | select(.level == "warn")] | length == 2 and all(.verdict != "pass")' r.json
    expect_json '[.gates[] | select(.level != "warn")] | length == 5 and all(.verdict == "pass")' r.json
    expect_json '.gates[] | select(.gate == "frames/frame/missed = 0") | .value == 0 and .unit == "iterations"' r.json
    grep -q 'frames/frame/missed .* = 0 .*passed' "$OUT/stdout" || fail "not in the list"
    write_frames 1ns
    bench run frames.yaml -b glibc --map '*=glibc' --rounds 1 --passes throughput,tail \
        --gate 'glibc:frames/frame/missed = 0'
    expect_code 1
    grep -q 'frames/frame/missed .*FAILED' "$OUT/stdout"
}

@test "a gate on iterations that are not timed is refused, with the nearest name" {
    write_frames ''
    for command in check "run -b glibc"; do
        # shellcheck disable=SC2086
        bench $command frames.yaml --gate 'frames/fram/p99 < 1us'
        expect_code 2
        expect_error "did you mean 'frame'"
        # shellcheck disable=SC2086
        bench $command frames.yaml --gate 'frames/frame/p98 < 1us'
        expect_error "did you mean 'p99'"
        # shellcheck disable=SC2086
        bench $command frames.yaml --gate 'frames/frame/missed = 0'
        expect_code 2
        expect_error "needs a budget"
    done
    bench run frames.yaml -b glibc --passes throughput --gate 'frames/frame/p99 < 1us'
    expect_code 2
    expect_error 'p99 comes from the tail pass, which --passes leaves out'
}

@test "gates on the scopes of a replay, and against a stored result" {
    write_trace
    bench replay scopes.abt -b glibc --each scope --budget 60s --rounds 6 --json r.json \
        --gate 'replay/scope/missed = 0' --gate 'replay/scope/p50 < 1s'
    expect_code 0
    # a gate asks for all rounds, where the tail pass runs in six of them else
    expect_json '.iterations | length == 6' r.json
    bench compare r.json r.json --gate 'replay/scope/p50 < +1%' --gate 'replay/iteration/missed_percent <= +1%'
    expect_code 0
    bench compare r.json r.json --gate 'replay/scop/p50 < +1%'
    expect_code 2
    expect_error "did you mean 'scope'"
    bench replay scopes.abt -b glibc --each scope --budget 30s --rounds 6 --baseline r.json \
        --gate 'replay/scope/missed_percent < +1%'
    expect_code 1
    grep -q 'another budget' "$OUT/stdout"
    bench replay scopes.abt -b glibc --gate 'replay/scope/p50 < 1s'
    expect_code 2
    expect_error "unknown op 'scope'"
}

@test "every form of a result has the iterations" {
    write_frames 60s
    bench run frames.yaml -b glibc,slab --rounds 2 --passes throughput,tail --json r.json --html r.html \
        --csv r.csv --csv-hist h.csv --hlog r.hlog
    expect_code 0
    [ "$(grep -c ',frames,iteration,missed,0,iterations' r.csv)" -eq 6 ] || fail "missed is not in the CSV"
    n=$(jq '[.iterations[] | select(.backend == "slab") | .n] | add' r.json)
    awk -F, -v want="$n" '$4 == "slab" && $6 == "iteration" && $7 == "n" {n += $8} END {exit n != want}' r.csv ||
        fail "other iterations in the CSV"
    awk -F, -v want="$n" '$3 == "slab" && $5 == "iteration" {n += $9} END {exit n != want}' h.csv ||
        fail "other iterations in the histograms"
    [ "$(grep -c '^Tag=slab.frames.iteration,' r.hlog)" -eq 2 ]
    hdr=$(jq -r 'first(.iterations[] | select(.backend == "slab")).hdr_v2' r.json)
    grep -q "^Tag=slab.frames.iteration,0.000,1.000,.*,$hdr\$" r.hlog || fail "another histogram in the log"
    grep -q '<section id="iterations"' r.html
    grep -q 'per frame, budget: 60' r.html
    grep -q '>budget 60' r.html || fail "no line of the budget"
    allocbench report r.json --csv again.csv --html again.html >/dev/null
    diff <(grep ,iteration, r.csv | cut -d, -f2-) <(grep ,iteration, again.csv | cut -d, -f2-)
    write_frames ''
    sed -i /each/d frames.yaml
    bench run frames.yaml -b glibc --rounds 1 --passes throughput,tail --html s.html --csv s.csv --hlog s.hlog
    if grep -q '<section id="iterations"' s.html || grep -q 'iteration' s.csv s.hlog; then
        fail "iterations of work that has none"
    fi
}

@test "compare shows the iterations of both, and says which budgets differ" {
    write_frames 60s
    bench run frames.yaml -b glibc --rounds 6 --passes throughput,tail --json a.json
    expect_code 0
    bench compare a.json a.json --json c.json
    expect_code 0
    expect_json '[.comparisons[0].cells[] | select(.iteration == "frame" and .backend == "glibc") | .metric] == ["p50", "p99", "missed_percent"]' c.json
    expect_json '.comparisons[0].cells[] | select(.backend == "glibc" and .iteration != null and .metric == "p50") | .op == null and .ratio == 1 and .low <= 1 and .high >= 1 and .n_base == 6' c.json
    expect_json '.comparisons[0].cells[] | select(.backend == "glibc" and .metric == "missed_percent") | .ratio == 1 and .base == 0 and .direction == "~"' c.json
    grep -q 'frames frame p50' "$OUT/stdout"
    write_frames 1s
    allocbench run frames.yaml -b glibc --rounds 1 --passes throughput,tail --json b.json >out 2>&1
    allocbench compare a.json b.json --json d.json >out 2>&1 || cat out
    expect_json 'any(.comparisons[0].notes[]; test("budget of an iteration: 60.0 s, now 1.00 s"))' d.json
    expect_json '[.comparisons[0].cells[] | select(.metric == "missed_percent")] == []' d.json
    sed -i /each/d frames.yaml
    allocbench run frames.yaml -b glibc --rounds 1 --passes throughput,tail --json b.json >out 2>&1
    allocbench compare a.json b.json --json d.json >out 2>&1 || cat out
    expect_json 'any(.comparisons[0].notes[]; test("iterations were timed in the base alone"))' d.json
    expect_json '[.comparisons[0].cells[] | select(.iteration != null)] == []' d.json
}

@test "altered lists of slow iterations are refused, with their place" {
    bench run "$ROOT/configs/game-frame.yaml" -b glibc --rounds 1 --no-store -q --json "$OUT/r.json"
    expect_code 0
    local change
    for change in 'worst[0].ns = "x"' 'worst[0].ns = -1' 'worst[0].iteration = 1e15' 'worst = [range(65)]' \
        'stretches[0] = -5' 'stretches = [range(101)]'; do
        jq "del(.checksum) | .iterations[0].$change" "$OUT/r.json" >"$OUT/bad.json"
        bench report "$OUT/bad.json" -v worst
        expect_code 3
        expect_error "iterations\[0\]\.${change%%[\[ ]*}.*: "
    done
}
