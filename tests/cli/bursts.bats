#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# A trace that is too long to be held is replayed in bursts: the same work as in one piece, and the
# same facts found; whatever ends a run ends it here too. And what comes before the first run.
# tests: burst.c placed.c

load helpers

trace=$ROOT/traces/perl-words.abt

threads_trace() {
    allocbench record -o "$OUT/threads.abt" -- "$GUESTS/prog_pingpong" >/dev/null 2>&1 3>&-
    echo "$OUT/threads.abt"
}

# What does not depend on the clock: calls of each kind, calls timed, live bytes at every peak.
work_of() { # FILE
    jq -c '[[.results[] | [.backend, .op, .n_ops, .tail.n]],
            [.memory[] | [.backend, .live_peak_bytes, .internal_ratio]]]' "$1"
}

@test "bursts do the work of the whole, and count and weigh it alike" {
    bench replay "$trace" -b arena,glibc --rounds 2 --burst 0 --json "$OUT/whole.json" -q
    expect_code 0
    bench replay "$trace" -b arena,glibc --rounds 2 --burst 10000 --json "$OUT/bursts.json" -q
    expect_code 0
    [ "$(work_of "$OUT/whole.json")" = "$(work_of "$OUT/bursts.json")" ] || fail "other work"
    expect_json '.config.settings | index("burst=10000 calls, 12 of them") != null' "$OUT/bursts.json"
    expect_json '[.results[] | select(.op == "all") | .n > 5000] | all' "$OUT/bursts.json"
    expect_nothing_left
}

# The same, but for the usable bytes where resident memory was read: the peak is found op by op, and
# what lanes wait for is laid down otherwise.
calls_of() { # FILE
    work_of "$1" | jq -c '[.[0], [.[1][] | .[:2]]]'
}

# A workload has several phases, queues, scopes and iterations; most bursts have one phase alone.
@test "a workload in bursts does the work of the whole" {
    for name in producer-consumer exchange scratch region; do
        for size in 1GiB 256KiB; do
            bench run "$ROOT/configs/$name.yaml" -b arena,slab --rounds 1 --tape-mem $size --json "$OUT/$size.json" -q
            expect_code 0
        done
        [ "$(calls_of "$OUT/1GiB.json")" = "$(calls_of "$OUT/256KiB.json")" ] || fail "other work: $name"
        expect_json '.config.settings | any(startswith("tape-mem=")) | not' "$OUT/1GiB.json"
        expect_json '.config.settings[-1] | test("^tape-mem=262144, [1-9][0-9]* bursts$")' \
            "$OUT/256KiB.json"
        # Where lanes mostly wait for each other, there is CPU time per op only.
        expect_json '[.results[] | select(.op == "all") | (.ns_per_op // .cpu_ns_per_op) > 0] | all' "$OUT/256KiB.json"
    done
    expect_nothing_left
}

# What the heaps of a row served, but for times.
heaps_of() { # FILE
    jq -c '[.backends[].map? | select(. != null) | [.heaps, .rules]],
           [.heaps[] | [.backend, .heap, .op, .n_calls, .live_peak_blocks, .live_peak_bytes]],
           [.memory[] | [.backend, .rss_peak_bytes]]' "$1"
}

@test "several heaps live through bursts as in the whole, and are renewed in any" {
    for n in 0 256 4096; do # 437 bursts, 28
        bench replay "$trace" -b slab --map '*=slab' --map 'size:1-64=pool' \
            --map 'scope=2*arena,*=slab' --rounds 1 --burst $n --json "$OUT/$n.json" -q
        expect_code 0
        expect_json '[.backends[].status] == ["ok", "ok", "ok", "ok"]' "$OUT/$n.json"
        expect_json '[.heaps[] | select(.n_calls > 0)] | length > 12' "$OUT/$n.json"
        work_of "$OUT/$n.json" >"$OUT/$n.work"
        heaps_of "$OUT/$n.json" >"$OUT/$n.heaps"
        diff "$OUT/0.work" "$OUT/$n.work" || fail "other work"
        diff "$OUT/0.heaps" "$OUT/$n.heaps" || fail "other heaps"
    done
    expect_json '[.memory[] | select(.backend == "@map" or .backend == "slab") | .rss_peak_bytes]
        | unique | length == 1' "$OUT/256.json"
    expect_nothing_left
}

