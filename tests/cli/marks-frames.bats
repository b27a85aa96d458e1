#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# `record --marks`: marks at calls of the functions that show a frame.
# tests: frames.c

load helpers
load recording

# The library that shows frames, and a game that says how many calls it had made before each.
make_game() {
    cat >sdl.c <<'END'
static long n;
long n_shown(void) { return n; }
void SDL_GL_SwapWindow(void *window) { n += window != 0; }
unsigned eglSwapBuffers(void *display, void *surface) { n += surface != display; return 6; }
END
    cat >game.c <<'END'
#include <stdio.h>
#include <stdlib.h>
void SDL_GL_SwapWindow(void *window);
unsigned eglSwapBuffers(void *display, void *surface);
long n_shown(void);
int MAIN(void)
{
    static long calls[200];
    long n = 0;
    for (int i = 0; i < 200; i++) {
        for (int k = 0; k <= i % 5; k++, n += 2) {
            void *volatile block = malloc(100);
            free(block);
        }
        calls[i] = n;
        SDL_GL_SwapWindow(&n);
    }
    if (eglSwapBuffers(calls, &n) != 6 || n_shown() != 201)
        return 7;
    for (int i = 0; i < 200; i++)
        printf("SDL_GL_SwapWindow %ld\n", calls[i]);
    return 0;
}
END
    gcc -shared -fPIC -O2 sdl.c -Wl,-soname,libSDL2-2.0.so.0 -o libSDL2-2.0.so.0
}

# Marks of frames where the program showed them; the first is the place that both count from.
expect_frames() {
    allocbench trace dump "$OUT/t.abt" |
        awk '$3 == "mark" && $7 == "SDL_GL_SwapWindow" { if (n++ == 0) first = $1; print $7, $1 - first }' >"$OUT/marks"
    awk 'NR == 1 { first = $2 } { print $1, $2 - first }' "$OUT/stdout" >"$OUT/printed"
    [ "$(wc -l <"$OUT/printed")" = 200 ] || fail "nothing printed"
    cmp "$OUT/printed" "$OUT/marks" || fail "$1: $(diff "$OUT/printed" "$OUT/marks" | head -5)"
}

@test "marks of frames: bound at once, at the first call, without a table for calls" {
    make_game
    for how in -Wl,-z,now -Wl,-z,lazy "-fno-plt -O2" "-no-pie -fno-pie"; do
        gcc $how -DMAIN=main game.c ./libSDL2-2.0.so.0 -Wl,-rpath,. -o game
        record --marks -- ./game
        expect_code 0
        expect_frames "$how"
        run allocbench trace check "$OUT/t.abt"
        [ "$status" -eq 0 ]
        [ "$(allocbench trace dump "$OUT/t.abt" | awk '$7 == "eglSwapBuffers"' | wc -l)" = 1 ]
        ! grep -q 'no call of' "$OUT/stderr" || fail "calls were seen"
    done
}

@test "marks of frames: where the tools are in a folder that LD_PRELOAD cannot name" {
    make_game
    gcc -DMAIN=main game.c ./libSDL2-2.0.so.0 -Wl,-rpath,. -o game
    mkdir 'a b'
    cp "$BUILD/allocbench" "$BUILD"/liballocbench-{record,frames}.so 'a b'
    './a b/allocbench' record -q --marks -o "$OUT/t.abt" -- ./game >"$OUT/stdout" 3>&-
    expect_frames "a b"
}

@test "marks of frames: from a plug-in whose library no other module sees" {
    make_game
    gcc -shared -fPIC -DMAIN=play game.c ./libSDL2-2.0.so.0 -Wl,-rpath,. -o plugin.so
    cat >host.c <<'END'
#include <dlfcn.h>
int main(void)
{
    int (*play)(void) = (int (*)(void))dlsym(dlopen("./plugin.so", RTLD_LAZY), "play");
    return play();
}
END
    gcc host.c -o host
    record --marks -- ./host
    expect_code 0
    allocbench trace info --json - "$OUT/t.abt" >"$OUT/info"
    expect_json '.marks[0] | [.name, .count] == ["SDL_GL_SwapWindow", 200]' "$OUT/info"
}

@test "marks of frames: without the option nothing is marked, and no function appears" {
    make_game
    gcc -DMAIN=main game.c ./libSDL2-2.0.so.0 -Wl,-rpath,. -o game
    record -- ./game
    expect_code 0
    allocbench trace info --json - "$OUT/t.abt" >"$OUT/info"
    expect_json '.marks == []' "$OUT/info"
    cat >none.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
int main(void)
{
    free(malloc(1));
    return dlsym(RTLD_DEFAULT, "glXSwapBuffers") || dlsym(RTLD_DEFAULT, "SDL_GL_SwapWindow") ||
           !dlsym(RTLD_DEFAULT, "malloc") || !dlsym(RTLD_NEXT, "malloc");
}
END
    gcc none.c -o none
    record -- ./none
    expect_code 0
}

@test "marks of frames: what is not seen is said, and what serves instead of another option" {
    record --marks -- sh -c :
    expect_code 0
    expect_error '--marks: no program or library that is linked with SDL_GL_SwapWindow, .* called it; allocbench/mark.h'
    bench record --mark-function f -o "$OUT/x.abt" -- true
    expect_code 2
    expect_error '--mark-function was removed: --marks marks frames; allocbench_mark of allocbench/mark.h'
    [ ! -e "$OUT/x.abt" ]
}
