#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# What arguments stand for: stored results by age, workloads by name, and files of the wrong kind.
# tests: arguments.c result_store.c named_workload.c

load helpers

# Three results in $RES, from old to new: one, two, three; and what is no result.
three_results() {
    RES=$BATS_TEST_TMPDIR/res
    mkdir -p "$RES/baselines"
    export ALLOCBENCH_RESULTS=$RES
    cp "$ROOT/tests/golden/results/good/run.json" "$RES/one.json"
    for name in two three; do cp "$RES/one.json" "$RES/$name.json"; done
    echo '{"schema":"allocbench-calibration/1"}' >"$RES/calibration.json"
    cp "$RES/one.json" "$RES/baselines/main.json"
    touch -d '2026-01-01' "$RES/one.json"
    touch -d '2026-01-02' "$RES/two.json"
    touch -d '2026-01-03' "$RES/three.json"
}

# The program, in a source tree and installed: $TREE/build/release, $TREE/usr/bin.
a_tree() {
    TREE=$BATS_TEST_TMPDIR/tree
    mkdir -p "$TREE/build/release" "$TREE/usr/bin" "$TREE/usr/share/allocbench/configs"
    cp "$BUILD/allocbench" "$BUILD/allocbench-worker" "$TREE/build/release"
    cp "$BUILD/allocbench" "$BUILD/allocbench-worker" "$TREE/usr/bin"
    cp -r "$ROOT/configs" "$TREE/configs"
    cp "$ROOT/configs/churn.yaml" "$TREE/usr/share/allocbench/configs"
    cp -r "$ROOT/traces" "$TREE/usr/share/allocbench/traces"
    cp -r "$ROOT/traces" "$TREE/traces"
}

# As bench, of the program at a path.
bench_at() { # PROGRAM ARGUMENT…
    code=0
    "$@" >"$OUT/stdout" 2>"$OUT/stderr" 3>&- || code=$?
}

@test "@last is the newest stored result, @last~1 the one before; calibrations and baselines are none" {
    three_results
    bench report @last --json -
    expect_code 0
    expect_error "^@last: $RES/three.json$"
    expect_one_document
    bench report @last~2
    expect_code 0
    expect_error "^@last~2: $RES/one.json$"
    bench report @last~3
    expect_code 3
    expect_error "there are only 3 stored results in $RES"
}

@test "a result that was written again is the newest" {
    three_results
    touch -d '2026-01-04' "$RES/two.json"
    bench report @last
    expect_code 0
    expect_error "/two.json"
}

@test "@last is taken wherever a result is: compare, merge, baseline, --baseline, --resume" {
    three_results
    bench compare @last~1 @last
    expect_error '^@last~1: .*/two.json$'
    expect_error '^@last: .*/three.json$'
    bench baseline save kept @last~2
    expect_error '^@last~2: .*/one.json$'
    bench run "$WORKLOADS/small.yaml" -b glibc --rounds 1 --baseline @last
    expect_error '^@last: .*/three.json$'
    bench run --resume @last~1
    expect_error '^@last~1: .*/two.json$'
    bench merge @last~2
    expect_error '^@last~2: .*/one.json$'
}

@test "--no-store keeps no result, and finds those that are there" {
    three_results
    bench run "$WORKLOADS/small.yaml" -b glibc --rounds 1 --no-store --baseline @last
    expect_error '^@last: .*/three.json$'
}

@test "a misspelled @last says what there is; no folder and no results are told apart" {
    bench report @lst
    expect_code 2
    expect_error '@lst does not name a stored result: @last is the newest, @last~1 the one before'
    for bad in @last~ @last~x @last~-1 @last1 @last~1x @last~9999999; do
        bench report "$bad"
        expect_code 2
    done
    bench report @last
    expect_code 2
    expect_error 'ALLOCBENCH_RESULTS is empty'
    ALLOCBENCH_RESULTS=$BATS_TEST_TMPDIR/none bench report @last
    expect_code 3
    expect_error 'there is no stored result'
}

@test "a workload by name: of the source tree, else of the installation" {
    a_tree
    bench_at "$TREE/build/release/allocbench" check @churn --set ops=1000
    expect_code 0
    grep -q '^churn: ' "$OUT/stdout"
    bench_at "$TREE/build/release/allocbench" check @seeds/random-free
    expect_code 0
    bench_at "$TREE/usr/bin/allocbench" check @churn --set ops=1000
    expect_code 0
    bench_at "$TREE/usr/bin/allocbench" check @region
    expect_code 2
    expect_error 'no workload is called @region in /.*/share/allocbench/configs; see allocbench list workloads'
    bench_at "$TREE/build/release/allocbench" check @chrun
    expect_code 2
    expect_error 'did you mean @churn\?'
}

@test "a trace that comes with allocbench by name, in the source tree and installed" {
    a_tree
    for program in build/release usr/bin; do
        bench_at "$TREE/$program/allocbench" replay @sqlite-index -b glibc --rounds 1 --processes 1 --json -
        expect_json '.config.path | endswith("/traces/sqlite-index.abt")'
        expect_code 0
        bench_at "$TREE/$program/allocbench" replay @sqlite-idnex
        expect_code 2
        expect_error 'no trace is called @sqlite-idnex; did you mean @sqlite-index\?'
        bench_at "$TREE/$program/allocbench" replay @perl
        expect_code 2
        expect_error 'did you mean @perl-words'
        bench_at "$TREE/$program/allocbench" replay perl-words.abt
        expect_code 3
        expect_error 'try: allocbench replay @perl-words$'
    done
}

