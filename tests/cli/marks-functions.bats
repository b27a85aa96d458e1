#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Marks at calls of functions that the recorded program gets from its libraries, in each way that a
# program can get them.

load helpers
load recording

setup_file() {
    [ "$(uname -m)" = x86_64 ] || skip "marks at calls are for x86-64"
}

# The library that shows frames, and a game that says how many it had shown after how many calls.
make_game() {
    cat >sdl.c <<'END'
static long n;
long n_shown(void) { return n; }
void SDL_GL_SwapWindow(void *window) { n += window != 0; }
/* All registers that can hold an argument, the stack, and what comes back. */
struct two { double a; long b; };
struct two many(long a, long b, long c, long d, long e, long f, double g, double h, double i,
                double j, double k, double l, double m, double o, long p, double q, ...)
{
    return (struct two){g + 2 * h + 3 * i + 4 * j + 5 * k + 6 * l + 7 * m + 8 * o + 9 * q,
                        a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * p};
}
END
    cat >game.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct two { double a; long b; };
#ifndef LOADED
void SDL_GL_SwapWindow(void *window);
long n_shown(void);
struct two many(long, long, long, long, long, long, double, double, double, double, double, double,
                double, double, long, double, ...);
#define OPEN
#else
static void (*SDL_GL_SwapWindow)(void *);
static long (*n_shown)(void);
static struct two (*many)(long, long, long, long, long, long, double, double, double, double, double,
                          double, double, double, long, double, ...);
static void open_library(void)
{
    void *library = dlopen("./libsdl.so", RTLD_NOW | RTLD_LOCAL);
    if (!library) exit(9);
    SDL_GL_SwapWindow = (void (*)(void *))dlsym(library, "SDL_GL_SwapWindow");
    n_shown = (long (*)(void))dlsym(library, "n_shown");
    *(void **)&many = dlsym(library, "many");
}
#define OPEN open_library()
#endif
int main(void)
{
    OPEN;
    static long calls[200];
    long n = 0;
    for (int i = 0; i < 200; i++) {
        for (int k = 0; k <= i % 5; k++, n += 2) {
            void *volatile block = malloc(100);
            free(block);
        }
        calls[i] = n;
        SDL_GL_SwapWindow((void *)&n);
    }
    struct two t = many(1, 2, 3, 4, 5, 6, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9, 10.5);
    if (n_shown() != 200 || t.a != 1.5 + 5 + 10.5 + 18 + 27.5 + 39 + 52.5 + 68 + 94.5 || t.b != 154)
        return 7;
    for (int i = 0; i < 200; i++)
        printf("SDL_GL_SwapWindow %ld\n", calls[i]);
    return 0;
}
END
    gcc -shared -fPIC -O2 sdl.c -o libsdl.so
}

# Marks of frames where the program showed them; the first is the place that both count from.
expect_frames() {
    allocbench trace dump "$OUT/t.abt" |
        awk '$3 == "mark" && $7 == "SDL_GL_SwapWindow" { if (n++ == 0) first = $1; print $7, $1 - first }' >"$OUT/marks"
    awk 'NR == 1 { first = $2 } { print $1, $2 - first }' "$OUT/stdout" >"$OUT/printed"
    [ "$(wc -l <"$OUT/printed")" = 200 ] || fail "nothing printed"
    cmp "$OUT/printed" "$OUT/marks" || fail "$1: $(diff "$OUT/printed" "$OUT/marks" | head -5)"
}

@test "marks at calls: bound at once, at the first call, without a table for calls, and by dlsym" {
    make_game
    for how in -Wl,-z,now -Wl,-z,lazy "-fno-plt -O2" "-no-pie -fno-pie" "-DLOADED -Wl,-z,lazy" \
        "-DLOADED -Wl,-z,now -O2"; do
        library=./libsdl.so
        [[ "$how" != *LOADED* ]] || library=
        gcc $how game.c $library -Wl,-rpath,. -o game
        record --marks --mark-function many -- ./game
        expect_code 0
        expect_frames "$how"
        run allocbench trace check "$OUT/t.abt"
        [ "$status" -eq 0 ]
        [ "$(allocbench trace dump "$OUT/t.abt" | awk '$7 == "many"' | wc -l)" = 1 ]
    done
}

@test "marks at calls: from a plug-in that is loaded later and calls the library itself" {
    make_game
    sed 's/int main(void)/int play(void)/' game.c >plugin.c
    gcc -shared -fPIC plugin.c ./libsdl.so -Wl,-rpath,. -o plugin.so
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
    expect_frames plug-in
}

