#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# The arena and the paged allocator outside of allocbench: alone as a library, and under the tools
# that find mistakes. And in it: their settings.

load helpers

COMMON_C="$(cd "$BATS_TEST_DIRNAME/../.." && echo allocators/common/*.c)"
ARENA_C="$(cd "$BATS_TEST_DIRNAME/../.." && echo allocators/arena/arena*.c | sed 's@[^ ]*_backend.c@@') $COMMON_C"
PAGED_C="$(cd "$BATS_TEST_DIRNAME/../.." && echo allocators/paged/paged_*.c | sed 's@[^ ]*_backend.c@@') $COMMON_C"

compile() { # PROGRAM "SOURCES" FLAGS…
    program=$1 sources=$2
    shift 2
    (cd "$ROOT" && "${CC:-cc}" -std=gnu17 -O1 -g -Wall -Wextra -Werror -I. "$@" \
        -o "$OUT/$program" "tests/examples/$program.c" $sources)
}

# FOLDER: a tree with nothing but this, and the shared files that it says to copy
copy_alone() {
    mkdir -p "$OUT/alone/allocators/$1"
    cp "$ROOT/allocators/$1"/*.[ch] "$OUT/alone/allocators/$1"
    rm "$OUT/alone/allocators/$1/$1_backend.c"
    cp -r "$ROOT/allocators/common" "$ROOT/allocators/ab_allocator.h" "$OUT/alone/allocators"
    (cd "$OUT/alone" && "${CC:-cc}" -std=c11 -O2 -Wall -Wextra -Wpedantic -Werror -I. \
        -o example "$ROOT/tests/examples/$1.c" allocators/"$1"/*.c allocators/common/*.c)
    "$OUT/alone/example" >"$OUT/stdout"
}

@test "the arena's example uses its public headers alone" {
    copy_alone arena
    printf '%s\n' "inside 4800, last 999" "behind 800" "hits for 5 bytes" \
        "after a reset 0, committed still" | diff - "$OUT/stdout"
}

@test "the paged example uses its public headers alone" {
    copy_alone paged
    sed -n '/^    tag  /,/^    arena, used/s/^    //p' "$ROOT/allocators/README.md" >"$OUT/wanted"
    [ "$(wc -l <"$OUT/wanted")" -eq 4 ]
    printf '%s\n' "vector grew in place" "popped: yes" "beyond the budget: (nil)" \
        "after a clear 1 page" >>"$OUT/wanted"
    diff "$OUT/wanted" "$OUT/stdout"
}

# Each mistake is reported where it is made, and nothing is when there is none.
expect_asan() { # PROGRAM MISTAKE…
    program=$1
    shift
    "$OUT/$program" none >"$OUT/stdout" 2>"$OUT/stderr" || fail "$program none"
    for mistake; do
        code=0
        "$OUT/$program" "$mistake" >"$OUT/stdout" 2>"$OUT/stderr" || code=$?
        [ "$code" -ne 0 ] || fail "$program $mistake: not noticed"
        expect_error "AddressSanitizer: use-after-poison"
        expect_error "in main|in misuse_(pool|vector|blocks)"
    done
}

@test "AddressSanitizer reports the use of an arena's dead blocks and of what lies behind one" {
    compile arena_misuse "$ARENA_C" -fsanitize=address
    expect_asan arena_misuse scope shrink moved moved-on reset buffer
    compile arena_misuse "$ARENA_C" -fsanitize=address -DAB_WITH_CHECKS
    expect_asan arena_misuse scope shrink moved reset buffer overflow write-after damaged-resize \
        write-dead
}

@test "AddressSanitizer reports the use of dead blocks of a pool and of an arena over it" {
    compile paged_misuse "$PAGED_C" -fsanitize=address
    expect_asan paged_misuse pool-overflow pool-freed popped moved restored cleared returned \
        outgrown shrunk vector-overflow
    compile paged_misuse "$PAGED_C" -fsanitize=address -DAB_WITH_CHECKS
    expect_asan paged_misuse pool-overflow pool-freed popped moved restored cleared returned \
        outgrown shrunk vector-overflow overflow
}

expect_valgrind() { # PROGRAM MISTAKE…
    program=$1
    shift
    for mistake in none "$@"; do
        code=0
        valgrind -q --error-exitcode=99 "$OUT/$program" "$mistake" >"$OUT/stdout" \
            2>"$OUT/stderr" || code=$?
        if [ "$mistake" = none ]; then
            expect_code 0
            [ ! -s "$OUT/stderr" ] || fail "$program none"
        else
            [ "$code" -eq 99 ] || fail "$program $mistake: exit code $code"
            expect_error "Invalid (read|write) of size 1"
        fi
    done
}

# bats test_tags=full
@test "Valgrind reports the same of an arena" {
    command -v valgrind >/dev/null || skip "valgrind is not installed"
    compile arena_misuse "$ARENA_C" -DAB_WITH_VALGRIND
    expect_valgrind arena_misuse scope shrink moved moved-on reset buffer
    compile arena_misuse "$ARENA_C" -DAB_WITH_VALGRIND -DAB_WITH_CHECKS
    expect_valgrind arena_misuse overflow reset
}

# bats test_tags=full
@test "Valgrind reports the same of a pool and of an arena over it" {
    command -v valgrind >/dev/null || skip "valgrind is not installed"
    compile paged_misuse "$PAGED_C" -DAB_WITH_VALGRIND
    expect_valgrind paged_misuse pool-overflow pool-freed popped moved restored cleared returned \
        outgrown shrunk vector-overflow
    compile paged_misuse "$PAGED_C" -DAB_WITH_VALGRIND -DAB_WITH_CHECKS
    expect_valgrind paged_misuse overflow cleared
}

# The checked build says in one line what it found, and ends the process.
expect_checked() { # PROGRAM MISTAKE "WHAT"
    code=0
    "$OUT/$1" "$2" >"$OUT/stdout" 2>"$OUT/stderr" || code=$?
    [ "$code" -eq 134 ] || fail "$1 $2: exit code $code"
    expect_error "^(paged )?arena: 0x[0-9a-f]{16}: $3(, at byte -?[0-9]+)?(; .*)?\$"
    [ "$(wc -l <"$OUT/stderr")" -eq 1 ] || fail "$1 $2: more than one line"
}

@test "the checked build reports what is done to an arena's blocks" {
    compile arena_misuse "$ARENA_C" -DAB_WITH_CHECKS
    "$OUT/arena_misuse" none
    expect_checked arena_misuse write-before "corrupted before its start"
    expect_checked arena_misuse write-after "overflow past its end"
    expect_checked arena_misuse write-after-at-the-end "overflow past its end"
    expect_checked arena_misuse overflow "overflow past its end"
    expect_checked arena_misuse damaged-resize "overflow past its end"
    expect_checked arena_misuse write-dead "written to after it was dead"
    expect_checked arena_misuse reset "written to after it was dead"
    expect_checked arena_misuse wrong-size "its size is another one"
    expect_checked arena_misuse foreign "not from this heap"
    expect_checked arena_misuse inner "not the begin of a live block"
    expect_checked arena_misuse twice-moved "dead already"
    expect_checked arena_misuse closed "a heap that is not open"
    expect_checked arena_misuse null "a heap that is not open"
}

@test "the checked build reports save points that are stale, of another arena, or made up" {
    compile arena_misuse "$ARENA_C" -DAB_WITH_CHECKS
    expect_checked arena_misuse stale-mark "a stale save point: what it was after is dead"
    expect_checked arena_misuse stale-empty-mark "a stale save point: what it was after is dead"
    expect_checked arena_misuse stale-mark-ahead "a stale save point: what it was after is dead"
    for mistake in foreign-mark made-up-mark odd-mark; do
        expect_checked arena_misuse $mistake "a save point of another arena, or of none"
    done
    compile paged_misuse "$PAGED_C" -DAB_WITH_CHECKS
    expect_checked paged_misuse stale-mark "a stale save point: what it was after is dead"
    expect_checked paged_misuse stale-empty-mark "a stale save point: what it was after is dead"
    expect_checked paged_misuse foreign-mark "a save point of another arena, or of none"
    expect_checked paged_misuse made-up-mark "a save point of another arena, or of none"
}

@test "the checked build reports what is done to blocks of a paged arena" {
    compile paged_misuse "$PAGED_C" -DAB_WITH_CHECKS
    "$OUT/paged_misuse" none
    expect_checked paged_misuse write-before "corrupted before its start"
    expect_checked paged_misuse write-after "overflow past its end"
    expect_checked paged_misuse overflow "overflow past its end"
    expect_checked paged_misuse vector-overflow "overflow past its end"
    expect_checked paged_misuse write-dead "written to after it was dead"
    expect_checked paged_misuse wrong-size "its size is another one"
    expect_checked paged_misuse foreign "not from this heap"
    expect_checked paged_misuse twice-moved "dead already"
    expect_checked paged_misuse null "a heap that is not open"
    expect_checked paged_misuse header "the header of a page was overwritten"
}

@test "the checked build and AddressSanitizer work together" {
    compile arena_misuse "$ARENA_C" -DAB_WITH_CHECKS -fsanitize=address
    "$OUT/arena_misuse" none
    for mistake in write-before wrong-size foreign stale-mark foreign-mark closed; do
        code=0
        "$OUT/arena_misuse" $mistake 2>"$OUT/stderr" || code=$?
        [ "$code" -eq 134 ] || fail "$mistake: exit code $code"
    done
    compile paged_misuse "$PAGED_C" -DAB_WITH_CHECKS -fsanitize=address
    "$OUT/paged_misuse" none
}

@test "an arena for each lane, one for all, or one lane only" {
    bench run "$WORKLOADS/pipeline.yaml" --rounds 1 --json - \
        -b arena:threads=local,arena:threads=mutex,paged,paged:form=pool
    expect_code 0
    expect_json '.backends | all(.status == "ok")'
    expect_json '[.backends[].never_frees] == [true, true, true, false]'
    bench run "$WORKLOADS/pipeline.yaml" --rounds 1 -b arena:threads=none,arena
    expect_code 4
    expect_error 'arena:threads=none.*is single-threaded, the workload has'
    bench run "$WORKLOADS/small.yaml" --rounds 1 -b arena:threads=none,glibc
    expect_code 0
}

@test "settings of the arena run, and a wrong one names the nearest" {
    bench run "$WORKLOADS/small.yaml" --rounds 1 --json - \
        -b arena,arena:keep=64KiB:populate=on,arena:huge=on
    expect_code 0
    expect_json '.backends | all(.status == "ok")'
    bench run "$WORKLOADS/small.yaml" -b arena:threads=lokal
    expect_code 2
    expect_error 'did you mean .*local'
}

@test "a table that ends before the newest hook is served" {
    sed 's/\.size = sizeof(struct ab_backend)/.size = AB_BACKEND_SIZE_MIN/' \
        "$ROOT/allocators/skeleton/skeleton.c" >"$OUT/old.c"
    grep -q AB_BACKEND_SIZE_MIN "$OUT/old.c"
    "${CC:-cc}" -D_GNU_SOURCE -std=gnu17 -O2 -fPIC -shared -I"$ROOT" -o "$OUT/libold.so" "$OUT/old.c"
    bench run "$WORKLOADS/small.yaml" --rounds 1 -b "$OUT/libold.so,glibc" --json -
    expect_code 0
    expect_json '.backends | all(.status == "ok")'
}
