#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# A measurement in parts: --shard runs one, merge joins them. The whole equals one that was never
# divided in every number that does not depend on the clock; what does not belong together is
# refused.
# tests: cmd_merge.c merge_results.c

load helpers

config=configs/churn.yaml

# Of so many ops not all are timed: which ones, and how many, is drawn.
measure() { # OPTION…
    bench run "$ROOT/$config" --set ops=60k -b glibc,arena,slab,pool,skeleton --drain 0 --rounds 5 -q "$@"
    expect_code 0
}

# shellcheck disable=SC2120 # options are optional
make_shards() { # N OPTION…
    local i
    for i in $(seq "$1"); do
        measure --shard "$i/$1" --no-store --json "$OUT/$i.json" "${@:2}"
    done
}

# Made once: tests begin with a copy.
setup_file() {
    export PATH=$BUILD:$PATH ALLOCBENCH_RESULTS=
    OUT=$BATS_FILE_TMPDIR
    measure --no-store --json "$OUT/whole.json"
    make_shards 4
}

# With copies of those in the test's own folder.
with_shards() {
    cp "$BATS_FILE_TMPDIR"/*.json "$OUT"
}

merge() { # OPTION…
    bench merge "$OUT"/[1-9].json -o "$OUT/merged.json" "$@"
}

edit() { # FILE JQ-PROGRAM: a change that the checksum does not show
    jq "$2 | del(.checksum)" "$OUT/$1.json" >"$OUT/edited"
    mv "$OUT/edited" "$OUT/$1.json"
}

exact() { # FILE
    jq -c -f "$ROOT/tests/cli/exact.jq" "$1"
}

@test "four shards merged equal the measurement that was never divided" {
    with_shards
    merge
    expect_code 0
    expect_error 'Merged: 4 results, 5 of 5 rounds, 1 machine'
    expect_json '[.rounds[].index] == [0, 1, 2, 3, 4] and .complete and .config.shard == null
        and [.config.parts[].shard] == ["1/4", "2/4", "3/4", "4/4"] and has("hosts") == false' \
        "$OUT/merged.json"
    exact "$OUT/whole.json" >"$OUT/a"
    exact "$OUT/merged.json" >"$OUT/b"
    cmp "$OUT/a" "$OUT/b" || fail "other numbers: $(diff "$OUT/a" "$OUT/b" | cut -c1-300)"
    expect_nothing_left
}

@test "one part without a checksum makes the whole unsealed" {
    with_shards
    merge
    expect_json 'has("sealed") | not' "$OUT/merged.json"
    edit 3 .
    merge
    expect_code 0
    expect_error 'warning: .*/3.json is unsealed: it has no checksum'
    [ "$(grep -c unsealed "$OUT/stderr")" = 1 ] || fail "$(cat "$OUT/stderr")"
    expect_json '.sealed == false' "$OUT/merged.json"
}

@test "a shard has whole rounds, with the orders and samples that they have in the whole" {
    with_shards
    for i in 1 2 3 4; do
        expect_json "[.rounds[].index] == $(jq -nc "[range(0; 5) | select(. % 4 == $i - 1)]")
            and .config.shard == \"$i/4\" and .config.rounds_planned == 5 and .complete" "$OUT/$i.json"
    done
    [ "$(jq -c '.rounds[0].order' "$OUT/1.json")" = "$(jq -c '.rounds[0].order' "$OUT/whole.json")" ]
}

@test "the histograms of all rounds are those of the parts, to the byte" {
    with_shards
    merge
    jq -c '.results[]' "$OUT"/[1-4].json | sort >"$OUT/a"
    jq -c '.results[]' "$OUT/merged.json" | sort >"$OUT/b"
    cmp "$OUT/a" "$OUT/b" || fail "other results"
}

@test "the order in which parts are named makes no difference" {
    with_shards
    merge
    bench merge "$OUT"/3.json "$OUT"/1.json "$OUT"/4.json "$OUT"/2.json -o "$OUT/other.json"
    expect_code 0
    [ "$(jq 'del(.config.command_line, .checksum)' "$OUT/merged.json")" = \
        "$(jq 'del(.config.command_line, .checksum)' "$OUT/other.json")" ] || fail "it does"
}

