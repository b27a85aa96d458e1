#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Advice for programs whose right answer is known, from their call sites alone: tests/guests/
# prog_placed.c says itself what is expected, allocators/examples/frame-game in its first comment.
# What is looked at is what was found; whether it pays is a matter of times.

load helpers

PLACED=$GUESTS/prog_placed

# Records and advises; the document is in $OUT/advice.json, what the program printed in $OUT/says.
advise() { # COMMAND…
    allocbench record --sites=8 -q -o "$OUT/t.abt" -- "$@" >"$OUT/says" 2>"$OUT/stderr" 3>&- ||
        fail "$*: recording ended with $?"
    bench advise -q -b glibc,slab --rounds 1 --json "$OUT/advice.json" -o "$OUT/advice.map" "$OUT/t.abt"
    expect_code 0
}

kind_of() { # FUNCTION
    jq -r --arg name "$1" '[.groups[] | select(.function == $name) | .kind] | unique | join(" ")' \
        "$OUT/advice.json"
}

expect_kind() { # KIND FUNCTION
    [ "$(kind_of "$2")" = "$1" ] || fail "$2: $(kind_of "$2"), not $1"
}

expect_answers() { # KIND SEED
    local what kind name
    advise "$PLACED" "$1" "$2"
    while read -r what kind name; do
        [ "$what" != expected: ] || expect_kind "$kind" "$name"
    done <"$OUT/says"
}

# The block that outlives its nested scope, and no other one, is named with its file and line.
expect_straggler() {
    local name place
    read -r _ name place < <(grep '^straggler:' "$OUT/says")
    jq -r '.groups[] | select(.outlived_nested > 0) | "\(.function) \(.file):\(.line)"' \
        "$OUT/advice.json" >"$OUT/stragglers"
    [ "$(cat "$OUT/stragglers")" = "$name $place" ] || fail "named: $(cat "$OUT/stragglers"), not $name $place"
}

# All that was proposed, whether it pays or not, serves the recorded blocks to the end.
replay_proposals() {
    jq -r '. as $a | .groups[] | select(.heap) | "\(.rule)=\(.heap as $h
        | $a.heaps[] | select(.name == $h) | .backend)"' "$OUT/advice.json" >"$OUT/rules"
    printf '*=glibc\n' >>"$OUT/rules"
    bench replay "$OUT/t.abt" -q -b glibc --map "@$OUT/rules" --passes throughput --rounds 1 \
        --seed "${1-1}" --json "$OUT/replayed.json"
    expect_code 0
    jq -e 'all(.backends[]; .status == "ok")' "$OUT/replayed.json"
}

@test "one of several threads has nested scopes of its own, and the arena is its alone" {
    expect_answers threads 11
    expect_straggler
    jq -e '.scopes.n == 200 and .threads == 2
        and (.heaps[] | select(.kind == "nested") | .nested_scopes == 2400)
        and all(.heaps[].backend; contains("threads=") | not)' "$OUT/advice.json"
    replay_proposals 4711
}

@test "without call sites nested scopes are those of sizes" {
    local what kind bytes
    allocbench record -q -o "$OUT/t.abt" -- "$PLACED" sized 11 >"$OUT/says" 2>"$OUT/stderr" 3>&-
    bench advise -q -b glibc,slab --rounds 1 --json "$OUT/advice.json" -o "$OUT/advice.map" "$OUT/t.abt"
    expect_code 0
    while read -r what kind bytes; do
        [ "$what" = expected-size: ] || fail "$what"
        jq -e --arg rule "size:$bytes" --arg kind "$kind" \
            '.groups[] | select(.rule == $rule) | .kind == $kind' "$OUT/advice.json"
    done <"$OUT/says"
    jq -e '.nesting.taken and (.heaps[] | select(.kind == "nested") | .nested_scopes == 2400)' \
        "$OUT/advice.json"
    replay_proposals 4711
}

# bats test_tags=full
@test "a block that outlives its nested scope is named with its file and line: five seeds" {
    for kind in nested threads; do
        for seed in 1 2 3 4 5; do
            expect_answers "$kind" "$seed"
            expect_straggler
        done
    done
}

# bats test_tags=full
@test "a guest for each other kind of placement: found with five seeds" {
    for kind in stack arena double pool slab keep workers handed; do
        for seed in 1 2 3 4 5; do
            expect_answers "$kind" "$seed"
        done
    done
}

@test "a scope within the scope has an arena of its own; what outlives it is named and stays out" {
    expect_answers nested 11
    expect_straggler
    jq -e '.nesting.taken and .nesting.nested.memory_bytes < .nesting.flat.memory_bytes
        and (.heaps | map({(.kind): .nested_scopes}) | add) == {nested: 2400, frame: null}
        and ([.heaps[].backend] | unique | length == 2)' "$OUT/advice.json"
    replay_proposals 4711
}

@test "stack, arena, pool and malloc are told apart" {
    for kind in stack arena pool keep; do
        expect_answers "$kind" 11
    done
}

@test "threads with requests of their own get an arena each, and heaps that take back what others free" {
    expect_answers workers 11
    jq -e '.scopes.from == "found" and .scopes.threads == 4 and (.scopes.n | . > 760 and . <= 800)
        and (.heaps | length == 1 and all(.threads == "local"
        and .freed_by_another_thread == 0 and (.backend | endswith(":threads=local"))
        and (.alone.time_ns > 0 or (.alone.reason | contains("within harness overhead")))))' "$OUT/advice.json"
    expect_answers handed 11
    jq -e '[.heaps[] | select(.kind == "pool")] | length == 1 and all(.threads == "local"
        and .freed_by_another_thread > 1000
        and .backend == "pool:slot=80:threads=local")' "$OUT/advice.json"
    bench advise -b glibc,slab --rounds 1 "$OUT/t.abt"
    expect_code 0
    tr -s '\n ' ' ' <"$OUT/stdout" | grep -Eq "threads=local: one heap for each thread; [0-9]+ of [0-9]+ frees are by another thread than the one that allocated, through the queue of its heap; to measure others \(lockfree, sharded, mutex\): replay --map '...=pool:slot=80:threads=lockfree'"
}

