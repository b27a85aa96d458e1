#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Conversion while the command runs: the trace is that of a conversion at the end, the spool stays
# small, and whatever is killed leaves what the documentation says. The tests let it begin with the
# first byte of a spool, and on a CPU that others want.
# tests: converter_live.c spool_traces.c

load helpers
load recording

# steady KIBYTES [END]: 400,000 pairs of calls, whose spool is 6 MB. It goes on when the spool has
# less than KIBYTES on the disk (0: it does not look). END: what it does then.
make_steady() {
    cat >steady.c <<'END'
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
static long kib_on_disk(void) /* of this program; allocates nothing */
{
    struct stat st;
    char path[4096];
    for (int k = 1; k >= 0; k--) {
        snprintf(path, sizeof path, "%s/%d.%d.0", getenv("ALLOCBENCH_RECORD_FOLDER"), getpid(), k);
        if (stat(path, &st) == 0) return st.st_blocks / 2;
    }
    return 0;
}
static void *slots[256];
int main(int argc, char **argv)
{
    long most = atol(argv[1]);
    const char *end = argc > 2 ? argv[2] : "";
    uint64_t x = 1;
    for (long i = 0; i < 400000; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        unsigned slot = (x >> 33) % 256;
        free(slots[slot]);
        slots[slot] = malloc(1 + (x >> 40) % 5000);
        for (int tries = 0; i % 20000 == 0 && most > 0 && kib_on_disk() > most && tries < 500; tries++)
            usleep(20000);
    }
    if (strcmp(end, "kill") == 0) kill(getpid(), SIGKILL);
    if (strcmp(end, "wait") == 0) { puts("there"); fflush(stdout); getchar(); }
    if (strcmp(end, "exec") == 0) execl(argv[0], argv[0], "0", "last", (char *)NULL);
    return 5;
}
END
    gcc -O1 steady.c -o steady
}

# turns ROUNDS: four threads, one at a time, free and resize each other's blocks, and then end one
# after the other: the order of all is the same each time.
make_turns() {
    cat >turns.c <<'END'
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdlib.h>
enum { N = 4, SLOTS = 512 };
static sem_t turn[N], all_done, leave[N];
static long rounds;
static void *slots[SLOTS];
static void *work(void *user)
{
    long me = (long)user;
    uint64_t x = me + 1;
    for (long r = 0; r < rounds; r++) {
        sem_wait(&turn[me]);
        for (int i = 0; i < 700; i++) {
            x = x * 6364136223846793005u + 1442695040888963407u;
            unsigned slot = (x >> 33) % SLOTS;
            if (slots[slot] != NULL && x >> 60 == 3) {
                slots[slot] = realloc(slots[slot], 1 + (x >> 40) % 3000);
            } else {
                free(slots[slot]);
                slots[slot] = malloc(1 + (x >> 40) % 3000);
            }
        }
        sem_post(&turn[(me + 1) % N]);
    }
    if (me == N - 1) sem_post(&all_done);
    sem_wait(&leave[me]);
    return NULL;
}
int main(int argc, char **argv)
{
    pthread_t threads[N], extra;
    rounds = atol(argv[argc - 1]);
    for (int i = 0; i < N; i++) sem_init(&turn[i], 0, 0), sem_init(&leave[i], 0, 0);
    sem_init(&all_done, 0, 0);
    for (long i = 0; i < N; i++) pthread_create(&threads[i], NULL, work, (void *)i);
    sem_post(&turn[0]);
    sem_wait(&all_done);
    for (int i = 0; i < N; i++) {
        sem_post(&leave[i]);
        pthread_join(threads[i], NULL);
    }
    for (int i = 0; i < 20; i++) { /* threads that take the streams of dead ones */
        sem_init(&turn[0], 0, 1);
        sem_init(&leave[0], 0, 1);
        rounds = 1;
        pthread_create(&extra, NULL, work, NULL);
        pthread_join(extra, NULL);
    }
    return 5;
}
END
    gcc -O1 turns.c -o turns -pthread
}

