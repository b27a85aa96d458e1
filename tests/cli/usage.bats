#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Mistakes: one clear error, the right exit code, nothing measured, nothing on standard output.
# tests: cli/main.c check_workload.c commands.c one_file.c option_table.c
# tests: options_parse.c cmd_check.c terminal.c version.c

load helpers

refused() { # CODE PATTERN ARGUMENT…
    local want=$1 pattern=$2
    shift 2
    bench "$@"
    expect_code "$want"
    expect_error "$pattern"
    [ ! -s "$OUT/stdout" ] || fail "something on standard output"
    expect_nothing_left
}

@test "no command at all shows the overview and exits 2" {
    refused 2 '^usage: allocbench'
}

@test "an unknown command gets the nearest one" {
    refused 2 'unknown command rnu; did you mean run\?' rnu
}

@test "an unknown option gets the nearest one" {
    refused 2 'unknown option --jsn; did you mean --json\?' run "$WORKLOADS/small.yaml" --jsn x
    refused 2 'unknown option --mem-limt; did you mean --mem-limit\?' run x.yaml --mem-limt=1GiB
}

@test "an option of another command is unknown here" {
    refused 2 'unknown option --touch' run "$WORKLOADS/small.yaml" --touch all
}

@test "an option without its value says which value" {
    refused 2 '--rounds needs a value: --rounds N' run "$WORKLOADS/small.yaml" --rounds
}

@test "run and replay need a file" {
    refused 2 'run needs a workload' run
    refused 2 'replay needs a trace' replay
}

@test "a file that is not there is exit 3 and is named" {
    refused 3 'nowhere\.yaml.*No such file' run nowhere.yaml
    refused 3 'nowhere\.abt.*No such file' replay nowhere.abt
    refused 3 'nowhere\.yaml.*No such file' check nowhere.yaml
}

@test "a folder is no workload" {
    refused 3 'Is a directory' run "$WORKLOADS"
}

@test "a workload with mistakes is exit 2, each with its place and the nearest word" {
    cat >"$OUT/bad.yaml" <<'YAML'
allocbench: 1
name: bad
sets:
  - {name: heap, count: 1e}
phases:
  - name: p
    do:
      - {alloc: heep, size: "unifrom(1, 2)"}
YAML
    refused 2 "bad\.yaml:[48]:[0-9]+: error" run "$OUT/bad.yaml"
    expect_error "bad\.yaml:8:[0-9]+: error"
    expect_error "uniform"
}

@test "what is no YAML, empty, or binary is refused" {
    printf 'a: [b' >"$OUT/a.yaml"
    : >"$OUT/empty.yaml"
    head -c 3000 "$BUILD/allocbench-worker" >"$OUT/binary.yaml"
    refused 2 'a\.yaml:[12]:1: error: not valid YAML' run "$OUT/a.yaml"
    refused 2 'empty\.yaml' run "$OUT/empty.yaml"
    refused 2 'binary\.yaml' run "$OUT/binary.yaml"
}

@test "what is no trace is refused with the place" {
    echo hello >"$OUT/no.trace"
    refused 3 'not an allocbench trace' replay "$OUT/no.trace"
    : >"$OUT/empty.abt"
    refused 3 'empty\.abt' replay "$OUT/empty.abt"
}

@test "a name that nobody knows is a mistake, a library that is not there a failed back end" {
    refused 2 'unknown back end "jemaloc"; did you mean "jemalloc"\?' \
        run "$WORKLOADS/small.yaml" -b jemaloc
    bench run "$WORKLOADS/small.yaml" --rounds 1 -b ./libnowhere.so
    expect_code 4
    expect_error 'nowhere: no such file: ./libnowhere.so'
}

@test "a back end given twice is refused" {
    refused 2 'glibc is given twice' run "$WORKLOADS/small.yaml" -b glibc,glibc
}

@test "an unknown param, a bad value" {
    refused 2 'slts.*slots' run "$ROOT/configs/churn.yaml" --set slts=3
    refused 2 '--rounds 0' run "$WORKLOADS/small.yaml" --rounds 0
    refused 2 '--rounds 1\.5' run "$WORKLOADS/small.yaml" --rounds 1.5
    refused 2 '--seed -1' run "$WORKLOADS/small.yaml" --seed -1
    refused 2 '--timeout 5: a time needs a unit' run "$WORKLOADS/small.yaml" --timeout 5
    refused 2 '--mem-limit 0' run "$WORKLOADS/small.yaml" --mem-limit 0
    refused 2 '--cpus 1-0' run "$WORKLOADS/small.yaml" --cpus 1-0
    refused 2 'CPU 60000 is not available' run "$WORKLOADS/small.yaml" --cpus 60000
    refused 2 '--touch .*did you mean page' replay x.abt --touch pge
}

