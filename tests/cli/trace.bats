# SPDX-License-Identifier: MIT
#
# `allocbench trace`: what it prints is held against golden files (tests/golden/trace, of a
# recording of prog_calls), against jq and awk, and against itself.
# tests: cmd_trace.c cmd_trace_info.c trace_facts.c
# tests: trace_watch.c trace_pass.c trace_dump.c trace_making.c

load helpers

GOLDEN=$ROOT/tests/golden/trace
TINY=$ROOT/tests/golden/traces/good/perl-tiny.abt

calls() {
    allocbench record -q -o "$OUT/calls.abt" -- "$GUESTS/prog_calls" 3>&-
}

empty() { # a trace without an event: a part that holds only calls on blocks from before it
    calls
    allocbench trace cut -q "$OUT/calls.abt" --events 1..2 --live drop -o "$OUT/empty.abt" 3>&-
}

expect_golden() { # NAME
    diff "$GOLDEN/$1" "$OUT/stdout" || fail "not as in tests/golden/trace/$1"
}

@test "info: the golden text, but for the size of the file, CPU time and what was resident" {
    calls
    bench trace info -v --ascii "$OUT/calls.abt"
    expect_code 0
    sed -i 's/ in .* (.* bytes each)//; /^written /d; /^CPU time /d' "$OUT/stdout"
    expect_golden calls.info
}

@test "info: pictures have no ASCII where the terminal knows more, and only ASCII where it does not" {
    LC_ALL=C.UTF-8 bench trace info -v "$TINY"
    grep -q '█' "$OUT/stdout" || fail "no blocks"
    LC_ALL=C bench trace info --verbose "$TINY"
    ! grep -q '[^ -~]' "$OUT/stdout" || fail "not ASCII"
}

@test "info: a dozen lines, and the pictures with -v" {
    bench trace info "$TINY"
    expect_code 0
    [ "$(wc -l <"$OUT/stdout")" -le 12 ] || fail "$(cat "$OUT/stdout")"
    grep -q '^live peak ' "$OUT/stdout"
    [ "$(tail -n 1 "$OUT/stdout")" = 'more: -v (sizes, lifetimes, live memory over time)' ]
    bench trace info -v "$TINY"
    grep -q '^requested sizes: ' "$OUT/stdout"
    ! grep -q '^more: ' "$OUT/stdout" || fail "offers more"
    bench trace dump -v "$TINY"
    expect_code 2
    expect_error 'trace dump does not take --verbose'
}

@test "info: the JSON adds up" {
    bench trace info --json - "$TINY"
    expect_code 0
    expect_one_document
    expect_json '.events == ([.ops[]] | add) and .partial == false and .program == "perl"'
    expect_json '([.sizes[].allocs] | add) == .ops.alloc + .ops.alloc_zeroed + .ops.alloc_aligned - .failed'
    expect_json '([.sizes[] | .alloc_bytes] | add) <= .total_bytes'
    expect_json '.freed_blocks == ([.lifetimes[].blocks_by_events] | add)'
    expect_json '.freed_blocks == ([.lifetimes[].blocks_by_bytes] | add)'
    expect_json '([.live_curve[].bytes] | max) == .live_peak_bytes'
    expect_json '([.live_curve[].blocks] | max) == .live_peak_blocks'
    expect_json '.live_curve[-1].event == .events - 1 and (.live_curve | length) >= 480'
    expect_json '([.by_thread[].events] | add) == .events and (.by_thread | length) == .threads'
    expect_json '.bytes_per_event == .file_bytes / .events and .remote_frees == 0'
}

@test "info: requests beside blocks and the program as a whole, null where a trace says nothing" {
    cp "$ROOT/tests/golden/traces/good/requests.abt" "$OUT/asked.abt"
    bench trace info --json - "$OUT/asked.abt"
    expect_code 0
    expect_json '.library_calls == {malloc_trim: 2, mallopt: 1, "MallocExtension::instance": 1}'
    expect_json '.program_cpu_ns == 137000000 and .recorder_cpu_ns == 12000000'
    expect_json '.program_calls == .events and .anonymous_bytes == 151000000 and .unasked_bytes == 149000000'
    bench trace info "$OUT/asked.abt"
    grep -qE '^CPU time +137 ms of the program, in which it made 3000 calls$' "$OUT/stdout" || fail "no line"
    grep -qE '142 MiB of 144 MiB did not come from malloc' "$OUT/stdout" || fail "no line"
    grep -qE '^asked too +malloc_trim: 2, mallopt: 1, MallocExtension::instance: 1$' "$OUT/stdout" || fail "no line"
    bench trace share "$OUT/asked.abt" -o "$OUT/shared.abt"
    expect_code 0
    bench trace info --json - "$OUT/shared.abt"
    expect_json '.library_calls.malloc_trim == 2 and .program_cpu_ns == 137000000 and .program == null'
    bench trace dump "$OUT/asked.abt"
    [ "$(grep -c ' request ' "$OUT/stdout")" -eq 4 ]
    grep -qx '7 0 request 1048576 - - malloc_trim' "$OUT/stdout"
    bench trace info --json - "$TINY"
    expect_json '.library_calls == null and .program_cpu_ns == null and .unasked_bytes == null'
}

