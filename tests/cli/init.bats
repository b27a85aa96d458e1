#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# init: each scaffold is valid, without a note, runs at once, and replaces nothing.
# tests: cmd_init.c

load helpers

teardown() {
    rm -rf "$BATS_TEST_TMPDIR/cwd"
}

@test "each scaffold is checked without a note, and runs as it is" {
    local kind
    for kind in frame server churn pipeline; do
        bench init "$kind"
        expect_code 0
        grep -q "^wrote $kind.yaml$" "$OUT/stdout"
        [ "$(wc -l <"$kind.yaml")" -ge 20 ] && [ "$(wc -l <"$kind.yaml")" -le 32 ]
        [ -z "$(awk 'length > 100' "$kind.yaml")" ] || fail "$kind is too wide"
        bench check "$kind.yaml" --json -
        expect_code 0
        expect_json ".lints == [] and .name == \"$kind\""
        bench run "$kind.yaml" -b glibc --rounds 1 --json -
        expect_code 0
        expect_json '.backends[0].status == "ok"'
    done
}

@test "the frame: time of each against its budget, with one malloc and with an arena that scopes reset" {
    bench init frame
    bench run frame.yaml -b glibc --rounds 1 --set frames=1100 --passes throughput,tail --json r.json
    expect_code 0
    expect_json '[.iterations[].backend] == ["glibc", "@map"]' r.json
    expect_json 'all(.iterations[]; .name == "frame" and .n + .n_scheduler == 1100 and .budget_ns == 167000)' r.json
    # 504 calls of the frame's own blocks, then 500 frees or 5 save points and 5 ways back; 20 replaced
    expect_json 'all(.iterations[] | select(.backend == "glibc"); .n_calls == .n * 1044)' r.json
    expect_json 'all(.iterations[] | select(.backend == "@map"); .n_calls == .n * 554)' r.json
    grep -Eq '^frame +p50 +p99 +worst +missed ' "$OUT/stdout" || fail "$(cat "$OUT/stdout")"
    grep -q '^note: bulk reset: @map; individual frees: glibc$' "$OUT/stdout" || fail "no bulk reset"
}

@test "init ci writes a workload with gates that hold, and a workflow that compares two builds with it" {
    need_library jemalloc
    bench init ci
    expect_code 0
    grep -q '^wrote .github/workflows/allocbench.yml$' "$OUT/stdout"
    grep -q '^ *allocbench run allocbench-ci.yaml -b glibc,old=./old/libmine.so,new=./libmine.so --base old$' \
        "$OUT/stdout" || fail "another command than the workflow's"
    grep -q '^ *allocbench calibrate allocbench-ci.yaml$' "$OUT/stdout"
    python3 -c 'import yaml, sys; yaml.safe_load(open(".github/workflows/allocbench.yml"))' 2>/dev/null ||
        ! python3 -c 'import yaml' 2>/dev/null || fail "the workflow is no YAML"
    local command
    command=$(sed -n '/^          allocbench run/,/summary.md$/p' .github/workflows/allocbench.yml | tr -s ' \n' ' ')
    [ -n "$command" ]
    mkdir old
    cp "$library" old/libmine.so
    cp "$library" libmine.so
    command=${command//1.5x/15x} # how long it takes on a busy machine is not the question
    eval "few_processes ${command# allocbench }" # its quotes
    code=0
    allocbench "${command[@]}" --rounds 6 >"$OUT/stdout" 2>"$OUT/stderr" || code=$?
    expect_code 0
    grep -q '^gates: 7 passed' "$OUT/stdout" || fail "$(cat "$OUT/stdout")"
    [ -s summary.md ]
    bench run allocbench-ci.yaml -b glibc --rounds 1 --gate 'steady/memory/rss_peak < 1KiB'
    expect_code 1
}

@test "what is there is not replaced, and then nothing is written" {
    echo mine >server.yaml
    bench init server
    expect_code 2
    expect_error 'server.yaml already exists and is not replaced'
    [ "$(cat server.yaml)" = mine ]
    mkdir -p .github/workflows
    echo mine >.github/workflows/allocbench.yml
    bench init ci
    expect_code 2
    expect_error '.github/workflows/allocbench.yml already exists'
    [ ! -e allocbench-ci.yaml ]
    ln -s /nonexistent churn.yaml
    bench init churn
    expect_code 2
}

@test "an unknown scaffold gets the nearest, none gets all; a folder that cannot be written is told" {
    bench init sever
    expect_code 2
    expect_error 'did you mean "server"'
    bench init xyz
    expect_error 'there are frame, server, churn, pipeline, ci'
    bench init
    expect_code 2
    expect_error 'init needs one of frame, server, churn, pipeline, ci: '
    bench init --help
    grep -q '^usage: allocbench init frame|server|churn|pipeline|ci$' "$OUT/stdout" || fail "the help has others"
    bench init frame server
    expect_code 2
    echo x >.github
    bench init ci
    expect_code 2
    expect_error '.github'
}
