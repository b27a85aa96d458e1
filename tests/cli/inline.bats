#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# inline+NAME and cursor+NAME: a built-in compiled into the measuring loop, as a row of its own with a null of
# its own, that does the same work as the called one.

load helpers

config=$ROOT/configs/churn.yaml

@test "compiled-in back ends do the work of the called ones, at a boundary of their own" {
    bench run "$config" --set ops=3000 --rounds 2 -b arena,inline+arena,pool,inline+pool,slab,inline+slab \
        --json "$OUT/result.json"
    expect_code 0
    expect_json '[.backends[] | select(.name | startswith("inline+"))]
        | length == 3 and all(.boundary == "inline" and .status == "ok")' "$OUT/result.json"
    expect_json '[.timer.null[].boundary] | unique == ["heap", "inline"]' "$OUT/result.json"
    for name in arena pool slab; do
        expect_json "def work(\$b): [.results[] | select(.backend == \$b) | [.phase, .op, .n_ops, .tail.n]];
            work(\"$name\") == work(\"inline+$name\")" "$OUT/result.json"
        expect_json "def peak(\$b): [.memory[] | select(.backend == \$b) | .live_peak_bytes];
            peak(\"$name\") == peak(\"inline+$name\") and (peak(\"$name\") | length) > 0" "$OUT/result.json"
    done
    grep -q 'compiled into the measuring loop' "$OUT/stdout" || fail "the table does not say so"
    ! tail -4 "$OUT/stdout" | grep -q 'inline+.*fast' || fail "ranked"
}

@test "blocks that live on at the end are drained as the called ones' are" {
    cat >left.yaml <<'Y'
allocbench: 1
name: left
seed: 1
sets:
  - {name: all, count: 2000}
phases:
  - name: fill
    do: [{alloc: all, size: 80, count: all}]
Y
    bench run left.yaml --rounds 1 -b arena,inline+arena,pool,inline+pool,slab,inline+slab --json -
    expect_code 0
    for name in arena pool slab; do
        expect_json "def left(\$b): [.memory[] | select(.backend == \$b) | .drained_bytes];
            left(\"$name\") == left(\"inline+$name\")"
    done
}

@test "a result with compiled-in back ends can be read again" {
    bench run "$config" --set ops=2000 --rounds 1 -b inline+slab --json "$OUT/result.json" -q
    expect_code 0
    bench report "$OUT/result.json" --csv -
    expect_code 0
    grep -q 'inline+slab' "$OUT/stdout"
}

@test "a cursor is a row of its own, with a null of its own, beside the plain inline call" {
    bench run "$config" --set ops=3000 --rounds 2 -b pool,inline+pool,cursor+pool,arena,cursor+arena \
        --json "$OUT/result.json"
    expect_code 0
    expect_json '[.backends[] | select(.name | startswith("cursor+"))]
        | length == 2 and all(.boundary == "cursor" and .status == "ok")' "$OUT/result.json"
    expect_json '[.timer.null[].boundary] | unique == ["cursor", "heap", "inline"]' "$OUT/result.json"
    for name in arena pool; do
        expect_json "def work(\$b): [.results[] | select(.backend == \$b) | [.phase, .op, .n_ops, .tail.n]];
            work(\"$name\") == work(\"cursor+$name\")" "$OUT/result.json"
    done
    ! tail -4 "$OUT/stdout" | grep -q 'cursor+.*fast' || fail "ranked"
    grep -q 'harness (cursor)' "$OUT/stdout" || fail "its harness is not shown"
}

@test "only what has a cursor is measured with one, and no mapping has one" {
    for name in slab glibc; do
        bench run "$config" -b cursor+$name
        expect_code 2
        expect_error "cursor\\+$name: only arena, pool and null have a cursor"
    done
    bench run "$config" -b slab --map '*=cursor+pool'
    expect_code 2
    expect_error 'inline\+arena and inline\+pool can be mapped to'
}

@test "verify proves what is called" {
    bench verify inline+slab
    expect_code 2
    expect_error 'use slab'
    bench verify slab --check ,
    expect_code 2
    expect_error '--check is empty'
}

@test "what is not compiled in is refused, and says what is" {
    for name in glibc paged jemalloc system; do
        bench run "$config" -b inline+$name
        expect_code 2
        expect_error "inline\\+$name: only arena, pool, slab and null can be inlined"
    done
    bench run "$config" --set ops=1000 --rounds 1 -b inline+slab:threads=mutex --json -
    expect_code 4
    expect_json '.backends[0].status == "failed_check" and (.backends[0].reason | test("inlined"))'
    bench run "$ROOT/configs/classics/threadtest.yaml" --rounds 1 -b inline+slab --json -
    expect_code 4
    expect_json '.backends[0].reason | test("single-threaded")'
}
