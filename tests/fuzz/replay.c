/* SPDX-License-Identifier: MIT
 *
 * Stands in for libFuzzer: feeds the files and folders named to the entry, each as it is and with
 * CHANGES deterministic changes or more, at least WANTED of all files together (or N: --wanted N), and
 * prints one TAP line a file. Half of the changes of JSON put another value in place of one, so that it
 * stays JSON; with --values all do. An input that takes more than CPU_SECONDS is a hang. Each file named behind --every
 * is fed again with every single byte changed in two ways, and cut at every length. AB_FUZZ_FOUND=FILE keeps the
 * input that fails.
 */
#include "base/bits.h"
#include "base/rng.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

enum { CHANGES = 100, WANTED = 10000, LARGEST = 1 << 20, FILES_MAX = 4096, CPU_SECONDS = 5 };

static char *paths[FILES_MAX];
static unsigned n_files, first_of_every = FILES_MAX; /* those from it on are behind --every */
static unsigned n_wanted = WANTED;
static bool is_of_values; /* only values of JSON are changed */

/* ---- which input it is ---- */

static struct {
    const char *path;
    unsigned change;
    const uint8_t *bytes;
    size_t n;
} fed;

static void tell(const char *what)
{
    const char *kept = getenv("AB_FUZZ_FOUND");
    int fd = kept != NULL ? creat(kept, 0666) : -1;
    fprintf(stderr, "%s: %s, change %u\n", what, fed.path, fed.change);
    if (fd >= 0 && write(fd, fed.bytes, fed.n) == (ssize_t)fed.n)
        fprintf(stderr, "the input is in %s\n", kept);
}

void __asan_on_error(void); /* which the sanitizer calls before it ends the process */
void __asan_on_error(void)
{
    tell("failed");
}

static void on_signal(int signal)
{
    tell(signal == SIGPROF ? "hangs" : "failed");
    _exit(1);
}

static void feed_one(const uint8_t *bytes, size_t n)
{
    setitimer(ITIMER_PROF, &(struct itimerval){.it_value = {.tv_sec = CPU_SECONDS}}, NULL);
    fed.bytes = bytes;
    fed.n = n;
    LLVMFuzzerTestOneInput(bytes, n);
    fed.change++;
}

/* ---- changes ---- */

#define TOKEN(text) \
    { \
        text, sizeof text - 1 \
    }
static const struct {
    const char *text;
    size_t n;
} tokens[] = {
    TOKEN("NaN"),
    TOKEN("-1"),
    TOKEN("0"),
    TOKEN("1e999"),
    TOKEN("-0.0"),
    TOKEN("null"),
    TOKEN("4294967296"),
    TOKEN("9223372036854775807"),
    TOKEN("18446744073709551616"),
    TOKEN("[[[[[[[[[[[[[[[["),
    TOKEN("{\"a\":"),
    TOKEN("]"),
    TOKEN("}"),
    TOKEN(","),
    TOKEN("\""),
    TOKEN("\n"),
    TOKEN("\0"),
    TOKEN(":"),
    TOKEN("="),
    TOKEN("$"),
    TOKEN("%n%s"),
    TOKEN("../../"),
    TOKEN("\033[2J"),
    TOKEN("\xe2\x80\xae"),
    TOKEN("\\u001b[2J"),
    TOKEN("\\u202e"),
    TOKEN("</script><b>"),
    TOKEN("*/"),
    TOKEN("\xff\xfe"),
    TOKEN("\xed\xa0\x80"),
    TOKEN("all"),
};

/* n bytes of `s` take the place of `gone` ones at `at`. */
static size_t put(uint8_t *to, size_t n, size_t at, size_t gone, const void *s, size_t n_s)
{
    gone = gone < n - at ? gone : n - at;
    if (n - gone + n_s > LARGEST)
        return n;
    memmove(to + at + n_s, to + at + gone, n - at - gone);
    memcpy(to + at, s, n_s);
    return n - gone + n_s;
}

static size_t flip(struct ab_rng *rng, uint8_t *bytes, size_t n)
{
    bytes[ab_rng_below(rng, n)] ^= (uint8_t)(1 + ab_rng_below(rng, 255));
    return n;
}

/* A token beside what is there, or in place of a word or a number. */
static size_t put_token(struct ab_rng *rng, uint8_t *bytes, size_t n)
{
    size_t at = ab_rng_below(rng, n), gone = 0, k = ab_rng_below(rng, AB_ARRAY_LEN(tokens));
    if (ab_rng_below(rng, 2) == 0)
        while (at + gone < n && (bytes[at + gone] | 32) >= '0' && (bytes[at + gone] | 32) <= 'z')
            gone++;
    return put(bytes, n, at, gone, tokens[k].text, tokens[k].n);
}

/* A stretch of the file over another one, between others, or left out. */
static size_t move_stretch(struct ab_rng *rng, uint8_t *bytes, size_t n)
{
    uint8_t stretch[256];
    size_t from = ab_rng_below(rng, n), at = ab_rng_below(rng, n);
    size_t length = 1 + ab_rng_below(rng, sizeof stretch), how = ab_rng_below(rng, 3);
    length = length < n - from ? length : n - from;
    memcpy(stretch, bytes + from, length);
    return put(bytes, n, at, how > 0 ? length : 0, stretch, how < 2 ? length : 0);
}

/* ---- of JSON: another value in place of one, so that it stays JSON ---- */

static const char *const numbers[] = {"0",     "1",     "-1",         "1.5",
                                      "1e308", "1e-99", "4294967296", "9223372036854775807"};
