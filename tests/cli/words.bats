#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# One vocabulary: what a user reads has none of the retired words (words-retired.txt).

load helpers

RETIRED=$BATS_TEST_DIRNAME/words-retired.txt

# expect_no_retired FILE NAME: lines of FILE with a retired word fail the test. Addresses of files
# and what stands between `backquotes` (names of options, tests and files) are no prose.
expect_no_retired() {
    local found
    if found=$(sed 's/`[^`]*`//g' "$1" | grep -inE -f <(patterns)); then
        fail "$2: $found"
        return 1
    fi
}

patterns() {
    grep -v '^#' "$RETIRED" | sed 's/.*/\\b(&)\\b/'
}

in_root() {
    cd "$BATS_TEST_DIRNAME/../.."
}

@test "the list finds each of its words in a sentence, and leaves others alone" {
    local word n=0
    while read -r word; do
        echo "some $word here" >"$OUT/sentence"
        ! (expect_no_retired "$OUT/sentence" planted) >/dev/null 2>&1 || fail "'$word' was not found"
        n=$((n + 1))
    done < <(grep -v '^#' "$RETIRED")
    [ "$n" -ge 15 ]
    echo "belief, intellect, spreadsheet, teamwork, after, report, of the lane" >"$OUT/sentence"
    expect_no_retired "$OUT/sentence" "a clean sentence"
}

@test "help of every command" {
    local command
    allocbench --help >"$OUT/help" 3>&-
    for command in run replay report record trace check list verify; do
        allocbench "$command" --help >>"$OUT/help" 3>&-
    done
    [ "$(wc -l <"$OUT/help")" -gt 200 ]
    expect_no_retired "$OUT/help" help
}

@test "list, check and verify" {
    bench list backends -v
    expect_no_retired "$OUT/stdout" list
    bench check "$WORKLOADS/pipeline.yaml"
    expect_no_retired "$OUT/stdout" check
    bench verify slab "pool:slots=1:grow=off" "$WORKLOADS/small.yaml" -v
    expect_no_retired "$OUT/stdout" verify
    expect_no_retired "$OUT/stderr" verify
}

@test "tables of a run, with gates and all details" {
    bench run "$WORKLOADS/small.yaml" -b glibc,arena,slab,checked+pool --rounds 2 --no-store -v \
        --gate "fill/alloc/p99.99 < 1s" --gate "fill/all/ns_per_op < 1s"
    [ "$(wc -l <"$OUT/stdout")" -gt 40 ]
    expect_no_retired "$OUT/stdout" tables
    expect_no_retired "$OUT/stderr" messages
}

@test "every string of the sources" {
    in_root
    python3 tests/cli/c_strings.py $(find src allocators -name "*.[ch]" -o -name "*.def") |
        sed "s/^[^ ]* //; /^\(--\)\?reps$/d" >"$OUT/strings"
    [ "$(wc -l <"$OUT/strings")" -gt 2000 ]
    expect_no_retired "$OUT/strings" strings
}

@test "documents" {
    in_root
    local page
    for page in $(find . -name '*.md' -not -path './build/*'); do
        expect_no_retired "$page" "$page"
    done
}

@test "public headers" {
    in_root
    local header
    for header in allocators/*.h allocators/*/*.h; do
        expect_no_retired "$header" "$header"
    done
}

@test "the schema of results" {
    in_root
    expect_no_retired results/allocbench-2.schema.json schema
}
