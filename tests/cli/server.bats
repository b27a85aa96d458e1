#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# exec --server: a program that does not end by itself, under a load whose numbers are read.
# tests: server.c start.c

load helpers

PROG=$GUESTS/prog_server
TOY=$GUESTS/libtoy.so # a malloc of our own

serve() { # MODE LOAD OPTION…: two rounds of a server at a socket of the test, with a short rest
    local mode=$1 load=$2
    shift 2
    bench exec --server --rounds 2 --rest 60ms --ready "unix:$OUT/s" --load "$load" "$@" \
        -- "$PROG" $mode "unix:$OUT/s"
}

ask() { # N SIZE
    echo "'$PROG' ask 'unix:$OUT/s' $1 $2"
}

@test "a server is loaded and measured under each allocator; the load runs without it, its numbers are read" {
    serve "" "$(ask 3000 1000) | tee -a '$OUT/log'" -q -b "glibc,toy=$TOY" --json "$OUT/r.json" --csv "$OUT/r.csv" \
        --metric 'kept=^kept: ([0-9]+)$' --metric 'rate+=rate: ([0-9.]+)'
    expect_code 0
    [ "$(grep -c 'preload: no' "$OUT/log")" -eq 6 ] || fail "$(cat "$OUT/log")" # 2 rounds, and first once each
    expect_json '[.config.metrics[] | [.name, .better]] == [["kept", "lower"], ["rate", "higher"]]' "$OUT/r.json"
    expect_json '[.results[].program.metrics.kept] == [3000, 3000, 3000, 3000]' "$OUT/r.json"
    # what the client says of its rate is of the same seconds as the time of the load
    expect_json '[.results[].program | 3000e9 / .metrics.rate / .wall_ns | . > 0 and . <= 1] | all' "$OUT/r.json"
    expect_json '[.results[].program | .resident_loaded_bytes, .resident_rested_bytes |
        . / 1048576 | . > 3 and . < 12] | all' "$OUT/r.json"
    expect_json '[.results[].program | .ready_ns > 15e6 and .resident_peak_bytes >= .resident_rested_bytes] | all' "$OUT/r.json"
    expect_json '[.ratios[] | select(.metric == "rate" or .metric == "kept")] | length == 2' "$OUT/r.json"
    [ "$(grep -c ',program,all,rate,' "$OUT/r.csv")" -eq 4 ] || fail "no CSV rows"
    bench report "$OUT/r.json" --json "$OUT/again.json" --html "$OUT/r.html"
    grep -q '>rate<' "$OUT/r.html" || fail "not in the report"
    cmp "$OUT/r.json" "$OUT/again.json" || fail "another document"
    grep -q '^ *kept  *vs glibc' "$OUT/stdout" || fail "not ranked by the first metric: $(cat "$OUT/stdout")"
    grep -q '^rate ' "$OUT/stdout" || fail "$(cat "$OUT/stdout")"
    python3 -c 'import jsonschema' 2>/dev/null || skip "no jsonschema for python3"
    python3 -c 'import json,sys,jsonschema; jsonschema.validate(json.load(open(sys.argv[1])), json.load(open(sys.argv[2])))' \
        "$OUT/r.json" "$ROOT/results/allocbench-2.schema.json"
}

@test "CPU time and memory are those of the server alone, and not of a load that takes more" {
    serve "" "$(ask 10 1000); '$GUESTS/prog_exec' holds 64; i=0; while [ \$i -lt 300000 ]; do i=\$((i+1)); done" \
        -q -b glibc --json "$OUT/r.json"
    expect_code 0
    expect_json '[.results[].program | .resident_peak_bytes < 20e6 and .cpu_ns < 0.2 * .wall_ns] | all' "$OUT/r.json"
    expect_nothing_left
}

@test "what is freed in the rest is seen: memory at the end of the load, and after the rest" {
    serve frees "$(ask 64 500000)" -q -b glibc --json "$OUT/r.json" --rest 600ms
    expect_code 0
    expect_json '[.results[].program | .resident_loaded_bytes > 32e6 and .resident_rested_bytes > 0 and .resident_rested_bytes < 16e6 and
        .resident_peak_bytes > 32e6] | all' "$OUT/r.json"
}

@test "gates: on what the load prints, in the unit of its name" {
    serve "" "$(ask 100 100); echo took 7.5" -b "glibc,toy=$TOY" --metric 't_ms=took ([0-9.]+)' \
        --metric 'took=took ([0-9.]+)' --gate 'program/all/t_ms < 8ms' --gate 'program/all/took < 8' \
        --gate 'toy:program/all/t_ms <= 1.0x glibc'
    expect_code 0
    serve "" "$(ask 100 100); echo took 7.5" -q -b glibc --metric 't_ms=took ([0-9.]+)' \
        --gate 'program/all/t_ms < 7400us'
    expect_code 1
    serve "" true -b glibc --metric 't_ms=took ([0-9.]+)' --gate 'program/all/t_us < 7ms'
    expect_code 2
    expect_error "unknown statistic 't_us'; did you mean 't_ms'"
}

