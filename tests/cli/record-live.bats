#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# What `record` says while the command runs, on a terminal of its own that script(1) makes.
# tests: launch.c

load helpers
load recording

# A program that works for 2.4 s and prints two lines on each stream.
make_works() {
    cat >works.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(void)
{
    for (int i = 0; i < 24; i++) {
        for (int k = 0; k < 5000; k++) {
            void *volatile block = malloc(100);
            free(block);
        }
        if (i % 12 == 5) {
            puts("to standard output");
            fflush(stdout);
            fputs("to standard error\n", stderr);
        }
        usleep(100000);
    }
    return 7;
}
END
    gcc works.c -o works
}

# Under a terminal, in the background; what it shows comes into $OUT/NAME.
on_terminal() { # NAME COMMAND
    TERM=xterm COLUMNS=100 script -qec "stty cols 100; $2" "$OUT/$1" </dev/null >/dev/null 3>&- &
}

lines_of() { # NAME
    tr '\r' '\n' <"$OUT/$1" | sed -n 's/^\x1b\[K\(recording .*\)$/\1/p'
}

@test "progress: of a recording, on a terminal and nowhere else" {
    need script
    make_works
    on_terminal shown "allocbench record -o '$OUT/shown.abt' -- ./works >'$OUT/works.out'"
    on_terminal same "allocbench record -o '$OUT/same.abt' -- ./works"
    on_terminal asked "allocbench record --progress -o '$OUT/asked.abt' -- ./works"
    on_terminal quiet "allocbench record -q -o '$OUT/quiet.abt' -- ./works >'$OUT/quiet.out'"
    on_terminal dumb "TERM=dumb allocbench record -o '$OUT/dumb.abt' -- ./works >'$OUT/dumb.out'"
    on_terminal sites "allocbench record --sites -o '$OUT/sites.abt' -- ./works >'$OUT/sites.out'"
    on_terminal file "allocbench record --progress -o '$OUT/file.abt' -- ./works 2>'$OUT/file.err'"
    wait
    for name in shown asked sites; do
        lines_of $name >"$OUT/lines"
        grep -Eqx 'recording 0:[0-9]{2}, [0-9.]+( k)? calls, [0-9.]+( k)?/s, spool [0-9.]+ [KM]iB.*' "$OUT/lines" ||
            fail "$name: $(cat -v "$OUT/$name")"
        # so many calls were made by then, and not more than in all
        awk '{ n = $3 * ($4 == "k" ? 1000 : 1); if (n < before || n < 1 || n > 242000) exit 1; before = n }' "$OUT/lines" ||
            fail "$name: $(cat "$OUT/lines")"
        # it is gone when the summary comes
        grep -Pq '\r\x1b\[Kallocbench: .*: 240\d{3} events of 1 thread' "$OUT/$name" || fail "$name: $(cat -v "$OUT/$name")"
    done
    for name in same quiet dumb file; do
        [ -s "$OUT/$name.abt" ] || fail "$name: $(cat -v "$OUT/$name")"
        ! grep -aq 'recording 0:' "$OUT/$name" || fail "$name: $(cat -v "$OUT/$name")"
    done
    ! grep -q 'recording 0:' "$OUT/file.err" || fail "progress in a file"
    # what the command wrote is there, whole
    printf 'to standard output\n%.0s' 1 2 | cmp - "$OUT/works.out"
    for name in shown same asked; do
        [ "$(grep -ac 'to standard error' "$OUT/$name")" = 2 ]
    done
    [ "$(grep -ac 'to standard output' "$OUT/asked")" = 2 ]
}

@test "progress: of a command that is done within a second there is none" {
    need script
    on_terminal short "allocbench record --progress -o '$OUT/short.abt' -- perl -e 'print 1' >/dev/null"
    wait
    [ -s "$OUT/short.abt" ]
    ! grep -aq 'recording 0:' "$OUT/short"
}

@test "progress: a recording that is ended while the command goes on says so" {
    need script
    make_works
    on_terminal ended "allocbench record --max-events 20000 -o '$OUT/ended.abt' -- ./works >/dev/null"
    wait
    lines_of ended >"$OUT/lines"
    grep -Eqx 'recording ended, [0-9.]+ k calls, spool [0-9.]+ [KM]iB' "$OUT/lines" || fail "$(cat -v "$OUT/ended")"
    ! grep -q '/s' "$OUT/lines" # it was over within the first second
}
