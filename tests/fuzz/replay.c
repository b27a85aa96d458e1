/* SPDX-License-Identifier: MIT
 *
 * Stands in for libFuzzer: feeds the files and folders named to the entry, each as it is and with
 * a few hundred deterministic changes, and prints one TAP line a file. Behind --every each file is
 * fed again with every single byte changed in two ways, and cut at every length.
 */
#include "base/rng.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

enum { CHANGES = 200, LARGEST = 1 << 20 };

static unsigned n_files;
static bool is_every;

static void feed_every(uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const uint8_t changes[] = {(uint8_t)(1u << i % 8), 0xff};
        for (size_t c = 0; c < sizeof changes; c++) {
            bytes[i] ^= changes[c];
            LLVMFuzzerTestOneInput(bytes, n);
            bytes[i] ^= changes[c];
        }
        LLVMFuzzerTestOneInput(bytes, i);
    }
}

static void feed(const char *path)
{
    static uint8_t bytes[LARGEST], changed[LARGEST];
    struct ab_rng rng;
    FILE *f = fopen(path, "rb");
    size_t n = f == NULL ? 0 : fread(bytes, 1, sizeof bytes, f);
    if (f != NULL)
        fclose(f);
    ab_rng_init(&rng, 1, n);
    LLVMFuzzerTestOneInput(bytes, n);
    for (unsigned i = 0; i < CHANGES && n > 0; i++) {
        size_t length = i % 10 == 0 ? ab_rng_below(&rng, n) : n;
        memcpy(changed, bytes, n);
        for (unsigned k = 0; k <= i % 4 && length > 0; k++)
            changed[ab_rng_below(&rng, length)] ^= (uint8_t)(1 + ab_rng_below(&rng, 255));
        LLVMFuzzerTestOneInput(changed, length);
    }
    if (is_every)
        feed_every(bytes, n);
    printf("ok %u - %s\n", ++n_files, path);
}

static void feed_all(const char *path)
{
    struct stat st;
    DIR *folder = opendir(path);
    if (folder == NULL) {
        if (stat(path, &st) == 0 && S_ISREG(st.st_mode))
            feed(path);
        return;
    }
    for (struct dirent *e; (e = readdir(folder)) != NULL;) {
        char below[4096];
        if (e->d_name[0] == '.')
            continue;
        snprintf(below, sizeof below, "%s/%s", path, e->d_name);
        feed_all(below);
    }
    closedir(folder);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--every") == 0)
            is_every = true;
        else
            feed_all(argv[i]);
    if (n_files == 0)
        printf("not ok 1 - no input\n");
    return n_files == 0;
}
