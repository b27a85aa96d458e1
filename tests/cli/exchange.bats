# SPDX-License-Identifier: MIT
#
# Files of other tools: `trace import` against a count that knows nothing of allocbench, on the
# golden files and on recordings of real programs. Then `trace merge`, `filter` and `share`.
# tests: cmd_trace.c

load helpers

GOOD=$ROOT/tests/golden/exchange/good
BAD=$ROOT/tests/golden/exchange/bad
TINY=$ROOT/tests/golden/traces/good/perl-tiny.abt
WORDS=$ROOT/traces/perl-words.abt
SQLITE=$ROOT/traces/sqlite-index.abt

# What was imported is what the count says.
expect_counted() { # FORMAT PLAIN-FILE TRACE
    python3 "$BATS_TEST_DIRNAME/exchange_count.py" "$1" "$2" >"$OUT/count.json"
    allocbench trace check "$3" 3>&-
    allocbench trace info --json "$OUT/info.json" "$3" >/dev/null 3>&-
    jq -e --slurpfile count "$OUT/count.json" \
        '.ops == $count[0].ops and .events == $count[0].events and
         .live_end_blocks == $count[0].live' "$OUT/info.json" >/dev/null ||
        fail "$1: $(cat "$OUT/count.json"); $(jq -c '[.ops, .events, .live_end_blocks]' "$OUT/info.json")"
}

# Of standard error: the sum of the lines that end in a given way.
said() { # REGEX
    sed -nE "s/^allocbench: ([0-9]+) .*($1).*/\1/p" "$OUT/stderr" | awk '{ n += $1 } END { print n + 0 }'
}

digest() {
    allocbench trace info --digest "$1" 3>&- | sed -n 's/^digest *//p'
}

@test "import: every golden file has the events that an independent count finds" {
    local n=0 file name
    for file in "$GOOD"/*; do
        name=${file##*/}
        case $name in *.expect | *.gz | *.zst) continue ;; esac
        bench trace import "${name#*.}" "$file" -o "$OUT/x.abt"
        expect_code 0
        expect_counted "${name#*.}" "$file" "$OUT/x.abt"
        [ "$(said 'left out, because (its|their) block|of NULL left out')" \
            -eq "$(jq .left_out "$OUT/count.json")" ] || fail "$name: left out"
        [ "$(said 'frees? added')" -eq "$(jq .added "$OUT/count.json")" ] || fail "$name: added"
        n=$((n + 1))
    done
    [ "$n" -ge 12 ]
}

@test "import: a packed file gives what the plain one does, from standard input too" {
    allocbench trace import -q heaptrack "$GOOD/raw.heaptrack" -o "$OUT/a.abt" 3>&-
    allocbench trace import -q heaptrack "$GOOD/raw.heaptrack.gz" -o "$OUT/b.abt" 3>&-
    allocbench trace import -q heaptrack - -o "$OUT/c.abt" <"$GOOD/raw.heaptrack.gz" 3>&-
    cmp "$OUT/a.abt" "$OUT/b.abt"
    cmp "$OUT/a.abt" "$OUT/c.abt"
}

# bats test_tags=full
@test "import: a bad file ends in one error with its place, exit 3, and leaves no file" {
    local file name
    for file in "$BAD"/*; do
        name=${file##*/}
        case $name in *.expect) continue ;; esac
        bench trace import "$(sed -E 's/^[^.]*\.([^.]*).*/\1/' <<<"$name")" "$file" -o "$OUT/x.abt"
        expect_code 3
        [ "$(wc -l <"$OUT/stderr")" -eq 1 ] || fail "$name: more than one line"
        diff <(sed "s,^allocbench: .*/bad/,," "$OUT/stderr") "$file.expect" || fail "$name"
        [ ! -e "$OUT/x.abt" ] || fail "$name: a trace"
    done
    expect_nothing_left
}

# bats test_tags=full
@test "import: a thread more than a trace can have is said, and leaves no file" {
    seq 16 $((16 + (1 << 20))) | awk '{ printf "%d: malloc 0x%x 1\n", $1, $1 }' >"$OUT/threads"
    bench trace import memory-replay "$OUT/threads" -o "$OUT/x.abt"
    expect_code 3
    expect_error 'threads:1048577: event 1048576: more threads than a trace can have'
    [ ! -e "$OUT/x.abt" ]
}

