#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Where the system ends: memory, standard output, the size of a file. Each has the exit code of the
# system's refusal (4) and one line that names it; no input is blamed for it.
# tests: core/output.c

load helpers

TRACE=$ROOT/traces/perl-words.abt

@test "memory that runs out is exit 4, and no fault of the trace" {
    local kib refused=0
    for kib in $(seq 10000 1000 22000); do
        for word in info check; do
            code=0
            (ulimit -v "$kib"; allocbench trace $word "$TRACE") >"$OUT/stdout" 2>"$OUT/stderr" \
                3>&- || code=$?
            case $code in
            0) continue ;;
            127) ! grep -q '^allocbench: ' "$OUT/stderr" || fail "127" ;; # the loader had too little
            *)  expect_code 4
                expect_error 'out of memory|Cannot allocate memory'
                refused=$((refused + 1))
                ! grep -q "event [0-9]" "$OUT/stderr" || fail "the trace is blamed" ;;
            esac
        done
    done
    [ "$refused" -gt 0 ] || fail "no limit was met"
}

# Every command that prints, short and long.
each_command() { # WHAT
    local words
    while read -r words; do
        # shellcheck disable=SC2086 # words
        "$1" $words
    done <<EOF
--help
--version
run --help
list backends
list backends --json -
check $WORKLOADS/tiny.yaml
trace info $TRACE
trace info $TRACE --json -
trace check $TRACE
trace dump $TRACE
trace cut $TRACE --events 0..2000 -o -
report $ROOT/tests/golden/results/good/run.json
report $ROOT/tests/golden/results/good/run.json --json -
verify glibc --check required
run $WORKLOADS/tiny.yaml --rounds 1 -b arena
run $WORKLOADS/tiny.yaml --rounds 1 -b arena --json -
replay $TRACE --rounds 1 -b arena --csv -
EOF
}

into_full() {
    code=0
    allocbench "$@" >/dev/full 2>"$OUT/stderr" 3>&- || code=$?
    [ "$code" -eq 4 ] || fail "$*: exit code $code"
    grep -q 'No space left on device' "$OUT/stderr" || fail "$*: no reason"
}

into_closed() {
    code=0
    allocbench "$@" >&- 2>"$OUT/stderr" 3>&- || code=$?
    [ "$code" -eq 4 ] || fail "$*: exit code $code"
    grep -Eq 'standard output: it is closed|Bad file descriptor' "$OUT/stderr" ||
        fail "$*: no reason"
}

@test "a full standard output is exit 4 with the reason, whatever the command" {
    [ -c /dev/full ] || skip "no /dev/full"
    each_command into_full
    expect_nothing_left
}

@test "a closed standard output is exit 4, whatever the command" {
    each_command into_closed
    expect_nothing_left
}

@test "what prints nothing needs no standard output" {
    code=0
    allocbench trace cut "$TRACE" --events 0..10 -o "$OUT/part.abt" >&- 2>"$OUT/stderr" 3>&- || code=$?
    expect_code 0
}

@test "a limit on file sizes is one line and exit 4, and nothing of the file is left" {
    local words
    while read -r words; do
        code=0
        # shellcheck disable=SC2086 # words
        (ulimit -f 8; allocbench $words) >"$OUT/stdout" 2>"$OUT/stderr" 3>&- || code=$?
        [ "$code" -eq 4 ] || fail "$words: exit code $code"
        expect_error 'File too large'
        [ "$(grep -vc unsealed "$OUT/stderr")" -eq 1 ] || fail "$words: more than a line"
        expect_nothing_left
    done <<EOF
run $WORKLOADS/tiny.yaml --rounds 1 -b arena -q --json r.json
replay $TRACE --rounds 1 -b arena -q --csv r.csv
report $ROOT/tests/golden/results/good/run.json --json r.json
trace cut $TRACE --events 0..60000 -o c.abt
trace dump $TRACE
EOF
}

