#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Several lanes, and CPU time that belongs to none of them.

load helpers

@test "CPU time of an allocator's own threads is told beside the lanes'" {
    bench run "$WORKLOADS/small.yaml" --rounds 5 -b "$GUESTS/libbackground.so,glibc" --json -
    expect_code 0
    expect_json '[.results[] | select(.op == "all" and .backend == "background")]
        | map(.background_cpu_ns_per_op / .cpu_ns_per_op) | max > 0.2'
    # a machine that halts between two readings may make one of them wrong
    expect_json '[.results[] | select(.op == "all" and .backend == "glibc")] | length == 20 and
        (map(select(.background_cpu_ns_per_op != 0)) | length <= 2)'
}

# bats test_tags=installed
@test "a pipeline of 5,000 live blocks stays within a tenth of them on every back end" {
    bench run "$WORKLOADS/pipeline.yaml" --rounds 2 --json - \
        -b glibc,jemalloc,tcmalloc,mimalloc,scudo,tbb,arena,pool,slab
    [ "$code" -eq 0 ] || [ "$code" -eq 4 ] || fail "exit code $code" # 4: not all are installed here
    expect_json '.config.tape.lanes == 2 and .config.tape.live_peak_blocks == 5000'
    expect_json '.config.window >= 256 and .config.window <= 1024 and .config.n_remote == 100000'
    expect_json '.config.window_given == false'
    expect_json '[.backends[] | select(.status == "ok")] | length >= 5'
    expect_json '[.results[] | select(.op == "all")] | length >= 4 and
        all(.live_peak_blocks >= 4800 and .live_peak_blocks <= 5600)' # a tenth of the bytes
    expect_json '[.results[] | select(.op == "all")]
        | all(.wait_percent >= 0 and .wait_percent <= 100 and .tail.n == 200000)'
}

@test "eight lanes on few CPUs end, do the same work for all, and wait apart from their ops" {
    bench run "$WORKLOADS/crowd.yaml" --rounds 2 -b glibc,mimalloc --cpus 0 --timeout 60s --json -
    expect_code 0
    expect_json '.config.tape.lanes == 8 and .config.n_edges > 0 and .config.cpus == [0]'
    expect_json '[.results[] | select(.phase == "run" and .op == "all") | [.n_ops, .tail.n]]
        | unique | length == 1'
    expect_json '[.results[] | select(.phase == "run" and .op == "alloc")] | all(.n > 10000)'
    expect_nothing_left
}

@test "the strict order does the same work without latencies" {
    bench run "$WORKLOADS/crowd.yaml" --rounds 1 -b glibc --json "$OUT/free.json" -q
    bench run "$WORKLOADS/crowd.yaml" --rounds 3 -b glibc --order strict --json -
    expect_code 0
    expect_json '.config.order == "strict"'
    expect_json '[.results[] | select(.op == "all")] | all(.n == 0) and any((.ns_per_op // .cpu_ns_per_op) > 0)'
    # What is not known is no 0, the harness's time neither.
    expect_json '[(.timer.null[], .results[]) | .ns_per_op, .latency_pass_ns_per_op] | all(. == null or . > 0)'
    [ "$(jq -r .config.tape_sha256 "$OUT/stdout")" = \
        "$(jq -r .config.tape_sha256 "$OUT/free.json")" ] || fail "another tape"
}

@test "a back end that serves one lane only refuses several, and says so" {
    bench run "$WORKLOADS/crowd.yaml" --rounds 1 -b skeleton,glibc --json -
    expect_code 4
    expect_json '.backends[] | select(.name == "skeleton")
        | .status == "failed_check" and (.reason | test("single-threaded"))'
}

@test "threads that renew leaves end, ask for no memory of their own, and do the same work" {
    local options
    for options in "--set ended=5" "--set lanes=3 --set ended=17 --order strict"; do
        # shellcheck disable=SC2086 # words
        bench run "$WORKLOADS/renew.yaml" $options -b "$GUESTS/libheirs.so,glibc,slab" --rounds 1 --json -
        expect_code 0
        expect_json '[.backends[].status] | unique == ["ok"]'
        expect_json '[.results[] | select(.op == "all" and .phase == "work") | [.n_ops]] | unique | length == 1'
        expect_json '[.results[] | select(.op == "all") | select((.renewal_percent != null) != (.phase == "work"))]
            == []'
    done
    # the test itself: another count is seen
    bench run "$WORKLOADS/renew.yaml" --set ended=6 -b "$GUESTS/libheirs.so" --rounds 1
    expect_code 4
}

@test "where a role has renew, only its threads end" {
    local act='do: [{replace: live, at: random, size: "uniform(16, 300)", count: 200}]'
    sed "s/^    lanes: .*/    roles:\n      - {name: stays, $act}\n      - {name: leaves, lanes: 2, renew: 3, $act}/
        /^    renew:/,/at: own/d" "$WORKLOADS/renew.yaml" >roles.yaml
    bench run roles.yaml --set ended=12 --order strict -b "$GUESTS/libheirs.so,glibc" --rounds 1 --json -
    expect_code 0
    expect_json '[.backends[].status] | unique == ["ok"]'
    bench run roles.yaml --set ended=17 --order strict -b "$GUESTS/libheirs.so" --rounds 1
    expect_code 4
}