@test "what reads results reads merged ones, and writes them again to the byte" {
    with_shards
    merge
    bench report "$OUT/merged.json"
    expect_code 0
    tr -s ' \n' ' ' <"$OUT/stdout" | grep -q 'merged from 4 results' || fail "not said"
    bench report "$OUT/merged.json" --json "$OUT/again.json" --csv "$OUT/merged.csv"
    expect_code 0
    cmp "$OUT/merged.json" "$OUT/again.json" || fail "another document"
    bench report "$OUT/1.json"
    expect_code 0
    tr -s ' \n' ' ' <"$OUT/stdout" | grep -q 'shard 1 of 4' || fail "not said"
}

# bats test_tags=full
@test "shards and what is merged of them are described by the schema" {
    with_shards
    merge
    python3 - "$ROOT/results/allocbench-2.schema.json" "$OUT/merged.json" "$OUT/1.json" <<'END'
import json, jsonschema, sys
schema = json.load(open(sys.argv[1]))
for name in sys.argv[2:]:
    jsonschema.validate(json.load(open(name)), schema)
END
}

# bats test_tags=full
@test "more shards than rounds: rounds are divided, and only those of one part have ratios" {
    for i in $(seq 6); do
        bench run "$ROOT/$config" --set ops=60k -b glibc,arena,slab,pool --drain 0 --rounds 4 -q \
            --no-store --shard "$i/6" --json "$OUT/$i.json"
        expect_code 0
    done
    merge
    expect_code 0
    bench run "$ROOT/$config" --set ops=60k -b glibc,arena,slab,pool --drain 0 --rounds 4 -q \
        --no-store --json "$OUT/whole.json"
    expect_json '.complete and (.rounds | length) == 6 and (.rounds[0].order | sort) == ["glibc", "slab"]
        and (.rounds[1].order | sort) == ["arena", "pool"] and (.rounds[5].order | length) == 4' \
        "$OUT/merged.json"
    for file in whole merged; do # by back end, in the order of the rounds, without their numbers
        jq -c '[.backends[].name as $b | [.results[] | select(.backend == $b)
            | {backend, phase, op, n_ops, tail: (.tail != null)}]],
            [.backends[].name as $b | [.memory[] | select(.backend == $b)
            | with_entries(select(.key | test("external_2m|faults|round") | not))]]' "$OUT/$file.json" >"$OUT/$file"
    done
    cmp "$OUT/whole" "$OUT/merged" || fail "other numbers"
    bench report "$OUT/merged.json"
    expect_code 0
    ! grep -qiw 'nan' "$OUT/stdout" || fail "$(grep -iw nan "$OUT/stdout")"
}

@test "parts that are missing are named, and allowed with --partial" {
    with_shards
    rm "$OUT/2.json"
    merge
    expect_code 2
    expect_error '1 of 5 rounds are in none of the results: 1 \(shard 2/4\); run what is missing'
    [ ! -e "$OUT/merged.json" ] || fail "written all the same"
    merge --partial
    expect_code 0
    expect_error '4 of 5 rounds, 1 machine; incomplete'
    expect_json '.complete == false and [.rounds[].index] == [0, 2, 3, 4]' "$OUT/merged.json"
    bench report "$OUT/merged.json"
    expect_code 0
    bench run --resume "$OUT/merged.json" --no-store
    expect_code 2
    expect_error 'it was merged from 3 results; run the shards that it lacks, and merge all of them'
    bench merge "$OUT/merged.json" "$BATS_FILE_TMPDIR/2.json" -o "$OUT/all.json" # one after the other
    expect_code 0
    exact "$OUT/all.json" >"$OUT/a"
    exact "$OUT/whole.json" >"$OUT/b"
    cmp "$OUT/a" "$OUT/b" || fail "other numbers"
}

@test "a complete merged result has nothing to resume" {
    with_shards
    merge
    bench run --resume "$OUT/merged.json"
    expect_code 0
    expect_error 'is complete; nothing to run'
}

refused() { # CODE MESSAGE
    merge
    expect_code "$1"
    expect_error "$2"
    [ ! -e "$OUT/merged.json" ] || fail "written all the same"
}

@test "a part of other work, seed, settings, version or libraries is refused" {
    with_shards
    edit 2 '.config.tape_sha256 |= sub("^.."; "00")'
    refused 2 '2.json is not of the same measurement as .*1.json: tape_sha256 is 00'
    with_shards
    edit 3 '.seed = 8'
    refused 2 '3.json .*: the seed is 8, there 7$'
    with_shards
    edit 3 '.config.settings[0] = "blocks=1"'
    refused 2 '3.json .*: a setting is blocks=1, there '
    with_shards
    edit 4 '.tool.version = "0.0.1"'
    refused 2 '4.json .*: allocbench is 0.0.1, there '
    with_shards
    edit 4 '.schema = "allocbench/3"'
    refused 3 '4.json: schema: is "allocbench/3"'
    with_shards
    edit 4 '(.backends[] | select(.name == "glibc")).build_id = "00ff"'
    refused 2 '4.json did not measure under the same conditions as .*1.json: the build id of glibc is 00ff'
}

