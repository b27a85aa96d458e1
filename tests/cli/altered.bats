#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Files that were altered at random, by hand or by a bad disk: each command that reads them takes them
# or refuses them, whole; tests/cli/alter.py says what that means. What readers do with far more
# changes is for tests/fuzz.
#
# bats file_tags=full

load helpers

altered() { # TIMES FILE OUTPUT COMMAND…
    run python3 "$ROOT/tests/cli/alter.py" "$1" 1 "${@:2}"
    [ "$status" -eq 0 ] || fail "$output"
}

measure() { # FILE OPTION…
    bench run "$WORKLOADS/small.yaml" -b glibc,arena --rounds 2 --drain 0 -q --no-store --json "$OUT/$1.json" "${@:2}"
    expect_code 0
}

@test "results: report, compare, baseline" {
    measure r --html "$OUT/r.html"
    jq 'del(.checksum)' "$OUT/r.json" >"$OUT/bare.json" # read further than one that does not match
    altered 60 "$OUT/r.json" json report IN -q --json OUT
    altered 60 "$OUT/bare.json" json report IN -q --json OUT
    altered 40 "$OUT/bare.json" html report IN -q --html OUT
    altered 40 "$OUT/r.html" json report IN -q --json OUT
    altered 40 "$OUT/r.html" none report IN
    altered 40 "$OUT/bare.json" none compare IN "$OUT/r.json"
    mkdir "$OUT/res"
    altered 40 "$OUT/r.json" none baseline save x IN --results "$OUT/res"
}

@test "shards: merge" {
    measure 1 --shard 1/2
    measure 2 --shard 2/2
    altered 60 "$OUT/1.json" json merge IN "$OUT/2.json" -q -o OUT
    jq 'del(.checksum)' "$OUT/1.json" >"$OUT/bare.json"
    altered 60 "$OUT/bare.json" json merge IN "$OUT/2.json" -q -o OUT
    altered 20 "$OUT/bare.json" json merge IN -q --partial -o OUT
}

@test "traces: info, filter, cut, import" {
    local good=$ROOT/tests/golden/traces/good file
    for file in sites marks threads; do
        altered 20 "$good/$file.abt" json trace info IN -q --json OUT
        altered 20 "$good/$file.abt" abt trace filter --size 16..64 IN -q -o OUT
        altered 20 "$good/$file.abt" none trace check IN -q
    done
    for file in "$ROOT"/tests/golden/exchange/good/*; do
        case $file in
        *.expect | *.abt) ;;
        *) altered 10 "$file" abt trace import IN -q -o OUT ;;
        esac
    done
}

@test "workloads: check" {
    local file
    for file in "$ROOT"/configs/quickstart.yaml "$ROOT"/configs/exchange.yaml "$ROOT"/configs/game-frame.yaml; do
        altered 60 "$file" json check IN -b glibc --json OUT
    done
}