# Converted at the end, and along: the same events. $OUT/end.abt, $OUT/t.abt
record_twice() { # OPTION… -- COMMAND…
    ALLOCBENCH_TEST_CONVERT_FROM=0 bench record "$@"
    expect_code 5
    mv "$OUT/t.abt" "$OUT/end.abt"
    ALLOCBENCH_TEST_CONVERT_FROM=1 bench record "$@"
    expect_code 5
    expect_clean "$OUT/t.abt"
    allocbench trace dump "$OUT/end.abt" | cut -d ' ' -f 1-6 >"$OUT/end.dump"
    allocbench trace dump "$OUT/t.abt" | cut -d ' ' -f 1-6 | cmp - "$OUT/end.dump"
}

# A recording that is half converted and waits: $recorder, $child, $folder.
start_half_converted() {
    mkfifo "$OUT/in"
    mkdir -p "$OUT/spools"
    TMPDIR=$OUT/spools ALLOCBENCH_TEST_CONVERT_FROM=1 \
        allocbench record -o "$OUT/t.abt" -- ./steady 2000 wait \
        <"$OUT/in" >"$OUT/stdout" 2>"$OUT/stderr" 3>&- &
    recorder=$!
    exec 9>"$OUT/in"
    wait_until test -s "$OUT/stdout" || fail "it does not run"
    child=$(cat "/proc/$recorder/task/$recorder/children" | xargs)
    folder=$(echo "$OUT"/spools/allocbench-*)
}

@test "along: the trace is the same as at the end, of threads, sites, marks and times" {
    make_turns
    record_twice -o "$OUT/t.abt" -- ./turns 300
    for name in end t; do # the CPU time of two runs of a program is none of its calls
        allocbench trace info --digest --json - "$OUT/$name.abt" |
            jq 'del(.file, .file_bytes, .bytes_per_event, .program_cpu_ns, .recorder_cpu_ns, .anonymous_bytes)' >"$OUT/$name.json"
    done
    cmp "$OUT/end.json" "$OUT/t.json"
    record_twice --sites -o "$OUT/t.abt" -- ./turns 200
    for name in end t; do
        allocbench trace info --sites --json - "$OUT/$name.abt" |
            jq 'del(.file, .file_bytes, .bytes_per_event, .program_cpu_ns, .recorder_cpu_ns, .anonymous_bytes)' >"$OUT/$name.json"
    done
    cmp "$OUT/end.json" "$OUT/t.json"
    record_twice --time -o "$OUT/t.abt" -- ./turns 100
}

@test "along: the spool stays within --max-spool however long the recording is" {
    make_steady
    ALLOCBENCH_TEST_CONVERT_FROM=0 record --max-spool 2MiB -- ./steady 0
    expect_error 'recording stopped at --max-spool'
    mkdir "$OUT/spools"
    { TMPDIR=$OUT/spools ALLOCBENCH_TEST_CONVERT_FROM=1 record --max-spool 2MiB -- ./steady 1200
      exit "$code"; } &
    local recorder=$! largest=0 size code=0
    while kill -0 $recorder 2>/dev/null; do
        size=$(find "$OUT/spools" -path '*/spool/*' -printf '%b\n' 2>/dev/null |
            awk '{ n += $1 } END { print n * 512 }')
        [ "$size" -le "$largest" ] || largest=$size
    done
    wait $recorder || code=$?
    expect_code 5
    [ "$largest" -gt $((1 << 20)) ] && [ "$largest" -le $((2 << 20)) ] || fail "$largest bytes"
    ! grep -q 'was ended' "$OUT/stderr" || fail "$(cat "$OUT/stderr")"
    expect_error 'complete recording'
    [ "$(events "$OUT/t.abt")" -gt 799000 ]
    expect_clean "$OUT/t.abt"
}

@test "along: it begins early enough where the bound is half of what is free on the disk" {
    make_steady
    cat >full.c <<'END'
#include <dlfcn.h>
#include <sys/statvfs.h>
int statvfs(const char *path, struct statvfs *st)
{
    int (*real)(const char *, struct statvfs *) =
        (int (*)(const char *, struct statvfs *))dlsym(RTLD_NEXT, "statvfs");
    int result = real(path, st);
    st->f_bavail = (4 << 20) / st->f_frsize;
    return result;
}
END
    gcc -D_GNU_SOURCE -shared -fPIC full.c -o full.so -ldl
    LD_PRELOAD=$PWD/full.so ALLOCBENCH_TEST_CONVERT_FROM=0 record -- ./steady 0
    expect_error 'half of the space that was free on its disk'
    LD_PRELOAD=$PWD/full.so ALLOCBENCH_TEST_CONVERT_FROM=$((64 << 20)) record -- ./steady 1200
    expect_code 5
    expect_error 'complete recording'
    [ "$(events "$OUT/t.abt")" -gt 799000 ]
}