@test "marks at calls: a library that has a function of that name of its own keeps it" {
    cat >frame.c <<'END'
int frame(void) { return VALUE; }
int NAME(void) { return frame(); }
END
    cat >two.c <<'END'
#include <stdlib.h>
int frame(void), one(void), two(void);
int main(void)
{
    void *volatile block = malloc(1);
    free(block);
    return one() != 1 || two() != 2 || frame() != 1;
}
END
    for how in -Wl,-z,now -Wl,-z,lazy; do
        gcc $how -shared -fPIC -DVALUE=1 -DNAME=one frame.c -o libone.so
        gcc $how -shared -fPIC -Wl,-Bsymbolic -DVALUE=2 -DNAME=two frame.c -o libtwo.so
        gcc $how two.c ./libone.so ./libtwo.so -Wl,-rpath,. -o two
        record --mark-function frame -- ./two
        expect_code 0
        [ "$(allocbench trace dump "$OUT/t.abt" | awk '$7 == "frame"' | wc -l)" = 2 ]
    done
}

@test "marks at calls: without the option nothing is changed, and no function appears" {
    make_game
    gcc game.c ./libsdl.so -Wl,-rpath,. -o game
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
    record --marks -- ./none
    expect_code 0
    expect_error '--marks: no call of SDL_GL_SwapWindow, .* was seen'
}

@test "marks at calls: what cannot be seen is said" {
    make_game
    cat >own.c <<'END'
#include <stdlib.h>
static __attribute__((noinline)) void frame(void) { __asm__ volatile(""); }
int main(void)
{
    free(malloc(1));
    frame();
    return 0;
}
END
    gcc own.c -o own
    record --mark-function frame -- ./own
    expect_code 0
    expect_error 'no call of frame was seen: .*static functions are not seen'
    bench record --mark-function "" -o "$OUT/x.abt" -- ./own
    expect_code 125
    expect_error '--mark-function: a name of 0 bytes; it must have 1 to 123'
    bench record $(printf -- '--mark-function f%d ' $(seq 17)) -o "$OUT/x.abt" -- ./own
    expect_code 125
    expect_error 'at most 16 functions; 17 were given'
}

@test "marks at calls: of functions that Vulkan, EGL and GLX give out" {
    cat >vk.c <<'END'
#include <string.h>
static long n;
long n_shown(void) { return n; }
int vkQueuePresentKHR(void *a, void *b) { (void)a, (void)b; n++; return 5; }
void eglOther(void) {}
unsigned eglSwapBuffers(void *a, void *b) { (void)a, (void)b; n++; return 6; }
void *vkGetDeviceProcAddr(void *device, const char *name)
{
    return device && strcmp(name, "vkQueuePresentKHR") == 0 ? (void *)vkQueuePresentKHR : 0;
}
void *vkGetInstanceProcAddr(void *instance, const char *name)
{
    return instance && strcmp(name, "vkGetDeviceProcAddr") == 0 ? (void *)vkGetDeviceProcAddr : 0;
}
void *eglGetProcAddress(const char *name)
{
    return strcmp(name, "eglSwapBuffers") == 0 ? (void *)eglSwapBuffers : (void *)eglOther;
}
END
    cat >show.c <<'END'
#include <stdlib.h>
void *vkGetInstanceProcAddr(void *, const char *);
void *eglGetProcAddress(const char *);
long n_shown(void);
typedef void *get(void *, const char *);
typedef int present(void *, void *);
int main(int argc, char **argv)
{
    get *device = (get *)vkGetInstanceProcAddr(argv, "vkGetDeviceProcAddr");
    present *vk = (present *)device(argv, "vkQueuePresentKHR");
    present *egl = (present *)eglGetProcAddress("eglSwapBuffers");
    free(malloc(argc));
    for (int i = 0; i < 30; i++)
        if (vk(argv, argv) != 5 || (i < 10 && egl(argv, argv) != 6))
            return 7;
    return device(argv, "other") != 0 || n_shown() != 40;
}
END
    gcc -shared -fPIC vk.c -o libvk.so
    gcc show.c ./libvk.so -Wl,-rpath,. -o show
    record --marks -- ./show
    expect_code 0
    allocbench trace info --json - "$OUT/t.abt" >"$OUT/info"
    expect_json '.marks | map([.name, .count]) == [["vkQueuePresentKHR", 30], ["eglSwapBuffers", 10]]' "$OUT/info"
}

@test "marks at calls: of a program at a fixed address that takes the function's" {
    cat >frame.c <<'END'
static int n;
void frame(void) { n++; }
int n_frames(void) { return n; }
END
    cat >taker.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>
void frame(void);
int n_frames(void);
int main(void)
{
    alarm(20);
    void (*volatile taken)(void) = frame;
    void *volatile block = malloc(1);
    taken();
    frame();
    ((void (*)(void))dlsym(RTLD_DEFAULT, "frame"))();
    free(block);
    return n_frames() != 3;
}
END
    gcc -shared -fPIC frame.c -o libframe.so
    for how in -Wl,-z,lazy -Wl,-z,now; do
        gcc -no-pie -fno-pie $how taker.c ./libframe.so -Wl,-rpath,. -o taker
        record --mark-function frame -- ./taker
        expect_code 0
        [ "$(allocbench trace dump "$OUT/t.abt" | awk '$7 == "frame"' | wc -l)" = 3 ]
    done
}

