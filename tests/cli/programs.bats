#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Several builds of a program beside each other, under one or several allocators.

load helpers

PROG=$GUESTS/prog_exec

# Two builds of one program: the second holds two thirds less memory.
compare_builds() { # ARGUMENT…
    bench exec --program "old=$PROG holds 24" --program "new=$PROG holds 8" "$@"
}

@test "rows are programs, the first is the base, and a gate compares them" {
    compare_builds --rounds 6 --json "$OUT/r.json" --no-store \
        --gate 'new:program/all/resident_peak_bytes < 0.7x old'
    expect_code 0
    expect_json '[.backends[] | [.name, .program, .full_name]]
        == [["old", "old", "glibc"], ["new", "new", "glibc"]]' "$OUT/r.json"
    expect_json '[.config.programs[] | [.name, (.command | endswith("prog_exec holds 24")), (.sha256 | length)]]
        == [["old", true, 64], ["new", false, 64]]' "$OUT/r.json"
    expect_json '.config.programs[0].sha256 == .config.sha256 and .config.name == "old, new"' "$OUT/r.json"
    head -1 "$OUT/stdout" | grep -q '^old, new: 2 programs under 1 allocator, identical output' ||
        fail "$(cat "$OUT/stdout")"
    grep -q "^old: $PROG holds 24$" "$OUT/stdout" || fail "what old is"
    ! grep -q LD_PRELOAD "$OUT/stdout" || fail "an allocator is advised where programs are compared"
    compare_builds --rounds 6 --no-store -q --gate 'new:program/all/resident_peak_bytes < 0.2x old'
    expect_code 1
}

@test "under several allocators each program has a row for each" {
    toy=$GUESTS/libtoy.so
    compare_builds --rounds 2 -b "glibc,toy=$toy" --json "$OUT/r.json" --no-store
    expect_code 0
    expect_json '[.backends[].name] == ["old@glibc", "old@toy", "new@glibc", "new@toy"]' "$OUT/r.json"
    expect_json '[.backends[].path | . != null and endswith("libtoy.so")] == [false, true, false, true]' "$OUT/r.json"
    expect_json '[.results[] | select(.backend | startswith("new")) | .program.resident_peak_bytes] |
        max < 24 * 1048576' "$OUT/r.json"
    ! grep -q 'same build' "$OUT/stdout" || fail "two programs under one allocator are not one"
    compare_builds --rounds 2 -b "glibc,toy=$toy" --base new@toy --json - --no-store
    expect_json '.config.programs | length == 2'
    grep -q 'no back end' "$OUT/stderr" && fail "$(cat "$OUT/stderr")"
    compare_builds --rounds 2 --base nwe --no-store
    expect_code 2
    expect_error "did you mean 'new'"
}

@test "the words of a command reach the program as a shell would split them, and no shell runs" {
    printf '#!/bin/sh\nfor a; do echo "[$a]"; done >>"$OUT/words"\n' >"$OUT/show"
    chmod +x "$OUT/show"
    export OUT
    bench exec --rounds 1 --no-store --program "a=$OUT/show 'x  y' \"\\\"z\" '' q\\ r '\$HOME;*'" --program "b=$OUT/show"
    expect_code 0
    [ "$(sort -u "$OUT/words")" = "$(printf '%s\n' '["z]' '[$HOME;*]' '[]' '[q r]' '[x  y]' | sort -u)" ] ||
        fail "$(cat "$OUT/words")"
    for command in 'x | y' 'x > y' 'x; y' 'x $HOME' 'x *' "x 'y" 'x "$y"' '' '  '; do
        bench exec --program "a=$command" --program "b=$PROG"
        expect_code 2
        [ "$(wc -l <"$OUT/stderr")" -eq 1 ] || fail "$command: $(cat "$OUT/stderr")"
    done
}

@test "what prepares a run may be for one program alone" {
    export OUT
    compare_builds --rounds 1 --no-store --prepare 'echo all >>"$OUT/said"' --prepare 'new=echo new >>"$OUT/said"'
    expect_code 0
    [ "$(sort -u "$OUT/said" | tr '\n' ' ')" = 'all new ' ] || fail "$(cat "$OUT/said")"
    [ "$(grep -c all "$OUT/said")" = "$(grep -c new "$OUT/said")" ] || fail "$(cat "$OUT/said")"
}

@test "the output of all programs must be the same, unless it may differ" {
    bench exec --rounds 2 --no-store --program "old=$PROG works 1" --program 'new=printf other'
    expect_code 4
    expect_error 'new: failed_check: the program printed something else than old: 5 bytes, not 5' ||
        expect_error 'new: failed_check: the program printed something else than old'
    bench exec --rounds 2 --no-store --no-check-output --program "old=$PROG works 1" --program 'new=printf other'
    expect_code 0
}

@test "everything of exec works with programs: calls inside, an aged heap, a stored result, compare" {
    compare_builds --rounds 2 --inside --no-store --json "$OUT/r.json"
    expect_code 0
    expect_json '[.results[] | select(.op == "all") | .n_calls] | all(. > 0) and length == 4' "$OUT/r.json"
    compare_builds --rounds 1 --aged 0.5 --no-store --json "$OUT/r.json"
    expect_code 0
    expect_json '[.backends[].litter.occupancy] == [0.5, 0.5]' "$OUT/r.json"
    export ALLOCBENCH_RESULTS=$OUT/results
    compare_builds --rounds 6 --html "$OUT/r.html"
    expect_code 0
    for result in "$OUT/results"/*.json "$OUT/r.html"; do
        bench report --json "$OUT/again.json" "$result"
        expect_code 0
        expect_json '[.backends[].program] == ["old", "new"] and (.config.programs | length == 2)' "$OUT/again.json"
    done
    bench compare "$OUT/results"/*.json "$OUT/again.json"
    expect_code 0
    jq -c 'del(.checksum) | .backends[1].program = "neu"' "$OUT/again.json" >"$OUT/bad.json"
    bench report "$OUT/bad.json"
    expect_code 3
    expect_error 'backends\[1\]: has no program of config.programs'
}

@test "a command line that is left out leaves out the commands too" {
    compare_builds --rounds 1 --no-command-line --prepare ': secret' --results "$OUT/r" --json "$OUT/r.json"
    expect_code 0
    ! grep -rlE 'holds|secret' "$OUT/r" "$OUT/r.json" || fail "it is there"
}

@test "what cannot be compared is refused before anything runs" {
    compare_builds --rounds 1 -- "$PROG" works 1
    expect_code 2
    bench exec --program "a=$PROG works 1"
    expect_code 2
    expect_error 'two or more are compared'
    for names in 'a a' 'glibc b' 'a@b c' '-a b' '12345678901234567890123456789012 b'; do
        set -- $names
        bench exec --program "$1=$PROG works 1" --program "$2=$PROG works 1"
        expect_code 2
        [ "$(wc -l <"$OUT/stderr")" -eq 1 ] || fail "$names: $(cat "$OUT/stderr")"
    done
    bench exec --program "$PROG" --program "b=$PROG"
    expect_code 2
    expect_error 'expected NAME=COMMAND'
    compare_builds --server --ready tcp:1 --load true
    expect_code 2
    compare_builds --trace "$ROOT/traces/README.md"
    expect_code 2
    compare_builds -b pool
    expect_code 2
    expect_error 'new@pool|old.*cannot serve a real program'
    bench exec --program "a=$PROG works 1" --program 'b=/nowhere/x'
    expect_code 2
    expect_error "b=/nowhere/x': /nowhere/x: no such program"
}
