#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Bounds that make a run fail: each fate of a gate with its exit code, on libraries whose numbers
# are known (a malloc of 1 us) and on ones that crash, lack an op or are not there.
# tests: gate_set.c

load helpers

SLOW=$GUESTS/libslow1us.so

gated() { # CODE BACKENDS GATE…
    local want=$1 backends=$2 gates=()
    shift 2
    for gate in "$@"; do gates+=(--gate "$gate"); done
    bench run "$WORKLOADS/truth.yaml" --rounds ${reps:-1} --no-store -b "$backends" "${gates[@]}" \
        --json "$OUT/result.json"
    expect_code "$want"
}

expect_line() { # PATTERN: a line of the list
    grep -Eq -- "$1" "$OUT/stdout" || fail "no \"$1\" in the list: $(grep -A9 '^gates' "$OUT/stdout")"
}

expect_gate() { # CONDITION on the first entry
    expect_json ".gates[0] | $1" "$OUT/result.json"
}

@test "a bound that holds passes, and the run ends with 0" {
    gated 0 "$SLOW" "fill/alloc/p50 < 1s" "slow1us:fill/alloc/p50 > 900ns"
    expect_gate '.verdict == "pass" and .unit == "ns" and .value > 900 and .reason == null'
    expect_line '^gates: 2 passed$'
}

@test "a bound that does not hold ends the run with 1, and the list says where it stands" {
    gated 1 "$SLOW" "fill/alloc/p50 < 900ns"
    expect_gate '.verdict == "fail" and .place == "--gate" and .exit_code == 1'
    expect_line '^gates: 1 FAILED$'
    expect_line '^  fill/alloc/p50 +[0-9.]+ us +< 900ns +FAILED$'
}

@test "what a gate judges is the number of the table" {
    gated 1 "$SLOW" "fill/alloc/p50 < 900ns"
    expect_json '.gates[0].value == (.results[] | select(.op == "alloc") | .quantiles.p50)' \
        "$OUT/result.json"
}

@test "a ratio to another back end of the run" {
    local rounds=3 # what halts the machine for a moment makes one of them long
    gated 0 "$SLOW,glibc" "glibc:fill/all/ns_per_op < 1x slow1us" "fill/all/ns_per_op > 1x glibc"
    expect_json '.gates | length == 2 and all(.verdict == "pass")' "$OUT/result.json"
    gated 1 "$SLOW,glibc" "slow1us:fill/all/ns_per_op < 1.1x glibc"
    gated 0 "$SLOW,glibc" "slow1us:fill/all/ns_per_op < 1.1x glibc floor 1s"
}

@test "memory: sizes, shares, and the live bytes" {
    gated 0 glibc "fill/memory/rss_peak < 1GiB" "fill/memory/rss_peak < 3x live" \
        "fill/memory/overhead_peak < 300%" "fill/memory/overhead_peak < 3x live" \
        "fill/memory/retained_ratio < 50%" "drain/end/drained_purge < 1GiB"
    gated 1 glibc "fill/memory/rss_peak < 1x live"
    expect_gate '.verdict == "fail" and .unit == "x live" and .value > 1'
}

@test "a gate of the workload is shown with its line, and fails the run as well" {
    cp "$WORKLOADS/truth.yaml" "$OUT/gated.yaml"
    printf 'gates:\n  - "fill/alloc/p50 < 1s"\n  - "fill/alloc/p50 < 100ns"\n' >>"$OUT/gated.yaml"
    line=$(($(grep -n '100ns' "$OUT/gated.yaml" | cut -d: -f1)))
    bench run "$OUT/gated.yaml" --rounds 1 --no-store -b "$SLOW" --ascii
    expect_code 1
    expect_line '^gates: 1 FAILED, 1 passed$'
    expect_line '^  fill/alloc/p50 .* < 1s +passed$'
    expect_line "gated.yaml:$line:6"
}

@test "mistakes in gates are all shown with line and caret before anything runs" {
    cp "$WORKLOADS/truth.yaml" "$OUT/bad.yaml"
    printf 'gates:\n  - "fil/alloc/p99 < 2us"\n  - "fill/alloc/p98 < 2us"\n' >>"$OUT/bad.yaml"
    for command in run check; do
        bench $command "$OUT/bad.yaml"
        expect_code 2
        expect_error "bad.yaml:[0-9]+:6: error: unknown measured phase 'fil'; did you mean 'fill'\?"
        expect_error "bad.yaml:[0-9]+:17: error: unknown statistic 'p98'"
        expect_error '^ +\| +\^~~$'
        expect_error '^2 errors in '
        [ "$command" = check ] || [ ! -s "$OUT/stdout" ] || fail "something on standard output"
    done
    expect_nothing_left
}

@test "check reads gates against the back ends that are meant" {
    bench check "$WORKLOADS/truth.yaml" --gate "slow1us:fill/all/ns_per_op < 1s"
    expect_code 2
    expect_error "unknown back end 'slow1us'"
    bench check "$WORKLOADS/truth.yaml" --gate "slow1us:fill/all/ns_per_op < 1s" -b "$SLOW"
    expect_code 0
}

