# SPDX-License-Identifier: MIT
#
# Programs of several processes, and those that give up rights after their start: each process is a
# matter of its own, and nothing that was recorded is lost.

load helpers
load recording

CONFINED=$GUESTS/prog_confined

# The numbers of events of all traces, sorted, in one line.
all_events() {
    local trace
    for trace in "$OUT"/t*.abt; do events "$trace"; done | sort -n | xargs
}

expect_events() { # NUMBERS
    expect_clean "$OUT"/t*.abt
    [ "$(all_events)" = "$1" ] || fail "events of the traces: $(all_events), expected $1"
}

@test "a child without an event takes nothing from the others, and the exit status is passed on" {
    record --follow -- "$CONFINED" early idle 1000
    expect_code 5
    expect_events "2 2000 2000 2000"
    expect_error '^allocbench: 4 traces, 6002 events in total:'
    rm "$OUT"/t*.abt
    record --follow -- "$CONFINED" early free 1000 # the block is its parent's
    expect_code 5
    [ "$(all_events | tr ' ' '\n' | awk '$1 >= 2000' | wc -l)" -eq 3 ] || fail "$(all_events)"
    record --follow -- sh -c '/bin/true; "$0" children none 500; exit 7' "$CONFINED"
    expect_code 7
    expect_error 'prog_confined'
    expect_nothing_left
}

@test "a child that cannot be recorded takes nothing from the others" {
    record --follow -- "$CONFINED" early nofile0 1000
    expect_code 5
    expect_events "2 2000 2000 2000"
    expect_nothing_left
}

@test "a child that was cut short has what came before, is named, and fails nothing" {
    unshare -m true 2>/dev/null || skip "no right to mount"
    mkdir "$OUT/small"
    code=0
    CONFINED=$CONFINED unshare -m sh -c 'mount -t tmpfs -o size=700k none "$1/small" &&
        TMPDIR=$1/small exec allocbench record --max-spool 1TiB --follow -o "$1/t.abt" -- \
        "$CONFINED" children none 200000' - "$OUT" >"$OUT/stdout" 2>"$OUT/stderr" 3>&- || code=$?
    expect_code 5
    expect_clean "$OUT"/t*.abt
    expect_error 't\.[0-9]+\.abt contains the first [0-9]+ events of prog_confined, because .*disk is full'
    [ "$(all_events | cut -d ' ' -f 1)" -eq 2 ]
    [ "$(all_events | cut -d ' ' -f 2)" -gt 20000 ]
}

@test "many processes are told of in one table, the smallest in one line" {
    record --follow -- sh -c 'for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do "$0" self none $i; done
        exit 3' "$CONFINED"
    expect_code 3
    [ "$(ls "$OUT"/t*.abt | wc -l)" -eq 16 ]
    expect_error '^allocbench: 16 traces, [0-9]+ events in total:'
    expect_error '^ +[0-9]+ in 6 smaller traces$'
    [ "$(wc -l <"$OUT/stderr")" -lt 20 ] || fail "$(wc -l <"$OUT/stderr") lines"
    expect_clean "$OUT"/t*.abt
}

@test "-o names a file, and a folder for all of them" {
    record --follow -- sh -c '"$0" self none 100; exit 0' "$CONFINED"
    expect_code 0
    [ -f "$OUT/t.abt" ]
    [ "$(ls "$OUT"/t.*.abt | wc -l)" -eq 1 ]
    bench record --follow -o "$OUT/all/" -- sh -c '"$0" self none 100; exit 0' "$CONFINED"
    expect_code 0
    [ -f "$OUT/all/sh.abt" ] || fail "$(ls "$OUT/all")"
    [ "$(ls "$OUT"/all/prog_confined.*.abt | wc -l)" -eq 1 ] || fail "$(ls "$OUT/all")"
    bench record -o "$OUT/all" -- "$CONFINED" self none 100
    expect_code 5
    [ -f "$OUT/all/prog_confined.abt" ]
    bench record -o "$OUT/none/none/" -- "$CONFINED" self none 100
    expect_code 125
    expect_error 'cannot create the folder'
    bench record --no-convert --follow -o "$OUT/s" -- sh -c '"$0" self none 100; exit 0' "$CONFINED"
    bench trace recover "$OUT/s" -o "$OUT/recovered/"
    expect_code 0
    [ "$(ls "$OUT"/recovered/prog_confined.*.abt | wc -l)" -eq 1 ] || fail "$(ls "$OUT/recovered")"
    expect_nothing_left
}