@test "the examples of --help work, and a misspelled name without its @ gets the nearest" {
    a_tree
    cp "$ROOT/configs/quickstart.yaml" "$TREE/usr/share/allocbench/configs"
    PATH=$TREE/usr/bin:$PATH
    bench_at "$TREE/usr/bin/allocbench" --help
    grep -q '^  allocbench run @quickstart$' "$OUT/stdout"
    for near in quickstart.yaml configs/quickstart.yaml configs/quickstart; do
        bench_at "$TREE/usr/bin/allocbench" run "$near"
        expect_code 3
        expect_error 'try: allocbench run @quickstart$'
    done
    for near in qickstart qickstart.yaml configs/qickstart.yaml; do
        bench_at "$TREE/usr/bin/allocbench" run "$near"
        expect_code 3
        expect_error 'did you mean @quickstart\?'
    done
    bench_at "$TREE/usr/bin/allocbench" run something/else.yaml
    expect_code 3
    ! grep -q 'did you mean' "$OUT/stderr"
}

@test "run, calibrate and verify take a workload by name, and a result says which file it was" {
    a_tree
    bench_at "$TREE/build/release/allocbench" run @churn --set ops=2000 -b glibc --rounds 1 \
        --processes 1 --json -
    expect_code 0
    expect_json ".config.path == \"$TREE/configs/churn.yaml\""
    bench_at "$TREE/build/release/allocbench" verify glibc @churn --set ops=2000 --check work
    expect_code 0
}

@test "without its workloads the program says where it looked" {
    mkdir -p "$BATS_TEST_TMPDIR/alone/bin"
    cp "$BUILD/allocbench" "$BATS_TEST_TMPDIR/alone/bin"
    bench_at "$BATS_TEST_TMPDIR/alone/bin/allocbench" check @churn
    expect_code 3
    expect_error 'not installed: there is no .*alone/bin/../share/allocbench/configs'
}

@test "a configs folder two levels above something that is no build is not ours" {
    mkdir -p "$BATS_TEST_TMPDIR/x/y/bin"
    cp -r "$ROOT/configs" "$BATS_TEST_TMPDIR/x/configs"
    cp "$BUILD/allocbench" "$BATS_TEST_TMPDIR/x/y/bin"
    bench_at "$BATS_TEST_TMPDIR/x/y/bin/allocbench" check @churn
    expect_code 3
}

@test "a file of another kind names the command that takes it" {
    local trace workload result
    trace=$(find "$ROOT/tests/golden/traces/good" "$ROOT/traces" -name '*.abt' 2>/dev/null | head -1)
    workload=$ROOT/configs/churn.yaml
    result=$ROOT/tests/golden/results/good/run.json
    hint() { # WORDS COMMAND …
        local words=$1
        shift
        bench "$@"
        expect_code 2
        expect_error "$words"
    }
    hint "run: .*abt is a trace, not a workload; try: allocbench replay " run "$trace"
    hint "check: .* try: allocbench trace check " check "$trace"
    hint "replay: .*churn.yaml is a workload, not a trace; try: allocbench run " replay "$workload"
    hint "report: .* is a trace, not a result; try: allocbench replay " report "$trace"
    hint "compare: .* is a workload, not a result; try: allocbench run " compare "$workload" "$result"
    hint "merge: .* is a workload" merge "$workload"
    hint "baseline: .* is a trace" baseline save x "$trace"
    hint "run: .*run.json is a result, not a workload; try: allocbench report " run "$result"
    hint "replay: .* is a result" replay "$result"
    hint "verify: .* is a result, not a workload or a trace" verify glibc "$result"
    hint "run: .* is a trace, not a result" run "$workload" --resume "$trace"
    hint "exec: .* is a workload, not a trace" exec --trace "$workload" -- true
    hint "run WORKLOAD.yaml -b " run "$GUESTS/libholds.so"
}

@test "a name without its @, or with one that means something else, gets the right command" {
    a_tree
    PATH=$TREE/build/release:$PATH
    bench run churn
    expect_code 3
    expect_error 'run: there is no file churn; try: allocbench run @churn$'
    cp "$WORKLOADS/small.yaml" churn.yaml
    bench run churn
    expect_code 3
    expect_error 'run: there is no file churn, but churn.yaml$'
    rm churn.yaml
    cp "$ROOT/traces/perl-words.abt" .
    bench replay perl-words
    expect_code 3
    expect_error 'there is no file perl-words, but perl-words.abt$'
    rm perl-words.abt
    bench check seeds/random-free.yaml
    expect_code 3
    expect_error 'try: allocbench check @seeds/random-free$'
    bench replay @churn
    expect_code 2
    expect_error '@churn is a workload, not a trace; try: allocbench run @churn$'
    bench replay @last~1
    expect_code 2
    expect_error '@last~1 is a stored result, not a trace; try: allocbench report @last~1$'
    bench run @last
    expect_code 2
    expect_error '@last is a stored result, not a workload; try: allocbench report @last$'
    bench run @laster
    expect_code 2
    expect_error 'no workload is called @laster in /.*; see allocbench list workloads$'
}

@test "what is not recognised is left to the command, and a name with @ is a file after ./" {
    echo 'hello' >other
    bench run other
    expect_code 2
    ! grep -q 'try: allocbench' "$OUT/stderr" || fail "a try is offered"
    bench replay other
    expect_code 3
    cp "$WORKLOADS/small.yaml" ./@small.yaml
    bench check ./@small.yaml
    expect_code 0
    a_tree
    bench_at "$TREE/build/release/allocbench" replay @small.yaml
    expect_code 2
    expect_error 'no trace is called @small.yaml in /.*/traces; see traces/README.md'
    rm other ./@small.yaml
}

@test "a baseline keeps its name although a program of that name is here" {
    three_results
    cp "$GUESTS/libholds.so" main
    bench compare main @last
    ! grep -q 'is a program' "$OUT/stderr"
}
