#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# The C that `allocbench advise --code` writes, as tests/unit/test_advise_code.c holds it to its
# goldens: compiled with every warning by every compiler, in C and in C++, with the single headers
# and with the installed library, and run.

load helpers

STRICT="-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror"

# Golden NAME and the single headers, in $OUT.
prepare() { # NAME
    cp "$ROOT/tests/golden/advise/code-$1.txt" "$OUT/advised.c"
    [ -d "$OUT/single" ] || "$ROOT/scripts/single-headers" "$OUT/single"
}

# In two files, as programs are. Conversions are the business of the headers' own tests.
compile_and_run() { # COMPILER FLAGS…
    local flags="-O1 -g -isystem $OUT/single"
    # shellcheck disable=SC2086 # words
    for other in "" -DOTHER; do
        $1 $STRICT $flags "${@:2}" "-DADVISED_FILE=\"$OUT/advised.c\"" $other \
            -c -o "$OUT/main$other.o" "$ROOT/tests/examples/advised.c" || fail "$*: does not compile"
    done
    # shellcheck disable=SC2086 # words
    ${1%% -*} "${@:2}" -o "$OUT/main" "$OUT"/main*.o -pthread
    "$OUT/main" >"$OUT/stdout" 2>"$OUT/stderr" || fail "$*: exit code $?: $(cat "$OUT/stdout")"
    grep -qx "all right" "$OUT/stdout"
    [ ! -s "$OUT/stderr" ] || fail "$*: wrote to the standard error"
}

everywhere() { # FLAGS…
    compile_and_run "gcc -std=c11" "$@"
    compile_and_run "gcc -std=c11" -fsanitize=address,undefined "$@"
    compile_and_run "clang -std=c11" "$@"
    compile_and_run "g++ -std=c++17 -x c++" "$@"
}

@test "heaps for one thread: each kind compiles in C and C++ and does what it says" {
    need_compilers gcc clang g++
    prepare one
    everywhere
}

@test "heaps for several threads: each kind compiles in C and C++ and does what it says" {
    need_compilers gcc clang g++
    prepare threads
    everywhere -DTHREADS
}

@test "heaps for several threads with scopes of each: the same, and under ThreadSanitizer" {
    need_compilers gcc clang g++
    prepare scopes
    everywhere -DTHREADS -DTHREAD_SCOPES
    compile_and_run "gcc -std=c11" -DTHREADS -DTHREAD_SCOPES -fsanitize=thread
}

# bats test_tags=full
@test "the same with clang in C++, in the checked build, and under ThreadSanitizer" {
    need_compilers gcc clang clang++
    prepare one
    compile_and_run "clang++ -std=c++17 -x c++"
    compile_and_run "gcc -std=c11" -DAB_WITH_CHECKS
    prepare threads
    compile_and_run "clang++ -std=c++17 -x c++" -DTHREADS
    compile_and_run "gcc -std=c11" -DTHREADS -fsanitize=thread
}

# bats test_tags=full
@test "with the installed library" {
    need_compilers gcc g++
    make -C "$ROOT" -j1 install DESTDIR="$OUT/root" PREFIX=/usr >"$OUT/make" 2>&1 || fail "$(tail "$OUT/make")"
    local include library
    include=$(dirname "$(dirname "$(dirname "$(find "$OUT/root" -name arena.h -path '*heaps*')")")")
    library=$(find "$OUT/root" -name 'liballocbench-heaps.a')
    prepare one
    for compiler in "gcc -std=c11" "g++ -std=c++17 -x c++"; do
        for other in "" -DOTHER; do
            # shellcheck disable=SC2086 # words
            $compiler $STRICT -DADVISED_INSTALLED -isystem "$include" "-DADVISED_FILE=\"$OUT/advised.c\"" \
                $other -c -o "$OUT/main$other.o" "$ROOT/tests/examples/advised.c"
        done
        ${compiler%% *} -o "$OUT/main" "$OUT"/main*.o "$library" -pthread
        "$OUT/main" | grep -qx "all right"
    done
}

@test "a program that needs no heap gets a file that says so and defines nothing" {
    need_compilers gcc
    prepare keep
    grep -q 'none are advised' "$OUT/advised.c"
    printf '#include "advised.c"\nint main(void) { return 0; }\n' >"$OUT/main.c"
    gcc -std=c11 $STRICT -o "$OUT/main" "$OUT/main.c"
}