static const char *const texts[] = {
    "\"\"", "\"all\"", "\"\\u001b[2J\"", "\"</script><b>\"", "\"\xe2\x80\xae\"", "\"../../x\""};
static const char *const others[] = {"null", "true", "false", "[]", "{}", "[null]"};
static const char *const keys[] = {"\"x\"",      "\"name\"",   "\"backend\"",
                                   "\"reason\"", "\"sealed\"", "\"checksum\""};

#define ANY(rng, list) (list)[ab_rng_below(rng, AB_ARRAY_LEN(list))]

/* Mostly of the same type as what begins with `c`. */
static const char *choose_value(struct ab_rng *rng, uint8_t c)
{
    size_t how = ab_rng_below(rng, 8);
    if (how == 0)
        return ANY(rng, others);
    return (c == '"') == (how > 1) ? ANY(rng, texts) : ANY(rng, numbers);
}

static bool is_of_scalar(uint8_t c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == 'E' || strchr("+-.", c) != NULL;
}

/* Where the string, number or word that begins at `at` ends. */
static size_t end_of_scalar(const uint8_t *bytes, size_t n, size_t at)
{
    size_t i = at;
    if (bytes[at] != '"') {
        while (i < n && bytes[i] != 0 && is_of_scalar(bytes[i]))
            i++;
        return i > at ? i : at + 1;
    }
    for (i++; i < n && bytes[i] != '"'; i++)
        i += bytes[i] == '\\';
    return i < n ? i + 1 : n;
}

/* Any of them is as likely as any other. */
static size_t change_scalar(struct ab_rng *rng, uint8_t *bytes, size_t n)
{
    size_t from = 0, to = 0, n_seen = 0;
    for (size_t at = 0; at < n;) {
        bool is_scalar = bytes[at] == '"' || (bytes[at] != 0 && is_of_scalar(bytes[at]));
        size_t end = is_scalar ? end_of_scalar(bytes, n, at) : at + 1;
        if (is_scalar && ab_rng_below(rng, ++n_seen) == 0) {
            from = at;
            to = end;
        }
        at = end;
    }
    bool is_key = to < n && bytes[to] == ':';
    const char *with = is_key ? ANY(rng, keys) : choose_value(rng, bytes[from]);
    return put(bytes, n, from, to - from, with, strlen(with));
}

static size_t change(struct ab_rng *rng, uint8_t *bytes, size_t n, unsigned i)
{
    static size_t (*const ways[])(struct ab_rng *, uint8_t *, size_t) = {flip, put_token, flip,
                                                                         move_stretch};
    if (n > 0 && bytes[0] == '{' && (is_of_values || i % 2 == 1)) {
        for (unsigned k = 0; k <= i / 2 % 3; k++)
            n = change_scalar(rng, bytes, n);
        return n;
    }
    if (i % 10 == 0 && !is_of_values)
        n = ab_rng_below(rng, n);
    for (unsigned k = 0; k <= i / 4 % 4 && n > 0; k++)
        n = ways[i % 4](rng, bytes, n);
    return n;
}

static void feed_every(uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const uint8_t changes[] = {(uint8_t)(1u << i % 8), 0xff};
        for (size_t c = 0; c < sizeof changes; c++) {
            bytes[i] ^= changes[c];
            feed_one(bytes, n);
            bytes[i] ^= changes[c];
        }
        feed_one(bytes, i);
    }
}

static void feed(const char *path, unsigned n_changes, bool is_every)
{
    static uint8_t bytes[LARGEST], changed[LARGEST];
    struct ab_rng rng;
    FILE *f = fopen(path, "rb");
    size_t n = f == NULL ? 0 : fread(bytes, 1, sizeof bytes, f);
    if (f != NULL)
        fclose(f);
    fed.path = path;
    fed.change = 0;
    ab_rng_init(&rng, 1, n);
    feed_one(bytes, n);
    for (unsigned i = 0; i < n_changes && n > 0; i++) {
        memcpy(changed, bytes, n);
        feed_one(changed, change(&rng, changed, n, i));
    }
    if (is_every)
        feed_every(bytes, n);
}

static void collect(const char *path)
{
    struct stat st;
    DIR *folder = opendir(path);
    if (folder == NULL) {
        if (stat(path, &st) == 0 && S_ISREG(st.st_mode) && n_files < FILES_MAX)
            paths[n_files++] = strdup(path);
        return;
    }
    for (struct dirent *e; (e = readdir(folder)) != NULL;) {
        char below[4096];
        if (e->d_name[0] == '.')
            continue;
        snprintf(below, sizeof below, "%s/%s", path, e->d_name);
        collect(below);
    }
    closedir(folder);
}

int main(int argc, char **argv)
{
    signal(SIGPROF, on_signal);
    signal(SIGABRT, on_signal);
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--every") == 0)
            first_of_every = n_files;
        else if (strcmp(argv[i], "--values") == 0)
            is_of_values = true;
        else if (strcmp(argv[i], "--wanted") == 0 && i + 1 < argc)
            n_wanted = (unsigned)atoi(argv[++i]);
        else
            collect(argv[i]);
    unsigned n_changes = n_files > 0 ? n_wanted / n_files + 1 : 0;
    for (unsigned i = 0; i < n_files; i++) {
        feed(paths[i], n_changes > CHANGES ? n_changes : CHANGES, i >= first_of_every);
        printf("ok %u - %s\n", i + 1, paths[i]);
        free(paths[i]);
    }
    if (n_files == 0)
        printf("not ok 1 - no input\n");
    return n_files == 0;
}
