#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Results are kept without being asked for, never over another one, and read back as they were.
# tests: cmd_report.c checks_json.c resume_result.c

load helpers

small() { # OPTION…
    bench run "$WORKLOADS/tiny.yaml" -b glibc,arena --rounds 1 --drain 0 "$@"
}

# The only file in a folder.
only_file() { # FOLDER
    [ "$(ls -A "$1" | wc -l)" -eq 1 ] || fail "in $1: $(ls -A "$1")"
    echo "$1/$(ls -A "$1")"
}

@test "a result is kept in results/, by name, time and digest, and the place is told" {
    unset ALLOCBENCH_RESULTS
    small --json "$OUT/result.json"
    expect_code 0
    file=$(only_file results) || fail "$file"
    [[ $file =~ ^results/tiny-20[0-9]{6}T[0-9]{6}-[0-9a-f]{8}\.json$ ]] || fail "named $file"
    digest=$(jq -r .config.tape_sha256 "$file")
    [[ $file == *-${digest:0:8}.json ]] || fail "named $file, digest $digest"
    [ "$(grep -v '^\[ *[0-9]*/[0-9]*\] ' "$OUT/stderr")" = "Stored: $file" ] || fail "told otherwise"
    cmp "$file" "$OUT/result.json"
}

@test "--no-store keeps nothing, -q keeps it silently" {
    unset ALLOCBENCH_RESULTS
    small --no-store
    expect_code 0
    expect_nothing_left
    small -q
    expect_code 0
    [ ! -s "$OUT/stderr" ] || fail "noise"
    only_file results
}

@test "--results names the folder and makes it, before ALLOCBENCH_RESULTS, before results/" {
    export ALLOCBENCH_RESULTS=$OUT/environment
    small
    only_file "$OUT/environment"
    small --results "$OUT/option"
    only_file "$OUT/option"
    only_file "$OUT/environment"
    ALLOCBENCH_RESULTS= small
    only_file "$OUT/environment"
    expect_nothing_left
    small --results "$OUT/option" --no-store
    expect_code 2
    expect_error 'are mutually exclusive'
}

@test "results of the same second do not replace each other" {
    for i in 1 2 3 4 5 6; do
        allocbench run "$WORKLOADS/tiny.yaml" -b arena --rounds 1 --processes 1 --drain 0 -q --results "$OUT/r" >/dev/null 3>&- &
        pids="$pids $!"
    done
    for pid in $pids; do wait "$pid" || fail "exit code $?"; done
    [ "$(ls "$OUT/r" | wc -l)" -eq 6 ] || fail "$(ls "$OUT/r")"
    for file in "$OUT"/r/*; do expect_one_document "$file"; done
    [ "$(ls -A "$OUT/r" | grep -c tmp)" -eq 0 ]
}

@test "a place that was asked for and cannot be written is an error before anything is measured" {
    : >"$OUT/file"
    for place in "$OUT/file" "$OUT/file/below" "$OUT/no/such/folder" /proc/results ""; do
        small --results "$place"
        expect_code 2
        expect_error '^allocbench: --results: cannot '
        [ ! -s "$OUT/stdout" ] || fail "measured"
    done
}

@test "a default place that cannot be written is a warning" {
    unset ALLOCBENCH_RESULTS
    : >results
    small
    expect_code 0
    expect_error '^allocbench: warning: the result will not be stored: '
    [ -s "$OUT/stdout" ]
    [ "$(ls -A)" = results ]
}

@test "what fails before it measured anything leaves no folder" {
    unset ALLOCBENCH_RESULTS
    bench run "$WORKLOADS/tiny.yaml" -b nosuchbackend
    expect_code 2
    bench run "$OUT/no.yaml"
    bench run "$WORKLOADS/tiny.yaml" --cpus 9999
    expect_code 2
    expect_nothing_left
}

@test "the name of a file is harmless, whatever the trace is called" {
    trace=$(ls "$ROOT"/traces/*.abt | head -1)
    cp "$trace" "$OUT/-a b\$;é\"*.abt"
    bench replay -b arena --rounds 1 --results "$OUT/r" -- "$OUT/-a b\$;é\"*.abt"
    expect_code 0
    file=$(only_file "$OUT/r") || fail "$file"
    [[ ${file##*/} =~ ^[A-Za-z0-9_][A-Za-z0-9._-]*\.json$ ]] || fail "named $file"
}