@test "import: what is missing on the command line is said" {
    bench trace import
    expect_code 2
    expect_error 'trace import needs a file: allocbench trace import \[FORMAT\] FILE'
    bench trace import mtrac x -o "$OUT/x.abt"
    expect_code 2
    expect_error 'unknown format mtrac; did you mean mtrace\?'
    bench trace import mtrace "$GOOD/calls.mtrace"
    expect_code 2
    expect_error 'trace import needs -o'
    bench trace import mtrace /nowhere -o "$OUT/x.abt"
    expect_code 3
    expect_error 'cannot open /nowhere'
    bench trace import malloc-trace-replay /dev/zero -o "$OUT/x.abt"
    expect_code 3
    expect_error '/dev/zero is neither a file nor a pipe'
    bench trace export mtrace "$TINY" -o "$OUT/x"
    expect_code 2
    expect_error 'trace export was removed: trace dump writes .* only be imported$'
}

@test "import: the file shows its format, packed and from a pipe too" {
    bench trace import "$GOOD/raw.heaptrack.gz" -o "$OUT/a.abt"
    expect_code 0
    expect_error 'raw.heaptrack.gz: recognized as heaptrack'
    allocbench trace import -q heaptrack "$GOOD/raw.heaptrack" -o "$OUT/b.abt" 3>&-
    cmp "$OUT/a.abt" "$OUT/b.abt"
    allocbench trace import -q - -o "$OUT/c.abt" <"$GOOD/raw.heaptrack.gz" 3>&-
    cmp "$OUT/a.abt" "$OUT/c.abt"
    printf 'first line\nsecond line\n' >"$OUT/text"
    bench trace import "$OUT/text" -o "$OUT/x.abt"
    expect_code 3
    expect_error 'no call of any format is found at its beginning; formats are mtrace, heaptrack'
    bench trace import mtrace -o "$OUT/x.abt"
    expect_code 2
    expect_error 'trace import mtrace needs a FILE to read'
    bench replay "$GOOD/interpreted.heaptrack.zst" -b glibc
    expect_code 2
    expect_error 'is in the format heaptrack, which is not a trace of allocbench; import it first: allocbench trace import .*zst -o OUT.abt'
    bench trace import mtrace "$ROOT/tests/golden/traces/good/perl-tiny.abt" -o "$OUT/x.abt"
    expect_code 3
    expect_error 'this is a trace of allocbench already'
    [ ! -e "$OUT/x.abt" ]
}

@test "import: a file without a newline at its end is whole, and what is not taken is counted" {
    printf '20000\n2\n4\n1\na 0 64\na 1 100\nf 0\nf 1' >"$OUT/t.rep"
    for partial in "" --partial; do
        bench trace import rep "$OUT/t.rep" -o "$OUT/x.abt" $partial
        expect_code 0
        expect_error 'x.abt: 4 events of 1 thread, from 4 calls'
        ! grep -q 'newline\|missing' "$OUT/stderr" || fail "the head says that it is whole"
    done
    printf '2\n5\na 0 64\na 1 100\nw 1 100\nf 0\nf 1\nf 1\n' >"$OUT/t.rep"
    bench trace import rep "$OUT/t.rep" -o "$OUT/x.abt"
    expect_code 0
    expect_error 'x.abt: 4 events'
    expect_error '1 write to a block left out'
    expect_error '1 line left out after the last call that the header announces'
    bench trace import mtrace "$GOOD/unended.mtrace" -o "$OUT/x.abt"
    expect_code 0
    expect_error 'the last line has no newline at its end; it was read as a whole line'
    bench trace import mtrace "$GOOD/unended.mtrace" -o "$OUT/x.abt" --partial
    expect_code 0
    expect_error 'the end of the file is missing'
}

@test "import: addresses given out again and again are said to be of several processes" {
    for i in $(seq 40); do echo "$((1 + i % 2)): malloc 0x$((1000 + i % 20)) 8"; done >"$OUT/two"
    bench trace import memory-replay "$OUT/two" -o "$OUT/x.abt"
    expect_code 0
    expect_error '20 frees added'
    expect_error 'cannot have all calls of one process'
    head -n 20 "$OUT/two" >"$OUT/one"
    bench trace import memory-replay "$OUT/one" -o "$OUT/x.abt"
    expect_code 0
    ! grep -q "of one process" "$OUT/stderr" || fail "one process is taken for two"
}

@test "trace: words of other tools lead to the command" {
    while IFS=: read -r word right; do
        bench trace "$word" "$TINY"
        expect_code 2
        expect_error "$right"
    done <<'WORDS'
slice:trace slice is called trace cut --events A\.\.B
inspect:trace inspect is called trace info
validate:trace validate is called trace check
convert:trace convert is called trace import
replay:replay is a command of its own: allocbench replay
WORDS
}