@test "lanes have heaps of their own through bursts" {
    trace=$(threads_trace)
    for n in 0 1000; do
        bench replay "$trace" -b slab --map 'thread:0=slab,*=glibc' --map 'size:1-64=slab' \
            --rounds 1 --burst $n --json "$OUT/$n.json" -q
        expect_code 0
        heaps_of "$OUT/$n.json" | head -1 >"$OUT/$n.heaps"
        expect_json '[.backends[].status] | all(. == "ok")' "$OUT/$n.json"
    done
    diff "$OUT/0.heaps" "$OUT/1000.heaps" || fail "other heaps"
}

@test "positions and windows go on over all bursts" {
    bench replay "$trace" -b glibc --rounds 2 --burst 10000 --json "$OUT/bursts.json" -q
    expect_code 0
    expect_json '.config.tape.n_ops as $n | [.windows[].end] | max == $n' "$OUT/bursts.json"
    expect_json '[.windows[] | select(.n > 0)] | length >= 16' "$OUT/bursts.json"
    expect_json '[.results[].tail.worst[]?.position] | max > 20000' "$OUT/bursts.json"
    expect_json '[.timelines[].points[]?] | length > 0' "$OUT/bursts.json"
}

@test "several lanes run through bursts, free and in strict order" {
    trace=$(threads_trace)
    allocbench trace info "$trace" --json "$OUT/info.json" 3>&-
    for order in free strict; do
        bench replay "$trace" -b glibc,slab --rounds 1 --burst 1000 --order $order \
            --json "$OUT/$order.json" -q
        expect_code 0
        jq -e --slurpfile info "$OUT/info.json" '[.memory[].live_peak_bytes] |
            all(. == $info[0].live_peak_bytes)' "$OUT/$order.json" >/dev/null || fail "other peaks"
    done
    expect_json '[.results[] | select(.op == "all") | .wait_percent] | all(. >= 0)' "$OUT/free.json"
    expect_nothing_left
}

@test "no number of bursts is compared with one of the whole" {
    few='--processes 1 --passes throughput'
    bench replay "$trace" -b arena --rounds 6 $few --burst 0 --json "$OUT/whole.json" -q
    bench replay "$trace" -b arena --rounds 6 $few --burst 20000 --json "$OUT/bursts.json" -q
    bench compare "$OUT/whole.json" "$OUT/bursts.json"
    expect_code 2
    expect_error 'different work: .*whole.json ran .*bursts.json ran'
    bench replay "$trace" -b arena --rounds 6 $few --burst 20000 --baseline "$OUT/whole.json"
    expect_code 2
    expect_error 'different work'
}

@test "the same bursts are the same digest, others another" {
    for n in 1 2; do
        bench replay "$trace" -b arena --rounds 1 --burst 20000 --json "$OUT/$n.json" -q
        expect_code 0
    done
    bench replay "$trace" -b arena --rounds 1 --burst 30000 --json "$OUT/3.json" -q
    digests=$(jq -r .config.tape_sha256 "$OUT/1.json" "$OUT/2.json" "$OUT/3.json")
    [ "$(uniq <<<"$digests" | wc -l)" -eq 2 ] || fail "$digests"
}

@test "a pipe is read once and replayed many times" {
    allocbench replay - -b arena,glibc --rounds 2 --burst 20000 --json "$OUT/pipe.json" -q \
        3>&- < <(cat "$trace") || fail "exit code $?"
    bench replay "$trace" -b arena,glibc --rounds 2 --burst 20000 --json "$OUT/file.json" -q
    [ "$(work_of "$OUT/pipe.json")" = "$(work_of "$OUT/file.json")" ] || fail "other work"
    expect_json ".config.sha256 == \"$(sha256sum <"$trace" | cut -d' ' -f1)\"" "$OUT/pipe.json"
    allocbench replay - -b arena --rounds 1 --json "$OUT/pipe.json" -q 3>&- <"$trace"
    bench replay - </dev/null
    expect_code 3
    expect_error '^allocbench: standard input'
}

