/* SPDX-License-Identifier: MIT
 *
 * A server for `exec --server`: prog_server [OPTION…] unix:PATH|tcp:PORT listens there until a signal
 * ends it; and its client: prog_server ask unix:PATH|tcp:PORT N SIZE asks it N times to allocate SIZE
 * bytes and to keep them, prints what it was told about and fails if it was not answered.
 * prog_server port prints a TCP port that is free, and that the system gives to nobody by itself.
 */
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static const char *how = "";
static void *volatile kept[1 << 16];
static unsigned n_kept;

static void rest(long ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

static socklen_t address(const char *text, struct sockaddr_storage *out)
{
    struct sockaddr_un *un = (struct sockaddr_un *)out;
    struct sockaddr_in *in = (struct sockaddr_in *)out;
    memset(out, 0, sizeof *out);
    if (strncmp(text, "unix:", 5) == 0) {
        un->sun_family = AF_UNIX;
        snprintf(un->sun_path, sizeof un->sun_path, "%s", text + 5);
        return sizeof *un;
    }
    in->sin_family = AF_INET;
    in->sin_port = htons((uint16_t)strtol(text + 4, NULL, 10));
    in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return sizeof *in;
}

static int print_port(void)
{
    enum { FIRST = 20000, LAST = 32000 }; /* below those that connections get */
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    for (int i = 0, at = getpid(); i < LAST - FIRST; i++, at++) {
        uint16_t port = (uint16_t)(FIRST + at % (LAST - FIRST));
        struct sockaddr_in in = {.sin_family = AF_INET,
                                 .sin_port = htons(port),
                                 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        if (bind(fd, (struct sockaddr *)&in, sizeof in) != 0)
            continue;
        printf("%d\n", port);
        return 0;
    }
    return 1;
}

static void free_all(void)
{
    while (n_kept > 0)
        free(kept[--n_kept]);
}

/* A request is a size, 8 bytes. The answer is how many blocks are kept. */
static void serve(int fd)
{
    uint64_t size, n;
    while (read(fd, &size, sizeof size) == (ssize_t)sizeof size) {
        if (strcmp(how, "crashes") == 0)
            raise(SIGSEGV);
        if (strcmp(how, "quits") == 0)
            exit(3);
        if (n_kept < sizeof kept / sizeof kept[0])
            kept[n_kept++] = memset(malloc(size), 1, size);
        n = n_kept;
        if (write(fd, &n, sizeof n) != (ssize_t)sizeof n)
            break;
    }
    close(fd);
    if (strcmp(how, "frees") == 0) { /* once it has had time to be looked at */
        rest(200);
        free_all();
    }
}

static void stop(int signal)
{
    exit(strcmp(how, "fails") == 0 ? 9 : signal == SIGINT ? 128 + SIGINT : 0);
}

static int listens(const char *where)
{
    struct sockaddr_storage at;
    socklen_t n = address(where, &at);
    int fd = socket(at.ss_family, SOCK_STREAM, 0), yes = 1;
    if (strncmp(where, "unix:", 5) == 0)
        unlink(where + 5);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    rest(strcmp(how, "late") == 0 ? 60000 : 10); /* it is not there immediately */
    bool is_bound = bind(fd, (struct sockaddr *)&at, n) == 0;
    rest(10); /* nor does it answer as soon as its socket is there */
    if (!is_bound || listen(fd, 64) != 0) {
        perror("listen");
        return 1;
    }
    for (int c; (c = accept(fd, NULL, NULL)) >= 0;)
        serve(c);
    return 1;
}

static int asks(const char *where, long requests, uint64_t size)
{
    struct sockaddr_storage at;
    struct timespec begin, end;
    socklen_t n = address(where, &at);
    int fd = socket(at.ss_family, SOCK_STREAM, 0);
    uint64_t answer = 0;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    if (connect(fd, (struct sockaddr *)&at, n) != 0)
        return 1;
    for (long i = 0; i < requests; i++)
        if (write(fd, &size, sizeof size) != (ssize_t)sizeof size ||
            read(fd, &answer, sizeof answer) != (ssize_t)sizeof answer) {
            fprintf(stderr, "no answer to request %ld\n", i + 1);
            return 1;
        }
    clock_gettime(CLOCK_MONOTONIC, &end);
    double s = (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) * 1e-9;
    printf("preload: %s\nkept: %llu\nrate: %.1f\n", getenv("LD_PRELOAD") != NULL ? "yes" : "no",
           (unsigned long long)answer, (double)requests / s);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "port") == 0)
        return print_port();
    if (argc > 4 && strcmp(argv[1], "ask") == 0)
        return asks(argv[2], strtol(argv[3], NULL, 10), strtoull(argv[4], NULL, 10));
    how = argc > 2 ? argv[1] : "";
    if (strcmp(how, "deaf") == 0)
        signal(SIGTERM, SIG_IGN);
    if (strcmp(how, "handles") == 0 || strcmp(how, "fails") == 0) {
        signal(SIGTERM, stop);
        signal(SIGINT, stop);
    }
    return argc > 1 ? listens(argv[argc - 1]) : 2;
}
