#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Programs that bring a malloc along: which one is called is proven by what the linker has resolved.
# tests: own_malloc.c

load helpers

TOY=$GUESTS/libtoy.so # a malloc of our own
BUMP=$GUESTS/libbump.so

# A program linked to the library, ahead of the C library; writes which one serves it to $OUT/served.
link_program() { # [LIBRARY…]
    command -v cc >/dev/null || skip "no compiler"
    cat >"$OUT/p.c" <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    Dl_info by;
    FILE *f = fopen(argv[1], "a");
    void *(*volatile function)(size_t) = malloc;
    free(function(100));
    if (argc > 2)
        dlopen(argv[2], RTLD_NOW | RTLD_DEEPBIND);
    if (dladdr((void *)function, &by) != 0)
        fprintf(f, "%s\n", by.dli_fname);
    return fclose(f);
}
END
    cc -w -o "$OUT/linked" "$OUT/p.c" -Wl,--no-as-needed "$@" -Wl,-rpath,"$GUESTS" "-Wl,-z,${bind:-now}" || fail "cc"
}

served() { # how often each, without folders
    sed 's|.*/||' "$OUT/served" | sort | uniq -c | awk '{ printf "%s %s;", $2, $1 }'
}

@test "a malloc that is linked is displaced, by each allocator and by the C library; and is a row of its own" {
    local bind
    for bind in now lazy; do
        link_program "$BUMP"
        rm -f "$OUT/served"
        bench exec -q --rounds 1 -b "glibc,toy=$TOY" --own-malloc --json - -- "$OUT/linked" "$OUT/served"
        expect_code 0
        expect_json '[.backends[] | [.name, .status]] == [["glibc","ok"], ["toy","ok"], ["own-libbump.so","ok"]]'
        expect_json '.config.settings | index("own_malloc=own-libbump.so") != null'
        [ "$(served)" = 'libbump.so 2;libc.so.6 2;libtoy.so 2;' ] || fail "$(served)"
    done
}

@test "one that comes first is found, whatever is mapped beside it" {
    link_program "$BUMP"
    bench exec --rounds 1 -b "toy=$TOY" -- sh -c "LD_PRELOAD=$BUMP:$TOY '$OUT/linked' '$OUT/served'"
    expect_code 4
    expect_error 'toy: wrong_library: linked has .*libbump.so mapped as well, which defines malloc too, and calls (malloc|free) of .*libbump.so'
    bench exec --rounds 1 -b glibc -- sh -c "'$OUT/linked' '$OUT/served'" # the shell has none
    expect_code 4
    expect_error 'glibc: wrong_library: linked has .*libbump.so mapped as well.*; where it is linked to that, give it as the command itself, without a shell'
}

@test "a library that goes on calling the one it brought along is found: RTLD_DEEPBIND" {
    link_program
    echo 'void *malloc(unsigned long); void free(void *); void *deep(void) { free(malloc(9)); return malloc(9); }' >"$OUT/d.c"
    cc -w -fPIC -shared -o "$OUT/libdeepbump.so" "$OUT/d.c" -Wl,--no-as-needed "$BUMP" -Wl,-rpath,"$GUESTS" -Wl,-z,now
    bench exec --rounds 1 -b "toy=$TOY" -- "$OUT/linked" "$OUT/served" "$OUT/libdeepbump.so"
    expect_code 4
    expect_error 'toy: wrong_library: linked has .*libbump.so mapped as well, which defines malloc too, and calls (malloc|free) of .*libbump.so'
}

@test "a malloc in the program's own file is a row; a program that brings none along has no such row" {
    command -v cc >/dev/null || skip "no compiler"
    echo 'int main(void) { return 0; }' >"$OUT/s.c"
    cc -w -fno-builtin -rdynamic -o "$OUT/own" "$ROOT/tests/guests/libbump.c" "$OUT/s.c" || fail "cc"
    bench exec --rounds 1 -b glibc --own-malloc --json "$OUT/r.json" -- "$OUT/own"
    expect_code 4
    expect_error 'glibc: wrong_library: own has a malloc of its own'
    expect_json '[.results[].backend] == ["own-own"]' "$OUT/r.json"
    bench exec --own-malloc -b glibc -- true
    expect_code 2
    expect_error '\-\-own-malloc: .*true brings no malloc of its own along: the C library serves it'
}