# ---- programs that give up rights ----

# N is more than is kept in memory: the spool must be reached after that.
@test "a program that changes root, user, limits or descriptors is recorded to its end" {
    local how
    [ "$(id -u)" -eq 0 ] || skip "needs root"
    for how in chroot setuid nofile nofile0 fsize closed all; do
        record --follow -- "$CONFINED" self $how 40000
        expect_code 5
        expect_events 80002
        expect_error 'complete recording'
    done
    expect_nothing_left
}

@test "recording ends where a program enters seccomp's strict mode, and the program goes on" {
    local option
    for option in --follow --sites --time; do
        rm -f "$OUT"/t*.abt
        record $option -- "$CONFINED" self strict 40000
        expect_code 125
        grep -qx strict "$OUT/stdout" || fail "the program was ended"
        expect_events 40002
        expect_error "recording stopped after 40002 events: the program entered seccomp's strict mode"
    done
    expect_nothing_left
}

@test "a forked child that gives up rights is recorded to its end, also before its first call" {
    local how who
    [ "$(id -u)" -eq 0 ] || skip "needs root"
    for who in children early; do
        for how in chroot setuid fsize closed; do
            rm -f "$OUT"/t*.abt
            record --follow -- "$CONFINED" $who $how 30000
            expect_code 5
            expect_events "2 60000 60000 60000 60000"
        done
    done
    rm -f "$OUT"/t*.abt
    record --follow -- "$CONFINED" children all 30000
    expect_events "2 60000 60000 60000 60000"
    expect_nothing_left
}

@test "threads and children that begin after rights were given up are recorded" {
    local how
    [ "$(id -u)" -eq 0 ] || skip "needs root"
    for how in chroot setuid fsize closed; do
        rm -f "$OUT"/t*.abt
        record --follow -- "$CONFINED" threads $how 20000
        expect_code 5
        [ "$(events "$OUT/t.abt")" -ge 140002 ]
        expect_error 'complete recording'
        record --follow -- "$CONFINED" forks $how 20000
        expect_code 5
        expect_events "20002 40000 40000 40000"
    done
    expect_nothing_left
}

NOBODY="--reuid 65534 --regid 65534 --clear-groups"
MANY='$h{$_} = [$_, "x$_"] for 1 .. 20000; print scalar keys %h'

# A folder that others can pass through, as /tmp is.
for_other_users() {
    [ "$(id -u)" -eq 0 ] || skip "needs root"
    need setpriv
    need perl
    TMPDIR=$(mktemp -d /tmp/allocbench-test-XXXXXX)
    chmod 1777 "$TMPDIR"
    setpriv $NOBODY test -r "$BUILD/liballocbench-record.so" || skip "the build is not for everybody"
}

# As containers do at their start: setpriv, or a static program as gosu is, becomes the program.
@test "a program that root starts as another user is recorded" {
    for_other_users
    record -- setpriv $NOBODY perl -e "$MANY"
    expect_code 0
    expect_clean "$OUT/t.abt"
    [ "$(events "$OUT/t.abt")" -gt 80000 ] || fail "$(events "$OUT/t.abt")"
    expect_error 'complete recording'
    record --follow -- sh -c "setpriv $NOBODY perl -e '$MANY'; true"
    expect_code 0
    [ "$(cat "$OUT/stdout")" = 20000 ]
    expect_error 'allocbench: [34] traces'
    ! grep -q 'not recorded' "$OUT/stderr" || fail "perl is missing"
    cat >"$OUT/gosu.c" <<'END'
#include <unistd.h>
int main(int argc, char **argv)
{
    return argc > 1 && setgid(65534) == 0 && setuid(65534) == 0 ? execvp(argv[1], argv + 1) : 1;
}
END
    gcc -O1 -w -static -o "$OUT/gosu" "$OUT/gosu.c" || skip "no static C library"
    record -- sh -c "exec '$OUT/gosu' perl -e '$MANY'"
    expect_code 0
    [ "$(events "$OUT/t.abt")" -gt 80000 ] || fail "$(events "$OUT/t.abt")"
    rmdir "$TMPDIR"
}