@test "a stored result is a base: of the same load, by what it prints" {
    echo 'speed 1000' >"$OUT/rate"
    bench exec -q --server --rounds 6 --rest 0 -b glibc --ready "unix:$OUT/s" --load "$(ask 10 10); cat '$OUT/rate'" \
        --metric 'speed+=speed ([0-9]+)' --json "$OUT/base.json" -- "$PROG" "unix:$OUT/s"
    expect_code 0
    echo 'speed 900' >"$OUT/rate"
    bench exec --server --rounds 6 --rest 0 -b glibc --ready "unix:$OUT/s" --load "$(ask 10 10); cat '$OUT/rate'" \
        --metric 'speed+=speed ([0-9]+)' --baseline "$OUT/base.json" --limit 1000% --json "$OUT/r.json" \
        --gate 'program/all/speed > -5%' -- "$PROG" "unix:$OUT/s"
    expect_code 1
    expect_json '[.comparison.cells[] | select(.metric == "speed") | .ratio] == [0.9]' "$OUT/r.json"
    bench exec --server --rounds 6 --rest 0 -b glibc --ready "unix:$OUT/s" --load true \
        --baseline "$OUT/base.json" -- "$PROG" "unix:$OUT/s"
    expect_code 2
    expect_error 'different work'
}

@test "a port of TCP, a command of the shell, and what answers already" {
    local port
    port=$("$PROG" port)
    bench exec -q --server --rounds 1 --rest 0 -b glibc --ready "tcp:$port" --json - \
        --load "'$PROG' ask tcp:$port 10 10" -- "$PROG" "tcp:$port"
    expect_code 0
    bench exec -q --server --rounds 1 --rest 0 -b glibc --ready "tcp:localhost:$port" \
        --load "'$PROG' ask tcp:$port 10 10" -- "$PROG" "tcp:$port"
    expect_code 0
    bench exec -q --server --rounds 1 --rest 0 -b glibc --ready "cmd:test -S '$OUT/s' && $(ask 1 10)" \
        --load "$(ask 10 10)" --prepare "rm -f '$OUT/s'" -- "$PROG" "unix:$OUT/s"
    expect_code 0
    "$PROG" "unix:$OUT/s" 3>&- &
    local other=$!
    # the socket is there before the server listens: what counts is that it answers
    wait_until "$PROG" ask "unix:$OUT/s" 0 10 || fail "the other server does not answer"
    serve "" true -b glibc
    kill "$other"
    expect_code 4
    expect_error "--ready 'unix:.*' succeeds before the server is started: something else answers there"
    bench exec --server -b glibc --ready cmd:true --load true -- "$PROG" "unix:$OUT/s"
    expect_code 4
    expect_error "--ready 'cmd:true' succeeds before"
}

@test "a server that is not ready in time, ends early, crashes under the load, or does not end well" {
    serve late true -b glibc --ready-timeout 100ms
    expect_code 4
    expect_error "glibc: failed_check: not ready after 100 ms \(--ready-timeout\): --ready 'unix:"
    bench exec --server -b glibc --ready "unix:$OUT/s" --load true -- "$PROG" nowhere unix:/nonexistent/s
    expect_error 'glibc: failed_check: the server ended before it was ready: exit status 1; the last words of the server: listen: '
    bench exec --server -b glibc --ready "unix:$OUT/s" --load true -- true
    expect_error 'the server ended before it was ready: exit status 0 \(it must not go into the background\)'
    serve crashes "$(ask 3 10)" -b glibc
    expect_code 4
    expect_error 'glibc: crashed: the server was ended by signal 11 .* under the load'
    serve quits "$(ask 3 10)" -b glibc
    expect_error 'glibc: failed_check: (the load failed: .*; the server ended with|the server ended under the load:) exit status 3'
    serve fails "$(ask 3 10)" -b glibc
    expect_code 4
    expect_error 'glibc: failed_check: the server ended when it was asked to end: exit status 9'
    serve handles "$(ask 3 10)" -q -b "toy=$TOY"
    expect_code 0
    serve handles "$(ask 3 10)" -q -b "toy=$TOY" --end-signal INT # and exit status 130
    expect_code 0
    serve deaf "$(ask 3 10)" -q -b glibc --end-signal KILL
    expect_code 0
    expect_nothing_left
}