@test "a round that occurs twice is refused" {
    with_shards
    cp "$OUT/1.json" "$OUT/5.json"
    refused 2 'round 0 is in .*1.json and in .*5.json: each round once'
    rm "$OUT/5.json"
    cp "$OUT/whole.json" "$OUT/6.json"
    refused 2 'round 0 is in .*: each round once'
}

@test "altered and truncated parts are refused" {
    with_shards
    jq '(.results[] | select(.op == "all")).ns_per_op = 1' "$OUT/2.json" >"$OUT/edited"
    mv "$OUT/edited" "$OUT/2.json"
    refused 3 '2.json was altered after it was written'
    with_shards
    head -c 5000 "$BATS_FILE_TMPDIR/2.json" >"$OUT/2.json"
    refused 3 '2.json:.* not valid JSON'
    rm "$OUT/2.json"
    bench merge "$OUT/1.json" "$OUT/2.json"
    expect_code 3
}

@test "a part that was indented anew has not been altered" {
    with_shards
    python3 - "$OUT/1.json" <<'END'
import json, sys
text = open(sys.argv[1]).read()
open(sys.argv[1], "w").write("".join(line.strip() for line in text.splitlines()))
END
    merge
    expect_code 0
}

@test "bad shards are refused with what is allowed" {
    for bad in 0/4 5/4 1 1/ /4 a/b 1/0 1/20000 -1/4 1/4/2; do
        bench run "$ROOT/$config" --shard "$bad" --no-store
        expect_code 2
        expect_error '--shard'
    done
    bench run "$ROOT/$config" -b glibc,arena --rounds 2 --shard 5/5 --no-store
    expect_code 2
    bench run "$ROOT/$config" --shard 1/2 --baseline "$OUT/x.json" --no-store
    expect_code 2
    expect_error 'shard and --baseline are mutually exclusive'
    bench run "$ROOT/$config" -b glibc,arena --rounds 2 --shard 5/5 --no-store
    expect_error 'shard 5/5: 2 rounds of 2 back ends make at most 4 shards'
}