# What of the spool a stranger sees: that there is a folder; what is in it he cannot read, nor guess.
@test "other users are told by nobody where the spool is" {
    for_other_users
    local stranger="setpriv --reuid 65533 --regid 65533 --clear-groups env -i"
    cat >"$OUT/look" <<END
$stranger /bin/ls -A $TMPDIR/allocbench-* && exit 11
$stranger /usr/bin/stat $TMPDIR/allocbench-*/spool && exit 12
$stranger /usr/bin/stat \$ALLOCBENCH_RECORD_FOLDER || exit 13
$stranger /usr/bin/test -r \$ALLOCBENCH_RECORD_FOLDER/\$\$.0.0 && exit 14
exit 0
END
    record -- sh "$OUT/look"
    expect_code 0
    rmdir "$TMPDIR"
    bench record --no-convert -o "$OUT/kept" -- ls /
    expect_code 0
    [ "$(stat -c %a "$OUT/kept") $(ls "$OUT/kept")" = "700 spool" ] || fail "$(ls -la "$OUT/kept")"
}

@test "a program of another user who cannot reach the spool is named with that reason" {
    for_other_users
    rmdir "$TMPDIR"
    TMPDIR=$OUT/tmp
    mkdir -m 700 "$TMPDIR"
    record -- setpriv $NOBODY perl -e "$MANY"
    expect_code 0
    expect_error 'setpriv executed perl, which was not recorded: it ran as another user \(uid 65534\)'
    rm "$OUT/t.abt"
    record --follow -- setpriv $NOBODY perl -e "$MANY"
    expect_code 0
    expect_error '^allocbench: 1 process of perl was not recorded: it ran as another user \(uid 65534\)'
}

# Within the new root there is no recorder, or one that cannot reach the spool.
@test "a program that becomes another in another root keeps what came before, and that one is named" {
    local follow root=$OUT/root
    [ "$(id -u)" -eq 0 ] || skip "needs root"
    mkdir "$root"
    cp "$CONFINED" "$root/inside"
    ldd "$CONFINED" | grep -o '/[^ )]*' | xargs cp -L --parents -t "$root"
    for recorder in "" "$BUILD/liballocbench-record.so"; do
        [ -z "$recorder" ] || cp --parents -t "$root" "$recorder"
        record -- "$CONFINED" exec "$root" 4000
        expect_code 5
        expect_events 4002
        expect_error 'prog_confined executed inside, which was not recorded: .*another folder or root'
        rm "$OUT/t.abt"
        record --follow -- "$CONFINED" exec "$root" 4000
        expect_code 5
        expect_events 4002
        expect_error '^allocbench: 1 process of inside was not recorded: .*another folder or root'
    done
    rm -r "$root"
    expect_nothing_left
}

@test "recording ends after --max-events, the program does not" {
    record --max-events 100k -- "$CONFINED" self none 200000
    expect_code 5
    expect_clean "$OUT/t.abt"
    [ "$(events "$OUT/t.abt")" -ge 100000 ] && [ "$(events "$OUT/t.abt")" -le 101024 ] ||
        fail "$(events "$OUT/t.abt") events"
    expect_error 'recording stopped at --max-events'
    record --max-events 1M -- "$CONFINED" self none 2000
    expect_code 5
    ! grep -q 'was ended' "$OUT/stderr" || fail "it says that it was ended"
    [ "$(events "$OUT/t.abt")" -eq 4002 ]
    bench record --max-events 0 -o "$OUT/t.abt" -- true
    expect_code 2
    expect_nothing_left
}

# The recorder notes a resize in two parts.
@test "--max-events counts a resize as one" {
    cat >resizes.c <<'END'
#include <stdlib.h>
int main(void)
{
    void *block = NULL;
    for (int i = 0; i < 300000; i++) block = realloc(block, 1 + i % 100);
    free(block);
    return 0;
}
END
    gcc -O1 resizes.c -o resizes
    for option in '' --sites; do
        record $option --max-events 100k -- ./resizes
        expect_code 0
        n=$(events "$OUT/t.abt")
        [ "$n" -ge 100000 ] && [ "$n" -le 101024 ] || fail "$option: $n events"
    done
}

# They come while a buffer is full, too, and begin the next one. The timer goes off once in some
# hundred calls, at any place among them; one that repeats could leave the program no time to go on.
@test "--max-events counts right where signal handlers set marks" {
    cat >marks.c <<'END'
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
static void (*set_mark)(const char *);
static void on_timer(int signal)
{
    (void)signal;
    set_mark("timer");
}
int main(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
    timer_t timer;
    *(void **)&set_mark = dlsym(RTLD_DEFAULT, "allocbench_mark_record");
    signal(SIGALRM, on_timer);
    if (set_mark == NULL || timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) return 1;
    for (int i = 0; i < 8000; i++) {
        struct itimerspec once = {{0, 0}, {0, 1 + i * 7919 % 20000}};
        if (timer_settime(timer, 0, &once, NULL) != 0) return 1;
        for (int k = 0; k < 500; k++) {
            void *volatile block = malloc(10);
            free(block);
        }
    }
    return 0;
}
END
    gcc -D_GNU_SOURCE -O1 marks.c -o marks
    record --max-events 6M -- ./marks
    expect_code 0
    n=$(events "$OUT/t.abt")
    [ "$n" -ge 6000000 ] && [ "$n" -le 6001024 ] || fail "$n events"
}

