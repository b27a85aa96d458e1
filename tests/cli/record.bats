# SPDX-License-Identifier: MIT
#
# The recorder: what it says against an independent witness, and that the program does not notice.
# tests: cmd_record.c launch.c record.c preload.c preload_control.c preload_exec.c preload_files.c
# tests: preload_program.c preload_spool.c spool_summary.c spool_traces.c

load helpers

load recording

expect_refused() { # CODE REGEX
    expect_code "$1"
    expect_error "$2"
    [ ! -e "$OUT/t.abt" ] || fail "a trace was left"
    [ "$(wc -l <"$OUT/stderr")" -eq 1 ] || fail "more than one line"
    expect_nothing_left
}

@test "every call of the family is on record, by its kind" {
    record -- "$GUESTS/prog_calls"
    expect_code 0
    [ "$(ops)" = "4 2 6 5 8" ] || fail "$(ops)"
    [ "$(allocbench trace info --json - "$OUT/t.abt" | jq .failed)" -eq 5 ]
    expect_nothing_left
}

@test "no way to die loses what was recorded" {
    ulimit -c 0
    for how in exit _exit abort kill segv; do
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
    record -- sh -c '(sleep 0.3; /bin/echo late; /bin/true; echo over) & exit 0'
    expect_code 0
    wait_until grep -q over "$OUT/stdout" || fail "it does not end"
    [ "$(xargs <"$OUT/stdout")" = "late over" ]
    ! grep -v '^allocbench: .*t\.abt: \|complete recording\|recording overhead' "$OUT/stderr" ||
        fail "noise"
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
    record_counted -- "$GUESTS/prog_threads" 50000 4 300
    expect_code 0
    expect_witnessed prog_threads
    expect_clean "$OUT/t.abt"
    expect_error 'complete recording'
    farthest=$(sed -n 's/.*by at most \([0-9]*\) ticks .*/\1/p' "$OUT/stderr")
    [ "${farthest:-0}" -lt 10000 ] || fail "a repair over $farthest ticks"
    # the first thread, four at once, three hundred one after the other
    [ "$(allocbench trace info --json - "$OUT/t.abt" | jq .threads)" -eq 305 ]
    expect_nothing_left
}

