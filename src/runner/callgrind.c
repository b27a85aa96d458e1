/* SPDX-License-Identifier: MIT
 *
 * Finds valgrind, says how it is to run the worker, and reads the files that callgrind writes: one
 * for each phase that was measured.
 */
#include "runner/callgrind.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* In the folders of $PATH. Debian's valgrind is a script in front of valgrind.bin: with a library
 * preloaded a shell would run on that, too. */
static bool find_program(struct ab_callgrind *g)
{
    static const char *const names[] = {"valgrind.bin", "valgrind"};
    const char *path = getenv("PATH");
    for (; path != NULL && *path != 0; path += strspn(path, ":")) {
        size_t n = strcspn(path, ":");
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
            int used = snprintf(g->program, sizeof g->program, "%.*s/%s", (int)n, path, names[i]);
            if (*path == '/' && used < (int)sizeof g->program && access(g->program, X_OK) == 0)
                return true;
        }
        path += n;
    }
    return false;
}

static bool make_folder(struct ab_callgrind *g)
{
    const char *places[] = {getenv("TMPDIR"), "/tmp"};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        int used = places[i] == NULL || places[i][0] != '/'
                       ? -1
                       : snprintf(g->folder, sizeof g->folder, "%s/allocbench-counts-XXXXXX",
                                  places[i]);
        if (used > 0 && used < (int)sizeof g->folder && mkdtemp(g->folder) != NULL)
            return true;
    }
    g->folder[0] = 0;
    return false;
}

bool ab_callgrind_open(struct ab_callgrind *g)
{
    *g = (struct ab_callgrind){.program = ""};
    if (!find_program(g) || !make_folder(g))
        return false;
    snprintf(g->out_file, sizeof g->out_file, "--callgrind-out-file=%s/n", g->folder);
    snprintf(g->log_file, sizeof g->log_file, "--log-file=%s/log", g->folder);
    const char *const arguments[] = {g->program,
                                     "--tool=callgrind",
                                     "--command-line-only=yes", /* no .valgrindrc of the user's */
                                     "--collect-atstart=no",
                                     "--vgdb=no",
                                     "--sigill-diagnostics=no",
                                     "-q",
                                     g->out_file,
                                     g->log_file,
                                     NULL};
    memcpy(g->arguments, arguments, sizeof arguments);
    return true;
}

/* One of callgrind's files: which phase (as the worker named it), how many instructions. False: it is
 * not such a file, or not whole. */
static bool callgrind_read(const char *path, uint32_t *phase, uint64_t *n)
{
    char *line = NULL;
    size_t cap = 0;
    bool has_phase = false, has_total = false;
    FILE *f = fopen(path, "re");
    while (f != NULL && getline(&line, &cap, f) >= 0) {
        has_phase = sscanf(line, "desc: Trigger: Client Request: phase %" SCNu32, phase) == 1 ||
                    has_phase;
        has_total = sscanf(line, "totals: %" SCNu64, n) == 1 || has_total; /* the last line */
    }
    free(line);
    if (f != NULL)
        fclose(f);
    return has_phase && has_total;
}

/* Calls `visit` with the path of each file, which is then removed. */
static void drain(const struct ab_callgrind *g, void (*visit)(const char *path, void *user),
                  void *user)
{
    char path[400];
    DIR *folder = g->folder[0] != 0 ? opendir(g->folder) : NULL;
    for (struct dirent *e; folder != NULL && (e = readdir(folder)) != NULL;) {
        if (e->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", g->folder, e->d_name);
        if (visit != NULL)
            visit(path, user);
        unlink(path);
    }
    if (folder != NULL)
        closedir(folder);
}

struct wanted {
    uint64_t *n;
    uint32_t n_phases;
};

static void take_file(const char *path, void *user)
{
    struct wanted *w = user;
    uint32_t phase;
    uint64_t n;
    if (callgrind_read(path, &phase, &n) && phase < w->n_phases)
        w->n[phase] = n;
}

void ab_callgrind_take(const struct ab_callgrind *g, uint64_t *n, uint32_t n_phases)
{
    struct wanted wanted = {n, n_phases};
    for (uint32_t i = 0; i < n_phases; i++)
        n[i] = AB_NOT_COUNTED;
    drain(g, take_file, &wanted);
}

/* "==1234== valgrind: …": what comes after the number of the process. */
void ab_callgrind_message(const struct ab_callgrind *g, char *buf, size_t cap)
{
    char path[128], line[300];
    snprintf(path, sizeof path, "%s/log", g->folder);
    FILE *f = fopen(path, "re");
    buf[0] = 0;
    while (f != NULL && buf[0] == 0 && fgets(line, sizeof line, f) != NULL) {
        const char *text = strncmp(line, "==", 2) == 0 ? strstr(line + 2, "== ") : NULL;
        text = text != NULL ? text + 3 : line;
        snprintf(buf, cap, "%.*s", (int)strcspn(text, "\n"), text);
    }
    if (f != NULL)
        fclose(f);
}

void ab_callgrind_close(struct ab_callgrind *g)
{
    drain(g, NULL, NULL);
    if (g->folder[0] != 0)
        rmdir(g->folder);
    *g = (struct ab_callgrind){.program = ""};
}