@test "mistakes in --gate: phase, op, statistic, back end, unit, baseline" {
    while IFS='|' read -r gate words; do
        bench run "$WORKLOADS/truth.yaml" -b glibc --gate "$gate"
        expect_code 2
        expect_error "^allocbench: --gate '.*$words"
    done <<'EOF'
fil/alloc/p99 < 2us|did you mean 'fill'
fill/aloc/p99 < 2us|did you mean 'alloc'
fill/free/p99 < 2us|phase 'fill' has no free
fill/alloc/p999 < 2us|did you mean 'p99'
fill/p99 < 2us|write fill/all/p99
glbc:fill/alloc/p99 < 2us|did you mean 'glibc'
fill/alloc/p99 < 2|a time needs a unit
fill/memory/rss_peak < 2us|expected a size
fill/alloc/p99 < 10%|write \+10% for a change against the baseline
null:fill/alloc/p99 < 2us|no gates
EOF
    expect_nothing_left
}

@test "a latency below the timer floor is refused before the run, ns_per_op is not" {
    bench run "$WORKLOADS/truth.yaml" -b glibc --gate "fill/alloc/p50 < 1ns"
    expect_code 2
    expect_error "below the timer floor.*gate fill/all/ns_per_op"
    [ ! -s "$OUT/stdout" ] || fail "something on standard output"
    gated 1 glibc "fill/all/ns_per_op < 0.1ns"
}

@test "a percentile without enough samples is not evaluated, which fails" {
    gated 1 glibc "fill/alloc/p99.99 < 1s"
    expect_gate '.verdict == "not_evaluated" and .value == null and (.reason | test("timed ops"))'
    expect_line 'NOT EVALUATED \(fails\)'
}

@test "a back end that lacks an op is not evaluated: exit 1 where it was asked for" {
    bench run "$WORKLOADS/small.yaml" --rounds 1 --no-store -b "glibc,$GUESTS/libplug_noresize.so" \
        --gate "fill/all/ns_per_op < 1s" --json "$OUT/result.json"
    expect_code 1
    expect_json '.gates | map(.verdict) == ["pass", "not_evaluated"]' "$OUT/result.json"
    expect_json '.gates[1].reason | test("partial")' "$OUT/result.json"
    bench run "$WORKLOADS/small.yaml" --rounds 1 --no-store -b "glibc,$GUESTS/libplug_noresize.so" \
        --gate "glibc:fill/all/ns_per_op < 1s"
    expect_code 0
}

@test "a back end that crashes is exit 4, whatever the gates say" {
    bench run "$WORKLOADS/small.yaml" --rounds 1 --no-store -b "glibc,$GUESTS/liblatecrash.so" \
        --gate "glibc:fill/all/ns_per_op < 0.1ns" --gate "latecrash:fill/all/ns_per_op < 1s" \
        --json "$OUT/result.json"
    expect_code 4
    expect_json '.gates | map(.verdict) == ["fail", "not_evaluated"]' "$OUT/result.json"
}

@test "a back end that is not there: 4 where it was asked for, no row where it was not" {
    mkdir "$OUT/lib"
    bench run "$WORKLOADS/truth.yaml" -b "glibc,$OUT/lib/libnone.so" --gate "glibc:fill/all/ns_per_op < 1s"
    expect_code 4
    expect_error 'none: no such file'
    bench run "$WORKLOADS/truth.yaml" --rounds 1 --no-store --gate "fill/all/ns_per_op < 1s" \
        --json "$OUT/result.json"
    expect_code 0
    expect_json '(.gates | length) == ([.backends[] | select(.name != "null")] | length)
        and all(.gates[]; .verdict == "pass")' "$OUT/result.json"
}

@test "a known back end that this run does not have is not evaluated: exit 1" {
    gated 1 glibc "arena:fill/all/ns_per_op < 1s"
    expect_gate '.verdict == "not_evaluated" and .backend == null and (.reason | test("no arena"))'
    gated 1 glibc "glibc:fill/all/ns_per_op < 2x arena"
    gated 1 glibc "fill/all/ns_per_op < 2x glibc"
    expect_gate '.reason | test("no back end to evaluate")'
}

@test "a ratio to a back end that could not be measured is not evaluated" {
    bench run "$WORKLOADS/truth.yaml" --rounds 1 --no-store -b "glibc,none=$GUESTS/libctorcrash.so" \
        --gate "glibc:fill/all/ns_per_op < 2x none" --json "$OUT/result.json"
    expect_code 4
    expect_gate '.verdict == "not_evaluated" and (.reason | test("none"))'
}

@test "the list goes to standard error where standard output is a document" {
    bench run "$WORKLOADS/truth.yaml" --rounds 1 --no-store -b "$SLOW" --json - \
        --gate "fill/alloc/p50 < 900ns" --color always
    expect_code 1
    expect_one_document
    expect_error '^gates: 1 FAILED$'
}