# A recorder that notes frees too late, or a realloc as one event, must be found out by the very
# converter that finds nothing wrong with ours. scripts/stress-record is the long form.
@test "the wrong orders are found in what they record" {
    record -- "$GUESTS/prog_threads" 400000 4
    expect_error 'complete recording'
    mkdir "$OUT/bin"
    for wrong in 1 2; do
        cp "$BUILD/allocbench" "$BUILD/allocbench-worker" \
            "$GUESTS/wrong$wrong/liballocbench-record.so" "$OUT/bin"
        found=no
        for try in 1 2 3 4 5 6; do
            "$OUT/bin/allocbench" record -o "$OUT/w$wrong.abt" -- "$GUESTS/prog_threads" 400000 4 \
                2>"$OUT/stderr"
            if grep -Eq 'omitted|unrecorded path' "$OUT/stderr"; then found=yes; break; fi
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

# What was recorded before recording had to stop is a trace; the code says that it is short.
expect_prefix() { # REGEX
    expect_code 125
    expect_error "stopped after $(events "$OUT/t.abt") events: .*$1.*; .*t.abt contains the events before"
    expect_clean "$OUT/t.abt"
    [ "$(events "$OUT/t.abt")" -gt 50000 ] || fail "$(events "$OUT/t.abt") events"
    [ "$(events "$OUT/t.abt")" -lt 400000 ] || fail "$(events "$OUT/t.abt") events"
}

# 200,000 calls of malloc, then a word: the program is to say it.
MANY='my @k; push @k, "x" x (20 + $_ % 50) for 1 .. 200000; print "whole\n"'

@test "a file size limit stops the recording, never the program" {
    need perl
    code=0
    (ulimit -f 3000; allocbench record -o "$OUT/t.abt" -- perl -e "$MANY" \
        >"$OUT/stdout" 2>"$OUT/stderr" 3>&-) || code=$?
    expect_prefix 'limit on file sizes'
    expect_nothing_left
    [ "$(cat "$OUT/stdout")" = whole ]
}

@test "a full disk stops the recording, never the program" {
    need perl
    unshare -m true 2>/dev/null || skip "no right to mount"
    mkdir "$OUT/small"
    code=0
    MANY=$MANY unshare -m sh -c 'mount -t tmpfs -o size=3m none "$1/small" &&
        TMPDIR=$1/small exec allocbench record --max-spool 1TiB -o "$1/t.abt" -- perl -e "$MANY"' - "$OUT" \
        >"$OUT/stdout" 2>"$OUT/stderr" 3>&- || code=$?
    expect_prefix 'disk is full'
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
    expect_refused 125 'record needs a command'
    bench record -o - -- true
    expect_refused 125 'standard output'
}

@test "a program for another machine is refused before it runs" {
    local machine
    for machine in '\267\0' '\003\0'; do # aarch64, i386: bytes 18 and 19 of the ELF header
        cp "$LIFE" "$OUT/foreign"
        printf "$machine" | dd of="$OUT/foreign" bs=1 seek=18 conv=notrunc status=none
        record -- "$OUT/foreign"
        expect_refused 125 'cannot be recorded: it is built for .*, this allocbench for'
    done
    cp "$LIFE" "$OUT/foreign" # of 32 bits
    printf '\001' | dd of="$OUT/foreign" bs=1 seek=4 conv=notrunc status=none
    record -- "$OUT/foreign"
    expect_refused 125 'cannot be recorded: it '
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
    expect_refused 125 'no call of malloc'
}

# ---- launchers ----

@test "a launcher that drops LD_PRELOAD is named, and so is what it started" {
    local launcher
    for launcher in "env -u LD_PRELOAD" "env -i"; do
        record -- $launcher "$LIFE" status 1000
        expect_code 42
        expect_error '^allocbench: env executed prog_life, which was not recorded'
        expect_error 'record prog_life itself$'
        [ "$(grep -c 'which was not recorded' "$OUT/stderr")" -eq 1 ]
    done
    record -q -- env -i "$LIFE" status 1000
    expect_code 42
    [ ! -s "$OUT/stderr" ]
}

# tool of folder 1 makes some calls and becomes a program, or starts it, by fork or vfork.
own_and_static() { # FOLDER: tool with a malloc of its own in own/, a static one in static/
    need gcc
    mkdir -p "$OUT/1" "$OUT/own" "$OUT/static"
    cat >"$OUT/launcher.c" <<'END'
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    for (int i = 0; i < 20000; i++) {
        char *volatile p = malloc(50);
        free(p);
    }
    execvp(argv[1], argv + 1);
    return 1;
}
END
    cat >"$OUT/forks.c" <<'END'
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    free(malloc(50));
    if (FORK() == 0) {
        execvp(argv[1], argv + 1);
        _exit(1);
    }
    int status;
    wait(&status);
    return WEXITSTATUS(status);
}
END
    printf 'int main(void) { return 7; }' >"$OUT/tool.c"
    gcc -O0 -fno-builtin -w -o "$OUT/1/tool" "$OUT/launcher.c"
    gcc -O0 -fno-builtin -w -rdynamic -o "$OUT/own/tool" "$OUT/tool.c" "$ROOT/tests/guests/libbump.c"
    gcc -O0 -static -o "$OUT/static/tool" "$OUT/tool.c"
}

