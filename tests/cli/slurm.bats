#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# scripts/slurm on a real Slurm of one node, which tests/slurm/one-node starts for the time of one
# command: an array job of four tasks, the merge that depends on it, and what both say when something
# fails.
# bats file_tags=full

load helpers

config=$ROOT/configs/churn.yaml
work=(run "$config" --set ops=60k -b glibc,arena,slab,pool,skeleton --drain 0)

# What is there, and what is not: without Slurm only the last test runs.
on_slurm() { # COMMAND…
    code=0
    "$ROOT/tests/slurm/one-node" "$@" >"$OUT/stdout" 2>"$OUT/stderr" 3>&- || code=$?
    [ "$code" -ne 77 ] || skip "$(head -1 "$OUT/stderr")"
}

submit() { # ARGUMENT…
    on_slurm "$ROOT/scripts/slurm/submit" --wait "$@"
}

exact() { # FILE
    jq -c -f "$ROOT/tests/cli/exact.jq" "$1"
}

@test "four tasks and the merge give the result of one command that was never divided" {
    submit -n 4 -o "$OUT/merged.json" -- "${work[@]}" --rounds 5 -q
    expect_code 0
    expect_error 'Merged: 4 results, 5 of 5 rounds, 1 machine'
    bench "${work[@]}" --rounds 5 -q --no-store --json "$OUT/whole.json"
    expect_code 0
    expect_json '[.config.parts[].shard] == ["1/4", "2/4", "3/4", "4/4"] and .complete' "$OUT/merged.json"
    exact "$OUT/whole.json" >"$OUT/a"
    exact "$OUT/merged.json" >"$OUT/b"
    cmp "$OUT/a" "$OUT/b" || fail "other numbers: $(diff "$OUT/a" "$OUT/b" | cut -c1-300)"
    bench report "$OUT/merged.json"
    expect_code 0
}

@test "a gate is judged by the merge, whose exit code the waiting has" {
    submit -n 2 -o "$OUT/merged.json" -- "${work[@]}" --rounds 2 --gate 'glibc:churn/memory/rss_peak_bytes < 1KiB'
    expect_code 1
    expect_json '[.gates[].verdict] == ["fail"]' "$OUT/merged.json"
}

@test "a task that failed is named by the merge, and nothing is written" {
    on_slurm bash -c "
        '$ROOT/scripts/slurm/submit' -n 2 -o '$OUT/merged.json' -- run '$config' --rounds 2 --no-such-option
        while squeue -h | grep -q .; do sleep 0.2; done"
    expect_code 0
    grep -q 'unknown option --no-such-option' "$OUT"/merged.json.parts.*/shard-1.log || fail "no log"
    [ -s "$OUT"/merged.json.parts.*/merge.log ] || fail "the merge did not run"
    [ ! -e "$OUT/merged.json" ] || fail "written all the same"
}

@test "what submit is given is checked before anything is submitted" {
    for words in "" "-n 0 -- run x" "-n x -- run x" "run x" "-- record x" "-o"; do
        # shellcheck disable=SC2086 # words
        run "$ROOT/scripts/slurm/submit" $words
        [ "$status" -eq 2 ] || fail "'$words': $status"
    done
}