@test "renew and each, or renew for the main thread, are errors" {
    sed 's/    renew: 3/&\n    each: {name: x}/' "$WORKLOADS/renew.yaml" >each.yaml
    bench check each.yaml
    expect_code 2
    expect_error "each.yaml:[0-9]+:[0-9]+: error: .*'renew' or 'each', not both"
    sed 's/    renew: 3/&\n    run_as: main/' "$WORKLOADS/renew.yaml" >main.yaml
    bench check main.yaml
    expect_code 2
    expect_error "'renew' is for lanes on threads of their own"
}

# Blocks that are few and small: what is resident is the caches of libthreadcache.c, 1 MiB of each thread
# that lives and 64 KiB of each that has ended.
record_short_threads() { # ROUNDS
    bench record -o short.abt -- "$GUESTS/prog_short_threads" "$1" 50 0
    expect_code 0
    bench trace info short.abt --json -
    ended=$(jq .thread_ends "$OUT/stdout")
    [ "$ended" -eq $((4 * $1)) ] || fail "$ended of $((4 * $1)) threads ended in the trace"
}

@test "where a trace ends a thread, its thread ends in each pass, and a fresh one goes on" {
    record_short_threads 50
    bench replay short.abt -b "$GUESTS/libthreadcache.so,glibc,slab" --rounds 1 --json "$OUT/result.json"
    expect_code 0
    cp "$OUT/result.json" "$OUT/stdout"
    expect_json ".config.thread_ends_left_out == 0 and
        ([.results[] | select(.op == \"all\") | .thread_ends] | unique == [$ended]) and
        ([.results[] | select(.op == \"all\") | .thread_end_ns > 0] | all)"
    # threads that stay have 3 to 5 MiB, fresh ones whose predecessors stay 200
    expect_json '[.memory[] | select(.backend == "threadcache" and .at == "footprint_peak") | .rss_peak_bytes / 1048576]
        | length == 1 and all(. > 12 and . < 25)'
}

@test "pins, mappings and scopes end threads as the plain replay does" {
    record_short_threads 12
    local options
    for options in "-v pins" "--burst 1000" "--order strict" "--map size:200=slab" "--each scope"; do
        # shellcheck disable=SC2086 # words
        bench replay short.abt -b "$GUESTS/libthreadcache.so" $options --rounds 1 --json "$OUT/result.json"
        expect_code 0
        cp "$OUT/result.json" "$OUT/stdout"
        expect_json "[.results[] | select(.op == \"all\") | .thread_ends] | length >= 1 and unique == [$ended]"
    done
}

@test "ends of threads that share a lane are left out, counted and said" {
    record_short_threads 12
    bench replay short.abt --threads 1 -b "$GUESTS/libthreadcache.so" --rounds 1 --json "$OUT/result.json"
    expect_code 0
    tr "\n" " " <"$OUT/stdout" | tr -s " " >said
    grep -q "threads of the program did not end in the replay, because 1 lane plays several" said ||
        fail "$(cat said)"
    cp "$OUT/result.json" "$OUT/stdout"
    expect_json ".config.thread_ends_left_out == $ended and
        ([.results[] | select(.op == \"all\") | .thread_ends, .thread_end_ns] == [0, null])"
}

# Pages that a program has given back are not in what is resident from there on.
@test "malloc_trim is called in a replay where the library has it, and else counted" {
    local options
    bench record -o kept.abt -- "$GUESTS/prog_trims"
    expect_code 0
    bench record -o given.abt -- "$GUESTS/prog_trims" trims
    expect_code 0
    for trace in kept given; do
        bench replay $trace.abt -b glibc,slab,"$GUESTS/libthreadcache.so" --rounds 1 --json "$trace.json"
        expect_code 0
        tr "\n" " " <"$OUT/stdout" | tr -s " " >$trace.txt
    done
    grep -q "glibc: malloc_trim was called 1 time, as in the program; slab, threadcache: 1 call of malloc_trim had no effect" given.txt ||
        fail "$(cat given.txt)"
    ! grep -q malloc_trim kept.txt || fail "a call of malloc_trim without one"
    jq -s '[.[] | [.results[] | select(.op == "all") | [.backend, .trims, .trims_without_effect]]]' kept.json given.json >"$OUT/stdout"
    expect_json '. == [[["glibc", 0, 0], ["slab", 0, 0], ["threadcache", 0, 0]], [["glibc", 1, 0], ["slab", 0, 1], ["threadcache", 0, 1]]]'
    # The same operations, other work.
    jq -s 'map(.config)' kept.json given.json >"$OUT/stdout"
    expect_json '.[0].tape.n_ops == .[1].tape.n_ops and .[0].tape_sha256 != .[1].tape_sha256'
    # At the end of the phase, before the drain: 32 MiB of free blocks, and without them.
    jq -s '[.[] | .memory[] | select(.backend == "glibc" and .at == "end") | .footprint_bytes / 1048576]' kept.json given.json >"$OUT/stdout"
    expect_json '.[0] > 28 and .[1] < 8'
    jq -s '[.[] | .memory[] | select(.backend == "glibc" and .at == "footprint_peak") | .footprint_bytes / 1048576]' kept.json given.json >"$OUT/stdout"
    expect_json '.[0] > 28 and .[1] > 28'
    for options in "-v pins" "--burst 1000" "--order strict" "--map size:100=slab"; do
        # shellcheck disable=SC2086 # words
        bench replay given.abt -b glibc $options --rounds 1 --json "$OUT/result.json"
        expect_code 0
        cp "$OUT/result.json" "$OUT/stdout"
        expect_json "[.results[] | select(.op == \"all\" and .backend == \"glibc\") | .trims] | length >= 1 and unique == [1]"
    done
}