@test "mtrace: a real recording" {
    [ -e /usr/lib/*/libc_malloc_debug.so.0 ] || skip "no libc_malloc_debug.so.0"
    MALLOC_TRACE=$OUT/perl.mtrace LD_PRELOAD="libc_malloc_debug.so.0 $GUESTS/libmtrace.so" \
        perl -e 'my %h; $h{$_ x 3} = [1 .. $_] for 1 .. 60; print scalar keys %h' 3>&- >/dev/null
    bench trace import mtrace "$OUT/perl.mtrace" -o "$OUT/perl.abt"
    expect_code 0
    expect_counted mtrace "$OUT/perl.mtrace" "$OUT/perl.abt"
    [ "$(jq .events "$OUT/count.json")" -gt 1000 ]
}

@test "heaptrack: real recordings, raw and interpreted, packed as they come" {
    command -v heaptrack >/dev/null || skip "no heaptrack"
    command -v zstd >/dev/null || skip "no zstd to count with"
    for kind in raw interpreted; do
        local raw=()
        [ $kind != raw ] || raw=(--raw)
        heaptrack "${raw[@]}" -o "$OUT/$kind" perl -e 'my %h; $h{$_ x 3} = [1 .. $_] for 1 .. 200' \
            >"$OUT/log" 2>&1 3>&- || fail "$(cat "$OUT/log")"
        file=$(echo "$OUT/$kind".*)
        case $file in
        *.zst) zstd -q -d -c "$file" >"$OUT/plain" ;;
        *.gz) gzip -d -c "$file" >"$OUT/plain" ;;
        esac
        bench trace import heaptrack "$file" -o "$OUT/$kind.abt"
        expect_code 0
        expect_counted heaptrack "$OUT/plain" "$OUT/$kind.abt"
        [ "$(jq .events "$OUT/count.json")" -gt 2000 ]
        [ "$(jq -r .program "$OUT/info.json")" = perl ]
    done
}

@test "gperftools: a real recording of its debug library" {
    local library
    library=$(ls /usr/lib/*/libtcmalloc_minimal_debug.so.4 2>/dev/null) || skip "no debug library"
    TCMALLOC_TRACE=1 TCMALLOC_TRACE_FILE=$OUT/perl.text LD_PRELOAD=$library \
        perl -e 'my %h; $h{$_ x 3} = [1 .. $_] for 1 .. 60; print scalar keys %h' 3>&- >/dev/null
    bench trace import gperftools "$OUT/perl.text" -o "$OUT/perl.abt"
    expect_code 0
    expect_counted gperftools "$OUT/perl.text" "$OUT/perl.abt"
    [ "$(jq .events "$OUT/count.json")" -gt 1000 ]
    [ "$(jq .ops.resize "$OUT/count.json")" -gt 50 ]
}

@test "import: an imported trace can be replayed" {
    allocbench trace import -q memory-replay "$GOOD/calls.memory-replay" -o "$OUT/x.abt" 3>&-
    bench replay -q "$OUT/x.abt" --rounds 1 -b glibc --json -
    expect_code 0
    expect_json '.results | length > 0'
}

@test "merge: all calls, all threads; side by side and one after the other" {
    bench trace merge "$WORDS" "$SQLITE" -o "$OUT/m.abt"
    expect_code 0
    expect_error '235651 events of 2 threads, side by side in proportion to their lengths'
    allocbench trace check "$OUT/m.abt" 3>&-
    bench trace merge --serial "$WORDS" "$SQLITE" -o "$OUT/s.abt"
    expect_code 0
    allocbench trace check "$OUT/s.abt" 3>&-
    bench trace info --json - "$OUT/m.abt" "$OUT/s.abt" "$WORDS" "$SQLITE"
    expect_json '.[0].ops == .[1].ops and .[0].program == "perl+sqlite3" and .[0].threads == 2'
    expect_json '[.[2].events, .[3].events] == ([.[1].by_thread[].events])'
    expect_json '.[0].events == .[2].events + .[3].events and
        .[0].total_bytes == .[2].total_bytes + .[3].total_bytes and
        .[0].live_end_blocks == .[2].live_end_blocks + .[3].live_end_blocks'
    expect_json '.[0].live_peak_bytes <= .[2].live_peak_bytes + .[3].live_peak_bytes'
    # what was merged comes apart again
    allocbench trace filter -q --thread 1 "$OUT/s.abt" -o "$OUT/second.abt" 3>&-
    [ "$(digest "$OUT/second.abt")" = "$(digest "$SQLITE")" ]
}