UNTIL_TOLD='$| = 1; until (-e $ARGV[0]) { push @k, "x" x 50; pop @k; } print "whole\n"; exit 9'

@test "after --duration the trace is there, and the command goes on to its end" {
    need perl
    start_bench record --duration 300ms -o "$OUT/t.abt" -- perl -e "$UNTIL_TOLD" "$OUT/enough"
    wait_until test -s "$OUT/t.abt" || fail "no trace"
    kill -0 "$pid" || fail "the command has ended"
    [ ! -s "$OUT/stdout" ]
    expect_clean "$OUT/t.abt"
    : >"$OUT/enough"
    await_bench
    expect_code 9
    [ "$(cat "$OUT/stdout")" = whole ]
    expect_error 'recording stopped at --duration'
    expect_error 'the recording is complete, but perl \(process [0-9]+\) goes on: \^C ends it'
    expect_nothing_left
}

STUBBORN='$| = 1; $SIG{TERM} = $ARGV[1] ? "IGNORE" : sub { print "told\n"; exit 9 };
if (!($child = fork)) { $SIG{TERM} = "DEFAULT"; sleep 100; exit } print "$child\n";
until (-e $ARGV[0]) { push @k, "x" x 50; pop @k; }'

@test "--stop ends the command after --duration, with its children, and exits with 0" {
    need perl
    bench record --duration 300ms --stop -o "$OUT/t.abt" -- perl -e "$STUBBORN" /nowhere 0
    expect_code 0
    expect_clean "$OUT/t.abt"
    [ "$(tail -n 1 "$OUT/stdout")" = told ] # SIGTERM, which it could answer
    wait_until is_gone "$(head -n 1 "$OUT/stdout")" || fail "its child goes on"
    ! grep -q 'goes on' "$OUT/stderr" || fail "says that it goes on"
    expect_nothing_left
}

@test "--stop: SIGKILL for what does not end by SIGTERM; a command that ends before has its own code" {
    need perl
    bench record --duration 300ms --stop -o "$OUT/t.abt" -- perl -e "$STUBBORN" /nowhere 1
    expect_code 0
    expect_clean "$OUT/t.abt"
    bench record --duration 100s --stop -o "$OUT/t.abt" -- perl -e 'exit 3'
    expect_code 3
    bench record --stop -o "$OUT/t.abt" -- perl -e 1
    expect_code 125
    expect_error 'stop needs --duration'
    expect_nothing_left
}

@test "a trace that is there becomes FILE.old, one generation" {
    need perl
    cd "$OUT"
    for n in 1 2 3; do
        bench record -- perl -e "\$x = 'x' x $n"
        expect_code 0
        [ "$n" -gt 1 ] || ! grep -q 'existed already' stderr
        [ "$n" -eq 1 ] || expect_error 'perl.abt existed already: it is now perl.abt.old'
        cp perl.abt "seen.$n"
    done
    cmp seen.2 perl.abt.old
    [ "$(ls | grep -c '^perl.abt')" -eq 2 ]
    bench record -q -o perl.abt -- perl -e 1
    expect_code 0
    cmp seen.3 perl.abt.old
    allocbench record --no-convert -o s -- perl -e 1 3>&- # what is not record replaces
    cp perl.abt now
    bench trace recover s -o perl.abt
    expect_code 0
    cmp seen.3 perl.abt.old
    ! cmp -s now perl.abt
}

@test "--sites of a program without debug information says so" {
    need gcc
    echo 'int main(void) { return !__builtin_malloc(10); }' >"$OUT/p.c"
    gcc -O0 -g -o "$OUT/with" "$OUT/p.c"
    gcc -O0 -o "$OUT/without" "$OUT/p.c"
    gcc -O0 -s -o "$OUT/stripped" "$OUT/p.c"
    bench record --sites -o "$OUT/t.abt" -- "$OUT/with"
    ! grep -q 'debug information' "$OUT/stderr" || fail "$(cat "$OUT/stderr")"
    bench record --sites -o "$OUT/t.abt" -- "$OUT/without"
    expect_error 'without has no debug information: its call sites will be functions, without lines; compile it with -g$'
    bench record --sites -o "$OUT/t.abt" -- "$OUT/stripped"
    expect_error 'stripped has no debug information: its call sites will be addresses, without lines'
    bench record -o "$OUT/t.abt" -- "$OUT/stripped"
    ! grep -q 'debug information' "$OUT/stderr"
}