@test "a result is kept even if nobody reads the table" {
    { allocbench run "$WORKLOADS/tiny.yaml" -b glibc --rounds 1 --processes 1 --drain 0 --results "$OUT/pipe" \
        2>"$OUT/stderr" 3>&- || true; } | head -1 >/dev/null
    expect_json .complete "$(only_file "$OUT/pipe")"
    [ -c /dev/full ] || skip "no /dev/full"
    allocbench run "$WORKLOADS/tiny.yaml" -b glibc --rounds 1 --processes 1 --drain 0 --results "$OUT/full" >/dev/full \
        2>"$OUT/stderr" 3>&- && fail "exit code 0"
    expect_json .complete "$(only_file "$OUT/full")"
}

@test "an output that fails is no reason to lose the others" {
    command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null || skip "no strace"
    code=0
    strace -o /dev/null -e trace=linkat -e inject=linkat:error=ENOSPC:when=1 \
        allocbench run "$WORKLOADS/tiny.yaml" -b glibc --rounds 1 --processes 1 --drain 0 --results "$OUT/r" \
        --json "$OUT/result.json" --csv "$OUT/result.csv" >"$OUT/stdout" 2>"$OUT/stderr" 3>&- || code=$?
    expect_code 4
    expect_error "cannot store the result in '.*': No space left on device"
    expect_json .complete "$OUT/result.json"
    [ -s "$OUT/result.csv" ] && grep -q '^time per op, ns' "$OUT/stdout"
    [ -z "$(ls -A "$OUT/r" 2>/dev/null)" ] || fail "$(ls -A "$OUT/r")"
}

