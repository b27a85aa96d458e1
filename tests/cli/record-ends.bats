# SPDX-License-Identifier: MIT
#
# Ends of recorded programs while several of their threads are in the middle of a call, and of
# `record` itself: what was recorded is in the trace, and at most one call a thread is missing.
# tests: program_file.c

load helpers
load recording

THREADS=4

# Ends so while four threads allocate; the trace is whole but for one call a thread.
ends() { # HOW CODE
    ulimit -c 0
    record_counted -- "$ENDS" "$1" 20000 $THREADS
    expect_code "$2"
    expect_clean "$OUT/t.abt"
    expect_cut_off_at_most $THREADS prog_ends "$OUT/t.abt"
    [ "$(events "$OUT/t.abt")" -gt 190000 ] || fail "$(events "$OUT/t.abt") events"
    [ "$(allocbench trace info --json - "$OUT/t.abt" | jq .threads)" -ge $THREADS ]
    expect_error "($THREADS|$((THREADS + 1))) threads"
    local cut
    cut=$(sed -n 's/^allocbench: \([0-9]*\) calls were interrupted.*/\1/p' "$OUT/stderr")
    [ "${cut:-0}" -le $THREADS ] || fail "$cut calls cut off"
    ! grep -q 'omitted\|unrecorded path' "$OUT/stderr" || fail "conflicts"
    expect_nothing_left
}

@test "threads at work: SIGKILL costs at most a call of each" {
    ends kill 137
}

@test "threads at work: abort costs at most a call of each" {
    ends abort 134
}

@test "threads at work: _exit costs at most a call of each" {
    ends _exit 3
}

# A thread spends a good part of its time on full buffers: it must be killed there, too.
@test "threads at work: dozens of deaths at any point cost at most a call of each" {
    local i cut
    for i in $(seq 24); do
        record -- "$ENDS" kill $((1000 + i * 37)) $THREADS
        expect_code 137
        cut=$(sed -n 's/^allocbench: \([0-9]*\) calls were interrupted.*/\1/p' "$OUT/stderr")
        [ "${cut:-0}" -le $THREADS ] || fail "$cut calls cut off"
        ! grep -q 'omitted\|unrecorded path' "$OUT/stderr" || fail "conflicts"
    done
}

@test "threads at work: exit costs at most a call of each" {
    ends exit 4
}

@test "threads at work: vfork costs nothing, and the child's calls count" {
    ends vfork 6
}

@test "threads at work: a forked child is recorded on request, and both are whole" {
    record_counted --follow -- "$ENDS" fork 20000 $THREADS
    expect_code 6
    [ "$(ls "$OUT"/t*.abt | wc -l)" -eq 2 ] || fail "$(ls "$OUT")"
    expect_clean "$OUT"/t*.abt
    expect_cut_off_at_most $THREADS prog_ends "$OUT"/t*.abt
    for trace in "$OUT"/t.*.abt; do
        [ "$(allocbench trace info --json - "$trace" | jq .threads)" -eq 1 ]
        [ "$(events "$trace")" -gt 40000 ]
    done
    expect_nothing_left
}

@test "a forked child begins with the blocks that lived at the fork, and so does its child" {
    local trace
    record --follow -- "$GUESTS/prog_heirs" 5180 3
    expect_code 0
    [ "$(ls "$OUT"/t*.abt | wc -l)" -eq 7 ] || fail "$(ls "$OUT")"
    expect_clean "$OUT"/t*.abt
    ! grep -q 'omitted' "$OUT/stderr" || fail "frees left out"
    for trace in "$OUT"/t.*.abt; do
        bench trace info --json - "$trace"
        # every second one was freed, by the child itself or before its own child began
        expect_json '.inherited >= 2590 and .inherited <= 5190 and .ops.free >= 2590 and
            .live_peak_blocks >= .inherited and .live_end_blocks <= 2600 and .threads == 1'
    done
}

@test "threads at work: exec ends them, and both programs are whole" {
    record_counted --follow -- "$ENDS" exec 20000 $THREADS
    expect_code 7
    [ "$(ls "$OUT"/t*.abt | wc -l)" -eq 2 ] || fail "$(ls "$OUT")"
    expect_clean "$OUT"/t*.abt
    expect_witnessed after
    expect_cut_off_at_most $THREADS prog_ends "$OUT"/t.*.abt
    [ "$(events "$(echo "$OUT"/t.*.abt)")" -gt 190000 ]
    expect_nothing_left
}

# ---- spools ----

