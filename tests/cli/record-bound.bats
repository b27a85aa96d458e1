#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# A bound on the spool: it holds at any time, and what was recorded before is whole.

load helpers
load recording

# All is converted at the end here: tests/cli/record-along.bats has what is converted before.
export ALLOCBENCH_TEST_CONVERT_FROM=0

# works THREADS PAIRS: so many pairs of calls a thread, of sizes that make the spool grow.
make_works() {
    cat >works.c <<'END'
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static long n_pairs;
static void *work(void *user)
{
    uint64_t x = (uint64_t)(uintptr_t)user + 1;
    for (long i = 0; i < n_pairs; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        void *volatile block = malloc(1 + (x >> 33) % 5000);
        free(block);
    }
    return NULL;
}
int main(int argc, char **argv)
{
    pthread_t threads[64];
    long n = argc > 2 ? atol(argv[1]) : 1;
    n_pairs = atol(argv[2]);
    if (argc > 3) /* a child that outgrows nothing by itself */
        for (int i = 0; i < 40; i++)
            if (fork() == 0) { work(NULL); _exit(0); }
    while (wait(NULL) > 0) ;
    if (n == 1) work(NULL);
    for (long i = 0; i < n && n > 1; i++) pthread_create(&threads[i], NULL, work, (void *)i);
    for (long i = 0; i < n && n > 1; i++) pthread_join(threads[i], NULL);
    puts("done");
    return 5;
}
END
    gcc -O1 works.c -o works -pthread
}

# Records with a bound; sets $largest to the most that the spool's files had together meanwhile.
record_bound() { # SIZE COMMAND…
    local bound=$1 recorder size
    shift
    export TMPDIR=$OUT/spools
    mkdir -p "$TMPDIR"
    rm -f "$OUT/t.abt"
    { record --max-spool "$bound" "$@"; exit "$code"; } &
    recorder=$!
    largest=0 samples=0
    while kill -0 $recorder 2>/dev/null; do
        size=$(find "$TMPDIR" -type f -printf '%s\n' 2>/dev/null | awk '{ n += $1 } END { print n + 0 }')
        [ "$size" -le "$largest" ] || largest=$size
        samples=$((samples + 1))
    done
    code=0
    wait $recorder || code=$?
}

@test "max-spool: the spool is never larger, the command goes on, the trace is what came before" {
    make_works
    record -- ./works 1 400000
    expect_code 5
    allocbench trace dump "$OUT/t.abt" >"$OUT/whole"
    record_bound 2MiB -- ./works 1 400000
    expect_code 5
    [ "$samples" -gt 2 ]
    [ "$largest" -le $((2 << 20)) ] || fail "the spool had $largest bytes"
    [ "$largest" -gt $((1 << 20)) ] || fail "the spool had only $largest bytes"
    expect_error 'recording stopped at --max-spool'
    expect_clean "$OUT/t.abt"
    allocbench trace dump "$OUT/t.abt" >"$OUT/part"
    n=$(wc -l <"$OUT/part")
    [ "$n" -gt 100000 ] && [ "$n" -lt 800000 ]
    head -n "$n" "$OUT/whole" | cmp - "$OUT/part"
    [ "$(cat "$OUT/stdout")" = done ]
}

@test "max-spool: of threads and children together" {
    make_works
    record_bound 3MiB -- ./works 8 200000
    [ "$largest" -le $((3 << 20)) ] || fail "the spool had $largest bytes"
    expect_error 'recording stopped at --max-spool'
    expect_clean "$OUT/t.abt"
    record_bound 3MiB --follow -- ./works 1 20000 forks
    [ "$largest" -le $((3 << 20)) ] || fail "the spool had $largest bytes"
    expect_error 'recording stopped at --max-spool'
    expect_clean "$OUT"/t*.abt
    ! grep -Eq 'LD_PRELOAD|its own malloc' "$OUT/stderr" || fail "wrong reason"
}

# Each of them is done before it fills a buffer, and so ends by itself.
@test "max-spool: processes that came too late are not passed over in silence" {
    cat >kids.c <<'END'
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
    for (int i = 0; i < 20; i++, wait(NULL))
        if (fork() == 0) {
            for (int k = 0; k < 100; k++) { void *volatile block = malloc(k); free(block); }
            _exit(0);
        }
    return 0;
}
END
    gcc -O1 kids.c -o kids
    record --follow --max-spool 1MiB -- ./kids
    [ "$(ls "$OUT" | grep -c 'abt$')" -lt 20 ]
    expect_error 'recording stopped at --max-spool'
    ! grep -q 'complete recording' "$OUT/stderr" || fail "$(cat "$OUT/stderr")"
}

@test "max-spool: what is enough is no bound, and what is too little is refused" {
    make_works
    record --max-spool 1GiB -- ./works 1 1000
    expect_code 5
    ! grep -q 'was ended' "$OUT/stderr" || fail "says that the command was ended"
    [ "$(events "$OUT/t.abt")" = 2001 ] || [ "$(events "$OUT/t.abt")" = 2000 ]
    bench record --max-spool 100k -o "$OUT/x.abt" -- ./works 1 1
    expect_code 2
    expect_error '100k.*must be at least 1MiB'
}

# bats test_tags=full
@test "max-spool: a hundred million calls and 64 MiB" {
    make_works
    record_bound 64MiB -- ./works 4 12500000
    expect_code 5
    [ "$largest" -le $((64 << 20)) ] || fail "the spool had $largest bytes"
    expect_error 'recording stopped at --max-spool'
    expect_clean "$OUT/t.abt"
    [ "$(cat "$OUT/stdout")" = done ]
}