# bats test_tags=full
@test "a planted survivor is named with its file and line, and leaves the arena: five seeds" {
    for seed in 1 2 3 4 5; do
        expect_answers survivor "$seed"
        read -r _ name place < <(grep '^survivor:' "$OUT/says")
        jq -r '.groups[] | select(.survivors | length > 0) | select(.calls > 1000)
            | "\(.function) \(.file):\(.line)"' "$OUT/advice.json" >"$OUT/survivors"
        grep -qx "$name $place" "$OUT/survivors" || fail "$seed: $name $place is not named"
        [ "$(wc -l <"$OUT/survivors")" -eq 1 ] || fail "$seed: others are named: $(cat "$OUT/survivors")"
        [ "$(kind_of "$name")" != frame ] || fail "$seed: $name is in the arena"
    done
}

@test "the frame game: what its author would choose, without marks" {
    need_compilers gcc
    local game=$ROOT/allocators/examples/frame-game/frame_game.c
    gcc -std=c11 -O2 -g -o "$OUT/frame_game" "$game"
    advise "$OUT/frame_game" 100
    for name in build_labels build_draw_list find_visible; do expect_kind frame "$name"; done
    expect_kind pool spawn_particles
    for name in load_asset load_level; do expect_kind keep "$name"; done
    jq -e '.scopes.n == 100 and .scopes.from == "found"' "$OUT/advice.json"
    advise "$OUT/frame_game" --leaky-trail
    expect_kind frame build_labels
    [ "$(kind_of spawn_trail)" != frame ] || fail "a trail is in the arena"
    local line
    line=$(grep -n 'survivor: three of them' "$game" | cut -d: -f1)
    jq -e --argjson line "$line" '.groups[] | select(.function == "spawn_trail") | .line == $line
        and .n_survivors == 3 and [.survivors[].born] == [41, 112, 204]' "$OUT/advice.json"
}

# FUNCTION KIND HEAP, a line each; where a line is depends on the marks.
placement() {
    jq -r '. as $a | .groups[] | select(.calls > 50) | "\(.function) \(.kind) \(.heap as $h
        | [$a.heaps[] | select(.name == $h) | .backend, .nested_scopes])"' "$OUT/advice.json" | sort
}

# Puts marks with the name of the function at its end.
mark() { # FILE FUNCTION…
    local name edits=(-e '1i #include "mark.h"')
    for name in "${@:2}"; do
        edits+=(-e "/^static.* $name(/,/^}/s/^}/    allocbench_mark(\"$name\");\n}/")
    done
    sed "${edits[@]}" "$1"
}

@test "with marks and without them the placement is the same: the frame game, nested scopes" {
    need_compilers gcc
    local game=$ROOT/allocators/examples/frame-game
    gcc -std=c11 -O2 -g -o "$OUT/plain" "$game/frame_game.c"
    mark "$game/frame_game.c" end_frame build_labels >"$OUT/marked_game.c"
    gcc -std=c11 -O2 -g -I "$ROOT/src/record" -I "$game" -o "$OUT/marked" "$OUT/marked_game.c"
    advise "$OUT/plain" 100
    placement >"$OUT/expected"
    advise "$OUT/marked" 100
    jq -e '.scopes.n == 100 and .scopes.from == "marks"' "$OUT/advice.json"
    diff "$OUT/expected" <(placement)
    mark "$ROOT/tests/guests/prog_placed.c" end_scope read_document >"$OUT/marked_guest.c"
    gcc -std=gnu17 -O1 -g -pthread -I "$ROOT/src/record" -o "$OUT/nested" "$OUT/marked_guest.c"
    advise "$PLACED" nested 5
    placement >"$OUT/expected"
    grep -q '^make_node nested' "$OUT/expected" || fail "no nested scopes"
    advise "$OUT/nested" nested 5
    jq -e '.scopes.n == 200 and .scopes.from == "marks"' "$OUT/advice.json"
    diff "$OUT/expected" <(placement)
}

# bats test_tags=full
@test "the guide's block runs as it stands: recorded, advised, built again" {
    need_compilers cc
    sed -n '/^```sh$/,/^```$/{/^```/!p;}' "$ROOT/docs/advise.md" |
        sed 's/advise game.abt/& --rounds 8 -b glibc,slab/; s/replay game.abt/& --rounds 6 --processes 1/' >"$OUT/block"
    [ "$(grep -c '^allocbench ' "$OUT/block")" -ge 4 ] || fail "no block to copy"
    SRC=$ROOT bash -eu "$OUT/block" >"$OUT/stdout" 2>"$OUT/stderr" 3>&- || fail "exit code $?"
    [ "$(grep -c '^300 frames, .* checksum ' "$OUT/stdout")" -eq 3 ] || fail "$(cat "$OUT/stdout")"
    [ "$(grep '^300 frames, .* checksum ' "$OUT/stdout" | uniq | wc -l)" -eq 1 ] || fail "another game"
    grep -q 'build_labels' frame_advice.c && grep -q '^site:frame_game.c' advice.map
}
