#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# The programs of allocators/examples: compiled as their first lines say, in C and in C++, with
# every warning, in the plain and in the checked build; and what they print. The C++ header.
# tests: entity_table.c frame_loop.c library_hooks.c particles.c request_scope.c string_building.c
# tests: worker_threads.c

load helpers

STRICT="-Wall -Wextra -Wpedantic -Werror"

# Skips the test where the compiler comes without a sanitizer, or its programs do not run here.
need_sanitizer() { # COMPILER SANITIZER
    echo 'int main(void) { return 0; }' >"$OUT/empty.c"
    "$1" "-fsanitize=$2" -o "$OUT/empty" "$OUT/empty.c" 2>"$OUT/stderr" &&
        "$OUT/empty" 2>"$OUT/stderr" || skip "no $2 sanitizer for $1"
}

# Sources that the comment at the top of the example names.
sources_of() { # EXAMPLE
    sed -n '/\*\//q; s/\\$//; s@^ \*  *@@p' "$ROOT/allocators/examples/$1.c" |
        tr ' ' '\n' | grep '^allocators/.*\.c$' | grep -v examples
}

build() { # EXAMPLE COMPILER FLAGS…
    example=$1 compiler=$2
    shift 2
    (cd "$ROOT" && $compiler $STRICT -O1 -pthread -I. "$@" -o "$OUT/$example" \
        "allocators/examples/$example.c" $(sources_of "$example"))
    "$OUT/$example" >"$OUT/stdout" 2>"$OUT/stderr" || fail "$example: $?"
    [ ! -s "$OUT/stderr" ] || fail "$example wrote to the standard error"
}

expect_everywhere() { # EXAMPLE: what it prints is on the standard input
    cat >"$OUT/expected"
    build "$1" "gcc -std=c11"
    diff "$OUT/expected" "$OUT/stdout"
    build "$1" "gcc -std=c11" -DAB_WITH_CHECKS
    diff "$OUT/expected" "$OUT/stdout"
    build "$1" "gcc -std=c11" -DAB_WITH_CHECKS -fsanitize=address,undefined
    diff "$OUT/expected" "$OUT/stdout"
    build "$1" "clang -std=c11"
    diff "$OUT/expected" "$OUT/stdout"
}

@test "the frame loop" {
    need_compilers gcc clang
    cat >"$OUT/expected" <<'END'
1000 frames of 21408 bytes
calls to the system after the first frame: 0
END
    build frame_loop "gcc -std=c11"
    diff "$OUT/expected" "$OUT/stdout"
    build frame_loop "clang -std=c11"
    diff "$OUT/expected" "$OUT/stdout"
    build frame_loop "gcc -std=c11" -DAB_WITH_CHECKS -fsanitize=address,undefined
    grep -qx "calls to the system after the first frame: 0" "$OUT/stdout"
}

@test "particles with swap and pop" {
    need_compilers gcc clang
    expect_everywhere particles <"$ROOT/tests/golden/examples/particles.txt"
}

@test "strings in scratch memory" {
    need_compilers gcc clang
    expect_everywhere string_building <"$ROOT/tests/golden/examples/string_building.txt"
}

@test "a request's scope" {
    need_compilers gcc clang
    expect_everywhere request_scope <"$ROOT/tests/golden/examples/request_scope.txt"
}

@test "entities by handle" {
    need_compilers gcc clang
    expect_everywhere entity_table <"$ROOT/tests/golden/examples/entity_table.txt"
}

@test "the hooks of libraries" {
    need_compilers gcc clang
    expect_everywhere library_hooks <"$ROOT/tests/golden/examples/library_hooks.txt"
}

@test "workers that free what another thread made" {
    need_compilers gcc clang
    expect_everywhere worker_threads <"$ROOT/tests/golden/examples/worker_threads.txt"
    for compiler in gcc clang; do
        need_sanitizer $compiler thread
        build worker_threads "$compiler -std=c11" -g -fsanitize=thread
        diff "$ROOT/tests/golden/examples/worker_threads.txt" "$OUT/stdout"
    done
}

@test "each example is named in the first lines of a header" {
    for example in "$ROOT"/allocators/examples/*.c; do
        name=allocators/examples/$(basename "$example")
        head -30 "$ROOT"/allocators/*.h "$ROOT"/allocators/*/*.h | grep -q "$name" || fail "$name is named nowhere"
    done
}

# The command in the first comment of a file.
command_of() { # SOURCE
    sed -n '/\*\//q; s/^ \*  *//p' "$1" | awk '/^cc / {is_command = 1} is_command && !/\\$/ {print; exit} is_command'
}

@test "the command at the top of each example builds it" {
    cd "$ROOT"
    for source in allocators/examples/*.c allocators/examples/*/*.c \
        tests/examples/{arena,handle,paged,pool,slab}.c; do
        command_of "$source" | sed "s@ -o \([a-z_]*\)@ -o '$OUT'/program@" >"$OUT/command"
        [ -s "$OUT/command" ] || fail "$source has none"
        sh -e "$OUT/command" 2>"$OUT/stderr" || fail "$source: it does not build"
        "$OUT/program" >"$OUT/stdout" 2>"$OUT/stderr" || fail "$source: it does not run"
        rm "$OUT/program"
    done
}