@test "merge: mistakes" {
    bench trace merge "$TINY" -o "$OUT/m.abt"
    expect_code 2
    local many=()
    for _ in {1..257}; do many+=("$TINY"); done
    bench trace merge "${many[@]}" -o "$OUT/m.abt"
    expect_code 2
    expect_error 'trace merge takes at most 256 traces'
    bench trace merge - "$TINY" -o "$OUT/m.abt"
    expect_code 2
    expect_error 'give files, or --serial'
    bench trace merge "$TINY" "$BAD/sign.mtrace" -o "$OUT/m.abt"
    expect_code 3
    expect_error 'not an allocbench trace'
    [ ! -e "$OUT/m.abt" ]
}

@test "filter: what is left is what a count of the dump finds" {
    bench trace filter --size 16..33 "$WORDS" -o "$OUT/f.abt"
    expect_code 0
    allocbench trace check "$OUT/f.abt" 3>&-
    allocbench trace dump "$WORDS" 3>&- | awk '
        $3 ~ /^alloc/ { if ($4 >= 16 && $4 < 33) { kept[$6] = 1; n++ } next }
        $6 in kept { n++ }
        END { print n }' >"$OUT/n"
    bench trace info --json - "$OUT/f.abt"
    expect_json ".events == $(cat "$OUT/n") and .events > 1000 and .program == \"perl\""
    bench trace filter "$WORDS" -o "$OUT/f.abt"
    expect_code 2
    expect_error 'needs --thread, --site, --size, --time or --events'
    bench trace filter "$WORDS" --time ..1ms -o "$OUT/f.abt"
    expect_code 2
    expect_error 'the trace has no times'
    bench trace filter "$WORDS" --thread 0,3 -o "$OUT/f.abt"
    expect_code 2
    expect_error 'no thread 3: the trace has 1, counted from 0'
    bench trace filter "$WORDS" --events 1M.. -o "$OUT/none.abt"
    expect_code 2
    expect_error 'none of its 111724 events passes the filter'
    [ ! -e "$OUT/none.abt" ]
    bench trace filter "$WORDS" --size 200..100 -o "$OUT/f.abt"
    expect_code 2
    bench trace filter "$WORDS" --thread 2-1 -o "$OUT/f.abt"
    expect_code 2
    bench trace info --thread 1 "$WORDS"
    expect_code 2
    expect_error 'trace info does not take --thread'
}

@test "filter: by time, of a trace that has times" {
    allocbench trace import -q memory-replay "$GOOD/timed.memory-replay" -o "$OUT/t.abt" 3>&-
    bench trace filter --time 2us.. "$OUT/t.abt" -o "$OUT/f.abt"
    expect_code 0
    bench trace dump "$OUT/f.abt"
    printf '%s\n' '0 0 alloc 30 - 0 ok 0' '1 0 free - - 0 ok 0' | diff - "$OUT/stdout"
}

# Every text of a trace is nowhere in a shared one: not in its bytes or the text beside it, and not in
# what comes of unpacking them. Prints how many were looked for, and how many modules there are.
texts_are_gone() { # ORIGINAL SHARED
    python3 - "$ROOT/scripts/read-trace.py" "$1" "$2" <<'PY'
import importlib.machinery, importlib.util, struct, sys
loader = importlib.machinery.SourceFileLoader("reader", sys.argv[1])
reader = importlib.util.module_from_spec(importlib.util.spec_from_loader("reader", loader))
loader.exec_module(reader)
raw, unpack_frame, unpack = [], reader.unpack_frame, reader.Stream.unpack
reader.unpack_frame = lambda *a: raw.append(unpack_frame(*a)) or raw[-1]
reader.Stream.unpack = lambda *a: raw.append(unpack(*a)) or raw[-1]

def read(path):
    raw.clear()
    trace = reader.Trace(open(path, "rb").read())
    trace.read_header()
    while trace.read_chunk():
        pass
    return trace

def bypass_names(data):
    at = struct.unpack_from("<I", data, 12)[0]
    while at < len(data):
        kind, stored = struct.unpack_from("<4xI12xI", data, at)
        if kind == 0x80000004:
            yield from data[at + 64:at + 40 + stored].split(b"\0")
        at += 40 + stored

before = read(sys.argv[2])
texts = {before.program, *before.marks.names, *bypass_names(before.data)}
for path, build_id in before.modules:
    texts |= {path, build_id, *path.split(b"/")}
texts = {t for t in texts if len(t) > 4}
after = read(sys.argv[3])
for t in sorted(texts):
    assert not [where for where in (after.data, *raw) if t in where], t
beside = open(sys.argv[3][:-4] + ".txt", "rb").read()
for t in {before.program, *(path for path, _ in before.modules)} - {b""}:
    assert t not in beside, t
assert after.program == b"" and all(n[:5] == b"mark-" for n in after.marks.names)
assert not list(filter(None, bypass_names(after.data)))
assert len(after.marks.all) == len(before.marks.all)
print(len(texts), len(after.modules))
PY
}

