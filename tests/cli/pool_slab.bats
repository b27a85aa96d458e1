#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Pool and slab outside of allocbench: as a small library, under sanitizers and Valgrind, and their
# own checks.

load helpers

PAGES=allocators/common/pages.c
LIBRARY="allocators/pool/pool.c allocators/slab/slab.c $PAGES"

build() { # OUTPUT SOURCE FLAGS…
    command -v "${CC:-cc}" >/dev/null || skip "no compiler"
    local out=$1 source=$2
    shift 2
    (cd "$ROOT" && ${CC:-cc} -std=gnu17 -g -O1 -Wall -Wextra -Werror -I. "$@" \
        -o "$out" "$source" $LIBRARY -pthread)
}

@test "the examples build from the allocator's files alone and run" {
    LIBRARY="allocators/pool/pool.c $PAGES" build "$OUT/pool" tests/examples/pool.c
    [ "$("$OUT/pool")" = "10000 particles
0 left" ]
    LIBRARY="allocators/slab/slab.c $PAGES" \
        build "$OUT/slab" tests/examples/slab.c
    "$OUT/slab" >"$OUT/stdout"
    grep -q '^0 left$' "$OUT/stdout"
}

@test "the files of an allocator include nothing of allocbench" {
    ! grep -rEn '#include "(src|core|trace|backend|measure|worker)/' "$ROOT"/allocators/pool \
        "$ROOT"/allocators/slab "$ROOT"/allocators/team "$ROOT"/allocators/*.h
}

@test "AddressSanitizer finds an overflow, a use after free and a use after reset" {
    build "$OUT/misuse" tests/examples/misuse.c -fsanitize=address
    for name in pool slab; do
        [ "$("$OUT/misuse" none $name)" = "in order" ]
        for mistake in overflow after-free after-reset; do
            code=0
            "$OUT/misuse" $mistake $name >"$OUT/stdout" 2>"$OUT/stderr" || code=$?
            [ "$code" -ne 0 ] || fail "$name: $mistake is not found"
            expect_error 'AddressSanitizer: use-after-poison'
            expect_error 'misuse.c:'
        done
    done
}

# bats test_tags=full
@test "AddressSanitizer finds a second free, one of a pointer into a block, one of foreign memory" {
    build "$OUT/misuse" tests/examples/misuse.c -fsanitize=address
    for mistake in "twice pool" "inside pool" "foreign pool" "twice slab" "inside slab" "foreign slab" \
        "large-twice slab"; do
        code=0
        # shellcheck disable=SC2086 # words
        "$OUT/misuse" $mistake >"$OUT/stdout" 2>"$OUT/stderr" || code=$?
        [ "$code" -ne 0 ] || fail "$mistake is not found"
        expect_error 'ERROR: AddressSanitizer: (use-after-poison|unknown-crash|SEGV|global-buffer-overflow)'
        expect_error 'misuse.c:'
    done
}

# bats test_tags=full
@test "Valgrind finds a second free, one of a pointer into a block, one of foreign memory" {
    command -v valgrind >/dev/null || skip "no valgrind"
    [ -e /usr/include/valgrind/memcheck.h ] || skip "no headers of valgrind"
    build "$OUT/misuse" tests/examples/misuse.c -DAB_WITH_VALGRIND -gdwarf-4
    for mistake in "twice pool" "inside pool" "foreign pool" "twice slab" "inside slab"; do
        code=0
        # shellcheck disable=SC2086 # words
        valgrind -q --error-exitcode=9 "$OUT/misuse" $mistake >"$OUT/stdout" 2>"$OUT/stderr" || code=$?
        expect_code 9
        expect_error 'Invalid (free|read|write)|Illegal memory pool'
    done
}

@test "Valgrind finds an overflow, a use after free, a use after reset and unwritten bytes" {
    command -v valgrind >/dev/null || skip "no valgrind"
    [ -e /usr/include/valgrind/memcheck.h ] || skip "no headers of valgrind"
    build "$OUT/misuse" tests/examples/misuse.c -DAB_WITH_VALGRIND -gdwarf-4
    for name in pool slab; do
        valgrind -q --error-exitcode=9 "$OUT/misuse" none $name >"$OUT/stdout" 2>"$OUT/stderr" ||
            fail "$name: Valgrind finds what is not there"
        for mistake in overflow after-free after-reset undefined; do
            code=0
            valgrind -q --error-exitcode=9 "$OUT/misuse" $mistake $name \
                >"$OUT/stdout" 2>"$OUT/stderr" || code=$?
            expect_code 9
            expect_error 'Invalid write of size 1|uninitialised value'
            expect_error 'misuse.c:'
        done
    done
}

@test "without marks the same program runs through: they cost nothing" {
    build "$OUT/misuse" tests/examples/misuse.c
    [ "$("$OUT/misuse" after-free pool)" = "in order" ]
    [ "$("$OUT/misuse" after-free slab)" = "in order" ]
}

@test "every mode of threads runs a workload of several lanes, each a row of its own" {
    bench run "$ROOT/configs/exchange.yaml" --set lanes=2 --set rounds=300 --set slots=64 --rounds 1 \
        -b pool:threads=mutex,pool:threads=local,pool:threads=sharded,pool:threads=lockfree \
        --json -
    expect_code 0
    expect_json '[.backends[].name] | length == 4'
    bench run "$ROOT/configs/exchange.yaml" --set lanes=2 --set rounds=300 --set slots=64 --rounds 1 \
        -b slab:threads=mutex,slab:threads=local:classes=fine,slab:threads=sharded:shards=2 --json -
    expect_code 0
    expect_json '[.backends[].name] | length == 3'
}

@test "one lane only is what threads=none says, with several it is refused" {
    bench run "$ROOT/configs/exchange.yaml" --set lanes=2 --set rounds=100 --rounds 1 \
        -b slab:threads=none --json -
    expect_code 4
    expect_error 'threads=none is for one thread'
    bench run "$ROOT/configs/churn.yaml" --set ops=2000 --rounds 1 -b slab:threads=none --json -
    expect_code 0
}

@test "debug=on runs a clean workload and is its own row" {
    bench run "$ROOT/configs/churn.yaml" --set ops=2000 --rounds 1 \
        -b pool:debug=on,slab:debug=on,slab:debug=on:threads=local --json -
    expect_code 0
    expect_json '[.backends[].name] | length == 3'
}

@test "fine classes lose less to rounding than powers of two" {
    sed -e 's/uniform(64, 256)/uniform(8, 256)/' "$ROOT/configs/churn.yaml" >"$OUT/small.yaml"
    bench run "$OUT/small.yaml" --set ops=4000 --set slots=20000 --rounds 1 \
        -b slab:classes=pow2,slab:classes=fine --json -
    expect_code 0
    expect_json '.memory | map(select(.backend == "slab:classes=pow2") | .internal_ratio) | min > 0.25'
    expect_json '.memory | map(select(.backend == "slab:classes=fine") | .internal_ratio) | max <= 0.08'
}

# Of a unit test over the port, all that fails: what asks for huge pages, or counts pages that move.
ported() { # TEST
    ${CC:-cc} -std=gnu17 -D_GNU_SOURCE -O1 -w -I. -Isrc -Itests -o "$OUT/$1" "tests/unit/test_allocators_$1.c" \
        tests/support/heap_model.c tests/examples/pages_posix.c "$BUILD/liballocbench.a" \
        -lcmocka -lm -pthread -ldl
    "$OUT/$1" >"$OUT/stdout" 2>&1 || true
    grep -Eq '^\[ +PASSED +\] [1-9]' "$OUT/stdout" || fail "$1: $(tail -3 "$OUT/stdout")"
    ! grep -E '^\[ +FAILED +\] [a-z]' "$OUT/stdout" | grep -Evq 'huge|grow_and_shrink_with_their_pages' ||
        fail "$1: $(grep -E 'LINE|FAILED' "$OUT/stdout")"
}

# bats test_tags=full
@test "a port of pages.c by its table is all that the allocators need of a system without mremap" {
    command -v "${CC:-cc}" >/dev/null && [ -e /usr/include/cmocka.h ] || skip "no compiler or no cmocka"
    cd "$ROOT"
    for name in arena arena_ends pool slab paged paged_arena handle shared shared_own; do
        ported $name
    done
}

@test "what the allocators use of the system is in the table of pages.c" {
    command -v nm >/dev/null && [ -e "$BUILD/liballocbench-heaps.a" ] || skip "needs nm and make all"
    sed -n '1,/\*\//p' "$ROOT/allocators/common/pages.c" >"$OUT/table"
    nm -u "$BUILD/liballocbench-heaps.a" | awk '
        /:$/ { of_pages = /^pages\.o:/ }
        !of_pages && $1 == "U" { print $2 }' | sort -u |
        grep -Ev '^(ab_|mem(cpy|set|move)$|str|_GLOBAL_OFFSET_TABLE_|__stack_chk_fail|__asan|__tsan|__ubsan)' >"$OUT/used"
    grep -q pthread_mutex_lock "$OUT/used" || fail "nothing found"
    while read -r name; do
        case $name in
        __errno_location) name=errno ;;
        __tls_get_addr) name=__thread ;;
        pthread_mutex_*) name=${name#pthread_mutex} ;;
        pthread_key_*) name=pthread_key_ ;;
        esac
        grep -qF "$name" "$OUT/table" || fail "$name is not in the table"
    done <"$OUT/used"
}