@test "a file system without nameless files gets its results too, and no temporary file stays" {
    command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null || skip "no strace"
    mkdir "$OUT/r"
    for i in 1 2 3; do # of each three openat below the folder the second asks for a nameless file
        strace -o "$OUT/trace" -P "$OUT/r" -e trace=openat \
            -e inject=openat:error=EOPNOTSUPP:when=2+3 \
            allocbench run "$ROOT/configs/churn.yaml" --set ops=100 -b arena --rounds 1 --processes 1 --drain 0 -q \
            --results "$OUT/r" >/dev/null 3>&- || fail "exit code $?"
        [ "$(grep -c 'O_TMPFILE.*INJECTED' "$OUT/trace")" -eq 2 ] || fail "$(cat "$OUT/trace")"
    done
    [ "$(ls -A "$OUT/r" | wc -l)" -eq 3 ] || fail "$(ls -A "$OUT/r")"
    for file in "$OUT"/r/*.json; do expect_json .complete "$file"; done
    [ "$(ls -A "$OUT/r" | grep -c '^\.')" -eq 0 ] || fail "$(ls -A "$OUT/r")"
}

@test "killed while it stores, it leaves the whole result or none" {
    command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null || skip "no strace"
    killed=0
    for call in fsync:when=1 fsync:when=2 linkat:when=1 write:when=2 write:when=9; do
        rm -rf "$OUT/r"
        code=0
        { strace -o /dev/null -e "trace=${call%%:*}" -e "inject=${call%%:*}:signal=KILL:${call#*:}" \
            allocbench run "$WORKLOADS/tiny.yaml" -b arena --rounds 1 --processes 1 --drain 0 -q --results "$OUT/r" \
            >/dev/null 2>&1 3>&-; } 2>/dev/null || code=$?
        [ "$code" -ne 137 ] || killed=$((killed + 1))
        for file in "$OUT"/r/* "$OUT"/r/.[!.]*; do
            [ ! -e "$file" ] || expect_json .complete "$file"
        done
    done
    [ "$killed" -ge 4 ] || fail "killed only $killed times"
    wait_until has_no_worker || fail "workers live on"
}

@test "report prints what run printed, byte for byte" {
    local width options
    while read -r width options; do
        export COLUMNS=$width
        bench run "$WORKLOADS/tiny.yaml" -b glibc,arena,skeleton,"$GUESTS/libctorcrash.so" --rounds 2 \
            --drain 0 $options --results "$OUT/r"
        cp "$OUT/stdout" "$OUT/table"
        bench report $options "$(only_file "$OUT/r")"
        expect_code 0
        cmp "$OUT/table" "$OUT/stdout" || fail "differs at width $width, options '$options'"
        [ ! -s "$OUT/stderr" ] || fail "noise"
        rm -r "$OUT/r"
    done <<EOF
50 --ascii
80
80 --color always
140 --ascii --color always
EOF
}

@test "report writes the CSV and the JSON that run wrote" {
    small --results "$OUT/r" --csv "$OUT/run.csv"
    file=$(only_file "$OUT/r")
    bench report "$file" --csv -
    expect_code 0
    cmp "$OUT/stdout" "$OUT/run.csv"
    bench report "$file" --json "$OUT/again.json" --csv "$OUT/again.csv"
    expect_code 0
    cmp "$file" "$OUT/again.json"
    cmp "$OUT/run.csv" "$OUT/again.csv"
}

@test "report takes several results, and one of them for files" {
    good=$ROOT/tests/golden/results/good
    bench report "$good/run.json" "$good/partial.json"
    expect_code 0
    tr -s ' \n' ' ' <"$OUT/stdout" | grep -q 'Interrupted after [0-9]* of' || fail "not marked"
    bench report "$good/run.json" "$good/partial.json" --csv -
    expect_code 2
    bench report
    expect_code 2
    bench report "$good/run.json" --json - --csv -
    expect_code 2
}

@test "what is no result is exit 3 and one line that names the file" {
    for file in "$ROOT"/tests/golden/results/bad/* /dev/zero /nowhere "$OUT"; do
        bench report "$file"
        expect_code 3
        [ ! -s "$OUT/stdout" ] || fail "$file: something was printed"
        [ "$(wc -l <"$OUT/stderr")" -eq 1 ] || fail "$file: more than one line"
        grep -qF "$file" "$OUT/stderr" || fail "$file is not named"
    done
}

# bats test_tags=full
@test "a result of a gigabyte and one that wants gigabytes are refused within bounds" {
    truncate -s 1G "$OUT/huge.json"
    bench report "$OUT/huge.json"
    expect_code 3
    expect_error 'is larger than 256 MiB'
    { printf '{"schema":"allocbench/2","x":['; head -c 30000000 /dev/zero | sed 's/\x00/[],/g'
      printf '0]}'; } >"$OUT/wide.json"
    code=0
    (ulimit -v 6000000; allocbench report "$OUT/wide.json" >"$OUT/stdout" 2>"$OUT/stderr" 3>&-) || code=$?
    expect_code 3
    expect_error 'needs more than 1024 MiB of memory'
}

@test "a comparison with a baseline comes back, is printed and written again" {
    good=$ROOT/tests/golden/results/good
    bench report "$good/compared.json"
    expect_code 0
    grep -q '^base: main (6 rounds), new: this run' "$OUT/stdout" || fail "no comparison"
    [ "$(grep -c '^glibc  *base' "$OUT/stdout")" -eq 1 ] || fail "not one heading"
    grep -q '^1 inconclusive, judged jointly' "$OUT/stdout" || fail "no verdict"
    bench report "$good/compared.json" --json "$OUT/again.json" --junit "$OUT/junit.xml"
    jq -S .comparison "$OUT/again.json" >"$OUT/comparison.json"
    jq -S .comparison "$good/compared.json" | cmp - "$OUT/comparison.json" || fail "another comparison"
    grep -q 'skipped message="time of the whole run of glibc: inconclusive' "$OUT/junit.xml" || fail "not in JUnit"
    bench report "$good/run.json"
    ! grep -q inconclusive "$OUT/stdout" || fail "a comparison where there is none"
}