DAEMON='setsid sh -c "sleep 1; exec \"$0\" self none 3000" >/dev/null 2>&1 & exit 3'

@test "--wait records daemons to their end" {
    record --wait -- sh -c "$DAEMON" "$CONFINED"
    expect_code 3
    [ "$(all_events | tr ' ' '\n' | grep -c '^6002$')" -eq 1 ] || fail "$(all_events)"
    expect_nothing_left
}

@test "--wait records a daemon that forks twice and closes all, from its first call on" {
    need gcc
    cat >"$OUT/daemon.c" <<'C'
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
int main(void)
{
    free(malloc(10));
    if (fork() != 0)
        return 8;
    setsid();
    if (fork() != 0)
        return 0;
    for (int fd = 0; fd < 1024; fd++)
        close(fd);
    usleep(700000); /* it is waited for although it made no call yet */
    for (int i = 0; i < 50000; i++)
        free(malloc((size_t)(i % 100)));
    return chdir("/");
}
C
    gcc -O0 -fno-builtin -o "$OUT/daemon" "$OUT/daemon.c"
    record --wait -- "$OUT/daemon"
    expect_code 8
    expect_events "2 100000"
    expect_nothing_left
}

@test "a signal ends --wait, converts what there is, and leaves the daemon alone" {
    need perl
    start_bench record --wait -o "$OUT/t.abt" -- sh -c 'echo $$; perl -e "for (1 .. 6000) {
        push @k, q(x) x 50 for 1 .. 99; select undef, undef, undef, 0.1;
        if (\$_ == 2) { open F, q(>), q($0) or die; print F qq(\$\$\n); close F } }" &
        exit 4' "$OUT/ready"
    wait_until test -s "$OUT/ready" || fail "it does not start"
    wait_until is_gone "$(cat "$OUT/stdout")" || fail "the command does not end"
    kill -TERM "$pid"
    await_bench
    expect_code 4
    expect_clean "$OUT"/t*.abt
    expect_error 'recording stopped at a signal'
    kill "$(cat "$OUT/ready")" || fail "the daemon is gone"
    expect_nothing_left
}

@test "a second signal ends the recording of a command that ignores the first" {
    need perl
    start_bench record -o "$OUT/t.abt" -- perl -e '$SIG{TERM} = sub { print "no\n" };
        $| = 1; print "$$\n"; for (1 .. 6000) {
        push @k, "x" x 50 for 1 .. 99; select undef, undef, undef, 0.1; print "3\n" if $_ == 3 }'
    wait_until grep -q '^3$' "$OUT/stdout" || fail "it does not start"
    kill -TERM "$pid"
    wait_until grep -q no "$OUT/stdout" || fail "it was not passed on"
    kill -0 "$pid" || fail "record has ended"
    kill -TERM "$pid"
    await_bench
    expect_code 143
    expect_clean "$OUT/t.abt"
    [ "$(events "$OUT/t.abt")" -gt 300 ]
    kill -9 "$(head -1 "$OUT/stdout")" || fail "the program is gone"
    expect_nothing_left
}

# ---- what was not recorded ----

@test "programs that left nothing are named, with the reason, once for all their processes" {
    need gcc
    printf 'int main(void) { return 0; }' >"$OUT/s.c"
    gcc -static -o "$OUT/static" "$OUT/s.c" || skip "no static libc"
    cat >"$OUT/own.c" <<'C'
#include <stddef.h>
static char all[65536];
static size_t used;
void *malloc(size_t n)
{
    used += (n + 15) & ~(size_t)15;
    return all + used;
}
void free(void *p)
{
    (void)p;
}
int main(void)
{
    return malloc(5) == NULL;
}
C
    gcc -O0 -fno-builtin -o "$OUT/own" "$OUT/own.c"
    record --follow -- sh -c '"$0/static"; "$0/static"; "$0/own"; env -i "$1" self none 10; exit 6' \
        "$OUT" "$CONFINED"
    expect_code 6
    expect_error '^allocbench: 2 processes of static were not recorded: .* is statically linked'
    expect_error '^allocbench: 1 process of prog_confined was not recorded: LD_PRELOAD was removed'
    expect_error '^allocbench: processes without a call of malloc: own;'
    record --follow -- perl -e 'exec $ARGV[0]' "$OUT/static"
    expect_code 0
    expect_error '^allocbench: 1 process of static was not recorded'
    record --follow -- "$CONFINED" forks nofile0 100
    expect_code 5
    expect_error '^allocbench: 3 processes of prog_confined were not recorded: .*no descriptors'
    record --follow -- sh -c '"$0" self none 10; /no/such/program; true' "$CONFINED"
    ! grep -q 'not recorded' "$OUT/stderr" || fail "a program that is named without reason"
    expect_nothing_left
}