@test "a load that fails, or prints no such number, has the reason and no numbers" {
    serve "" "$(ask 3 10); echo too bad >&2; exit 7" -b glibc
    expect_code 4
    expect_error 'glibc: failed_check: the load failed: exit status 7; its last words: too bad'
    serve "" "echo p99: 12,5 ms" -b glibc --metric 'p99_ms=p50: ([0-9.,]+)'
    expect_code 4
    expect_error "--metric 'p99_ms=p50: .*' matches nothing in what the load printed \(13 bytes\)"
    serve "" "echo p99: 12,5 ms" -b glibc --metric 'p99_ms=p99: ([0-9.,]+)'
    expect_error "matches '12,5', which is not a number of 0 or more"
    serve "" 'head -c 20000000 /dev/zero' -b glibc
    expect_error 'the load printed more than 16 MiB'
    expect_nothing_left
}

@test "a regular expression has a bound in time and memory" {
    serve "" true -b glibc --metric 'x=((((((a{1,255}){1,255}){1,255}){1,255}){1,255}){1,255})'
    expect_code 2
    expect_error "--metric 'x=.*': the regular expression takes more than 5 s of CPU time or 512 MiB to be read"
    serve "" 'head -c 3000 /dev/zero | tr "\0" a' -b glibc --metric 'x=(a*)(a*)(a*)(a*)(a*)\1\2\3\4\5b'
    expect_code 4
    expect_error "--metric 'x=.* the regular expression takes more than 5 s of CPU time or 512 MiB to be found"
    serve "" "echo 7,7 is 7" -q -b glibc --metric 'x=([0-9]),\1' # a bounded one works
    expect_code 0
    expect_nothing_left
}

@test "the allocator of a server is proven, and an interruption leaves nothing" {
    bench exec --server --rounds 1 --rest 0 --ready "unix:$OUT/s" --load "$(ask 10 10)" -b "glibc,toy=$TOY" \
        -- env -u LD_PRELOAD "$PROG" "unix:$OUT/s"
    expect_code 4
    expect_error 'toy: wrong_library: (env|prog_server) has not loaded'
    start_bench exec --server --rest 0 --rounds 3 -b glibc --ready "unix:$OUT/s" \
        --load "touch '$OUT/loads'; sleep 60" -- "$PROG" "unix:$OUT/s"
    wait_until test -e "$OUT/loads"
    kill -INT "$pid"
    await_bench
    expect_code 130
    expect_nothing_left
}

@test "options that cannot be are refused before anything runs" {
    local wrong
    for wrong in '--server' '--ready tcp:80' '--load x' '--metric a=(b)' '--rest 1s' '--end-signal INT'; do
        bench exec -b glibc $wrong -- true
        expect_code 2
    done
    expect_error -- '--end-signal requires --server'
    serve "" true --trace x.abt
    expect_code 2
    expect_error -- '--trace and --server are mutually exclusive'
    bench exec --server --ready tcp:70000 --load true -- true
    expect_error 'a port from 1 to 65535'
    bench exec --server --ready udp:7 --load true -- true
    expect_error 'expected tcp:PORT, tcp:HOST:PORT, unix:PATH or cmd:COMMAND'
    bench exec --server --ready tcp:nowhere.invalid:7 --load true -- true
    expect_error "nowhere.invalid: "
    serve "" true --metric 'wall_ns=([0-9]+)'
    expect_error 'wall_ns is a metric of allocbench itself'
    serve "" true --metric '9=([0-9]+)'
    expect_error 'a name has up to 63 letters, digits'
    serve "" true --metric 'a=[0-9]+'
    expect_error '\( \) must be around the number'
    serve "" true --metric 'a=([0-9+)'
    expect_error "--metric 'a=\(\[0-9\+\)': "
    serve "" true --metric 'a=(1)' --metric 'a+=(2)'
    expect_error 'two are named a'
    serve "" true --end-signal TREM
    expect_error 'did you mean TERM'
    expect_code 2
}

# bats test_tags=full
@test "a program that waits for ten seconds is said to be one that may not end; one that computes is not" {
    timeout 30 allocbench exec --timeout 13s --rounds 1 -b glibc -- sh -c \
        'i=0; while [ $i -lt 100000000 ]; do i=$((i + 1)); done' >/dev/null 2>"$OUT/busy" 3>&- &
    local busy=$!
    timeout 30 allocbench exec --timeout 13s --rounds 1 -b glibc -- sh -c \
        'while :; do timeout 3 sh -c "while :; do :; done"; done' >/dev/null 2>"$OUT/turns" 3>&- &
    local turns=$!
    bench exec --timeout 13s --rounds 1 -b glibc -- "$PROG" "unix:$OUT/s"
    wait "$busy" "$turns" || true
    expect_code 4
    expect_error 'allocbench: prog_server runs without using CPU time; .* --server'
    for of in busy turns; do # alone; processes that replace one another
        grep -q 'ran longer than' "$OUT/$of" || fail "$of: $(cat "$OUT/$of")"
        ! grep -q 'without using CPU time' "$OUT/$of" || fail "$of: $(cat "$OUT/$of")"
    done
}