# Every source of the library, in $OUT/lib.a.
archive() { # COMPILER FLAGS…
    # shellcheck disable=SC2046 # words
    (cd "$OUT" && "$@" -std=c11 -O1 -g -c $(ls "$ROOT"/allocators/{common,arena,paged,pool,slab,handle}/*.c |
        grep -v _backend) && ar rcs lib.a ./*.o && rm ./*.o)
}

expect_leaks() { # NUMBER HOW TESTED
    code=0
    "$OUT/roots" "$2" >"$OUT/stdout" 2>"$OUT/stderr" || code=$?
    local found
    found=$(sed -n 's/^SUMMARY: .* leaked in \([0-9]*\) allocation.*/\1/p' "$OUT/stderr")
    [ "${found:-0}" -eq "$1" ] || fail "$2: ${found:-0} leaks of $(cat "$OUT/stdout") objects, $3"
}

# N_RESET: objects that are found after a reset of the heaps. $OUT/lib.a is there.
expect_roots() { # N_RESET COMPILER FLAGS…
    local n_reset=$1
    shift
    # shellcheck disable=SC2086 # words
    (cd "$ROOT" && "$@" -std=c11 -O1 -g $STRICT -I. -o "$OUT/roots" tests/examples/roots.c "$OUT/lib.a" \
        -pthread)
    expect_leaks 0 live "$*"
    expect_leaks "$(cat "$OUT/stdout")" closed "$*"
    [ "$n_reset" = any ] || expect_leaks "$n_reset" reset "$*"
}

@test "what only a block points to is no leak, and is one when the block is dead" {
    need_compilers gcc
    need_sanitizer gcc address
    archive gcc -fsanitize=address
    expect_roots 11 gcc -fsanitize=address
}

# bats test_tags=full
@test "the same with clang, LeakSanitizer alone, and a library that was compiled without" {
    need_compilers gcc clang
    need_sanitizer gcc leak
    need_sanitizer clang leak
    archive clang -fsanitize=address
    expect_roots 11 clang -fsanitize=address
    archive gcc
    expect_roots any gcc -fsanitize=address -DAB_MARKS_OFF
    expect_roots any gcc -fsanitize=leak
    expect_roots any clang -fsanitize=leak
    archive gcc -DAB_WITH_CHECKS # dead blocks are filled
    expect_roots 11 clang -fsanitize=leak -DAB_WITH_CHECKS
}

# With the library of `archive` and the same flags.
expect_clean() { # "COMMAND THAT RUNS IT" COMPILER FLAGS…
    local runner=$1
    shift
    archive "$@"
    for source in "$ROOT"/allocators/examples/*.c "$ROOT"/tests/examples/{arena,handle,paged,pool,slab}.c; do
        (cd "$ROOT" && "$@" -std=c11 -O1 -g -I. -o "$OUT/program" "$source" "$OUT/lib.a" -pthread)
        # shellcheck disable=SC2086 # words
        $runner "$OUT/program" >"$OUT/stdout" 2>"$OUT/stderr" || fail "${source##*/}, $*: exit code $?"
        [ ! -s "$OUT/stderr" ] || fail "${source##*/}, $*: it wrote to the standard error"
    done
}

# bats test_tags=full
@test "every example is clean under AddressSanitizer and LeakSanitizer, gcc's and clang's" {
    need_compilers gcc clang
    for compiler in gcc clang; do
        need_sanitizer $compiler address
        expect_clean "" $compiler -fsanitize=address,undefined
    done
}

# bats test_tags=full
@test "every example is clean under ThreadSanitizer, gcc's and clang's" {
    need_compilers gcc clang
    for compiler in gcc clang; do
        need_sanitizer $compiler thread
        expect_clean "" $compiler -fsanitize=thread
    done
}

# bats test_tags=full
@test "every example is clean under Valgrind" {
    need_compilers gcc valgrind
    [ -e /usr/include/valgrind/memcheck.h ] || skip "no headers of valgrind"
    expect_clean "valgrind -q --leak-check=full --error-exitcode=9" gcc -DAB_WITH_VALGRIND -gdwarf-4
}

# The allocators are C; the C++ header is over them.
library() { # FLAGS…
    archive gcc "$@"
}

@test "the C++ header: memory resources, allocators, owners and scopes" {
    need_compilers gcc g++ clang++
    library
    for compiler in g++ clang++; do
        (cd "$ROOT" && $compiler -std=c++17 -O1 $STRICT -I. -o "$OUT/heaps" \
            tests/examples/heaps.cpp "$OUT/lib.a" -pthread)
        "$OUT/heaps" >"$OUT/stdout" || fail "$compiler: exit code $?"
        grep -qx "all right" "$OUT/stdout"
    done
}

@test "the C++ header without exceptions and without RTTI: null where an object is made, else abort" {
    need_compilers gcc g++ clang++
    library
    for compiler in "g++ -std=c++17" "clang++ -std=c++20"; do
        for flags in -fno-exceptions -fno-rtti "-fno-exceptions -fno-rtti"; do
            (cd "$ROOT" && $compiler -O1 $STRICT $flags -I. -o "$OUT/heaps" \
                tests/examples/heaps.cpp "$OUT/lib.a" -pthread)
            "$OUT/heaps" >"$OUT/stdout" || fail "$compiler $flags: exit code $?"
            grep -qx "all right" "$OUT/stdout"
        done
        run -134 "$OUT/heaps" without
        [[ $output == *"ab_arena_init: Cannot allocate memory"* ]]
    done
}

# bats test_tags=full
@test "the C++ header under AddressSanitizer, and in the checked build" {
    need_compilers gcc g++
    for flags in "-fsanitize=address,undefined" "-DAB_WITH_CHECKS"; do
        library $flags
        (cd "$ROOT" && g++ -std=c++17 -O1 -g $STRICT $flags -I. -o "$OUT/heaps" \
            tests/examples/heaps.cpp "$OUT/lib.a" -pthread)
        "$OUT/heaps" >"$OUT/stdout" || fail "$flags: exit code $?"
        grep -qx "all right" "$OUT/stdout"
    done
}
