# SPDX-License-Identifier: MIT
#
# The recorder: what it says against an independent witness, and that the program does not notice.

load helpers

LIFE=$GUESTS/prog_life

# Records a command with the witness behind the recorder; compares kind by kind.
record_with_witness() { # PROGRAM COMMAND…
    local program=$1
    shift
    code=0
    COUNT_FILE=$OUT/count LD_PRELOAD=$GUESTS/libcount.so \
        allocbench record -o "$OUT/t.abt" -- "$@" >"$OUT/stdout" 2>"$OUT/stderr" 3>&- || code=$?
    [ -f "$OUT/count.$program" ] || fail "no counts of $program"
    seen=$(od -An -v -tu8 -w40 "$OUT/count.$program" | head -1 | xargs)
    recorded=$(ops)
    [ "$seen" = "$recorded" ] || fail "the witness saw $seen, the trace says $recorded"
}

# alloc zeroed aligned resize free
ops() { # [FILE]
    allocbench trace info --json - "${1:-$OUT/t.abt}" | jq -r '[.ops[]] | join(" ")'
}

events() {
    allocbench trace info --json - "$1" | jq .events
}

record() {
    bench record -o "$OUT/t.abt" "$@"
}

expect_refused() { # CODE REGEX
    expect_code "$1"
    expect_error "$2"
    [ ! -e "$OUT/t.abt" ] || fail "a trace was left"
    [ "$(wc -l <"$OUT/stderr")" -eq 1 ] || fail "more than one line"
    expect_nothing_left
}

need() {
    command -v "$1" >/dev/null || skip "no $1 here"
}

@test "every call of the family is on record, by its kind" {
    record -- "$GUESTS/prog_calls"
    expect_code 0
    [ "$(ops)" = "4 2 6 5 8" ] || fail "$(ops)"
    [ "$(allocbench trace info --json - "$OUT/t.abt" | jq .failed)" -eq 5 ]
    expect_nothing_left
}

@test "sqlite3: the witness saw what was recorded" {
    need sqlite3
    cat >"$OUT/q.sql" <<'SQL'
create table t(a integer primary key, b text);
with recursive n(i) as (select 1 union all select i+1 from n where i<20000)
insert into t select i, 'row ' || i from n;
create index tb on t(b);
select count(*), min(b), max(b) from t where b like '%7%';
SQL
    sqlite3 :memory: ".read $OUT/q.sql" >"$OUT/plain"
    record_with_witness sqlite3 sqlite3 :memory: ".read $OUT/q.sql"
    expect_code 0
    cmp "$OUT/plain" "$OUT/stdout"
    [ "$(events "$OUT/t.abt")" -gt 50000 ]
}

@test "perl: the witness saw what was recorded" {
    need perl
    cat >"$OUT/p.pl" <<'PERL'
my %h;
for (1 .. 20000) { $h{$_ * 7 % 3001} .= "x$_"; }
print join(",", map { length $h{$_} } sort keys %h), "\n";
exit 3;
PERL
    perl "$OUT/p.pl" >"$OUT/plain" || true
    record_with_witness perl perl "$OUT/p.pl"
    expect_code 3
    cmp "$OUT/plain" "$OUT/stdout"
}

@test "cc1: the witness saw what was recorded" {
    need gcc
    cc1=$(gcc -print-prog-name=cc1)
    [ -x "$cc1" ] || skip "gcc without cc1"
    gcc -E -o "$OUT/a.i" -I"$ROOT/src" -I"$ROOT" -D_GNU_SOURCE "$ROOT/src/core/text.c"
    "$cc1" -quiet -O2 "$OUT/a.i" -o "$OUT/plain.s"
    record_with_witness cc1 "$cc1" -quiet -O2 "$OUT/a.i" -o "$OUT/a.s"
    expect_code 0
    cmp "$OUT/plain.s" "$OUT/a.s"
}

@test "no way to die loses what was recorded" {
    for how in exit _exit abort kill segv; do
        ulimit -c 0
        record_with_witness prog_life "$LIFE" $how 50000
        [ "$(events "$OUT/t.abt")" -eq 124936 ] || fail "$how: $(events "$OUT/t.abt") events"
    done
    expect_nothing_left
}

@test "the exit status is the command's" {
    record -- "$LIFE" status 10
    expect_code 42
    record -- "$LIFE" kill 10
    expect_code 137
    code=0 # also where the parent ignores SIGCHLD
    (trap '' CHLD; exec allocbench record -q -o "$OUT/t.abt" -- "$LIFE" status 10) || code=$?
    expect_code 42
}

@test "a signal sent to the recorder reaches the command, and its trace is kept" {
    record -- "$LIFE" term 1000
    expect_code 143
    [ "$(events "$OUT/t.abt")" -eq 2436 ] || fail "$(events "$OUT/t.abt")"
    expect_nothing_left
}

@test "a forked child is not recorded and does not disturb its parent" {
    record -- "$LIFE" fork 20000
    expect_code 0
    # three rounds of the parent; the second and third begin with 64 blocks to free
    [ "$(events "$OUT/t.abt")" -eq $((3 * 49936 + 128)) ] || fail "$(events "$OUT/t.abt")"
}