@test "info: several files are an array, in their order" {
    calls
    bench trace info --json - "$TINY" "$OUT/calls.abt"
    expect_code 0
    expect_json '[.[].program] == ["perl", "prog_calls"]'
    bench trace info "$TINY" "$OUT/calls.abt"
    [ "$(grep -c '^program' "$OUT/stdout")" -eq 2 ]
    grep -q '^.*perl-tiny.abt:$' "$OUT/stdout"
}

@test "dump: the golden lines" {
    calls
    bench trace dump "$OUT/calls.abt"
    expect_code 0
    expect_golden calls.dump
}

@test "dump: ranges are parts of the whole, and laid end to end they are the whole" {
    bench trace dump "$TINY"
    cp "$OUT/stdout" "$OUT/whole"
    [ "$(wc -l <"$OUT/whole")" -eq "$(allocbench trace info --json - "$TINY" | jq .events)" ]
    : >"$OUT/joined"
    for range in ..1 1..1000 1000..1024 1024..2k 2k..; do
        bench trace dump "$TINY" --events $range
        expect_code 0
        cat "$OUT/stdout" >>"$OUT/joined"
    done
    cmp "$OUT/whole" "$OUT/joined"
    bench trace dump "$TINY" --events 100..103
    sed -n 101,103p "$OUT/whole" | cmp - "$OUT/stdout"
}

