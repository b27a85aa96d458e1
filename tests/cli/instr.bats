#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# --instr: what is counted is exact, so bounds here are narrow. libextra has a known number of
# instructions and system calls more than without its settings.
# tests: count_round.c counts.c

load helpers

need_valgrind() {
    command -v valgrind >/dev/null || skip "no valgrind here"
}

counted() { # BACKEND KEY
    jq --arg b "$1" "[.results[] | select(.op == \"all\" and .backend == \$b and .$2 != null) | .$2][0]" \
        "$OUT/result.json"
}

counts() { # OPTIONS OF RUN
    bench run "$WORKLOADS/truth.yaml" --rounds 1 --drain 0 --instr --json "$OUT/result.json" "$@"
}

@test "each of a known number of instructions is counted, and the same build twice is the same" {
    need_valgrind
    lib=$GUESTS/libextra.so
    cp "$lib" "$OUT/again.so"
    counts -b "none=$lib{EXTRA=0},again=$OUT/again.so{EXTRA=0},more=$lib{EXTRA=50}"
    expect_code 0
    expect_json '.counting.method != null and .counting.reason == null' "$OUT/result.json"
    none=$(counted none instr_per_op) more=$(counted more instr_per_op)
    again=$(counted again instr_per_op)
    jq -en "$none > 5 and (($more - $none) - 100 | fabs) < 0.001" >/dev/null ||
        fail "$none, $more: not 100 apart"
    jq -en "($none / $again - 1 | fabs) <= 20e-6" >/dev/null || fail "$none, then $again"
    expect_nothing_left
}

@test "what is subtracted for the harness does not depend on a decorated row before" {
    need_valgrind
    for rows in slab checked+glibc,slab; do
        bench run "$ROOT/configs/churn.yaml" --rounds 1 --drain 0 --instr --json "$OUT/result.json" \
            -b "$rows"
        expect_code 0
        alone=${alone:-$(counted slab instr_per_op)}
    done
    behind=$(counted slab instr_per_op)
    jq -en "($alone / $behind - 1 | fabs) < 0.001" >/dev/null || fail "$alone alone, $behind behind it"
}

@test "a hundredth more is found in one round by a gate, and the same again passes it" {
    need_valgrind
    lib=$GUESTS/libextra.so
    cp "$lib" "$OUT/again.so"
    counts -b "none=$lib{EXTRA=200},again=$OUT/again.so{EXTRA=200}" \
        --gate 'again:fill/all/instr_per_op < 1.001x none'
    expect_code 0
    counts -b "none=$lib{EXTRA=200},more=$lib{EXTRA=203}" \
        --gate 'more:fill/all/instr_per_op < 1.01x none'
    expect_code 1
    grep -q 'x none' "$OUT/stdout"
}

@test "a background thread of the allocator is not in the instructions of an op" {
    need_valgrind
    counts -b "busy=$GUESTS/libbackground.so,alone=$GUESTS/libenv.so{ENV_WANTED=1}"
    expect_code 0
    busy=$(counted busy instr_per_op) alone=$(counted alone instr_per_op)
    jq -en "($busy / $alone - 1 | fabs) < 0.001" >/dev/null || fail "$busy with, $alone without"
}

@test "system calls are counted by kind, each one" {
    counts -b "calls=$GUESTS/libextra.so{EXTRA_CALLS=1}" --set n=1000
    expect_code 0
    [ "$(counted calls syscalls_madvise)" = 10 ] || fail "not 10 of madvise"
    [ "$(counted calls syscalls_mmap)" = 0 ] || fail "mmap"
    [ "$(counted calls syscalls_other)" = 0 ] || fail "others"
}

@test "waits of threads for each other are none of the allocator's system calls" {
    bench run "$WORKLOADS/pipeline.yaml" --rounds 1 --drain 0 --instr -b null --json "$OUT/result.json"
    expect_code 0
    expect_json '[.results[] | select(.op == "all") | .syscalls_futex, .syscalls_other] | add == 0' \
        "$OUT/result.json"
    expect_json '.counting.method == null and (.counting.reason | test("of one thread"))' \
        "$OUT/result.json"
}

