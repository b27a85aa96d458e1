/* SPDX-License-Identifier: MIT
 *
 * Opens libraries while it runs: prog_modules HOW LIBRARY N
 *   open deep own   dlopen, with RTLD_DEEPBIND, or in a namespace of its own (dlmopen): makes 2 N
 *                   calls itself, with blocks of 7001 bytes, has the library make 4 N, then frees N
 *                   blocks that the library gave, and has it free N of 8001 bytes given to it
 *                   (not with own: the two have not the same malloc)
 *   hold            as deep, and keeps N more blocks of 5001 bytes that the library gave, and one of
 *                   256 MiB of its own that it never touches
 *   tls             LIBRARY is a folder: opens the N libraries 1.so 2.so … of it, uses the
 *                   thread-local memory of each in four threads, and closes them
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 4 };

static void expect(int is_true)
{
    if (!is_true)
        _exit(9);
}

static void *find(void *library, const char *name)
{
    void *p = dlsym(library, name);
    expect(p != NULL);
    return p;
}

static void pairs(long n, size_t size)
{
    for (long i = 0; i < n; i++) {
        volatile char *p = malloc(size);
        p[0] = 1;
        free((void *)p);
    }
}

static void work(const char *how, const char *path, long n)
{
    void (*deep_work)(long), *(*give)(size_t), (*take)(void *);
    void *library = strcmp(how, "own") == 0    ? dlmopen(LM_ID_NEWLM, path, RTLD_NOW)
                    : strcmp(how, "open") == 0 ? dlopen(path, RTLD_NOW)
                                               : dlopen(path, RTLD_NOW | RTLD_DEEPBIND);
    expect(library != NULL);
    *(void **)&deep_work = find(library, "deep_work");
    *(void **)&give = find(library, "deep_give");
    *(void **)&take = find(library, "deep_take");
    pairs(n, 7001);
    deep_work(n);
    for (long i = 0; i < n && strcmp(how, "own") != 0; i++) {
        free(give(8001));
        take(malloc(8001));
    }
    for (long i = 0; i < n && strcmp(how, "hold") == 0; i++)
        memset(give(5001), 1, 5001);
    if (strcmp(how, "hold") == 0)
        expect(malloc(256 << 20) != NULL);
}

/* ---- thread-local memory ---- */

enum { LIBRARIES_MAX = 64 };
static int (*uses[LIBRARIES_MAX])(void);
static long n_libraries;

static void *use_all(void *user)
{
    for (int round = 1; round <= 3; round++)
        for (long i = 0; i < n_libraries; i++)
            expect(uses[i]() == round);
    return user;
}

static void tls(const char *folder, long n)
{
    void *libraries[LIBRARIES_MAX];
    char path[4096];
    pthread_t t[THREADS];
    n_libraries = n < LIBRARIES_MAX ? n : LIBRARIES_MAX;
    for (long i = 0; i < n_libraries; i++) {
        snprintf(path, sizeof path, "%s/%ld.so", folder, i + 1);
        libraries[i] = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        expect(libraries[i] != NULL);
        *(void **)&uses[i] = find(libraries[i], "tls_use");
    }
    for (int i = 0; i < THREADS; i++)
        expect(pthread_create(&t[i], NULL, use_all, NULL) == 0);
    for (int i = 0; i < THREADS; i++)
        expect(pthread_join(t[i], NULL) == 0);
    for (long i = 0; i < n_libraries; i++)
        expect(dlclose(libraries[i]) == 0);
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    if (strcmp(argv[1], "tls") == 0)
        tls(argv[2], atol(argv[3]));
    else
        work(argv[1], argv[2], atol(argv[3]));
    return 0;
}
