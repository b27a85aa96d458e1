/* SPDX-License-Identifier: MIT
 *
 * Callgrind writes one file for each measured phase, and its messages to a log.
 */
#include "runner/callgrind.h"

#include "core/text.h"
#include "wire/run_page.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Looks for valgrind in $PATH. Debian's valgrind is a shell script that starts valgrind.bin. With a
 * preloaded library, the shell would use that library as well, so valgrind.bin is preferred. */
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

bool ab_callgrind_open(struct ab_callgrind *g)
{
    *g = (struct ab_callgrind){.program = ""};
    if (!find_program(g) || ab_temporary_make("counts", &g->folder, NULL) != AB_OK)
        return false;
    AB_FIT(g->out_file, "--callgrind-out-file=%s/n", g->folder.path);
    AB_FIT(g->log_file, "--log-file=%s/log", g->folder.path);
    const char *const arguments[] = {g->program,
                                     "--tool=callgrind",
                                     "--command-line-only=yes", /* ignore the user's .valgrindrc */
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

/* Reads the phase and the number of instructions from one of callgrind's files. Returns false for
 * other or incomplete files. */
static bool callgrind_read(const char *path, uint32_t *phase, uint64_t *n)
{
    char *line = NULL;
    size_t cap = 0;
    bool has_phase = false, has_total = false;
    FILE *f = fopen(path, "re");
    while (f != NULL && getline(&line, &cap, f) >= 0) {
        has_phase = sscanf(line, "desc: Trigger: Client Request: phase %" SCNu32, phase) == 1 ||
                    has_phase;
        /* found the last line; a file without it is incomplete */
        has_total = sscanf(line, "totals: %" SCNu64, n) == 1 || has_total;
    }
    free(line);
    if (f != NULL)
        fclose(f);
    return has_phase && has_total;
}

struct wanted {
    uint64_t *n;
    uint32_t n_phases;
};

static void take_file(const char *path, struct wanted *w)
{
    uint32_t phase;
    uint64_t n;
    if (callgrind_read(path, &phase, &n) && phase < w->n_phases)
        w->n[phase] = n;
    unlink(path);
}

void ab_callgrind_take(const struct ab_callgrind *g, uint64_t *n, uint32_t n_phases)
{
    struct wanted wanted = {n, n_phases};
    for (uint32_t i = 0; i < n_phases; i++)
        n[i] = AB_NOT_COUNTED;
    DIR *folder = opendir(g->folder.path);
    for (struct dirent *e; folder != NULL && (e = readdir(folder)) != NULL;) {
        char path[sizeof g->folder.path + sizeof e->d_name + 2];
        AB_FIT(path, "%s/%s", g->folder.path, e->d_name);
        if (e->d_name[0] != '.')
            take_file(path, &wanted);
    }
    if (folder != NULL)
        closedir(folder);
}

/* Reads the text after the process number: "==1234== valgrind: …". */
void ab_callgrind_message(const struct ab_callgrind *g, char *buf, size_t cap)
{
    char path[sizeof g->folder.path + 8], line[300];
    AB_FIT(path, "%s/log", g->folder.path);
    FILE *f = fopen(path, "re");
    buf[0] = 0;
    while (f != NULL && buf[0] == 0 && fgets(line, sizeof line, f) != NULL) {
        const char *text = strncmp(line, "==", 2) == 0 ? strstr(line + 2, "== ") : NULL;
        text = text != NULL ? text + 3 : line;
        /* valgrind's warning about the caches of the machine: "--1234-- warning" */
        if (strncmp(line, "--", 2) == 0)
            continue;
        snprintf(buf, cap, "%.*s", (int)strcspn(text, "\n"), text);
    }
    if (f != NULL)
        fclose(f);
}

void ab_callgrind_close(struct ab_callgrind *g)
{
    ab_temporary_remove(&g->folder);
    *g = (struct ab_callgrind){.program = ""};
}