@test "without valgrind there are no instructions, and it says what to install" {
    bench run "$WORKLOADS/small.yaml" --rounds 1 --drain 0 --instr -b glibc --json "$OUT/result.json"
    jq -e '.counting.method == "cpu counter"' "$OUT/result.json" && skip "this CPU counts by itself"
    PATH=/none "$BUILD/allocbench" run "$WORKLOADS/small.yaml" --rounds 1 --drain 0 --instr -b glibc \
        --json "$OUT/result.json" >"$OUT/stdout" 2>"$OUT/stderr" 3>&- || fail "failed"
    expect_json '.counting.method == null and (.counting.reason | test("package valgrind"))' \
        "$OUT/result.json"
    expect_json '[.results[].instr_per_op] | map(select(. != null)) == []' "$OUT/result.json"
    grep -q 'package valgrind' "$OUT/stdout" || fail "the table does not say it"
}

@test "what was not asked for, or lies behind the sample, is no number: its gate says why" {
    bench run "$WORKLOADS/small.yaml" --rounds 1 --drain 0 -b glibc --json "$OUT/result.json" \
        --gate 'churn/all/instr_per_op < 100'
    expect_code 1
    grep -q 'counted only with --instr' "$OUT/stdout" || fail "no reason"
    expect_json '.counting == null' "$OUT/result.json"
    need_valgrind
    counts -b glibc --instr-ops 1000 --set n=200000
    expect_code 0
    grep -q 'Instructions are counted by' "$OUT/stdout"
    bench run "$WORKLOADS/small.yaml" --instr-ops 10
    expect_code 2
    expect_error 'at least 1000'
}

@test "an allocator that fails in this run alone keeps its other numbers, and has no count" {
    need_valgrind
    printf '#!/bin/sh\necho "==1== valgrind: broken on purpose" >"${2#*=}"; exit 1\n' >"$OUT/valgrind"
    chmod +x "$OUT/valgrind"
    PATH=$OUT:$BUILD bench run "$WORKLOADS/small.yaml" --rounds 1 --drain 0 --instr -b glibc \
        --json "$OUT/result.json"
    expect_code 0
    jq -e '.counting.method == "cpu counter"' "$OUT/result.json" && skip "this CPU counts by itself"
    expect_json '.counting.method == null and (.counting.reason | test("under callgrind"))' \
        "$OUT/result.json"
    expect_json '[.results[] | select(.op == "all") | .ns_per_op] | all(. > 0)' "$OUT/result.json"
}

@test "a stored result shows its counts again, and what resumes one keeps them" {
    bench run "$WORKLOADS/small.yaml" --rounds 1 --drain 0 --instr -b glibc --json "$OUT/result.json"
    expect_code 0
    bench report "$OUT/result.json"
    expect_code 0
    grep -q ': counts' "$OUT/stdout" || fail "no counts"
    bench report "$OUT/result.json" --json "$OUT/again.json"
    diff <(jq -S 'del(.tool)' "$OUT/result.json") <(jq -S 'del(.tool)' "$OUT/again.json")
}

@test "a hundredth more than a baseline of one round is found by compare, in one round" {
    need_valgrind
    build() { # EXTRA: a build of the library, in place of the last one
        LC_ALL=C sed "s/EXTRA_DEFAULT=000/EXTRA_DEFAULT=$1/" "$GUESTS/libextra.so" >"$OUT/mine.so"
    }
    build 200
    counts -b "$OUT/mine.so"
    cp "$OUT/result.json" "$OUT/base.json"
    for extra in 200 203; do
        build $extra
        counts -b "$OUT/mine.so"
        bench compare "$OUT/base.json" "$OUT/result.json" --gate 'fill/all/instr_per_op < +1%'
        expect_code $((extra > 200 ? 1 : 0))
        grep -q instr_per_op "$OUT/stdout" || fail "not in the table"
    done
    # another part of the work is not compared
    counts -b "$OUT/mine.so" --instr-ops 5000
    bench compare "$OUT/base.json" "$OUT/result.json" --gate 'fill/all/instr_per_op < +1%'
    expect_code 1
    grep -q 'not counted alike' "$OUT/stdout" || fail "compared"
}
