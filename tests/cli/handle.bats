#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Handles beside addresses, and what it costs to use a block.

load helpers

@test "accesses have rows of their own, for handles and addresses alike" {
    bench run "$WORKLOADS/handles.yaml" --rounds 2 -b glibc,handle,pool -v time
    expect_code 0
    awk '/^access/ {in_it = 1} /^(all ops|distribution)/ {in_it = 0} in_it {print $1}' \
        "$OUT/stdout" | tr '\n' ' ' >"$OUT/rows"
    [ "$(cat "$OUT/rows")" = "access glibc handle pool " ] || fail "rows: $(cat "$OUT/rows")"
    ! grep -q partial "$OUT/stdout" || fail "somebody is partial"
}

@test "every access is counted, sampled and seen by the tail pass, in one lane and in three" {
    for lanes in 1 3; do
        bench run "$WORKLOADS/handles.yaml" --set lanes=$lanes --rounds 1 -b glibc,handle --json -
        expect_code 0
        expect_one_document
        expect_json '.backends | all(.status == "ok")'
        expect_json '.config.tape.kinds == ["alloc", "free", "access"]'
        expect_json "[.results[] | select(.op == \"access\") | .tail.n] == [3500 * $lanes, 3500 * $lanes]"
        expect_json '.results | map(select(.op == "access")) | all(.n > 1000 and .quantiles.p50 > 0)'
        expect_json "[.results[] | select(.op == \"all\") | [.n_ops, .n_unsupported]]
            | all(. == [$lanes * (500 + 3500 + 600 + 500), 0])"
        [ $lanes -eq 1 ] || expect_json '[.results[] | select(.op == "all") | .live_peak_blocks]
            | all(. <= 1600)' # blocks, not accesses
        expect_json '[.size_classes[] | select(.op == "access") | .le_bytes] | min >= 8 and max <= 256'
    done
}

@test "a stored result with accesses is read, printed and converted" {
    bench run "$WORKLOADS/handles.yaml" --rounds 1 -b glibc,handle --json "$OUT/r.json" --csv "$OUT/a.csv"
    expect_code 0
    grep -q ',access,' "$OUT/a.csv" || fail "no access in the CSV"
    bench report "$OUT/r.json" --csv "$OUT/b.csv"
    expect_code 0
    cmp "$OUT/a.csv" "$OUT/b.csv"
}

@test "an access can be gated, and is no op of a phase without one" {
    bench run "$WORKLOADS/handles.yaml" --rounds 1 -b glibc,handle --gate 'use/access/max < 10s'
    expect_code 0
    bench run "$WORKLOADS/handles.yaml" --rounds 1 -b handle --gate 'use/access/p50 > 1s'
    expect_code 1
    bench run "$WORKLOADS/small.yaml" --rounds 1 -b handle --gate 'churn/access/p50 < 1s'
    expect_code 2
    expect_error "access.*alloc, free, all"
}

@test "a fixed capacity that the work exceeds ends the run of that back end, with the place" {
    bench run "$WORKLOADS/handles.yaml" --rounds 1 -b handle:capacity=550,handle:capacity=600 --json -
    expect_code 4
    expect_json '.backends[0] | .status == "oom"
        and (.reason | test("returned NULL [(]op 550[)]"))'
    expect_json '.backends[1].status == "ok"'
}

@test "a slot that is used up is retired: too few versions and the capacity is gone" {
    bench run "$WORKLOADS/handles.yaml" --rounds 1 -b handle:versions=1,handle:versions=1000 --json -
    expect_code 4
    expect_json '.backends[0].reason | test("NULL")'
    expect_json '.backends[1].status == "ok"'
}

@test "the handle arena is listed with its settings" {
    bench list backends -v
    expect_code 0
    grep -q '^ *handle ' "$OUT/stdout" || fail "not listed"
    grep -q 'capacity' "$OUT/stdout" || fail "capacity is not listed"
}

@test "the example uses the public header alone" {
    mkdir -p "$OUT/alone/allocators/handle"
    cp "$ROOT"/allocators/handle/handle{.[ch],_define.h} "$OUT/alone/allocators/handle"
    cp -r "$ROOT/allocators/common" "$OUT/alone/allocators"
    (cd "$OUT/alone" && "${CC:-cc}" -std=c11 -O2 -Wall -Wextra -Wpedantic -Werror -I. -o example \
        "$ROOT/tests/examples/handle.c" allocators/handle/handle.c allocators/common/pages.c)
    "$OUT/alone/example" >"$OUT/stdout"
    printf '%s\n' "target is gone" "hull 70" "both berths taken" "all gone" | cmp - "$OUT/stdout"
}

@test "a handle of one type is refused where one of another is meant, in C and in C++" {
    need_compilers g++
    for language in "cc -std=c11" "g++ -std=c++17 -x c++"; do
        for wrong in "shot_get_mut(&shots, ship)" "ship_remove(&shots, ship)" "ship_get(&ships, ship)"; do
            printf '%s\n' '#include "allocators/handle/handle.h"' 'AB_HANDLE_DEFINE(ship, float)' \
                'AB_HANDLE_DEFINE(shot, char)' \
                'static struct ship_arena ships;' 'static struct shot_arena shots;' \
                "int main(void) { struct ship_handle ship = {{0, 0}}; return $wrong ? 1 : 0; }" >"$OUT/wrong.c"
            code=0
            $language -Werror -fsyntax-only -I"$ROOT" "$OUT/wrong.c" 2>"$OUT/stderr" || code=$?
            case $wrong in
                ship_get*) [ "$code" -eq 0 ] || fail "$language: $wrong" ;;
                *) [ "$code" -ne 0 ] || fail "$language takes it: $wrong" ;;
            esac
        done
    done
}

build_misuse() { # FLAG…
    (cd "$ROOT" && "${CC:-cc}" -std=c11 -g -O1 -Wall -Wextra -Wpedantic -Werror -I. "$@" -o "$OUT/misuse" \
        tests/examples/handle_misuse.c allocators/handle/handle.c allocators/common/pages.c)
}

@test "AddressSanitizer finds the use of a value that is gone, and what lies behind one" {
    build_misuse -fsanitize=address,undefined
    [ "$("$OUT/misuse" none)" = "in order" ]
    for mistake in removed flushed overflow; do
        code=0
        "$OUT/misuse" $mistake >"$OUT/stdout" 2>"$OUT/stderr" || code=$?
        [ "$code" -ne 0 ] || fail "$mistake is not found"
        expect_error 'AddressSanitizer: use-after-poison'
        expect_error 'handle_misuse.c:'
    done
}

# bats test_tags=full
@test "Valgrind finds the use of a value that is gone, and what lies behind one" {
    command -v valgrind >/dev/null || skip "no valgrind"
    [ -e /usr/include/valgrind/memcheck.h ] || skip "no headers of valgrind"
    build_misuse -DAB_WITH_VALGRIND -gdwarf-4
    for mistake in none removed flushed overflow; do
        code=0
        valgrind -q --error-exitcode=9 "$OUT/misuse" $mistake >"$OUT/stdout" 2>"$OUT/stderr" || code=$?
        if [ $mistake = none ]; then expect_code 0; else expect_code 9; fi
    done
}

@test "a handle of another arena is refused without a setting" {
    build_misuse
    [ "$("$OUT/misuse" foreign | head -1)" = refused ]
}