@test "a launcher of the name of what it starts is another program: one with its own malloc, a static one" {
    own_and_static
    record -- "$OUT/1/tool" "$OUT/own/tool"
    expect_code 7
    expect_error "tool executed $OUT/own/tool, which was not recorded: it .*a malloc of its own. The trace contains only tool"
    ! grep -q 'complete recording' "$OUT/stderr" || fail "nothing is missing"
    record -- "$OUT/1/tool" "$OUT/static/tool"
    expect_code 7
    expect_error "tool executed $OUT/static/tool, which was not recorded: .*statically linked"
    cp "$OUT/own/tool" "$OUT/own/other"
    record -- "$OUT/1/tool" "$OUT/own/other"
    expect_code 7
    expect_error 'tool executed other, which was not recorded: it .*a malloc of its own.*record other itself$'
    record -- "$OUT/1/tool" "$OUT/1/tool" "$LIFE" status 1000 # the last one is recorded
    expect_code 42
    ! grep -q 'which was not recorded' "$OUT/stderr" || fail "a wrong hint"
}

@test "a process with a malloc of its own is named with --follow, whether it calls fork or vfork" {
    local how
    own_and_static
    for how in fork vfork; do
        gcc -O0 -fno-builtin -w -rdynamic -DFORK=$how -o "$OUT/starts" "$OUT/forks.c" "$ROOT/tests/guests/libbump.c"
        rm -f "$OUT"/t*.abt
        record --follow -- "$OUT/starts" "$LIFE" status 1000
        expect_code 42
        expect_error '^allocbench: processes without a call of malloc: starts; a program may include its own malloc'
        [ "$(events "$(echo "$OUT"/t.*.abt)")" -eq 2436 ] || fail "$how"
    done
}

@test "a launcher of children is named with the way to record them" {
    need timeout
    record -- timeout 60 "$LIFE" status 100000
    expect_code 42
    expect_error '^allocbench: child processes of timeout allocated .*--follow'
    rm "$OUT/t.abt"
    record --follow -- timeout 60 "$LIFE" status 100000
    expect_code 42
    ! grep -q 'processes that' "$OUT/stderr" || fail "a hint that was followed"
    [ "$(events "$(echo "$OUT"/t.*.abt)")" -gt 100000 ]
}

@test "a launcher that takes the recorder with it is no reason for a hint" {
    record -- env A=1 "$LIFE" status 1000
    expect_code 42
    ! grep -q 'which was not recorded\|child processes of' "$OUT/stderr" || fail "a wrong hint"
    [ "$(events "$OUT/t.abt")" -eq 2436 ]
    record -- "$LIFE" _exit 100
    ! grep -q 'which was not recorded\|child processes of' "$OUT/stderr" || fail "a wrong hint"
    record -- perl -e '$0 = "another name"; print 1'
    expect_code 0
    ! grep -q 'which was not recorded\|child processes of' "$OUT/stderr" || fail "a wrong hint"
}

# ---- what is told at the end ----

@test "the summary tells events, threads, bytes, repairs, losses, usable_size and the cost" {
    record -- "$GUESTS/prog_threads" 20000 2 3
    expect_code 0
    local info bytes n
    info=$(allocbench trace info --json - "$OUT/t.abt")
    bytes=$(stat -c %s "$OUT/t.abt")
    n=$(jq .events <<<"$info")
    expect_error "t.abt: $n events of $(jq .threads <<<"$info") threads"
    expect_error "\($(awk "BEGIN { printf \"%.3f\", $bytes / $n }") bytes per event\)"
    expect_error '^allocbench: complete recording(; [1-9][0-9]* cross-thread reorderings?.*)?$'
    ! grep -q '[^0-9]0 cross\|[^0-9]0 calls\|0\.0 %' "$OUT/stderr" || fail "it says what is not"
    expect_error 'recording overhead: about .* of .* \([0-9.]+ %, sum of all threads\), estimated'
    expect_error 'estimated as [0-9.]+ ns per event and .* for writing$'
    [ "$(wc -l <"$OUT/stderr")" -eq 3 ] || fail "more than three lines"
}