@test "a vfork child allocates in its parent's heap and counts" {
    record -- "$LIFE" vfork 20000
    expect_code 0
    [ "$(events "$OUT/t.abt")" -eq 49938 ] || fail "$(events "$OUT/t.abt")"
}

@test "a signal handler's calls are all on record, whatever they interrupt" {
    export LD_PRELOAD=$GUESTS/libbump.so # a malloc that allows it
    record -- "$LIFE" signals
    unset LD_PRELOAD
    expect_code 0
    read -r allocs resizes frees <"$OUT/stdout"
    [ "$resizes" -ge 300 ]
    [ "$(ops)" = "$allocs 0 0 $resizes $frees" ] || fail "$(ops)"
}

@test "a program that closes every descriptor goes on being recorded" {
    record -- "$LIFE" closed 100000
    expect_code 0
    [ "$(events "$OUT/t.abt")" -eq 249936 ]
}

@test "an exec begins anew, and that is said" {
    record -- "$LIFE" exec 20000 1000
    expect_code 0
    [ "$(events "$OUT/t.abt")" -eq 2436 ] || fail "$(events "$OUT/t.abt")"
    expect_error 'exec'
}

@test "a script is recorded as its interpreter" {
    printf '#!/bin/sh\nx=$(echo 1)\necho hello\n' >"$OUT/s"
    chmod +x "$OUT/s"
    record -- "$OUT/s"
    expect_code 0
    [ "$(cat "$OUT/stdout")" = hello ]
}

@test "what the command leaves running hears nothing of the recorder" {
    record -- sh -c '(sleep 0.3; /bin/echo late; /bin/true) & exit 0'
    expect_code 0
    sleep 1
    [ "$(cat "$OUT/stdout")" = late ]
    [ "$(wc -l <"$OUT/stderr")" -eq 1 ] || fail "noise"
}

@test "a user's preload stays, behind the recorder" {
    export LD_PRELOAD=$GUESTS/libcount.so COUNT_FILE=$OUT/count
    record -- sh -c 'echo $LD_PRELOAD'
    expect_code 0
    grep -q "record.so:$GUESTS/libcount.so$" "$OUT/stdout"
}

@test "the streams are the command's" {
    code=0
    echo in | allocbench record -q -o "$OUT/t.abt" -- perl -e 'print STDERR "err"; print <STDIN>' \
        >"$OUT/stdout" 2>"$OUT/stderr" || code=$?
    expect_code 0
    [ "$(cat "$OUT/stdout")" = in ]
    [ "$(cat "$OUT/stderr")" = err ]
}

@test "the trace names no address, argument or variable" {
    SECRET_VARIABLE=hidden-value bench record -o "$OUT/t.abt" -- perl -e '1; # hidden-argument'
    expect_code 0
    ! grep -aq 'hidden\|SECRET\|/usr' "$OUT/t.abt"
}

# Clocks of CPUs differ by some ticks: a repair may be needed, but never over a distance that is
# more than that.
@test "threads: the witness saw what was recorded, and their order is possible" {
    record_with_witness prog_threads "$GUESTS/prog_threads" 50000 4 300
    expect_code 0
    ! grep -q 'left out\|cannot be seen' "$OUT/stderr" || fail "conflicts"
    farthest=$(sed -n 's/.*the farthest \([0-9]*\) ticks apart/\1/p' "$OUT/stderr")
    [ "${farthest:-0}" -lt 10000 ] || fail "a repair over $farthest ticks"
    # the first thread, four at once, three hundred one after the other
    [ "$(allocbench trace info --json - "$OUT/t.abt" | jq .threads)" -eq 305 ]
    expect_nothing_left
}

# A recorder that notes frees too late, or a realloc as one event, must be found out by the very
# converter that finds nothing wrong with ours.
@test "the wrong orders are found in what they record" {
    mkdir "$OUT/bin"
    for wrong in 1 2; do
        cp "$BUILD/allocbench" "$BUILD/allocbench-worker" \
            "$GUESTS/wrong$wrong/liballocbench-record.so" "$OUT/bin"
        found=no
        for try in 1 2 3 4 5 6; do
            "$OUT/bin/allocbench" record -o "$OUT/w$wrong.abt" -- "$GUESTS/prog_threads" 400000 4 \
                2>"$OUT/stderr"
            if grep -Eq 'left out|cannot be seen' "$OUT/stderr"; then found=yes; break; fi
        done
        [ "$found" = yes ] || fail "order $wrong was not found wrong"
    done
}

@test "children are recorded on request, one trace each" {
    record --follow -- "$LIFE" fork 2000
    expect_code 0
    [ "$(ls "$OUT"/t*.abt | wc -l)" -eq 2 ] || fail "$(ls "$OUT")"
    for file in "$OUT"/t*.abt; do
        [ "$(events "$file")" -gt 2000 ] || fail "$file"
    done
    rm "$OUT"/t*.abt
    record --follow -- "$LIFE" exec 1000 500
    expect_code 0
    [ "$(ls "$OUT"/t*.abt | wc -l)" -eq 2 ] || fail "$(ls "$OUT")"
    expect_nothing_left
}

