#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# allocators/examples/frame-game: the same work in both forms, from malloc and from the heaps that
# are advised; recorded, its call sites have the names of the program's functions.
# tests: frame_game.c

load helpers

STRICT="-Wall -Wextra -Wpedantic -Werror"
GAME=$ROOT/allocators/examples/frame-game/frame_game.c

build_game() { # COMPILER FLAGS…: with -O2, or what a flag says
    local compiler=$1
    shift
    $compiler -O2 -g $STRICT "$@" -o "$OUT/frame_game" "$GAME"
}

# The first line of its output: what it did. Times are on the second.
play() { # ARGUMENTS
    "$OUT/frame_game" "$@" >"$OUT/game" || fail "frame_game: exit code $?"
    grep -Eqx 'allocation time per frame: mean [0-9.]+ us, p50 [0-9.]+ us, p99 [0-9.]+ us, worst [0-9.]+ us' \
        "$OUT/game" || fail "no times: $(cat "$OUT/game")"
    head -n 1 "$OUT/game"
}

@test "the game does the same in C and C++, by every compiler, as its seed says" {
    need_compilers gcc clang g++
    build_game "gcc -std=c11"
    play 50 >"$OUT/first"
    grep -Eqx '50 frames, [0-9]+ allocations, checksum [0-9a-f]{16}' "$OUT/first"
    [ "$(play 50 --seed 0)" = "$(cat "$OUT/first")" ]
    [ "$(play 50 --seed 1)" != "$(cat "$OUT/first")" ]
    build_game "gcc -std=c11" -fsanitize=address,undefined
    [ "$(play 50)" = "$(cat "$OUT/first")" ]
    build_game "clang -std=c11"
    [ "$(play 50)" = "$(cat "$OUT/first")" ]
    build_game "g++ -std=c++17 -x c++"
    [ "$(play 50)" = "$(cat "$OUT/first")" ]
    for wrong in x 0 -3 "--seed x" 5x; do
        run "$OUT/frame_game" $wrong
        [ "$status" -eq 2 ] || fail "$wrong: $status"
    done
}

@test "recorded, the game's calls are of the functions that its author names; trails outlive frames" {
    need_compilers gcc
    build_game "gcc -std=c11"
    bench record --sites -q -o "$OUT/game.abt" -- "$OUT/frame_game" 220 --leaky-trail
    expect_code 0
    bench trace info --sites "$OUT/game.abt"
    for name in build_labels build_draw_list find_visible spawn_particles load_asset spawn_trail; do
        grep -q "^ *$name  frame_game.c:" "$OUT/stdout" || fail "no calls of $name"
    done
    play 220 --leaky-trail >"$OUT/first"
    build_game "gcc -std=c11" -fsanitize=address,undefined
    [ "$(play 220 --leaky-trail)" = "$(cat "$OUT/first")" ]
}

@test "with the heaps of generated code the game does the same, and asks malloc for what stays alone" {
    need_compilers gcc clang g++
    "$ROOT/scripts/single-headers" "$OUT/single"
    cp "$ROOT/tests/golden/advise/code-one.txt" "$OUT/advice.c"
    cp "$ROOT/tests/golden/advise/code-keep.txt" "$OUT/keep.c"
    build_game "gcc -std=c11"
    play 220 --leaky-trail >"$OUT/first"
    for file in advice keep; do
        for compiler in "gcc -std=c11 -fsanitize=address,undefined" "clang -std=c11" "g++ -std=c++17 -x c++"; do
            build_game "$compiler" -O1 -isystem "$OUT/single" "-DWITH_ADVICE=\"$OUT/$file.c\""
            [ "$(play 220 --leaky-trail)" = "$(cat "$OUT/first")" ] || fail "$file, $compiler: another game"
        done
    done
    build_game "gcc -std=c11" -isystem "$OUT/single" "-DWITH_ADVICE=\"$OUT/advice.c\""
    bench record -q --sites -o "$OUT/after.abt" -- "$OUT/frame_game" 50
    expect_code 0
    bench trace info --sites "$OUT/after.abt"
    grep -q '^ *load_asset  frame_game.c:' "$OUT/stdout" || fail "no assets"
    ! grep -E '^ *(build_labels|spawn_particles) ' "$OUT/stdout" || fail "malloc is still asked"
}