@test "limits that leave a worker no room are named, and no back end is blamed" {
    code=0
    (ulimit -n 32; allocbench run "$WORKLOADS/tiny.yaml" --rounds 1 -b glibc) >"$OUT/stdout" \
        2>"$OUT/stderr" 3>&- || code=$?
    expect_code 4
    expect_error '^allocbench: cannot start a worker: the limit on open files \(ulimit -n\) is 32, at least'
    code=0
    (ulimit -s 64; allocbench run "$WORKLOADS/tiny.yaml" --rounds 1 -b glibc) >"$OUT/stdout" \
        2>"$OUT/stderr" 3>&- || code=$?
    expect_code 4
    expect_error 'the limit on the stack \(ulimit -s\) is 64 KiB, at least'
    code=0 # one that can be raised is
    code=0 # less than stdio takes for a message
    (ulimit -s 24; exec env -i "$BUILD/allocbench" --version) >"$OUT/stdout" 2>"$OUT/stderr" || code=$?
    expect_code 4
    expect_error 'the limit on the stack \(ulimit -s\) is 24 KiB, at least'
    code=0
    (ulimit -f 1; allocbench record -o "$OUT/t.abt" -- true) >"$OUT/stdout" 2>"$OUT/stderr" 3>&- || code=$?
    expect_code 125
    expect_error 'the limit on file sizes \(ulimit -f\) is too low for a recording'
    code=0
    (ulimit -S -s 64; allocbench run "$WORKLOADS/tiny.yaml" --rounds 1 -b glibc) >"$OUT/stdout" \
        2>"$OUT/stderr" 3>&- || code=$?
    expect_code 0
    expect_nothing_left
}

@test "two outputs into one file are refused, however they are spelled" {
    result=$ROOT/tests/golden/results/good/run.json
    mkdir sub
    : >one
    ln one two
    for pair in "--json z --csv z" "--json z --hlog ./z" "--csv z --csv-hist sub/../z" \
        "--csv $PWD/z --csv-timeline z" "--json one --csv two"; do
        for command in "report $result" "run $WORKLOADS/tiny.yaml -b arena --rounds 1"; do
            # shellcheck disable=SC2086 # words
            bench $command $pair
            expect_code 2
            expect_error '^allocbench: --[a-z-]+ and --[a-z-]+ name the same file$'
        done
    done
    [ ! -e z ] && [ ! -s one ] && [ "$(ls -A | wc -l)" -eq 3 ] || fail "$(ls -lA)"
    bench report "$result" --json one --csv three # two files
    expect_code 0
}

# A cut that has its output open and waits for the rest of its input, with every file named or none.
start_cut() { # PRELOAD
    mkfifo "$OUT/fifo"
    LD_PRELOAD=$1 env --default-signal=INT,QUIT,TERM,HUP allocbench trace cut - --events 0..60000 -o part.abt \
        <"$OUT/fifo" >"$OUT/stdout" 2>"$OUT/stderr" 3>&- &
    pid=$!
    exec 8>"$OUT/fifo"
    head -c 20000 "$TRACE" >&8
}

end_cut() { # SIGNAL
    kill "-$1" "$pid"
    await_bench
    exec 8>&-
    rm -f "$OUT/fifo" core*
    [ "$code" -eq $((128 + $(kill -l "$1"))) ] || fail "$1: exit code $code"
    [ -z "$(ls -A)" ] || fail "$1 left: $(ls -A)"
}

has_temporary() {
    [ -n "$(find . -name '.allocbench-*.tmp')" ]
}

has_nameless() {
    readlink /proc/"$pid"/fd/* 2>/dev/null | grep -q "$PWD/.*(deleted)"
}

@test "an interrupted cut leaves nothing, on a file system that knows names only, too" {
    for signal in INT TERM HUP QUIT; do
        start_cut "$GUESTS/libnotmpfile.so"
        wait_until has_temporary || fail "no temporary file came up"
        end_cut $signal
    done
}

@test "where files need no name not even a kill leaves one" {
    allocbench trace cut "$TRACE" --events 0..10 -o probe -q 3>&-
    rm probe
    start_cut ""
    wait_until has_nameless || skip "this file system knows no files without a name"
    end_cut KILL
}

has_two_temporaries() {
    [ "$(find r -name '.allocbench-*.tmp' | wc -l)" -eq 2 ]
}

@test "a second signal leaves no temporary file, nor does a QUIT" {
    for signals in "INT INT" "TERM TERM" QUIT; do
        mkdir r
        LD_PRELOAD=$GUESTS/libnotmpfile.so env --default-signal=INT,QUIT \
            allocbench run "$WORKLOADS/long.yaml" -b "$GUESTS/libignoreterm.so" --rounds 3 \
            --json r/j --csv r/c --results r >"$OUT/stdout" 2>"$OUT/stderr" 3>&- &
        pid=$!
        wait_until has_two_temporaries || fail "$(ls -A r)"
        for signal in $signals; do
            kill "-$signal" "$pid" 2>/dev/null || break # the first may have been enough
            sleep 0.05
        done
        await_bench
        [ "$code" -ge 128 ] || fail "$signals: exit code $code"
        [ -z "$(ls -A r)" ] || fail "$signals left: $(ls -A r)"
        rm -rf r core*
    done
}
