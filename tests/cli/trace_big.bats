# SPDX-License-Identifier: MIT
#
# Traces that nobody recorded (tests/bench/big_trace.c): long ones, ones of very many threads, and
# what a replay makes of what a trace holds.

load helpers

WHOLE=$ROOT/tests/golden/traces/good/times.abt

make_trace() { # NAME ARGUMENTS…
    local name=$1
    shift
    "$BUILD/bench/big_trace" "$OUT/$name" "$@"
}

@test "memory is a matter of what lives, not of how long the trace is" {
    AB_BUILD=$BUILD "$ROOT/scripts/check-big" 1000000 3000000 >"$OUT/stdout" 2>"$OUT/stderr" ||
        fail "it grows"
    [ "$(grep -c ', ok$' "$OUT/stdout")" -eq "$(wc -l <"$OUT/stdout")" ]
}

# All alive to the end, or fifty at once.
# bats test_tags=full
@test "a hundred thousand threads are told, proven, printed, cut, and replayed on two lanes" {
    local at_once
    for at_once in 100000 50; do
        make_trace many.abt 400000 100000 2000 $at_once
        bench trace check "$OUT/many.abt"
        expect_code 0
        bench trace info --json - "$OUT/many.abt"
        expect_code 0
        expect_json '.events == 400000 and .threads == 100000 and (.by_thread | length) == 100000'
        expect_json '([.by_thread[].events] | add) == 400000'
        bench trace dump "$OUT/many.abt"
        expect_code 0
        awk '{ seen[$2] } END { for (t in seen) n++; exit !(NR == 400000 && n == 100000) }' \
            "$OUT/stdout" || fail "other lines"
        bench trace cut "$OUT/many.abt" --events 100000..300000 -o "$OUT/part.abt"
        expect_code 0
        bench trace check "$OUT/part.abt"
        expect_code 0
        bench replay "$OUT/many.abt" --threads 2 -b glibc --rounds 1 --timeout 120s --json -
        expect_code 0
        expect_json '.config.tape.lanes == 2 and .config.tape.n_ops >= 400000'
    done
}

# Lanes run free in the tail pass, which counts what lives; the memory pass weighs it in the
# recorded order.
@test "a replay has the live peak of the recording: exactly in strict order, else within a tenth" {
    local blocks bytes order
    make_trace threads.abt 20000 4 3000
    bench trace info --json - "$OUT/threads.abt"
    expect_json '.remote_frees > 4000 and .threads == 4'
    blocks=$(jq .live_peak_blocks "$OUT/stdout")
    bytes=$(jq .live_peak_bytes "$OUT/stdout")
    for order in strict free; do
        bench replay "$OUT/threads.abt" --order $order -b glibc,slab --rounds 2 --timeout 120s \
            --json -
        expect_code 0
        expect_json "[.memory[].live_peak_bytes] | length > 0 and all(. == $bytes)"
        expect_json ".config.tape.live_peak_blocks == $blocks"
        expect_json "(.config.window == 0 or .config.window >= 256) and
            (.config.window_given | not)"
    done
    expect_json "[.results[] | select(.op == \"all\") | .live_peak_blocks] | length == 4 and
        all(. >= $blocks * 0.8 and . <= $blocks * 1.15)" # a tenth of the bytes
}

# Their slot in the tape is nobody's: not to be looked at, nor counted.
@test "allocations that the program was refused leave nothing in a replay on several lanes" {
    local blocks lanes
    for lanes in 1 2 recorded; do
        bench replay "$ROOT/tests/golden/traces/good/threads.abt" --threads $lanes --rounds 1 \
            -b glibc,slab --json -
        expect_code 0
        expect_json '.backends | all(.status == "ok")'
        blocks=$(jq .config.tape.live_peak_blocks "$OUT/stdout")
        [ "$lanes" = 1 ] || expect_json "[.results[] | select(.op == \"all\") | .live_peak_blocks] |
            length == 2 and all(. >= $blocks * 0.7 and . <= $blocks + 256)" # that is the window
    done
}

# In pieces that are no blocks, and slowly.
drip() { # FILE
    head -c 7 "$1"
    sleep 0.1
    tail -c +8 "$1" | head -c 5000
    sleep 0.1
    tail -c +5008 "$1"
}

@test "each word reads a pipe once, as it reads the file" {
    local word
    for word in "info --json -" "info --digest" "info --ascii" check "check --partial" dump \
        "dump --events 100..200" "cut -q --events 10..900 -o -" \
        "cut -q --events 10..900 --live drop -o -"; do
        allocbench trace $word "$WHOLE" 3>&- | sed "s|$WHOLE|-|" >"$OUT/of_file"
        drip "$WHOLE" | allocbench trace $word - 2>"$OUT/stderr" 3>&- >"$OUT/of_pipe" ||
            fail "trace $word"
        cmp "$OUT/of_file" "$OUT/of_pipe" || fail "trace $word: other output"
    done
}

work_of() {
    jq -c .config.tape_sha256 "$OUT/$1.json"
}

@test "a replay reads a pipe once, whole, cut or broken" {
    local cut=5000 input
    drip "$WHOLE" | allocbench replay - -b glibc --rounds 1 --json "$OUT/pipe.json" -q 3>&-
    bench replay "$WHOLE" -b glibc --rounds 1 --json "$OUT/file.json" -q
    [ "$(work_of pipe)" = "$(work_of file)" ] || fail "other work"
    for input in "head -c $cut $WHOLE" "tail -c +9 $WHOLE" "cat $WHOLE $WHOLE" "true"; do
        code=0
        $input | allocbench replay - -b glibc --rounds 1 >"$OUT/stdout" 2>"$OUT/stderr" 3>&- ||
            code=$?
        expect_code 3
        expect_error '^allocbench: standard input: byte [0-9]+: '
        [ "$(wc -l <"$OUT/stderr")" -eq 1 ]
    done
    head -c $cut "$WHOLE" |
        allocbench replay - --partial -b glibc --rounds 1 --json "$OUT/pipe.json" -q 3>&-
    head -c $cut "$WHOLE" >"$OUT/cut.abt"
    bench replay "$OUT/cut.abt" --partial -b glibc --rounds 1 --json "$OUT/file.json" -q
    expect_code 0
    [ "$(work_of pipe)" = "$(work_of file)" ] || fail "other work"
}

# Where blocks begin, byte by byte around it, and between; test_trace_partial does every length.
@test "a trace cut anywhere is refused, and with --partial what is whole of it" {
    local whole=$ROOT/tests/golden/traces/good/one-each.abt size n events least=0
    size=$(stat -c %s "$whole")
    allocbench trace dump "$whole" 3>&- >"$OUT/lines"
    for n in $(seq 0 61 $((size - 162))) $((size - 161)) $((size - 160)) $((size - 1)); do
        head -c "$n" "$whole" >"$OUT/cut.abt"
        bench trace check "$OUT/cut.abt"
        expect_code 3
        bench trace dump --partial "$OUT/cut.abt"
        if [ "$n" -lt 60 ] && [ "$code" -eq 3 ]; then continue; fi # its header is cut
        expect_code 0
        events=$(wc -l <"$OUT/stdout")
        head -n "$events" "$OUT/lines" | cmp - "$OUT/stdout"
        [ "$events" -ge "$least" ] || fail "fewer events at $n"
        least=$events
    done
    [ "$least" -eq "$(wc -l <"$OUT/lines")" ]
}