@test "names with settings of their own are found by their last colon" {
    bench run "$WORKLOADS/truth.yaml" --rounds 1 --no-store -b arena:commit=1MiB \
        --gate "arena:commit=1MiB:fill/all/ns_per_op < 1s"
    expect_code 0
    bench run "$WORKLOADS/truth.yaml" --rounds 1 --no-store -b arena:commit=1MiB \
        --gate "arena:fill/all/ns_per_op < 1s"
    expect_code 2
    expect_error "did you mean 'arena:commit=1MiB'"
}

@test "gates hold for traces too" {
    bench replay "$ROOT/tests/golden/traces/good/perl-tiny.abt" --rounds 1 --no-store -b glibc \
        --gate "replay/all/ns_per_op < 1s" --gate "replay/alloc/max > 1s"
    expect_code 1
    expect_line '^gates: 1 FAILED, 1 passed$'
}

@test "claims stand beside what was measured and never fail a run" {
    bench run "$ROOT/configs/seeds/random-free.yaml" --set blocks=2000 --rounds 2 --no-store \
        -b glibc,arena --json "$OUT/result.json"
    expect_code 0
    expect_line '^published vs. measured'
    expect_json '.claims | length == 20' "$OUT/result.json"
    expect_json '[.claims[] | select(.backend == "arena")] | length == 3 and all(.measured > 0
        and .low <= .measured and .measured <= .high and .n_rounds == 2)' "$OUT/result.json"
    expect_json '[.claims[] | select(.backend == "slab")] | all(.measured == null
        and .reason == "slab not in this run")' "$OUT/result.json"
}

@test "a claim has its ratio without the harness beside it, of times only" {
    bench run "$ROOT/configs/seeds/random-free.yaml" --set blocks=20000 --rounds 6 --no-store \
        --passes throughput -b glibc,inline+pool --json "$OUT/result.json"
    expect_code 0
    # what the harness takes is in both, so the larger one gains by its subtraction
    expect_json '[.claims[] | select(.measured != null and .net != null)]
        | length >= 1 and all((.net - .measured) * (1 - .measured) <= 0
            and .net_interval_low <= .net and .net <= .net_interval_high)' "$OUT/result.json"
    expect_line 'net of harness'
}

@test "settings of a back end that a claim names do not end the run" {
    bench run "$ROOT/configs/seeds/random-free.yaml" --set blocks=2000 --rounds 1 --no-store \
        -b glibc,arena:commit=4KiB --json "$OUT/result.json"
    expect_code 0
    expect_json '[.claims[] | select(.backend == "arena")] | length == 3 and all(.measured == null
        and .reason == "arena not in this run")' "$OUT/result.json"
}

@test "the workloads of the published claims are valid" {
    for file in "$ROOT"/configs/seeds/*.yaml; do
        bench check "$file"
        expect_code 0
        grep -Eq 'claims [1-9]' "$OUT/stdout" || fail "$file: no claims"
    done
}

@test "a gate's own mistakes are shown with all others, by place, whatever else is wrong" {
    cat >"$OUT/all.yaml" <<'YAML'
allocbench: 1
name: all
gates:
  - "p/aloc/p99 < 2us"
  - "q/alloc/p99 < 2us"
sed: 4
sets: [{name: s, count: 20x}]
phases:
  - {name: p, until: [], do: [{alloc: s, size: 8, count: 3}]}
YAML
    bench check "$OUT/all.yaml"
    expect_code 2
    [ "$(grep -o 'all.yaml:[0-9]*:[0-9]*: error' "$OUT/stderr" | cut -d: -f2,3 | xargs)" = \
        "4:8 5:6 6:1 7:25 9:22" ] || fail "$(cat "$OUT/stderr")"
    grep -q "4:8: error: unknown op 'aloc'; did you mean 'alloc'?" "$OUT/stderr"
    sed -i '/^sed/d; s/20x/2/; s/until: \[\], //' "$OUT/all.yaml" # now its tape cannot be made
    bench run "$OUT/all.yaml" -b glibc
    expect_code 2
    grep -q "all.yaml:4:8: error: unknown op 'aloc'" "$OUT/stderr"
    grep -q "all.yaml:8:.*full: all 2 positions" "$OUT/stderr"
}

# Four blocks of 32 bytes: what is resident is the heap's own, and its ratio to the work is any number.
@test "a ratio of memory is left open where less than a page is live, and run says why" {
    cat >tiny.yaml <<'YAML'
allocbench: 1
name: tiny
sets: [{name: a, count: 4}]
phases:
  - {name: p, repeat: 500, do: [{alloc: a, size: 32, count: all}, {free: a, count: all}]}
YAML
    bench run tiny.yaml --rounds 2 --no-store -b glibc,arena --json "$OUT/r.json" \
        --gate 'glibc:p/memory/peak < 1000000x live' --gate 'glibc:p/memory/peak < 1000000x arena' \
        --gate 'p/memory/peak < 1GiB'
    expect_json '[.gates[].verdict] == ["inconclusive", "inconclusive", "pass", "pass"]' "$OUT/r.json"
    expect_json '.gates[0].reason | test("128 bytes are live, less than a page")' "$OUT/r.json"
    grep -q '^note: at most 128 bytes are live, less than a page: memory figures say nothing' "$OUT/stdout" ||
        fail "$(cat "$OUT/stdout")"
}