@test "share: nothing of the names is left, and every call is" {
    allocbench record -q --sites --time -o "$OUT/secret.abt" -- "$GUESTS/prog_marks" names 3>&-
    allocbench record -q -o "$OUT/deep.abt" -- "$GUESTS/prog_modules" deep \
        "$GUESTS/libdeep.so" 1000 3>&- || true # it warns of what is not seen
    local n_chunks=0 n_texts=0 texts
    for trace in "$OUT/secret.abt" "$OUT/deep.abt" "$ROOT"/tests/golden/traces/good/*.abt; do
        bench trace share "$trace" -o "$OUT/a.abt"
        expect_code 0
        expect_error 'kept: calls, sizes, alignments'
        allocbench trace check "$OUT/a.abt" 3>&-
        name=$(allocbench trace info --json - "$trace" 3>&- | jq -r '.program // ""')
        [ -z "$name" ] || expect_error "removed: the name of the program"
        [ "$(digest "$OUT/a.abt")" = "$(digest "$trace")" ] || fail "$trace: other events"
        grep -q "^digest *$(digest "$trace")" "$OUT/a.txt"
        ! grep -q 'removed: .* of optional data' "$OUT/stderr" || n_chunks=$((n_chunks + 1))
        allocbench trace info --json - "$OUT/a.abt" 3>&- |
            jq -e --argjson before "$(allocbench trace info --json - "$trace" 3>&-)" \
                '(.program // "") == "" and .inherited == $before.inherited and
                 (.not_seen | del(.module_names?)) == ($before.not_seen | del(.module_names?))' \
                >/dev/null || fail "$trace: $(allocbench trace info "$OUT/a.abt" 3>&- | head -3)"
        texts=$(texts_are_gone "$trace" "$OUT/a.abt") || fail "$trace: $texts"
        [ "${texts#* }" = 0 ]
        n_texts=$((n_texts + ${texts% *}))
    done
    [ $n_chunks -gt 0 ] # among the golden traces are some with chunks that nobody knows
    [ $n_texts -gt 20 ]
}

@test "share --functions: call sites stay, as names of functions" {
    allocbench record -q --sites=16 -o "$OUT/secret.abt" -- "$GUESTS/prog_sites" depth 3>&-
    bench trace share --functions "$OUT/secret.abt" -o "$OUT/a.abt"
    expect_code 0
    allocbench trace check "$OUT/a.abt" 3>&-
    texts=$(texts_are_gone "$OUT/secret.abt" "$OUT/a.abt") || fail "$texts"
    [ "${texts#* }" -gt 3 ] || fail "$texts"
    for trace in secret a; do # as many stacks of as many calls
        allocbench trace info --sites=1000000 --json - "$OUT/$trace.abt" 3>&- |
            jq -c '.sites[] | [.calls, .bytes, (.stack | map(select(.inlined | not)) | length)]' |
            sort >"$OUT/$trace.sites"
    done
    [ -s "$OUT/a.sites" ]
    diff "$OUT/secret.sites" "$OUT/a.sites"
    grep -q '< site_middle+0x[0-9a-f]*$' "$OUT/a.txt" || fail "$(tail "$OUT/a.txt")"
}

@test "share: mistakes leave no file" {
    cp "$TINY" "$OUT/t.abt"
    head -c 500 "$TINY" >"$OUT/cut.abt"
    cd "$OUT"
    while IFS=: read -r options code why; do
        # shellcheck disable=SC2086
        bench trace share $options
        expect_code "$code"
        expect_error "$why"
    done <<'MISTAKES'
t.abt:2:trace share needs -o
t.abt -o -:2:writes two files
--functions t.abt -o s.abt:2:has no call sites; record with --sites
absent.abt -o s.abt:3:absent.abt
cut.abt -o s.abt:3:cut.abt
t.abt -o t.abt:2:would replace the file that is read
MISTAKES
    [ ! -e s.abt ] && [ ! -e s.txt ]
    bench trace anonymize t.abt -o s.abt
    expect_code 2
    expect_error 'trace anonymize is called trace share'
}
