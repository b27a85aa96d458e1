/* SPDX-License-Identifier: MIT
 *
 * Allocates from places that are known: each call asks for a size of its own, so that a test finds
 * its stack. usage: prog_sites WHAT [FOLDER]: WHAT is one of the names at the end of this file. */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define APART __attribute__((noinline))

static APART void allocate(size_t size)
{
    free(malloc(size));
    __asm__ volatile("" ::: "memory"); /* the call is not the last thing */
}

/* ---- depth ---- */

static APART void site_innermost(size_t size)
{
    allocate(size);
    __asm__ volatile("" ::: "memory");
}

static APART void site_middle(size_t size)
{
    volatile char room[300]; /* frames of several sizes */
    room[0] = (char)size;
    site_innermost(size);
    __asm__ volatile("" : : "r"(room[0]) : "memory");
}

static APART void site_varying(size_t size, size_t n)
{
    volatile char room[n]; /* a frame that needs a frame pointer */
    room[n - 1] = 0;
    site_middle(size);
    __asm__ volatile("" : : "r"(room[n - 1]) : "memory");
}

static APART void site_aligned(size_t size)
{
    volatile char room[64] __attribute__((aligned(64))); /* one that is aligned at run time */
    room[0] = 0;
    site_varying(size, 100 + size % 7);
    __asm__ volatile("" : : "r"(room[0]) : "memory");
}

static APART void recurse(int n, size_t size)
{
    if (n == 0)
        allocate(size);
    else
        recurse(n - 1, size);
    __asm__ volatile("" ::: "memory");
}

static void depth(void)
{
    site_aligned(1001);
    recurse(100, 1002);
}

static void kinds(void)
{
    void *p = NULL;
    free(calloc(1, 1101));
    free(realloc(NULL, 1102));
    free(realloc(malloc(1103), 1104));
    free(reallocarray(NULL, 5, 221));
    free(aligned_alloc(64, 1106));
    if (posix_memalign(&p, 64, 1107) == 0)
        free(p);
    free(strdup("a text that is long enough to be found: strdup calls malloc"));
}

/* ---- signals ---- */

static volatile size_t handler_size;
static APART void handle(int number)
{
    (void)number;
    allocate(handler_size);
}

static APART void site_raising(void)
{
    raise(SIGUSR1);
    __asm__ volatile("" ::: "memory");
}

static void with_handler(void (*handler)(int), int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGALRM, &action, NULL);
}

static void signals(void)
{
    with_handler(handle, 0);
    handler_size = 1201;
    site_raising();
    stack_t other = {.ss_sp = malloc(65536), .ss_size = 65536};
    sigaltstack(&other, NULL);
    with_handler(handle, SA_ONSTACK);
    handler_size = 1202;
    site_raising();
}

static volatile unsigned n_handled;
static void handle_often(int number)
{
    (void)number;
    allocate(1301);
    n_handled++;
}

/* Handlers come at any instruction, of the recorder too. */
static void async(void)
{
    struct itimerval often = {{0, 200}, {0, 200}}, never = {0};
    with_handler(handle_often, 0);
    setitimer(ITIMER_REAL, &often, NULL);
    for (volatile unsigned i = 0; i < 3000000 && n_handled < 100; i++)
        recurse(10, 1302 + i % 50);
    setitimer(ITIMER_REAL, &never, NULL);
}

/* ---- stacks that are not what they should be ---- */

static APART void site_of_corrupt(void)
{
    uintptr_t saved[8], *frame = __builtin_frame_address(0);
    static const uintptr_t garbage[] = {0, 1, 0x7f0000000000, UINTPTR_MAX, UINTPTR_MAX - 7, 4095};
    memcpy(saved, frame, sizeof saved);
    for (size_t i = 0; i < sizeof garbage / sizeof garbage[0]; i++) {
        for (size_t k = 0; k < 8; k++)
            frame[k] = garbage[(i + k) % 6] + (i > 2 ? (uintptr_t)frame : 0);
        allocate(1401);
        memcpy(frame, saved, sizeof saved);
    }
    memcpy(frame, saved, sizeof saved);
}

static ucontext_t outside, inside;
static APART void site_of_coroutine(void)
{
    allocate(1402);
    swapcontext(&inside, &outside);
}