@test "a shard that was interrupted is gone on with" {
    local options=(--set ops=300 -b libholds --backend-path . --drain 0 --rounds 6 --processes 1 --shard 2/2)
    hold_after 8 # the pre-flight, one round with its memory's peak, a part of the next one
    start_bench run "$ROOT/$config" "${options[@]}" --results "$OUT/r"
    interrupt_held
    expect_error 'interrupted after 1 of 3 rounds'
    hold_no_more
    expect_json '[.rounds[].index] == [1] and (.complete | not)' "$OUT"/r/*.json
    bench run --resume "$OUT"/r/*.json -b libholds --backend-path . --no-store --json "$OUT/resumed.json" -q
    expect_code 0
    expect_json '[.rounds[].index] == [1, 3, 5] and .complete and .config.shard == "2/2"' "$OUT/resumed.json"
    bench run --resume "$OUT"/r/*.json -b libholds --backend-path . --shard 1/2 --no-store
    expect_code 2
    expect_error 'shard is 1/2, was 2/2'
}

@test "a back end that failed in one part has no numbers, and the whole says where" {
    with_shards
    edit 3 '(.backends[] | select(.name == "slab")) |= (.status = "crashed" | .reason = "SIGSEGV in free")
        | .results |= map(select(.backend != "slab"))'
    merge
    expect_code 4
    expect_error 'slab: crashed: in .*3.json: SIGSEGV in free'
    expect_json '[.results[] | select(.backend == "slab")] == []' "$OUT/merged.json"
}

on_node() { # NAME COMMAND…
    unshare --uts sh -c 'hostname "$1" && shift && exec "$@"' sh "$@" 3>&-
}

@test "machines are kept apart: each round says which, and the table warns" {
    on_node trial true 2>/dev/null || skip "no right to another host name"
    for i in 1 2 3; do
        on_node "node$i" allocbench run "$ROOT/$config" --set ops=3000 -b glibc,arena --drain 0 --rounds 3 \
            -q --no-store --shard "$i/3" --json "$OUT/$i.json"
    done
    merge
    expect_code 0
    expect_error '3 of 3 rounds, 3 machines'
    expect_json '[.hosts[].name] == ["node1", "node2", "node3"] and [.rounds[].host] == [0, 1, 2]
        and .host.name == "node1" and [.config.parts[].host] == [0, 1, 2]' "$OUT/merged.json"
    bench report "$OUT/merged.json"
    expect_code 0
    tr -s ' \n' ' ' <"$OUT/stdout" >"$OUT/line"
    grep -q 'measured on 3 machines: times, percentiles and ranges mix these' "$OUT/line" || fail "no warning"
    grep -q 'node2 (' "$OUT/line" || fail "no names"
    bench report "$OUT/merged.json" --json "$OUT/again.json"
    cmp "$OUT/merged.json" "$OUT/again.json" || fail "another document"
    bench compare "$OUT/merged.json" "$OUT/merged.json" # nothing of two results pairs
    tr -s ' \n' ' ' <"$OUT/stdout" | grep -q 'node1, now node2' || fail "not advisory"
}

@test "a trace is replayed in parts, too" {
    for i in 1 2; do
        bench replay "$ROOT/tests/golden/traces/good/perl-tiny.abt" -b glibc,arena --drain 0 --rounds 4 -q \
            --no-store --shard "$i/2" --json "$OUT/$i.json"
        expect_code 0
    done
    merge
    expect_code 0
    bench replay "$ROOT/tests/golden/traces/good/perl-tiny.abt" -b glibc,arena --drain 0 --rounds 4 -q \
        --no-store --json "$OUT/whole.json"
    exact "$OUT/whole.json" >"$OUT/a"
    exact "$OUT/merged.json" >"$OUT/b"
    cmp "$OUT/a" "$OUT/b" || fail "other numbers: $(diff "$OUT/a" "$OUT/b" | cut -c1-300)"
}

@test "a result that is no part names no node" {
    with_shards
    expect_json '.host.name == null and .config.shard == null' "$OUT/whole.json"
    expect_json '.host.name != null' "$OUT/1.json"
}

@test "a merged result goes to the place given, or where results are kept" {
    with_shards
    bench merge "$OUT"/[1-4].json -o -
    expect_code 0
    expect_one_document
    bench merge "$OUT"/[1-4].json -o "$OUT/folder/"
    expect_code 0
    [ "$(ls "$OUT/folder" | wc -l)" -eq 1 ] || fail "not one file"
    bench merge "$OUT"/[1-4].json --results "$OUT/other" -q
    expect_code 0
    [ "$(ls "$OUT/other" | wc -l)" -eq 1 ] && [ ! -s "$OUT/stderr" ] || fail "not one file, or not quiet"
    bench merge "$OUT"/[1-4].json
    expect_code 2
    expect_error 'results are not stored here; name a file with -o'
    bench merge
    expect_code 2
    expect_error 'merge needs results'
    bench merge "$OUT"/[1-4].json -o x --results y
    expect_code 2
}

# A workload with a gate that holds, and one with a gate that cannot.
make_gated() { # BOUND
    { cat "$ROOT/$config"; printf "gates:\n  - 'arena:churn/memory/rss_peak_bytes < %s'\n" "$1"; } >gated.yaml
    for i in 1 2; do
        bench run gated.yaml --set ops=3000 -b glibc,arena --drain 0 --rounds 4 --no-store \
            --shard "$i/2" --json "$OUT/$i.json"
        expect_code 0
        expect_error 'gates are judged on the merged result'
        expect_json '.gates == []' "$OUT/$i.json"
    done
}

@test "gates are judged on the whole, not on its parts" {
    make_gated 1KiB
    merge
    expect_code 1
    grep -q 'gated.yaml:[0-9]*:[0-9]*' "$OUT/merged.json" || fail "no place"
    expect_json '[.gates[] | .verdict] == ["fail"]' "$OUT/merged.json"
    make_gated 1GiB
    merge
    expect_code 0
    expect_json '[.gates[] | .verdict] == ["pass"]' "$OUT/merged.json"
    merge --gate 'churn/alloc/n > 1000000'
    expect_code 1
    merge --gate 'nowhere/alloc/p50 < 1s'
    expect_code 2
    expect_error "unknown measured phase 'nowhere'"
}