@test "calls of malloc_usable_size are counted" {
    need gcc
    cat >"$OUT/u.c" <<'C'
#include <malloc.h>
#include <stdlib.h>
int main(void)
{
    char *p = malloc(10);
    size_t n = 0;
    for (int i = 0; i < 17; i++)
        n += malloc_usable_size(p);
    free(p);
    return n == 17 * 24 ? 5 : 6;
}
C
    gcc -O0 -fno-builtin -o "$OUT/u" "$OUT/u.c"
    record -- "$OUT/u"
    expect_code 5
    expect_error '; 17 calls of malloc_usable_size'
    [ "$(ops)" = "1 0 0 0 1" ] || fail "$(ops)"
}

@test "the cost is of the size of the recording" {
    local little much
    little=$(cost_of 10000) && much=$(cost_of 1600000) || fail "$little $much"
    awk "BEGIN { exit !($much > $little) }" || fail "$little us, then $much us"
}

cost_of() { # ROUNDS; in microseconds
    local try
    for try in 1 2 3 4 5; do # on a busy machine there may be no estimate
        record -- "$LIFE" exit "$1"
        grep -q 'recording overhead: n/a' "$OUT/stderr" || break
    done
    sed -n 's/.*recording overhead: about \([0-9.]*\) \([mun]*s\) of .*/\1 \2/p' "$OUT/stderr" |
        awk '$1 > 0 { print $1 * ($2 == "s" ? 1e6 : $2 == "ms" ? 1e3 : 1); ok = 1 }
            END { exit !ok }'
}

# bats test_tags=full
@test "progress of the conversion is for a terminal, and comes once the program has ended" {
    need script
    need perl
    local program='my @k; push @k, "x" x (20 + $_ % 50) for 1 .. 5000000; print "ended\n"'
    export ALLOCBENCH_TEST_CONVERT_FROM=0 # else little is left to convert where a CPU is free
    record -- perl -e "$program"
    expect_code 0
    ! grep -q $'\r' "$OUT/stderr" || fail "progress in a file"
    PROGRAM=$program TERM=xterm script -qec \
        "allocbench record -o $OUT/p.abt -- perl -e \"\$PROGRAM\"" "$OUT/typescript" \
        </dev/null >/dev/null 3>&-
    grep -aq 'p\.abt: [0-9.]* M events, .*/s, [0-9]* %' "$OUT/typescript" || fail "no progress"
    ! sed -n '/ended/q; p' "$OUT/typescript" | grep -aq '%' || fail "progress before the end"
}

@test "a recorded trace replays" {
    record -- "$LIFE" exit 20000
    bench replay "$OUT/t.abt" -b glibc,arena --rounds 2 --json -
    expect_code 0
    expect_one_document
}

@test "a limit on file sizes that no spool fits in is named" {
    code=0
    (ulimit -f 64; allocbench record -o "$OUT/t.abt" -- true) >"$OUT/stdout" 2>"$OUT/stderr" 3>&- || code=$?
    expect_code 125
    expect_error 'the limit on file sizes \(ulimit -f\) is too low for a recording, which needs at least [0-9]+ KiB'
    [ ! -e "$OUT/t.abt" ]
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
    expect_error 'not an allocbench trace'
}

# Of the first keys of the C library pthread_setspecific allocates nothing.
@test "the recorder calls nothing that allocates, locks or can be cancelled" {
    local symbol allowed=' _ITM_deregisterTMCloneTable _ITM_registerTMCloneTable __gmon_start__
 __cxa_finalize __register_atfork __errno_location __memcpy_chk __stack_chk_fail dlsym getauxval getrlimit memcmp memcpy memset
 _r_debug mprotect strcmp
 pthread_key_create pthread_key_delete pthread_setspecific
 __environ __libc_stack_end environ secure_getenv strlen strncmp strrchr
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
            [ "$command ${trace##*/}" != "replay text.abt" ] || continue # named as a workload
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