@test "a spool that is kept becomes the same trace later" {
    bench record --no-convert -o "$OUT/s" -- "$GUESTS/prog_threads" 30000 1 3
    expect_code 0
    expect_error 'not converted; use allocbench trace recover'
    cp "$OUT/stderr" "$OUT/kept"
    record -- "$GUESTS/prog_threads" 30000 1 3
    grep -q "about $(events "$OUT/t.abt") events, not converted" "$OUT/kept" || fail "$(cat "$OUT/kept")"
    for time in first second; do # it is read only
        bench trace recover "$OUT/s" -o "$OUT/r.abt"
        expect_code 0
        expect_error "r.abt: $(events "$OUT/t.abt") events of 5 threads"
        expect_clean "$OUT/r.abt"
        [ "$(ops "$OUT/r.abt")" = "$(ops)" ] || fail "$(ops "$OUT/r.abt"), not $(ops)"
    done
    expect_nothing_left
}

@test "a spool becomes the same trace on one CPU as on several" {
    need taskset
    bench record --no-convert -o "$OUT/s" -- "$GUESTS/prog_threads" 100000 3
    expect_code 0
    bench trace recover "$OUT/s" -o "$OUT/t.abt"
    expect_code 0
    [ "$(events "$OUT/t.abt")" -gt 200000 ] || fail "$(events "$OUT/t.abt") events" # several blocks
    cpu=$(taskset -cp $$ | sed 's/.*: //; s/[,-].*//')
    taskset -c "$cpu" allocbench trace recover -q "$OUT/s" -o "$OUT/one.abt" 3>&-
    local name # the recorder's CPU time is an estimate of each conversion, by a clock that it measures
    for name in t one; do
        allocbench trace info --digest --json - "$OUT/$name.abt" |
            jq 'del(.file, .program_cpu_ns, .recorder_cpu_ns)' >"$OUT/$name.json"
    done
    cmp "$OUT/t.json" "$OUT/one.json"
    expect_clean "$OUT/one.abt"
}

@test "a spool that is kept has the command's name unless it is given one, and replaces nothing" {
    bench record -q --no-convert -- "$LIFE" status 100
    expect_code 42
    [ ! -s "$OUT/stderr" ]
    [ -d prog_life.spool ]
    bench record --no-convert -- "$LIFE" status 100
    expect_code 125
    expect_error 'prog_life.spool.*exists'
    bench trace recover prog_life.spool -o "$OUT/t.abt"
    expect_code 0
    bench record --no-convert -o "$OUT/none/s" -- "$LIFE" status 100
    expect_code 125
    bench record --no-convert -o "$OUT/s" -- no-such-program-here
    expect_code 127
    [ ! -e "$OUT/s" ]
}

@test "a spool of several processes becomes several traces" {
    bench record --no-convert --follow -o "$OUT/s" -- "$LIFE" fork 2000
    expect_code 0
    bench trace recover -q "$OUT/s" -o "$OUT/t.abt"
    expect_code 0
    [ ! -s "$OUT/stderr" ]
    [ "$(ls "$OUT"/t*.abt | wc -l)" -eq 2 ] || fail "$(ls "$OUT")"
    expect_clean "$OUT"/t*.abt
}

has_rounds() {
    [ -f "$OUT/count.prog_ends" ] && [ "$(witnessed prog_ends | cut -d ' ' -f 1)" -gt 60000 ]
}

@test "a record that is killed leaves a spool, and the program goes on; recover makes the trace" {
    mkfifo "$OUT/in"
    COUNT_FILE=$OUT/count LD_PRELOAD=$GUESTS/libcount.so \
        allocbench record -o "$OUT/t.abt" -- "$ENDS" wait 20000 $THREADS \
        <"$OUT/in" >"$OUT/stdout" 2>"$OUT/stderr" 3>&- &
    local recorder=$! child
    exec 9>"$OUT/in"
    wait_until has_rounds || fail "it does not run"
    child=$(cat "/proc/$recorder/task/$recorder/children" | xargs)
    kill -9 "$recorder"
    wait "$recorder" || true
    kill -0 "$child" || fail "the program died with its recorder"
    local spool=$TMPDIR/allocbench-*
    bench trace recover $spool -o "$OUT/t.abt"
    expect_code 3
    expect_error "process $child \(prog_ends\) is still being recorded"
    exec 9>&-
    wait_until is_gone "$child" || fail "the program does not end"
    bench trace recover $spool -o "$OUT/t.abt"
    expect_code 0
    expect_clean "$OUT/t.abt"
    expect_cut_off_at_most $THREADS prog_ends "$OUT/t.abt"
}