@test "every way to start a program is noted" {
    need gcc
    printf 'int main(void) { return 0; }' >"$OUT/s.c"
    gcc -static -o "$OUT/static" "$OUT/s.c" || skip "no static libc"
    cat >"$OUT/starts.c" <<'C'
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
extern char **environ;
int main(int argc, char **argv)
{
    char *words[] = {argv[1], "b", NULL};
    free(malloc((size_t)argc));
    for (int way = 0; way < 9; way++) {
        pid_t pid = way < 2 ? 0 : way % 2 == 0 ? fork() : vfork();
        if (way == 0)
            posix_spawn(&pid, argv[1], NULL, NULL, words, environ);
        if (way == 1)
            posix_spawnp(&pid, argv[1], NULL, NULL, words, environ);
        if (pid == 0) {
            if (way == 2) execve(argv[1], words, environ);
            if (way == 3) execv(argv[1], words);
            if (way == 4) execvp(argv[1], words);
            if (way == 5) execvpe(argv[1], words, environ);
            if (way == 6) execl(argv[1], "a", "b", "c", (char *)NULL);
            if (way == 7) execlp(argv[1], "a", (char *)NULL);
            if (way == 8) execle(argv[1], "a", "b", (char *)NULL, environ);
            _exit(9);
        }
        int status;
        if (waitpid(pid, &status, 0) != pid || status != 0)
            return 10 + way;
    }
    return 0;
}
C
    gcc -O0 -fno-builtin -o "$OUT/starts" "$OUT/starts.c"
    record --follow -- "$OUT/starts" "$OUT/static"
    expect_code 0
    expect_error '^allocbench: 9 processes of static were not recorded'
    printf '#include <stdio.h>\nint main(int c, char **v, char **e) { int n = 0; while (e[n]) n++;
        printf("%%d %%s %%s\\n", c, v[c - 1], getenv("A") ? getenv("A") : "-"); return 0; }' |
        sed '1i #include <stdlib.h>' >"$OUT/w.c"
    gcc -o "$OUT/words" "$OUT/w.c"
    record --follow -- "$OUT/starts" "$OUT/words"
    expect_code 0
    [ "$(sort "$OUT/stdout" | uniq -c | xargs)" = "1 1 a - 6 2 b - 1 2 b - 1 3 c -" ] ||
        [ "$(sort "$OUT/stdout" | uniq -c | xargs)" = "1 1 a - 7 2 b - 1 3 c -" ] ||
        fail "$(sort "$OUT/stdout" | uniq -c)"
    ! grep -q 'not recorded' "$OUT/stderr" || fail "recorded programs are named"
}

@test "a program is named as it was called" {
    ln -s "$CONFINED" "$OUT/another-name"
    record -- "$OUT/another-name" self none 10
    expect_code 5
    [ "$(allocbench trace info --json - "$OUT/t.abt" | jq -r .program)" = another-name ]
    printf '#!/bin/sh\nx=$(echo 1)\n' >"$OUT/script"
    chmod +x "$OUT/script"
    record -- "$OUT/script"
    [ "$(allocbench trace info --json - "$OUT/t.abt" | jq -r .program)" != script ]
}

@test "what is no program is refused for what it is" {
    printf 'echo 1\n' >"$OUT/plain"
    printf '#!/no/such/interpreter\n' >"$OUT/bad"
    chmod +x "$OUT/plain" "$OUT/bad"
    record -- "$OUT/plain"
    expect_code 125
    expect_error 'plain is neither a program nor a script whose first line names an interpreter'
    record -- "$OUT/bad"
    expect_code 125
    expect_error 'bad cannot be run: its interpreter /no/such/interpreter: No such file'
    expect_nothing_left
}