@test "marks at calls: looking for functions makes no call of its own, and breaks none" {
    make_game
    cat >asks.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
int asks_for_own(void) { return 1; }
int ask(void) { return dlsym(RTLD_DEFAULT, "asks_for_own") == (void *)asks_for_own; }
END
    cat >opener.c <<'END'
#include <dlfcn.h>
#include <stdlib.h>
int main(void)
{
    void *volatile block = malloc(1);
    free(block);
    void *asks = dlopen("./asks.so", RTLD_NOW | RTLD_LOCAL);
    return !((int (*)(void))dlsym(asks, "ask"))() || dlsym(asks, "no_such_function");
}
END
    gcc -shared -fPIC asks.c -o asks.so
    gcc opener.c -o opener
    record -- ./opener
    expect_code 0
    allocbench trace dump "$OUT/t.abt" >"$OUT/plain"
    record --marks --mark-function no_such_function -- ./opener
    expect_code 0
    allocbench trace dump "$OUT/t.abt" | cut -d' ' -f1-3 >"$OUT/marked"
    cut -d' ' -f1-3 "$OUT/plain" | cmp - "$OUT/marked"
    [ -s "$OUT/plain" ]
}

@test "marks at calls: of a driver's function, which only a loader's function gives out" {
    cat >loader.c <<'END'
#include <string.h>
static int n;
int n_shown(void) { return n; }
static int driver_present(void *a, void *b) { (void)a, (void)b; n++; return 5; }
int vkQueuePresentKHR(void *a, void *b) { return driver_present(a, b); }
void *vkGetDeviceProcAddr(void *device, const char *name)
{
    return device && strcmp(name, "vkQueuePresentKHR") == 0 ? (void *)driver_present : 0;
}
void *vkGetInstanceProcAddr(void *instance, const char *name)
{
    return instance && strcmp(name, "vkGetDeviceProcAddr") == 0 ? (void *)vkGetDeviceProcAddr : 0;
}
END
    cat >engine.c <<'END'
#include <dlfcn.h>
#include <stdlib.h>
typedef void *get(void *, const char *);
typedef int present(void *, void *);
int main(void)
{
    void *volatile block = malloc(1);
    free(block);
    for (int k = 0; k < 3; k++) {
        void *loader = dlopen("./libloader.so", RTLD_NOW | RTLD_LOCAL);
        get *instance = (get *)dlsym(loader, "vkGetInstanceProcAddr");
        get *device = (get *)instance(loader, "vkGetDeviceProcAddr");
        present *show = (present *)device(loader, "vkQueuePresentKHR");
        for (int i = 0; i < 10; i++)
            if (show(loader, loader) != 5)
                return 7;
        if (((int (*)(void))dlsym(loader, "n_shown"))() != 10)
            return 8;
        dlclose(loader);
    }
    return 0;
}
END
    gcc -shared -fPIC loader.c -o libloader.so
    gcc engine.c -o engine
    record --marks -- ./engine
    expect_code 0
    allocbench trace info --json - "$OUT/t.abt" >"$OUT/info"
    expect_json '.marks | map([.name, .count]) == [["vkQueuePresentKHR", 30]]' "$OUT/info"
}

@test "marks at calls: a function that is named twice is one function" {
    make_game
    gcc game.c ./libsdl.so -Wl,-rpath,. -o game
    record --marks --mark-function SDL_GL_SwapWindow --mark-function many --mark-function many -- ./game
    expect_code 0
    expect_frames twice
    ! grep -q 'no call of' "$OUT/stderr" || fail "a call was seen"
    record --mark-function no_such --mark-function no_such -- ./game
    expect_code 0
    [ "$(grep -c 'no call of no_such' "$OUT/stderr")" = 1 ]
    record --marks --mark-function SDL_GL_SwapWindow -- sh -c :
    expect_code 0
    expect_error 'no call of SDL_GL_SwapWindow was seen: it is'
    expect_error '--marks: no call of SDL_GL_SwapWindow,'
}

@test "marks at calls: threads that load plug-ins at the same time" {
    cat >frame.c <<'END'
void frame(void) {}
END
    cat >plugin.c <<'END'
void frame(void);
void play(void) { frame(); }
END
    cat >loads.c <<'END'
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
enum { THREADS = 8, LIBRARIES = 40 };
static void *load(void *user)
{
    char path[64];
    for (long i = 0; i < LIBRARIES; i++) {
        snprintf(path, sizeof path, "./p/%ld.%ld.so", (long)user, i);
        void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (!library) abort();
        ((void (*)(void))dlsym(library, "play"))();
    }
    return NULL;
}
int main(void)
{
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, load, (void *)i);
    for (long i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    return 0;
}
END
    gcc -shared -fPIC frame.c -o libframe.so
    gcc -shared -fPIC plugin.c ./libframe.so -Wl,-rpath,. -o plugin.so
    gcc loads.c -o loads -pthread
    mkdir p
    for i in {0..7}.{0..39}; do cp plugin.so "p/$i.so"; done
    record --mark-function frame -- ./loads
    expect_code 0
    n=$(allocbench trace info --json - "$OUT/t.abt" | jq '.marks[0].count')
    [ "$n" = 320 ] || fail "$n calls of 320 are marked"
}