@test "a recording that had to stop is recovered as far as it goes, when that is asked for" {
    need perl
    code=0
    (ulimit -f 3000; allocbench record --no-convert -o "$OUT/s" -- \
        perl -e 'my @k; push @k, "x" x (20 + $_ % 50) for 1 .. 200000' \
        2>"$OUT/stderr" 3>&-) || code=$?
    expect_code 125
    expect_error 'stopped: the limit on file sizes.*trace recover --partial'
    bench trace recover "$OUT/s" -o "$OUT/t.abt"
    expect_code 4
    expect_error 'stopped after [0-9]+ events.*limit.*t.abt contains the events before'
    expect_clean "$OUT/t.abt"
    rm "$OUT/t.abt"
    bench trace recover --partial "$OUT/s" -o "$OUT/t.abt"
    expect_code 0
    expect_error 'stopped before the end of the program'
    expect_clean "$OUT/t.abt"
    [ "$(events "$OUT/t.abt")" -gt 50000 ]
}

@test "what is no spool is refused, and recover needs a file to write to" {
    mkdir "$OUT/empty"
    bench trace recover "$OUT/empty" -o "$OUT/t.abt"
    expect_code 3
    expect_error 'empty: not a spool of this version'
    bench trace recover "$OUT/none" -o "$OUT/t.abt"
    expect_code 3
    expect_error 'cannot read the spool'
    bench trace recover "$OUT/empty"
    expect_code 2
    expect_error 'needs -o'
    bench trace recover "$OUT/empty" -o -
    expect_code 2
    bench trace recovr "$OUT/empty" -o "$OUT/t.abt"
    expect_code 2
    expect_error 'did you mean recover'
    bench trace recover
    expect_code 2
    expect_error 'recover SPOOL'
}

@test "a recording whose trace cannot be written is kept" {
    unshare -m true 2>/dev/null || skip "no right to mount"
    mkdir "$OUT/small"
    code=0
    LIFE=$LIFE GUESTS=$GUESTS unshare -m sh -c 'mount -t tmpfs -o size=64k none "$1/small" &&
        exec allocbench record -o "$1/small/t.abt" -- "$GUESTS/prog_pingpong" 2 60000' - "$OUT" \
        >"$OUT/stdout" 2>"$OUT/stderr" 3>&- || code=$?
    expect_code 125
    expect_error "the recording is kept in $TMPDIR/allocbench-.*recover: .*space"
    bench trace recover "$TMPDIR"/allocbench-* -o "$OUT/t.abt"
    expect_code 0
    expect_clean "$OUT/t.abt"
}

is_converting() { # the command has ended; so has record, where it was quick
    ! kill -0 "$pid" 2>/dev/null ||
        { [ -s "$OUT/stdout" ] && [ -z "$(cat "/proc/$pid/task/$pid/children")" ]; }
}

# Of a recording that is so long that it is still being converted when the signal comes.
interrupt_conversion() {
    local n
    export ALLOCBENCH_TEST_CONVERT_FROM=0
    for n in 1000000 4000000 12000000; do
        rm -f "$OUT/stdout"
        start_bench record -o "$OUT/t.abt" -- \
            perl -e 'my @k; push @k, "x" x (20 + $_ % 50) for 1 .. $ARGV[0]; print "ended\n"' $n
        wait_until is_converting || fail "it does not end"
        kill -INT "$pid" 2>/dev/null || true
        await_bench
        [ "$code" -eq 0 ] || return 0
        rm "$OUT/t.abt"
    done
    fail "it was too quick"
}

@test "a conversion that is interrupted leaves the spool" {
    need perl
    interrupt_conversion
    expect_code 125
    expect_error "the recording is kept in $TMPDIR/allocbench-.*: interrupted"
    [ ! -e "$OUT/t.abt" ]
    bench trace recover -q "$TMPDIR"/allocbench-* -o "$OUT/t.abt"
    expect_code 0
    expect_clean "$OUT/t.abt"
}

# bats test_tags=full
@test "converting takes no more memory for more events" {
    bench record -q --no-convert -o "$OUT/s" -- "$LIFE" exit 4500000
    [ "$(du -sm "$OUT/s" | cut -f 1)" -gt 90 ]
    code=0
    (ulimit -v 80000; allocbench trace recover "$OUT/s" -o "$OUT/t.abt" 2>"$OUT/stderr" 3>&-) ||
        code=$?
    expect_code 0
    [ "$(events "$OUT/t.abt")" -eq 11249936 ]
}