@test "along: a program that is killed, or ahead of the conversion, has its whole trace" {
    make_steady
    ALLOCBENCH_TEST_CONVERT_FROM=0 record -- ./steady 0
    expect_code 5
    allocbench trace dump "$OUT/t.abt" >"$OUT/end.dump"
    ALLOCBENCH_TEST_CONVERT_FROM=1 record -- ./steady 0 kill
    expect_code 137
    allocbench trace dump "$OUT/t.abt" | head -n 799000 >"$OUT/dump"
    [ "$(wc -l <"$OUT/dump")" = 799000 ]
    head -n 799000 "$OUT/end.dump" | cmp - "$OUT/dump"
    ALLOCBENCH_TEST_CONVERT_FROM=1 record -- ./steady 2000 kill
    expect_code 137
    expect_error 'complete recording'
    expect_clean "$OUT/t.abt"
}

@test "along: a program that becomes another one has the trace of the last" {
    make_steady
    ALLOCBENCH_TEST_CONVERT_FROM=0 record -- ./steady 0
    allocbench trace dump "$OUT/t.abt" >"$OUT/end.dump"
    ALLOCBENCH_TEST_CONVERT_FROM=1 record -- ./steady 2000 exec
    expect_code 5
    expect_error 'only the last program'
    allocbench trace dump "$OUT/t.abt" | cmp - "$OUT/end.dump"
}

@test "along: a record that is killed leaves no trace, and what is converted can be recovered" {
    make_steady
    start_half_converted
    kill -9 "$recorder"
    wait "$recorder" || true
    [ ! -e "$OUT/t.abt" ] || fail "half a trace has its name"
    kill -0 "$child" || fail "the program died with its recorder"
    exec 9>&-
    wait_until is_gone "$child" || fail "the program does not end"
    bench trace recover "$folder" -o "$OUT/t.abt"
    expect_code 4
    expect_error 'stopped after [0-9]+ events: .*later events are lost.*t.abt contains the events before'
    expect_clean "$OUT/t.abt"
    bench trace recover --partial "$folder/spool" -o "$OUT/again.abt"
    expect_code 0
    allocbench trace dump "$OUT/again.abt" >"$OUT/part"
    n=$(wc -l <"$OUT/part")
    [ "$n" -gt 100000 ] && [ "$n" -lt 799000 ] || fail "$n events"
    ALLOCBENCH_TEST_CONVERT_FROM=0 bench record -o "$OUT/whole.abt" -- ./steady 0
    allocbench trace dump "$OUT/whole.abt" | head -n "$n" | cmp - "$OUT/part"
}

@test "along: a signal ends the command, and the trace is whole" {
    make_steady
    start_half_converted
    kill -TERM "$recorder" # is passed on
    wait "$recorder" && code=0 || code=$?
    exec 9>&-
    expect_code 143
    expect_error 'complete recording'
    expect_clean "$OUT/t.abt"
    [ -z "$(ls "$OUT/spools")" ] || fail "$(ls "$OUT/spools")"
}

@test "along: children are recorded as ever, all at the end" {
    make_steady
    ALLOCBENCH_TEST_CONVERT_FROM=1 record --follow -- sh -c './steady 0; exit 5'
    expect_code 5
    expect_clean "$OUT"/t*.abt
    [ "$(for file in "$OUT"/t*.abt; do events "$file"; done | awk '$1 > 799000' | wc -l)" = 1 ]
}

@test "along: the line on the terminal says how much is converted" {
    need script
    make_steady
    mkfifo "$OUT/in"
    TERM=xterm COLUMNS=100 ALLOCBENCH_TEST_CONVERT_FROM=1 script -qefc \
        "stty cols 100; allocbench record -o '$OUT/t.abt' -- ./steady 2000 wait <'$OUT/in' >/dev/null" \
        "$OUT/shown" </dev/null >/dev/null 3>&- &
    exec 9>"$OUT/in"
    wait_until grep -aEq 'spool [0-9.]+ [KM]iB, [0-9]+ % converted' "$OUT/shown" ||
        fail "$(cat -v "$OUT/shown")"
    exec 9>&-
    wait
    expect_clean "$OUT/t.abt"
}
