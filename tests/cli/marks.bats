#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Marks and times in recordings, against what the recorded program says of itself.
# tests: cmd_trace_info.c

load helpers
load recording

MARKS=$GUESTS/prog_marks

# The header where a program finds it that was installed.
put_header() {
    mkdir -p "$OUT/include/allocbench"
    cp "$ROOT/src/record/mark.h" "$OUT/include/allocbench/"
}

# The marks of a trace in order: the name, and how many calls come after the first mark.
marks_of() { # TRACE
    allocbench trace dump "$1" | awk '$3 == "mark" { if (n++ == 0) first = $1; print $7, $1 - first }'
}

# What the program printed is what the trace has.
expect_marks_as_printed() {
    marks_of "$OUT/t.abt" >"$OUT/marks"
    awk 'NR == 1 { first = $2 } { print $1, $2 - first }' "$OUT/stdout" >"$OUT/printed"
    [ "$(wc -l <"$OUT/printed")" -gt 10 ] || fail "nothing printed"
    cmp "$OUT/printed" "$OUT/marks" || fail "$(diff "$OUT/printed" "$OUT/marks" | head -5)"
}

@test "marks: each is between the calls that it was set between" {
    record -- "$MARKS" frames 3000
    expect_code 0
    expect_marks_as_printed
    run allocbench trace check "$OUT/t.abt"
    [ "$status" -eq 0 ]
    allocbench trace info --json "$OUT/info.json" "$OUT/t.abt" >"$OUT/stdout"
    expect_json '.marks | map([.name, .count]) == [["frame", 3000], ["begin", 1]]' "$OUT/info.json"
    expect_json '.marks[0].calls_between | .min == 2 and .max == 26 and .median == 14' "$OUT/info.json"
    grep -q '^marks      frame: 3000, calls between: median 14 (2 to 26)' "$OUT/stdout"
}

@test "marks: of four threads, with call sites and without, with times" {
    for option in --quiet --sites=3 --time; do
        record $option -- "$MARKS" threads 500
        expect_code 0
        expect_marks_as_printed
        allocbench trace info --json "$OUT/info.json" "$OUT/t.abt" >"$OUT/text"
        expect_json '.marks | length == 5 and ([.[].count] | add) == 2001' "$OUT/info.json"
        [ "$(allocbench trace dump "$OUT/t.abt" | awk '$7 == "two" { print $2 }' | sort -u | wc -l)" = 1 ]
    done
}

@test "marks: from signal handlers" {
    record -- "$MARKS" signals 2000
    expect_code 0
    expect_marks_as_printed
}

@test "marks: names are copied, cut at 123 bytes, and escaped" {
    record -- "$MARKS" names
    allocbench trace dump "$OUT/t.abt" | awk '$3 == "mark" { print $7 }' >"$OUT/names"
    [ "$(sed -n 1p "$OUT/names")" = first ]
    [ "$(sed -n 2p "$OUT/names")" = second ]
    [ "$(sed -n 3p "$OUT/names")" = mark ]
    [ "$(sed -n 4p "$OUT/names")" = 'a\x20b\x0a\x1b[1m' ] || fail "$(sed -n 4p "$OUT/names")"
    [ "$(sed -n 5p "$OUT/names" | tr -d '\n' | wc -c)" = 123 ]
}

@test "marks: a program runs without the recorder, and as any kind of executable" {
    put_header
    cat >m.c <<'END'
#include <allocbench/mark.h>
#include <stdlib.h>
int main(void)
{
    free(malloc(7));
    allocbench_mark("end");
    return 0;
}
END
    cp m.c m.cc
    for how in "gcc -std=c99 -pedantic" "gcc -O2 -no-pie -fno-pie" "gcc -O2 -fPIE -pie" \
        "g++ -std=c++98 -pedantic m.cc" "g++ -std=c++20 -O3 m.cc" "gcc -static"; do
        source=m.c
        [[ "$how" != *m.cc ]] || source=
        $how -Wall -Wextra -Werror -I"$OUT/include" $source -o m
        ./m
        [ "$how" != "gcc -static" ] || continue
        record -- ./m
        [ "$(marks_of "$OUT/t.abt")" = "end 0" ] || fail "$how"
    done
}

@test "marks: of a child that was forked, and of a program after exec" {
    put_header
    cat >f.c <<'END'
#include <allocbench/mark.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    if (argc > 1) {
        allocbench_mark("exec");
        free(malloc(1));
        return 0;
    }
    void *volatile p = malloc(1);
    allocbench_mark("parent");
    if (fork() == 0) {
        free(p);
        allocbench_mark("child");
        execl(argv[0], argv[0], "again", NULL);
    }
    wait(NULL);
    allocbench_mark("parent");
    return 0;
}
END
    gcc -I"$OUT/include" f.c -o f
    record --follow -- ./f
    expect_code 0
    marks_of "$OUT/t.abt" >"$OUT/marks"
    [ "$(cut -d' ' -f1 "$OUT/marks" | xargs)" = "parent parent" ] || fail "$(cat "$OUT/marks")"
    for child in "$OUT"/t.*.abt; do
        marks_of "$child" | cut -d' ' -f1
    done | sort | xargs >"$OUT/children"
    [ "$(cat "$OUT/children")" = "child exec" ] || fail "$(cat "$OUT/children")"
}

@test "marks: what a killed program had set is there" {
    put_header
    cat >k.c <<'END'
#include <allocbench/mark.h>
#include <signal.h>
#include <stdlib.h>
int main(void)
{
    for (int i = 0; i < 3000; i++) {
        free(malloc(7));
        allocbench_mark("frame");
    }
    raise(SIGKILL);
}
END
    gcc -I"$OUT/include" k.c -o k
    record -- ./k
    expect_code 137
    [ "$(marks_of "$OUT/t.abt" | tail -1)" = "frame 5998" ]
}

@test "times: each call has one, they do not decrease, and they are the program's" {
    cat >s.c <<'END'
#include <stdlib.h>
#include <unistd.h>
int main(void)
{
    for (int i = 0; i < 5; i++) {
        free(malloc(1234));
        usleep(20000);
    }
    return 0;
}
END
    gcc s.c -o s
    record --time -- ./s
    expect_code 0
    allocbench trace info --json - "$OUT/t.abt" >"$OUT/stdout"
    expect_json '.time_us >= 80000'
    allocbench trace dump "$OUT/t.abt" >"$OUT/dump"
    awk '$8 < last { exit 1 } { last = $8 }' "$OUT/dump"
    [ "$(awk '$4 == 1234 { if (n++ > 0 && $8 - last < 20000) exit; last = $8 } END { print n }' "$OUT/dump")" = 5 ]
    record -- ./s
    allocbench trace info --json - "$OUT/t.abt" >"$OUT/stdout"
    expect_json '.time_us == null'
}

@test "times: a spool that is converted later has times and names too" {
    bench record --time --no-convert -o "$OUT/raw" -- "$MARKS" frames 20
    expect_code 0
    bench trace recover "$OUT/raw" -o "$OUT/t.abt"
    expect_code 0
    allocbench trace info --json - "$OUT/t.abt" >"$OUT/stdout"
    expect_json '.time_us != null and (.marks | map(.name) == ["frame", "begin"])'
    expect_json '.marks[0].us_between.max < 60e6'
}