@test "two documents do not share standard output" {
    refused 2 'cannot both write' run "$WORKLOADS/small.yaml" --json - --csv -
}

@test "an output that cannot be written is found out before anything is measured" {
    refused 2 'cannot write' run "$WORKLOADS/long.yaml" --json /nowhere/x.json
    refused 2 'cannot write' run "$WORKLOADS/long.yaml" --csv "$OUT"
}

@test "more memory than --mem-limit is refused before it is taken" {
    bench run "$WORKLOADS/small.yaml" --rounds 1 -b glibc --mem-limit 64KiB --json -
    expect_code 4
    expect_json '.backends[0] | .status == "oom" and (.reason | test("more than --mem-limit 64"))'
    expect_json '.results == []'
}

@test "help goes to standard output, for the tool and for each command" {
    bench --help
    expect_code 0
    grep -q 'Exit codes' "$OUT/stdout"
    for command in run replay record trace check list; do
        bench $command --help
        expect_code 0
        grep -q "^usage: allocbench $command" "$OUT/stdout" || fail "$command"
        [ ! -s "$OUT/stderr" ]
    done
}

@test "the help of run names every option of the specification" {
    bench run --help
    for option in -b --set --rounds --time-budget --cpus --gate --baseline --html --json --csv -q -v; do
        grep -qE -- "(^|[ ,])$option" "$OUT/stdout" || fail "no $option"
    done
    bench run --help-all
    for option in --mem-limit --seed --timeout; do
        grep -q -- " $option" "$OUT/stdout" || fail "no $option"
    done
    bench replay --help
    grep -q -- --touch "$OUT/stdout"
}

@test "list alone lists its topics, and one command of trace its own help" {
    bench list
    expect_code 0
    [ "$(grep -oE 'list [a-z]+' "$OUT/stdout" | xargs)" = "list backends list workloads list metrics list schema" ]
    refused 2 'list takes one topic' list backends metrics
    refused 2 'list takes one topic' list --json -
    bench trace cut --help
    expect_code 0
    grep -q '^usage: allocbench trace cut FILE -o OUT --events A..B' "$OUT/stdout" || fail "no usage"
    grep -q -- --live "$OUT/stdout" || fail "no --live"
    ! grep -qE -- '--sites|trace info' "$OUT/stdout" || fail "lines of others"
}

@test "--help-all without a command is the overview" {
    bench --help
    cp "$OUT/stdout" "$OUT/overview"
    bench --help-all
    expect_code 0
    cmp "$OUT/stdout" "$OUT/overview"
}

@test "the overview's columns stand under each other" {
    export LC_ALL=C.UTF-8
    bench --help
    # what is left when the last column, which follows the last two blanks, is cut off is equally wide
    widths=$(sed -n '/^Commands:/,/^$/p' "$OUT/stdout" | sed -En 's/^(  [a-z].*  )[^ ].*/\1/p' |
        while IFS= read -r line; do echo "${#line}"; done)
    [ "$(echo "$widths" | wc -l)" -eq "$(grep -c '^AB_COMMAND(' "$ROOT/src/cli/commands.def")" ] ||
        fail "not all commands"
    [ "$(echo "$widths" | sort -u | wc -l)" -eq 1 ] || fail "$widths"
}

@test "a file of the other kind is told its command" {
    refused 2 'is a trace, not a workload; try: allocbench replay' run "$ROOT/traces/perl-words.abt"
    refused 2 'is a workload, not a trace; try: allocbench run' replay "$WORKLOADS/small.yaml"
    code=0 # standard input is only known once it is read
    allocbench run - <"$ROOT/traces/perl-words.abt" >"$OUT/stdout" 2>"$OUT/stderr" || code=$?
    expect_code 2
    expect_error 'a trace, not a workload: use allocbench replay'
}

@test "an unknown param gets all that there are" {
    refused 2 "unknown param 'qqq'; its params are scale, places, blocks" \
        run "$ROOT/configs/classics/malloc-large.yaml" --set qqq=1
}

@test "--version begins with name and version" {
    bench --version
    expect_code 0
    head -1 "$OUT/stdout" | grep -Eq '^allocbench [0-9]+\.[0-9]+\.[0-9]+'
}

@test "hostile characters in a name reach the terminal escaped" {
    bench run "$(printf 'no\033[31m\nwhere.yaml')"
    expect_code 3
    ! grep -q "$(printf '\033')" "$OUT/stderr" || fail "an escape character came through"
    [ "$(wc -l <"$OUT/stderr")" -eq 1 ]
}

