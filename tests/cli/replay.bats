#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# `replay` and `trace info` on a recorded trace: the same promises as `run`, and the facts of the
# trace found again in the result.
# tests: replay.c

load helpers


trace() {
    echo "$ROOT/tests/golden/traces/good/perl-tiny.abt"
}

@test "trace info tells the facts in words and as one JSON document" {
    bench trace info "$(trace)"
    expect_code 0
    grep -q perl "$OUT/stdout"
    bench trace info "$(trace)" --json -
    expect_code 0
    expect_one_document
    expect_json '.events == ([.ops[]] | add) and .live_peak_blocks > 0'
}

@test "a replay does exactly the ops of the trace" {
    allocbench trace info "$(trace)" --json "$OUT/info.json" 3>&-
    bench replay "$(trace)" --rounds 1 -b glibc,jemalloc --json -
    expect_one_document
    expect_json '.config.kind == "trace" and .config.text == null'
    jq -e --slurpfile info "$OUT/info.json" '[.results[] | select(.backend == "glibc")
        | select(.op != "all") | {(.op): .tail.n}] | add as $ops
        | $info[0].ops | to_entries | all(.value == ($ops[.key] // 0))' "$OUT/stdout" >/dev/null ||
        fail "other ops than the trace has"
    expect_nothing_left
}

@test "the percentiles of a replay ascend and its histograms add up" {
    command -v python3 >/dev/null || skip "no python3"
    bench replay "$(trace)" --rounds 3 -b glibc --json -
    expect_code 0
    python3 "$ROOT/tests/cli/hdr_total.py" "$OUT/stdout" || fail "histograms"
}

@test "--touch is heeded and told" {
    for touch in none page all apart; do
        bench replay "$(trace)" --rounds 1 -b glibc --touch $touch --json -
        expect_code 0
        expect_json ".config.settings | index(\"touch=$touch\") != null"
    done
    bench replay "$(trace)" --rounds 1 -b glibc --touch 'first(8)' --json -
    expect_code 0
}

@test "a hostile guest fails a replay as it fails a run" {
    bench replay "$(trace)" --rounds 1 -b "glibc,$GUESTS/libctorcrash.so" --json -
    expect_code 4
    expect_json '[.backends[].status] == ["ok", "crashed"]'
    expect_nothing_left
}

@test "a counting library sees the ops of the trace and no other" {
    cp "$GUESTS/libcountshim.so" "$OUT/"
    allocbench trace info "$(trace)" --json "$OUT/info.json" 3>&-
    bench replay "$(trace)" --rounds 1 -b "$OUT/libcountshim.so" --json -
    expect_code 0
    want=$(jq -r '.ops | "\(.alloc) \(.alloc_zeroed)"' "$OUT/info.json")
    # the first line is the pre-flight's, which asks for more than the trace does
    [ "$(sed 1d "$OUT/libcountshim.so.counts" | cut -d' ' -f1,3 | sort -u)" = "$want" ] ||
        fail "$(cat "$OUT/libcountshim.so.counts"), expected $want"
}

@test "a trace that was cut or damaged is refused or marked, and nothing crashes" {
    size=$(stat -c %s "$(trace)")
    for n in 1 4 16 100 $((size / 2)) $((size - 1)); do
        head -c "$n" "$(trace)" >"$OUT/cut.abt"
        bench replay "$OUT/cut.abt" --rounds 1 -b arena --json -
        [ "$code" -eq 3 ] || [ "$code" -eq 0 ] || fail "exit code $code at $n bytes"
        [ "$code" -ne 3 ] || expect_error "cut\.abt"
    done
    for at in 8 20 60 200 900 $((size - 20)); do
        cp "$(trace)" "$OUT/bad.abt"
        printf '\377\377' | dd of="$OUT/bad.abt" bs=1 seek="$at" conv=notrunc status=none
        bench replay "$OUT/bad.abt" --rounds 1 -b arena --json -
        expect_code 3
        expect_error "bad\.abt"
    done
}

@test "--cache was removed: the message says so, its results are read and not resumed" {
    bench replay "$(trace)" --cache 64KiB
    expect_code 2
    expect_error 'replay: --cache was removed: .*exec --trace'
    bench replay "$(trace)" --rounds 2 --drain 0 -b glibc --no-store --json "$OUT/r.json"
    jq -c 'del(.checksum) | .complete = false | .config.rounds_planned = 3 | .config.settings += ["cache=65536"]' \
        "$OUT/r.json" >"$OUT/part.json"
    bench report "$OUT/part.json"
    expect_code 0
    bench replay --resume "$OUT/part.json"
    expect_code 2
    expect_error 'part.json: was replayed with --cache'
}

@test "a replay says what share of the program its calls are, and what memory it lacks, as far as the trace says" {
    bench replay --rounds 3 -b glibc --json "$OUT/r.json" "$ROOT/tests/golden/traces/good/requests.abt"
    expect_code 0
    tr -s ' \n' '  ' <"$OUT/stdout" >"$OUT/flat"
    grep -qE 'The replayed calls take [0-9.]+ [mu]s of 137 ms of the program.s CPU time \([0-9.]+ %; estimated from glibc\)' "$OUT/flat"
    grep -q "142 MiB of 144 MiB of the program's memory did not come from malloc: the replay does not contain it" "$OUT/flat"
    expect_json '.config | .program_cpu_ns == 137000000 and .program_calls == 3000 and
        .anonymous_bytes == 151000000 and .unasked_bytes == 149000000' "$OUT/r.json"
    # Read back, it says the same.
    bench report "$OUT/r.json"
    tr -s ' \n' '  ' <"$OUT/stdout" | grep -q 'of 137 ms of the program.s CPU time'
    bench replay --rounds 3 -b glibc --json "$OUT/r.json" "$ROOT/tests/golden/traces/good/mixed.abt"
    ! grep -qE 'The replayed calls|not come from malloc' "$OUT/stdout" || fail "shares of a program that is not known"
    expect_json '.config | has("program_cpu_ns") or has("unasked_bytes") | not' "$OUT/r.json"
}

@test "a replay that is refused for its memory says nothing of 0 operations" {
    bench replay "$ROOT/traces/perl-words.abt" -b glibc --rounds 1 --mem-limit 1M
    expect_code 4
    grep -q '^perl-words.abt: 1 phase, 1 thread, up to ' "$OUT/stdout" || fail "another title"
    ! grep -q '0 operations' "$OUT/stdout" || fail "0 operations"
}