/* A stack of one page less than nothing above it: the next page cannot be read. */
static void coroutine(void)
{
    char *room = mmap(NULL, 1 << 16, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(room + 4096, 8192, PROT_READ | PROT_WRITE);
    getcontext(&inside);
    inside.uc_stack.ss_sp = room + 4096;
    inside.uc_stack.ss_size = 8192;
    inside.uc_link = &outside;
    makecontext(&inside, site_of_coroutine, 0);
    swapcontext(&outside, &inside);
    munmap(room, 1 << 16);
}

/* push rbp-less code without tables: sub rsp,8; call rax; add rsp,8; ret */
static void made_code(void)
{
#if defined(__x86_64__)
    static const unsigned char code[] = {0x48, 0x83, 0xec, 0x08, 0xff, 0xd6,
                                         0x48, 0x83, 0xc4, 0x08, 0xc3};
    void *room = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
                      -1, 0);
    memcpy(room, code, sizeof code);
    void (*call)(size_t, void *(*)(size_t));
    *(void **)&call = room;
    call(1403, malloc);
    munmap(room, 4096);
#endif
}

static void broken(void)
{
    site_of_corrupt();
    coroutine();
    made_code();
}

/* ---- threads, processes, modules ---- */

static void *site_of_thread(void *size)
{
    allocate((size_t)(uintptr_t)size);
    return NULL;
}

static void threads(void)
{
    pthread_t all[8];
    for (int round = 0; round < 4; round++) {
        for (size_t i = 0; i < 8; i++)
            pthread_create(&all[i], NULL, site_of_thread, (void *)(uintptr_t)(1501 + i));
        for (size_t i = 0; i < 8; i++)
            pthread_join(all[i], NULL);
    }
}

static void forked(void)
{
    allocate(1601);
    if (fork() == 0) {
        recurse(3, 1602);
        _exit(0);
    }
    wait(NULL);
}

static volatile sig_atomic_t n_forked, n_died;
static void fork_and_go_on(int number)
{
    int state = 0;
    pid_t pid = fork();
    (void)number;
    if (pid == 0)
        return; /* the child goes on at the instruction that was interrupted */
    n_died += waitpid(pid, &state, 0) != pid || state != 0;
    n_forked++;
}

static APART void branch(int n, unsigned path)
{
    if (n == 0)
        allocate(1603);
    else if (path % 2 == 0)
        branch(n - 1, path / 2);
    else {
        branch(n - 1, path / 2);
        __asm__ volatile("nop" ::: "memory"); /* another place */
    }
    __asm__ volatile("" ::: "memory");
}

/* The recorder is interrupted too, and most stacks are new to it. */
static void forking(void)
{
    struct itimerval often = {{0, 2000}, {0, 2000}}, never = {0};
    pid_t own = getpid();
    with_handler(fork_and_go_on, 0);
    setitimer(ITIMER_REAL, &often, NULL);
    for (unsigned i = 0; n_forked < 200; i++) {
        branch(13, i);
        if (i % 256 == 0 && getpid() != own)
            _exit(0);
    }
    setitimer(ITIMER_REAL, &never, NULL);
    printf("%d of %d children died\n", (int)n_died, (int)n_forked);
}

static void *load(const char *folder, const char *name, size_t size)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    void *library = dlopen(path, RTLD_NOW);
    void *(*allocate_there)(size_t);
    if (library == NULL)
        exit(9);
    *(void **)&allocate_there = dlsym(library, "site_of_library");
    void *where = (void *)allocate_there;
    free(allocate_there(size));
    dlclose(library);
    return where;
}

/* As many that come and go as the recorder can watch at a time, and more. */
static void unloads(const char *folder)
{
    for (int i = 0; i < 1100; i++)
        load(folder, i % 2 == 0 ? "libsite_one.so" : "libsite_two.so", 1703);
}

static void modules(const char *folder)
{
    for (int i = 0; i < 3; i++) {
        void *one = load(folder, "libsite_one.so", 1701);
        void *two = load(folder, "libsite_two.so", 1702);
        printf("%s\n", one == two ? "same place" : "other place");
    }
}

int main(int argc, char **argv)
{
    const struct {
        const char *name;
        void (*run)(void);
    } all[] = {{"depth", depth},   {"kinds", kinds},    {"signals", signals},
               {"async", async},   {"broken", broken},  {"threads", threads},
               {"forked", forked}, {"forking", forking}};
    for (size_t i = 0; argc == 2 && i < sizeof all / sizeof all[0]; i++)
        if (strcmp(argv[1], all[i].name) == 0) {
            all[i].run();
            return 0;
        }
    if (argc != 3 || (strcmp(argv[1], "modules") != 0 && strcmp(argv[1], "unloads") != 0))
        return 2;
    if (strcmp(argv[1], "unloads") == 0)
        unloads(argv[2]);
    modules(argv[2]);
    return 0;
}