# Whatever a byte of it says: a trace that is whole, or one clear error, never a crash.
@test "a damaged spool is refused or recovered, never a crash" {
    bench record -q --no-convert -o "$OUT/s" -- "$LIFE" exit 300
    local file at n=0
    for file in "$OUT"/s/spool/*; do
        for at in 0 8 12 16 24 28 32 40 48 4096 4104 4112 4120 4700 5000; do
            cp "$file" "$OUT/whole"
            printf '\377\377\377\377\377' | dd of="$file" bs=1 seek=$at conv=notrunc status=none
            bench trace recover "$OUT/s" -o "$OUT/t.abt"
            [ $code -eq 0 ] || [ $code -eq 3 ] || [ $code -eq 4 ] || fail "$file $at: code $code"
            [ $code -ne 0 ] || expect_clean "$OUT/t.abt"
            cp "$OUT/whole" "$file"
            n=$((n + 1))
        done
    done
    [ $n -eq 60 ]
    bench trace recover "$OUT/s" -o "$OUT/t.abt"
    expect_code 0
}

@test "threads that live one after another are a lane's, not one lane each" {
    cat >"$OUT/t.c" <<'C'
#include <pthread.h>
#include <stdlib.h>
static void *work(void *p)
{
    for (int i = 0; i < 100; i++)
        free(malloc(50));
    return p;
}
int main(void)
{
    for (int i = 0; i < 300; i++) {
        pthread_t t;
        if (pthread_create(&t, NULL, work, NULL) != 0 || pthread_join(t, NULL) != 0)
            return 1;
    }
    return 0;
}
C
    gcc -O0 -fno-builtin -o "$OUT/t" "$OUT/t.c" -pthread
    record -- "$OUT/t"
    expect_code 0
    bench trace info "$OUT/t.abt" --json -
    expect_json '.threads == 301 and .thread_ends >= 290'
    bench replay "$OUT/t.abt" -b glibc --rounds 1 --json -
    expect_code 0
    expect_json '.config.tape.lanes == 2'
}

@test "what a child that outlives the command loses does not go unsaid" {
    need perl
    record --follow -- sh -c 'perl -e "my @k = map { q(x) x 40 } 1 .. 9000;
            open F, q(>), q($0) or die; close F; sleep 600" &
        echo $!; while [ ! -e "$0" ]; do sleep 0.05; done; exit 0' "$OUT/ready"
    kill "$(cat "$OUT/stdout")" || fail "the child is gone"
    expect_code 0
    expect_error 'processes that it started are still running; their further calls are not recorded'
}

@test "record: a signal handler that makes thousands of calls in the middle of one costs at most one" {
    [ "$(uname -m)" = x86_64 ] || skip "steps through instructions of x86-64"
    cat >steps.c <<'END'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
enum { TRAP = 0x100 }; /* of the flags: a signal after each instruction */
static unsigned long low, high; /* the recorder is between them */
static volatile long steps, at, hits;
static void trap(int signal, siginfo_t *info, void *user)
{
    greg_t *g = ((ucontext_t *)user)->uc_mcontext.gregs;
    unsigned long ip = (unsigned long)g[REG_RIP];
    (void)signal, (void)info;
    if (ip < low || ip >= high || ++steps != at) return;
    hits++;
    g[REG_EFL] &= ~(greg_t)TRAP;
    for (int i = 0; i < 1500; i++) {
        void *volatile p = malloc(8);
        free(p);
    }
}
int main(void)
{
    struct sigaction action = {.sa_sigaction = trap, .sa_flags = SA_SIGINFO};
    char line[4096];
    FILE *maps = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, maps) != NULL) {
        unsigned long from, to;
        if (strstr(line, "liballocbench-record") == NULL || sscanf(line, "%lx-%lx", &from, &to) != 2) continue;
        if (low == 0) low = from;
        high = to;
    }
    fclose(maps);
    sigaction(SIGTRAP, &action, NULL);
    for (at = 1; at <= 40; at++) {
        steps = 0;
        __asm__ volatile("sub $128, %%rsp; pushfq; orq %0, (%%rsp); popfq; add $128, %%rsp" ::"i"(TRAP) : "memory", "cc");
        void *p = malloc(100000 + at);
        __asm__ volatile("sub $128, %%rsp; pushfq; andq %0, (%%rsp); popfq; add $128, %%rsp" ::"i"(~TRAP) : "memory", "cc");
        free(p);
    }
    printf("%ld\n", hits);
    return 5;
}
END
    gcc -D_GNU_SOURCE -O1 steps.c -o steps
    record -- ./steps
    expect_code 5
    [ "$(cat "$OUT/stdout")" -gt 30 ]
    expect_clean "$OUT/t.abt"
    [ "$(events "$OUT/t.abt")" -gt $(($(cat "$OUT/stdout") * 2999)) ]
}