# What hyperfine, perf and google benchmark call it, and what people write first.
@test "what other tools call it is answered with what it is called here" {
    answer() { # PATTERN ARGUMENT…
        bench "${@:2}"
        expect_code 2
        expect_error "$1"
        [ "$(wc -l <"$OUT/stderr")" -le 2 ] || fail "more than one error: $(cat "$OUT/stderr")"
    }
    for option in '--runs 5' '-n 5' -n5 '-r 5' '--repetitions=5' '--iterations 5'; do
        # shellcheck disable=SC2086
        answer 'unknown option -.*--rounds N' run "$WORKLOADS/small.yaml" $option
        # shellcheck disable=SC2086
        answer 'unknown option -.*--rounds N' exec $option -- true
    done
    answer 'no warm-up is needed' run "$WORKLOADS/small.yaml" --warmup 3
    answer 'use --json FILE' run "$WORKLOADS/small.yaml" -o out.json
    answer 'use --json FILE' run "$WORKLOADS/small.yaml" --format json
    answer 'use -b NAME' run "$WORKLOADS/small.yaml" --allocator glibc
    answer 'lanes: N of a phase' run "$WORKLOADS/small.yaml" --threads 4
    answer 'unknown option --runs; see allocbench trace --help' trace info --runs 3
    answer 'options of a command follow it: allocbench run --rounds' --rounds 3 run
    answer 'jemalloc is an allocator, not a file; .*-b glibc,jemalloc$' run "$WORKLOADS/small.yaml" -b glibc jemalloc
    answer 'jemalloc is an allocator, not a file; .*-b glibc,jemalloc$' run "$WORKLOADS/small.yaml" -b glibc, jemalloc
    answer 'jemalloc is an allocator, not a file; .*-b glibc,jemalloc$' exec -b glibc jemalloc -- true
    answer 'no blank after a comma' run "$WORKLOADS/small.yaml" -b glibc,
    answer 'snmalloc.*no package of it.*-b \./libsnmallocshim\.so' run "$WORKLOADS/small.yaml" -b glibc,snmalloc
    answer 'leave out the quotes' exec -- 'sleep 10'
    code=0 && allocbench record -- 'sleep 10' 2>"$OUT/stderr" || code=$?
    [ "$code" = 127 ] && expect_error 'leave out the quotes'
    answer 'no such program, or it is not executable$' exec -- 'no-such-program 10'
    answer "did you mean 'peak_bytes'" run "$WORKLOADS/small.yaml" --gate 'churn/memory/peek < 3x live'
    answer "did you mean 'rss_peak_bytes'" run "$WORKLOADS/small.yaml" --gate 'churn/memory/rss_peak_byte < 3x live'
}

@test "a program that fails by itself is said once, and that all checked calls were right" {
    printf '#!/bin/sh\nexit 3\n' >fails
    chmod +x fails
    bench exec --rounds 1 --no-store -b glibc,jemalloc,mimalloc,tcmalloc -- ./fails
    expect_code 4
    [ "$(cat "$OUT/stdout" "$OUT/stderr" | grep -c 'exit status 3')" = 2 ] || fail "$(cat "$OUT/stdout" "$OUT/stderr")"
    bench run "$WORKLOADS/small.yaml" --rounds 1 --no-store -b checked+slab
    expect_code 0
    grep -q '^All calls were correct: each was checked' "$OUT/stdout" || fail "$(cat "$OUT/stdout")"
    ! grep -q 'No back end has comparable' "$OUT/stdout" || fail "$(cat "$OUT/stdout")"
}

@test "help, version and list have the forms that people try" {
    bench help run
    expect_code 0
    cp "$OUT/stdout" help
    bench run --help
    cmp help "$OUT/stdout" || fail "help run is not run --help"
    bench run --help-all
    cp "$OUT/stdout" all
    bench run --help=all
    cmp all "$OUT/stdout" || fail "--help=all is not --help-all"
    bench help nosuch
    expect_code 2
    expect_error 'unknown command nosuch'
    bench version
    expect_code 0
    cp "$OUT/stdout" version
    bench --version
    cmp version "$OUT/stdout" || fail "version is not --version"
    bench list backends
    cp "$OUT/stdout" backends
    bench list allocators
    expect_code 0
    cmp backends "$OUT/stdout" || fail "list allocators is not list backends"
    bench --help
    grep -q 'allocbench help COMMAND' "$OUT/stdout"
}