@test "a trace without its end is refused, or replayed as far as it is whole" {
    head -c 50000 "$trace" >"$OUT/cut.abt"
    for burst in 0 1000; do
        bench replay "$OUT/cut.abt" -b arena --rounds 1 --burst $burst
        expect_code 3
        bench replay "$OUT/cut.abt" -b arena --rounds 1 --burst $burst --partial --json -
        expect_code 0
        expect_json '.config.settings | map(select(startswith("partial"))) | length == 1'
    done
}

@test "what crashes in a later burst is told with its place" {
    bench replay "$trace" --rounds 1 -b "glibc,$GUESTS/liblatecrash.so" --burst 1000 --json -
    expect_code 4
    expect_json '.backends[1].status == "crashed" and
        (.backends[1].reason | test("SIGSEGV between ops [0-9]{5} and [0-9]{5} of phase replay"))'
    expect_nothing_left
}

@test "an interruption between or within bursts leaves nothing running" {
    for wait in 0.3 0.7 1.1; do
        timeout -s INT $wait allocbench replay "$trace" -b glibc --rounds 200 --burst 256 --no-store \
            -q >/dev/null 2>&1 3>&- || true
        wait_until has_no_worker || fail "workers live on" # a second signal leaves them to the kernel
        expect_nothing_left
    done
}

@test "--burst takes what it says" {
    for bad in 1 255 1073741825 x; do
        bench replay "$trace" --burst $bad
        expect_code 2
        expect_error 'burst'
    done
}

@test "a trace is held whole where it fits --tape-mem, else it is in bursts" {
    bench replay "$trace" -b arena --rounds 1 --json "$OUT/whole.json" -q
    expect_code 0
    expect_json '[.config.settings[] | select(startswith("burst="))] == []' "$OUT/whole.json"
    bench replay "$trace" -b arena --rounds 1 --tape-mem 256KiB --json "$OUT/bursts.json" -q
    expect_code 0
    expect_json '.config.settings | map(select(test("^burst=[0-9]+ calls, [0-9]+ of them"))) |
        length == 1' "$OUT/bursts.json"
    expect_json '.config.settings | map(select(startswith("burst="))) | .[0] |
        capture("=(?<n>[0-9]+) calls, (?<m>[0-9]+)") | (.n | tonumber) >= 32768 and
        (.n | tonumber) < 40000 and (.m | tonumber) > 1' "$OUT/bursts.json"
    [ "$(work_of "$OUT/whole.json")" = "$(work_of "$OUT/bursts.json")" ] || fail "other work"
    for bad in 1KiB 0% 95% x 100; do
        bench replay "$trace" --tape-mem "$bad"
        expect_code 2
        expect_error 'tape-mem'
    done
}

@test "a tape too long for memory and disk is refused, with what can be done" {
    (ulimit -f 512 && trap '' XFSZ && allocbench replay "$trace" -b arena --rounds 1 --no-store -q \
        --burst 10000 2>"$OUT/stderr" 3>&-) && fail "it ran"
    grep -q 'no space in .* for the tape after .*set TMPDIR' "$OUT/stderr" ||
        fail "$(cat "$OUT/stderr")"
}

@test "reading is bounded by --timeout, of whatever there is to be read" {
    "$BUILD/bench/big_trace" "$OUT/long.abt" 3000000
    "$BUILD/bench/big_trace" "$OUT/threads.abt" 400000 100000 2000
    for file in long threads; do
        bench replay "$OUT/$file.abt" -b arena --rounds 1 --timeout 10ms
        expect_code 4
        expect_error "^allocbench: .*$file.abt: reading it and preparing the run takes longer than --timeout 10.0 ms"
    done
    expect_nothing_left
}

@test "bursts need no descriptor: an allocator may close those of others" {
    bench replay "$trace" -b "$GUESTS/libclosesfds.so" --rounds 1 --burst 20000 --json -
    expect_code 0
    expect_json '.backends[0].status == "ok"'
}
