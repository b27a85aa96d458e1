#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# An interrupted result can be gone on with: the same work, the same orders, the same samples as if
# nothing had happened, or a clear word on what differs.

load helpers

config=configs/churn.yaml

# jq: the rounds before the n-th, in every list of a result.
keep='def keep($n): .rounds |= map(select(.index < $n)) | .timer.null |= map(select(.round < $n))
    | with_entries(if (.value | type) == "array" and .key != "rounds"
                   then .value |= map(select((.round // 0) < $n)) else . end);'

# What an interruption after so many rounds would have left of $OUT/whole.json.
cut_to() { # BLOCKS
    expect_code 0
    jq "$keep del(.checksum) | .complete = false | keep($1)" "$OUT/whole.json" >"$OUT/partial.json"
}

measure_whole() { # FILE OPTION…
    bench run "$ROOT/$config" --set ops=3000 -b glibc,arena,skeleton --drain 0 --rounds 4 "${@:2}" \
        --json "$1" -q
}

# Measured once: each test that asks for nothing special begins with a copy.
setup_file() {
    export PATH=$BUILD:$PATH ALLOCBENCH_RESULTS=
    OUT=$BATS_FILE_TMPDIR
    measure_whole "$OUT/once.json"
    expect_code 0
}

# A complete result of four rounds, and one that was interrupted after the second.
make_partial() { # OPTION…
    code=0
    if [ $# -gt 0 ]; then
        measure_whole "$OUT/whole.json" "$@"
    else
        cp "$BATS_FILE_TMPDIR/once.json" "$OUT/whole.json"
    fi
    cut_to 2
}

edit() { # JQ-PROGRAM
    jq "$1" "$OUT/partial.json" >"$OUT/edited.json"
    mv "$OUT/edited.json" "$OUT/partial.json"
}

# What does not depend on the clock: the work, the orders, which ops were timed and how many.
work_of() { # FILE
    jq -c '[.config.tape_sha256, .seed, .config.settings, .config.rounds_planned, [.rounds[]],
        [.results[] | [.backend, .phase, .op, .round, .n_ops, (.tail != null)]],
        [.timer.null[] | [.phase, .boundary, .round]]]' "$1"
}

@test "a resumed result did the same work, in the same orders, with the same samples" {
    make_partial
    sum=$(sha256sum <"$OUT/partial.json")
    bench run --resume "$OUT/partial.json" --json "$OUT/resumed.json"
    expect_code 0
    [ "$(work_of "$OUT/whole.json")" = "$(work_of "$OUT/resumed.json")" ] || fail "other work"
    expect_error 'warning: .*partial.json is unsealed: it has no checksum'
    expect_json ".complete and .sealed == false and .config.rounds_resumed == 2
        and .config.resumed_from == \"$OUT/partial.json\"" "$OUT/resumed.json"
    [ "$sum" = "$(sha256sum <"$OUT/partial.json")" ] || fail "the partial result was changed"
}

@test "a workload in bursts is resumed in the same bursts" {
    make_partial --set ops=30000 --tape-mem 64KiB
    expect_json '.config.settings[-1] | startswith("tape-mem=65536, ")' "$OUT/partial.json"
    bench run --resume "$OUT/partial.json" --json "$OUT/resumed.json"
    expect_code 0
    [ "$(work_of "$OUT/whole.json")" = "$(work_of "$OUT/resumed.json")" ] || fail "other work"
}

@test "rows that are compiled in, stand behind a checker or have variables are gone on with too" {
    bench run "$ROOT/$config" --set ops=3000 -b glibc,inline+arena,checked+slab --rounds 3 --drain 0 \
        -b 'glibc{GLIBC_TUNABLES=glibc.malloc.tcache_count=0}' --json "$OUT/whole.json" -q
    cut_to 1
    bench run --resume "$OUT/partial.json" --json "$OUT/resumed.json"
    expect_code 0
    expect_json '[.results[] | select(.backend == "inline+arena") | .round] | unique == [0, 1, 2]' \
        "$OUT/resumed.json"
}

@test "the rounds of the partial result are taken over as they are" {
    make_partial
    bench run --resume "$OUT/partial.json" --json "$OUT/resumed.json"
    for key in results memory timer.null rounds; do
        jq -c ".$key" "$OUT/partial.json" >"$OUT/was"
        jq -c ".$key | map(select((.round // .index) < 2))" "$OUT/resumed.json" >"$OUT/is"
        cmp "$OUT/was" "$OUT/is"
    done
}

@test "the result of a resumption is stored beside the partial one" {
    make_partial
    mkdir results && cp "$OUT/partial.json" results/
    bench run "$ROOT/$config" --resume results/partial.json --results results
    expect_code 0
    expect_error '^Stored: results/churn-'
    [ "$(ls results | wc -l)" -eq 2 ]
}

@test "a complete result has nothing left to run" {
    make_partial
    bench run --resume "$OUT/whole.json" --results "$OUT/r"
    expect_code 0
    expect_error 'is complete; nothing to run'
    [ ! -s "$OUT/stdout" ] && [ ! -e "$OUT/r" ]
}

@test "what differs is named, and nothing runs" {
    make_partial
    expect_refused() { # MESSAGE OPTION…
        bench run --resume "$OUT/partial.json" "${@:2}" --results "$OUT/r"
        expect_code 2
        expect_error "partial.json: cannot be resumed, the conditions differ: .*$1"
        [ ! -e "$OUT/r" ] && [ ! -s "$OUT/stdout" ]
    }
    expect_refused 'the seed is 8, was 7; tape_sha256 is ' --seed 8
    expect_refused 'a setting is .*ops=.*, was .*ops=3000' --set ops=4000
    expect_refused '--rounds is 9, was [0-9]+' --rounds 9
    expect_refused 'the number of back ends is 1, was 3' -b glibc
    expect_refused 'a back end is arena, was glibc' -b arena,glibc,skeleton
    expect_refused 'a back end is system, was skeleton' -b glibc,arena,system
    expect_refused 'THP is never' --thp never
    expect_refused '--cpus is 0, was not given' --cpus 0
    sed 's/churn/chorn/' "$ROOT/$config" >"$OUT/other.yaml"
    expect_refused "the file's sha256 is .*; a phase is chorn, was churn" "$OUT/other.yaml"
}

@test "another machine, another allocbench and other libraries are named" {
    expect_refused() { # JQ-PROGRAM MESSAGE
        make_partial
        edit "$1"
        bench run --resume "$OUT/partial.json" --results "$OUT/r"
        expect_code 2
        expect_error "partial.json: cannot be resumed, the conditions differ: $2"
        [ ! -e "$OUT/r" ] && [ ! -s "$OUT/stdout" ]
    }
    expect_refused '.tool.version = "0.0.9"' 'allocbench is .*, was 0.0.9'
    expect_refused '.host.fingerprint = ("0" * 64)' "the machine's fingerprint is .*, was 00"
    expect_refused '.backends[0].version = "1.0"' 'the version of glibc is .*, was 1.0'
    expect_refused '.backends[0].build_id = "00ff"' 'the build id of glibc is .*, was 00ff'
    expect_refused '.backends[0].path = "/tmp/libc.so"' 'the file of glibc is .*, was /tmp/libc.so'
    expect_refused '.backends[2].status = "partial"' 'the status of skeleton is ok, was partial'
    expect_refused '.config.tape_sha256 = ("a" * 64)' 'tape_sha256 is .*, was aaa'
}

@test "what was given is taken over: CPUs, huge pages, params, seed, rounds" {
    make_partial --cpus 0 --thp never --seed 99 --rounds 3
    bench run --resume "$OUT/partial.json" --json "$OUT/resumed.json"
    expect_code 0
    [ "$(work_of "$OUT/whole.json")" = "$(work_of "$OUT/resumed.json")" ] || fail "other work"
    expect_json '.seed == 99 and .config.cpu == 0 and .host.thp == "never (--thp)"' "$OUT/resumed.json"
}

@test "lanes are resumed with their CPUs, order and window" {
    lanes() {
        bench run "$WORKLOADS/pipeline.yaml" -b glibc --rounds 2 --set ops=20000 --drain 0 "$@" \
            --json "$OUT/whole.json" -q
        cut_to 1
        bench run --resume "$OUT/partial.json" --json "$OUT/resumed.json"
        expect_code 0
        [ "$(work_of "$OUT/whole.json")" = "$(work_of "$OUT/resumed.json")" ] || fail "other work"
        keys='.config | [.cpus, .order, .window, .n_edges]'
        [ "$(jq -c "$keys" "$OUT/whole.json")" = "$(jq -c "$keys" "$OUT/resumed.json")" ] ||
            fail "other lanes"
    }
    lanes
    lanes --cpus 0 --order strict --window 300
    bench run --resume "$OUT/partial.json" --window 400
    expect_code 2
    expect_error 'the conditions differ: .*-window is 400, was 300'
}

@test "a back end that had failed stays failed and is not run again" {
    make_partial
    edit '.backends[1].status = "crashed" | .backends[1].reason = "SIGSEGV, once upon a time"
        | .results |= map(select(.backend != "arena"))
        | .memory |= map(select(.backend != "arena"))'
    bench run --resume "$OUT/partial.json" --json "$OUT/resumed.json"
    expect_code 4
    expect_error 'arena: crashed: SIGSEGV, once upon a time'
    expect_json '.complete and .backends[1].status == "crashed"
        and all(.results[]; .backend != "arena")
        and all(.rounds[2:][]; .order | sort == ["glibc", "skeleton"])' "$OUT/resumed.json"
}

@test "settings with a name are resumed under it, and only with these settings" {
    bench run "$ROOT/$config" --set ops=3000 --drain 0 --rounds 4 --json "$OUT/whole.json" -q \
        -b 'glibc,bg=jemalloc{MALLOC_CONF=narenas:1}'
    cut_to 2
    bench run --resume "$OUT/partial.json" --json "$OUT/resumed.json"
    expect_code 0
    expect_json '[.backends[] | .name, .full_name] == ["glibc", null, "bg", "jemalloc{MALLOC_CONF=narenas:1}"]
        and (.rounds | length) == 4' "$OUT/resumed.json"
    bench run --resume "$OUT/partial.json" -b 'glibc,bg=jemalloc{MALLOC_CONF=narenas:2}'
    expect_code 2
    expect_error "a back end's setting is \{MALLOC_CONF=narenas:2\}, was"
}

@test "a trace is resumed by replay, with its touch" {
    trace=$ROOT/traces/sqlite-index.abt
    bench replay "$trace" -b glibc,arena --rounds 2 --drain 0 --touch 'first(8)' --json "$OUT/whole.json" -q
    cut_to 1
    bench run --resume "$OUT/partial.json"
    expect_code 2
    expect_error 'is a trace result; resume it with allocbench replay --resume'
    jq '.config.kind = "exec" | del(.sealed)' "$OUT/partial.json" >"$OUT/exec.json"
    bench replay --resume "$OUT/exec.json"
    expect_code 2
    expect_error 'is not a result of run or replay; only these can be resumed'
    bench replay --resume "$OUT/partial.json" --json "$OUT/resumed.json"
    expect_code 0
    [ "$(work_of "$OUT/whole.json")" = "$(work_of "$OUT/resumed.json")" ] || fail "other work"
    bench replay --resume "$OUT/partial.json" --touch none
    expect_code 2
    expect_error 'a setting is touch=none, was touch=first\(8\)'
}

@test "a library is run only when the command line names it" {
    bench run "$WORKLOADS/tiny.yaml" -b glibc,"$GUESTS/libtoy.so" --rounds 2 --json "$OUT/whole.json" -q
    cut_to 1
    bench run --resume "$OUT/partial.json"
    expect_code 2
    expect_error 'its back end toy is a library given by path: give all back ends again with -b, with their paths'
    bench run --resume "$OUT/partial.json" -b glibc,"$GUESTS/libtoy.so" --json "$OUT/resumed.json"
    expect_code 0
    [ "$(work_of "$OUT/whole.json")" = "$(work_of "$OUT/resumed.json")" ] || fail "other work"
}

@test "a result chooses neither variables that may name files nor a file to be read" {
    make_partial
    edit '(.. | strings | select(. == "glibc")) |= "glibc{HEAPPROFILE=written}"'
    bench run --resume "$OUT/partial.json" --results "$OUT/r"
    expect_code 2
    expect_error 'the result sets HEAPPROFILE=written for the back end glibc; .* name all again with -b'
    make_partial
    printf 'secret: of the user\n' >"$OUT/private"
    edit ".config.path = \"$OUT/private\""
    bench run --resume "$OUT/partial.json" --results "$OUT/r"
    expect_code 2
    expect_error 'the workload .*/private is not the one that was measured; to resume with it name it'
    ! grep -q secret "$OUT/stderr" || fail "$(cat "$OUT/stderr")"
    [ ! -e "$OUT/r" ]
}

@test "a partial result that cannot be one is refused" {
    expect_refused() { # JQ-PROGRAM MESSAGE
        make_partial
        edit "$1"
        bench run --resume "$OUT/partial.json" --results "$OUT/r"
        expect_code 3
        expect_error "partial.json: .*$2"
        [ ! -e "$OUT/r" ]
    }
    expect_refused "$keep .rounds[1] as \$last | keep(1) | .rounds += [\$last | .index = 3]" \
        'round 1 is missing'
    expect_refused '.config.rounds_planned = 0' 'has 0 rounds planned; 1 to 1000 are allowed'
    expect_refused '.config.rounds_planned = 1' 'it has 2 rounds of 1'
    expect_refused '.schema = "allocbench/1"' 'of an older allocbench .* reads allocbench/2'
    expect_refused '.schema = "allocbench/3"' 'reads allocbench/2'
    bench run --resume "$OUT/nowhere.json"
    expect_code 3
}

@test "a run that is interrupted twice and resumed twice becomes whole" {
    list=arena,./libholds.so
    interrupt_after() { # WORKERS ROUNDS ARGUMENT…
        hold_after "$1"
        start_bench "${@:3}" -b $list --drain 0 --results "$OUT/r" --json "$OUT/latest.json"
        interrupt_held
        cp "$OUT/latest.json" "$OUT/partial.json"
        expect_json ".complete == false and (.rounds | length) == $2" "$OUT/partial.json"
    }
    interrupt_after 9 1 run "$ROOT/$config" --set ops=3000 --rounds 4
    interrupt_after 11 3 run --resume "$OUT/partial.json"
    expect_json '.config.rounds_resumed == 1' "$OUT/partial.json"
    hold_no_more
    bench run --resume "$OUT/partial.json" -b $list --results "$OUT/r" --json "$OUT/resumed.json"
    expect_code 0
    bench run "$ROOT/$config" --set ops=3000 -b $list --rounds 4 --json "$OUT/whole.json" -q
    [ "$(work_of "$OUT/whole.json")" = "$(work_of "$OUT/resumed.json")" ] || fail "other work"
    [ "$(ls "$OUT/r" | wc -l)" -eq 3 ] || fail "$(ls "$OUT/r")"
}

@test "what the others are compared with is taken over too, unless another is named" {
    make_partial --base skeleton
    bench run --resume "$OUT/partial.json" --json "$OUT/resumed.json"
    expect_code 0
    expect_json '.config.base == "skeleton" and (.ratios | length) > 0 and all(.ratios[]; .base == "skeleton")' "$OUT/resumed.json"
    bench run --resume "$OUT/partial.json" --base arena --json "$OUT/resumed.json"
    expect_code 0
    expect_json '.config.base == "arena" and all(.ratios[]; .base == "arena")' "$OUT/resumed.json"
}

@test "a replay goes on with the writes that it had" {
    allocbench record -q -o "$OUT/t.abt" -- "$GUESTS/prog_sparse_table"
    cat "$OUT/t.abt" | allocbench trace cut --events 0.. -o "$OUT/old.abt" - 2>"$OUT/cut"
    for how in 5% recorded recorded,apart auto; do
        trace=$OUT/t.abt
        [ "$how" != auto ] || trace=$OUT/old.abt # it says nothing of what is written
        bench replay "$trace" --touch "$how" -b glibc --passes memory --rounds 2 --drain 0 -q --json "$OUT/whole.json"
        cut_to 1
        expect_json ".config.settings[0] == \"touch=$how\"" "$OUT/partial.json"
        bench replay --resume "$OUT/partial.json" --json "$OUT/resumed.json"
        expect_code 0
        [ "$(work_of "$OUT/whole.json")" = "$(work_of "$OUT/resumed.json")" ] || fail "$how: other work"
    done
}