# 200,000 calls of malloc, then a word: the program is to say it.
MANY='my @k; push @k, "x" x (20 + $_ % 50) for 1 .. 200000; print "whole\n"'

@test "a file size limit stops the recording, never the program" {
    need perl
    code=0
    (ulimit -f 3000; allocbench record -o "$OUT/t.abt" -- perl -e "$MANY" \
        >"$OUT/stdout" 2>"$OUT/stderr" 3>&-) || code=$?
    expect_refused 125 'stopped after [0-9]+ events.*limit'
    [ "$(cat "$OUT/stdout")" = whole ]
}

@test "a full disk stops the recording, never the program" {
    need perl
    unshare -m true 2>/dev/null || skip "no right to mount"
    mkdir "$OUT/small"
    code=0
    MANY=$MANY unshare -m sh -c 'mount -t tmpfs -o size=3m none "$1/small" &&
        TMPDIR=$1/small exec allocbench record -o "$1/t.abt" -- perl -e "$MANY"' - "$OUT" \
        >"$OUT/stdout" 2>"$OUT/stderr" 3>&- || code=$?
    expect_refused 125 'stopped after [0-9]+ events.*full'
    [ "$(cat "$OUT/stdout")" = whole ]
}

@test "a TMPDIR that is none is passed over" {
    TMPDIR=/dev/null bench record -o "$OUT/t.abt" -- "$LIFE" status 10 # falls back to /tmp
    expect_code 42
}

@test "what cannot be recorded is refused before it runs" {
    need gcc
    printf 'int main(void) { return 0; }' >"$OUT/s.c"
    gcc -static -o "$OUT/static" "$OUT/s.c" || skip "no static libc"
    record -- "$OUT/static"
    expect_refused 125 'static'
    printf 'text' >"$OUT/text"
    record -- "$OUT/text"
    expect_refused 126 ''
    chmod +x "$OUT/text"
    record -- "$OUT/text"
    expect_refused 125 ''
    record -- no-such-program-here
    expect_refused 127 'no such'
    record -- "$OUT"
    expect_refused 126 ''
    bench record
    expect_refused 125 'record what'
    bench record -o - -- true
    expect_refused 125 'standard output'
}

@test "a setuid program is refused before it runs" {
    [ "$(id -u)" -eq 0 ] || skip "needs root to make one"
    cp "$LIFE" "$OUT/setuid"
    chown nobody "$OUT/setuid"
    chmod u+s "$OUT/setuid"
    record -- "$OUT/setuid"
    expect_refused 125 'setuid'
}

@test "a program that never allocates is refused with the reason" {
    need gcc
    printf 'int main(void) { return 0; }' >"$OUT/s.c"
    gcc -o "$OUT/none" "$OUT/s.c"
    record -- "$OUT/none"
    expect_refused 125 'not one call'
}

@test "a recorded trace replays" {
    record -- "$LIFE" exit 20000
    bench replay "$OUT/t.abt" -b glibc,arena --reps 2 --json -
    expect_code 0
    expect_one_document
}

@test "trace info: unknown words and files" {
    bench trace
    expect_code 2
    bench trace ifno x
    expect_code 2
    expect_error 'info'
    bench trace info "$OUT/none.abt"
    expect_code 3
    bench trace info "$LIFE"
    expect_code 3
    expect_error 'no trace'
}

@test "the recorder calls nothing that allocates, locks or can be cancelled" {
    local symbol allowed=' _ITM_deregisterTMCloneTable _ITM_registerTMCloneTable __gmon_start__
 __cxa_finalize __errno_location __memcpy_chk __stack_chk_fail dlsym getrlimit memcpy memset
 secure_getenv strlen strrchr
 syscall sysconf '
    for symbol in $(nm -D --undefined-only "$BUILD/liballocbench-record.so" |
            sed 's/.* //; s/@.*//'); do
        case "$(echo $allowed)" in
        "$symbol "* | *" $symbol "* | *" $symbol") ;;
        *) fail "$symbol is not on the list" ;;
        esac
    done
}

@test "bundled and golden traces are whole" {
    local trace n=0
    for trace in "$ROOT"/traces/*.abt "$ROOT"/tests/golden/traces/good/*.abt; do
        bench trace info "$trace"
        expect_code 0
        n=$((n + 1))
    done
    [ $n -ge 3 ]
}

@test "every bad trace is refused, with the place and what was found" {
    local trace n=0
    for trace in "$ROOT"/tests/golden/traces/bad/*.abt; do
        for command in "trace info" replay; do
            bench $command "$trace"
            expect_code 3
            [ "$(wc -l <"$OUT/stderr")" -eq 1 ] || fail "$trace: not one line"
            grep -q "$trace: byte" "$OUT/stderr" || fail "$trace: no place"
            expect_error "$(cat "${trace%.abt}.expect")"
        done
        n=$((n + 1))
    done
    [ $n -ge 14 ]
}