@test "dump: awk finds the live peak that info tells" {
    bench trace dump "$TINY"
    peak=$(awk '$7 == "failed" { next }
        $3 == "free" || $7 == "released" { live -= size[$6]; next }
        { live += $4 - ($3 == "resize" ? size[$6] : 0); size[$6] = $4 }
        live > peak { peak = live }
        END { print peak }' "$OUT/stdout")
    [ "$peak" -eq "$(allocbench trace info --json - "$TINY" | jq .live_peak_bytes)" ]
}

@test "cut: a part is valid, replays, and has the calls of its range" {
    for live in keep drop; do
        bench trace cut "$TINY" --events 1000..2000 --live $live -o "$OUT/part.abt"
        expect_code 0
        expect_error "$([ $live = keep ] && echo 'allocations from before' || echo 'omitted')"
        bench trace check "$OUT/part.abt"
        expect_code 0
        bench replay "$OUT/part.abt" -b glibc --rounds 1 --json -
        expect_code 0
    done
    allocbench trace cut -q "$TINY" --events 1000..2000 -o "$OUT/part.abt" 3>&-
    kept=$(($(allocbench trace info --json - "$OUT/part.abt" | jq .events) - 1000))
    bench trace dump "$TINY" --events 1000..2000
    cut -d' ' -f2-5,7 "$OUT/stdout" >"$OUT/range"
    bench trace dump "$OUT/part.abt" --events $kept..
    cut -d' ' -f2-5,7 "$OUT/stdout" | cmp - "$OUT/range"
    bench trace dump "$OUT/part.abt" --events ..$kept
    ! grep -vq ' alloc' "$OUT/stdout" || fail "not an allocation in front"
}

@test "cut: the output appears whole or not at all" {
    printf old >"$OUT/part.abt"
    head -c 1500 "$TINY" >"$OUT/broken.abt"
    bench trace cut "$OUT/broken.abt" --events 0.. -o "$OUT/part.abt"
    expect_code 3
    [ "$(cat "$OUT/part.abt")" = old ]
    bench trace cut "$TINY" --events 999999.. -o "$OUT/part.abt"
    expect_code 2
    expect_error 'no event 999999: the trace has [0-9]+'
    [ "$(cat "$OUT/part.abt")" = old ]
    [ "$(ls -A "$OUT" | grep -c tmp)" -eq 0 ] || fail "left: $(ls -A "$OUT")"
    bench trace cut "$TINY" --events 0..10 -o "$OUT/none/part.abt"
    expect_code 2
}

@test "check: all files are read, the bad ones named, the exit code is theirs" {
    head -c 1500 "$TINY" >"$OUT/broken.abt"
    bench trace check "$TINY" "$OUT/broken.abt" "$ROOT"/traces/*.abt
    expect_code 3
    [ "$(grep -c ': ok, [0-9]* events$' "$OUT/stdout")" -eq 3 ]
    [ "$(wc -l <"$OUT/stderr")" -eq 1 ]
    expect_error "$OUT/broken.abt: byte [0-9]+: "
    bench trace check "$TINY"
    expect_code 0
}

@test "every bad trace is refused by each word, with the place, and leaves nothing" {
    local trace word n=0
    for trace in "$ROOT"/tests/golden/traces/bad/*.abt; do
        for word in info check dump "cut --events 0.. -o part.abt"; do
            bench trace $word "$trace"
            expect_code 3
            [ "$(wc -l <"$OUT/stderr")" -eq 1 ] || fail "$trace: not one line"
            grep -q "$trace: byte" "$OUT/stderr" || fail "$trace: no place"
            expect_error "$(cat "${trace%.abt}.expect")"
        done
        n=$((n + 1))
    done
    [ $n -ge 14 ]
    expect_nothing_left
}

@test "--partial: the whole blocks of a file without its end, and nothing else" {
    local whole=$ROOT/traces/sqlite-index.abt
    head -c $(($(stat -c %s "$whole") - 200)) "$whole" >"$OUT/partial.abt"
    for word in info check dump "cut --events 0.. -o $OUT/x.abt"; do
        bench trace $word "$OUT/partial.abt"
        expect_code 3
        expect_error 'without its end mark; 65536 events'
        bench trace $word --partial "$OUT/partial.abt"
        expect_code 0
    done
    bench trace check --partial "$OUT/partial.abt"
    grep -q ': ok, 65536 events (partial: its end is missing)$' "$OUT/stdout" || fail "not told"
    bench trace info --partial --json - "$OUT/partial.abt"
    expect_json '.partial and .events == 65536'
    allocbench trace dump "$whole" 3>&- | head -65536 >"$OUT/expected" || true
    bench trace dump --partial "$OUT/partial.abt"
    cmp "$OUT/expected" "$OUT/stdout"
    bench trace dump "$OUT/x.abt" # the cut made a whole trace of it
    cmp "$OUT/expected" "$OUT/stdout"
    bench trace check --partial "$whole"
    expect_code 0
    head -c 20 "$whole" >"$OUT/header.abt"
    { head -c 900 "$whole"; printf 'wrong bytes'; tail -c +912 "$whole"; } >"$OUT/flipped.abt"
    bench trace check --partial "$OUT/header.abt" "$OUT/flipped.abt"
    expect_code 3
    [ "$(wc -l <"$OUT/stderr")" -eq 2 ]
}

@test "info --digest names the events, not the file" {
    local of_whole of_copy of_part
    digest() { allocbench trace info --digest --json - "$@" 3>&- | jq -r .digest; }
    allocbench trace cut -q "$TINY" --events 0.. -o "$OUT/copy.abt" 3>&-
    allocbench trace cut -q "$TINY" --events 500.. -o "$OUT/part.abt" 3>&-
    of_whole=$(digest "$TINY")
    of_copy=$(digest "$OUT/copy.abt")
    of_part=$(digest "$OUT/part.abt")
    [ ${#of_whole} -eq 64 ]
    [ "$of_whole" = "$of_copy" ]
    [ "$of_whole" != "$of_part" ]
    allocbench trace info --digest "$TINY" 3>&- | grep -q "^digest     $of_whole$"
    allocbench trace info --json - "$TINY" 3>&- | jq -e 'has("digest") | not'
}

@test "threads: whose blocks they free is told, and parts keep it" {
    allocbench record -q -o "$OUT/ball.abt" -- "$GUESTS/prog_pingpong" 3 5000 2>"$OUT/stderr" 3>&- ||
        skip "this recorder takes no threads"
    bench trace check "$OUT/ball.abt"
    expect_code 0
    bench trace info --json - "$OUT/ball.abt"
    expect_json '.threads == 3 and .remote_free_ratio > 0.5 and .remote_resizes > 0'
    expect_json '.remote_frees == ([.by_thread[].remote_frees] | add)'
    expect_json '([.by_thread[] | .events] | add) == .events'
    bench trace info "$OUT/ball.abt"
    grep -q '^freed by another thread' "$OUT/stdout"
    bench trace cut "$OUT/ball.abt" --events 5000..15000 -o "$OUT/part.abt"
    expect_code 0
    bench trace check "$OUT/part.abt"
    expect_code 0
    bench trace info --json - "$OUT/part.abt"
    expect_json '.threads <= 3 and .remote_free_ratio > 0.5'
}

@test "a trace without an event is whole" {
    empty
    bench trace check "$OUT/empty.abt"
    expect_code 0
    grep -q ': ok, 0 events' "$OUT/stdout"
    bench trace info --json - "$OUT/empty.abt"
    expect_code 0
    expect_json '.events == 0 and .bytes_per_event == null and .sizes == [] and .live_curve == []'
    bench trace info "$OUT/empty.abt"
    expect_code 0
    bench trace dump "$OUT/empty.abt"
    expect_code 0
    [ ! -s "$OUT/stdout" ]
    bench trace cut "$OUT/empty.abt" --events 0.. -o "$OUT/again.abt"
    expect_code 0
    cmp "$OUT/empty.abt" "$OUT/again.abt"
}

@test "standard input is a trace, once" {
    for word in info check dump; do
        allocbench trace $word "$TINY" 3>&- | sed "s|$TINY|-|" >"$OUT/plain"
        allocbench trace $word - <"$TINY" >"$OUT/piped" 3>&-
        cmp "$OUT/plain" "$OUT/piped"
        cat "$TINY" | allocbench trace $word - >"$OUT/piped" 3>&-
        cmp "$OUT/plain" "$OUT/piped"
    done
    cat "$TINY" | allocbench trace cut -q - --events 5.. -o - 3>&- | allocbench trace check - 3>&-
    bench trace check - -
    expect_code 2
    expect_error 'only once'
}

@test "a reader that goes away ends a dump" {
    { code=0; allocbench trace dump "$ROOT/traces/sqlite-index.abt" 3>&- || code=$?
        echo $code >"$OUT/code"; } | head -1 >/dev/null
    [ "$(cat "$OUT/code")" -eq 141 ]
    allocbench trace dump "$ROOT/traces/sqlite-index.abt" >/dev/full 2>"$OUT/stderr" 3>&- || code=$?
    [ "$code" -eq 4 ] || fail "exit code $code"
}

@test "no progress where standard error is no terminal" {
    bench trace check "$ROOT"/traces/*.abt
    [ ! -s "$OUT/stderr" ]
}

@test "mistakes are answered with what is right" {
    bench trace
    expect_code 2
    for case in 'ifno:did you mean info' 'chekc:did you mean check' 'mport:did you mean import' \
        'x:the commands are info, check, dump, cut, filter, merge, share, model, import and recover'; do
        bench trace "${case%%:*}" "$TINY"
        expect_code 2
        expect_error "${case#*:}"
    done
    bench trace info
    expect_error 'needs a file'
    bench trace dump "$TINY" "$TINY"
    expect_error 'takes one trace'
    bench trace dump "$TINY" --json -
    expect_error 'dump does not take --json'
    bench trace cut "$TINY" --events 1..2
    expect_error 'needs -o'
    bench trace cut "$TINY" -o "$OUT/x"
    expect_error 'needs --events'
    bench trace cut "$TINY" -o "$OUT/x" --events 1.. --live kepe
    expect_error 'did you mean keep'
    for range in 5 .. a..b 7..7 9..3 1...3 -1..3 1..2x; do
        bench trace dump "$TINY" --events $range
        expect_code 2
        expect_error '^allocbench: --events '
    done
    [ ! -e "$OUT/x" ]
    bench trace --evetns 1..2
    expect_error 'did you mean --events'
}

@test "--help tells what each word does" {
    bench trace --help
    expect_code 0
    for word in info check dump cut import; do
        grep -q "^  $word " "$OUT/stdout" || fail "no $word"
    done
    awk 'length > 100 { exit 1 }' "$OUT/stdout"
}

@test "the names of hostile files move no cursor" {
    cp "$TINY" "$OUT/$(printf 'a\033[2Jb.abt')"
    bench trace check "$OUT"/a*.abt
    expect_code 0
    ! grep -q $'\033' "$OUT/stdout" || fail 'an escape'
    printf x >"$OUT"/a*.abt
    bench trace check "$OUT"/a*.abt
    expect_code 3
    ! grep -q $'\033' "$OUT/stderr" || fail 'an escape'
}

@test "no command of trace replaces what it reads" {
    cp "$ROOT/traces/perl-words.abt" "$OUT/t.abt"
    ln "$OUT/t.abt" "$OUT/link.abt"
    cp "$ROOT/traces/perl-words.abt" "$OUT/u.abt"
    while read -r options; do
        # shellcheck disable=SC2086
        (cd "$OUT" && run -2 allocbench trace $options -o ./t.abt && [[ "$output" == *"'./t.abt' would replace the file that is read"* ]]) || fail "$options"
    done <<'E'
cut --events 0..9 t.abt
cut --events 0..9 link.abt
merge u.abt t.abt
filter --size 1..9 t.abt
share t.abt
import mtrace t.abt
E
    cmp "$OUT/t.abt" "$OUT/u.abt"
    # The word of the command is no file that is read.
    (cd "$OUT" && echo >cut && allocbench trace cut --events 0..9 t.abt -o cut && [ -s cut ])
}
