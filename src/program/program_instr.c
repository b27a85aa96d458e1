/* SPDX-License-Identifier: MIT
 *
 * Runs a program under callgrind with its cache simulation. No hardware counters are needed, and
 * a count that does not depend on time is the same in each run. Each process writes its own file
 * into one folder; the files are added up.
 */
#include "core/text.h"
#include "program/callgrind_file.h"
#include "program/program.h"
#include "result/numbers.h"

#include "core/alloc.h"
#include "runner/callgrind.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOWER = 100 /* factor for the timeout under callgrind */, OUT_BYTES = 1100 };

/* Builds the command line: valgrind, its arguments, then those of the program. A process that forks
 * first dumps its counts and starts again from zero, because otherwise the child's counts would
 * include them. `out` is the buffer for one of the arguments. */
static const char **arguments_of(const struct ab_callgrind *g, const struct ab_program *p,
                                 char out[OUT_BYTES])
{
    const char *const own[] = {
        g->program,
        "--tool=callgrind",
        "--command-line-only=yes", /* ignore the user's .valgrindrc */
        "--vgdb=no",
        "--sigill-diagnostics=no",
        "-q",
        g->log_file,
        "--trace-children=yes",
        "--cache-sim=yes",
        "--I1=" AB_INSTR_I1,
        "--D1=" AB_INSTR_D1,
        "--LL=" AB_INSTR_LL,
        "--dump-instr=yes",
        "--demangle=no",
        "--dump-before=fork*",
        "--dump-before=_Fork*",
        out,
    };
    size_t n_own = sizeof own / sizeof own[0], n = 0;
    while (p->argv[n] != NULL)
        n++;
    const char **list = ab_alloc_zeroed(n_own + n + 1, sizeof list[0]);
    snprintf(out, OUT_BYTES, "--callgrind-out-file=%s/n.%%p", g->folder.path);
    memcpy(list, own, sizeof own);
    memcpy(list + n_own, p->argv, n * sizeof list[0]);
    return list;
}

/* Adds all files of the last run: "n.PID", and "n.PID.1" and so on for a process that forked. */
static void add_files(const struct ab_callgrind *g, struct ab_grind_sum *sum)
{
    char path[sizeof g->folder.path + sizeof((struct dirent *)0)->d_name], maps[sizeof path];
    DIR *folder = opendir(g->folder.path);
    for (struct dirent *e; folder != NULL && (e = readdir(folder)) != NULL;) {
        if (strncmp(e->d_name, "n.", 2) != 0)
            continue;
        AB_FIT(path, "%s/%s", g->folder.path, e->d_name);
        AB_FIT(maps, "%s/maps.%ld", g->folder.path, strtol(e->d_name + 2, NULL, 10));
        ab_grind_add(sum, path, maps);
    }
    if (folder != NULL)
        closedir(folder);
}

static const char *why_unknown(const struct ab_grind_sum *sum)
{
    return sum->n_files == 0     ? "callgrind wrote no counts"
           : sum->n_cut > 0      ? "a process ended before callgrind had written its counts"
           : sum->n_unplaced > 0 ? "a process ended by a signal: whose code it ran is not known"
           : sum->n_calls == 0   ? "under callgrind there was no call to the allocator"
                                 : "";
}

static void take_counts(const struct ab_grind_sum *sum, struct ab_instr_counts *counts)
{
    counts->is_known = true;
    for (unsigned i = 0; i < AB_INSTR_EVENTS; i++) {
        counts->inside[i] = (double)sum->inside[i];
        counts->outside[i] = (double)sum->total[i] - (double)sum->inside[i];
    }
}

enum ab_status ab_instr_count(struct ab_callgrind *g, const struct ab_program *program,
                              const struct ab_program_case *c, struct ab_proof_cache *cache,
                              struct ab_program_outcome *out, struct ab_instr_counts *counts,
                              char *reason, size_t cap, struct ab_err *err)
{
    char out_file[OUT_BYTES], message[160] = "";
    struct ab_program under = *program;
    struct ab_program_case here = *c;
    struct ab_grind_sum sum = {.wanted = &c->wanted};
    const char **argv = arguments_of(g, program, out_file);
    under.path = g->program;
    under.argv = argv;
    under.timeout_ns *= SLOWER;
    here.maps_folder = g->folder.path;
    *counts = (struct ab_instr_counts){.is_known = false};
    reason[0] = 0;
    enum ab_status status = ab_program_run(&under, &here, cache, out, err);
    free(argv);
    if (status == AB_OK && out->status == AB_BACKEND_OK) {
        add_files(g, &sum);
        snprintf(reason, cap, "%s", why_unknown(&sum));
    } else if (status == AB_OK) {
        ab_callgrind_message(g, message, sizeof message);
        snprintf(reason, cap, "under callgrind: %.100s%s%.100s", out->reason,
                 message[0] != 0 ? "; " : "", message);
    }
    if (status == AB_OK && reason[0] == 0)
        take_counts(&sum, counts);
    ab_callgrind_take(g, NULL, 0); /* removes the files of the run */
    free(sum.objects);
    return status;
}

void ab_instr_note(const struct ab_instr_counts *counts, struct ab_result *r)
{
    double *const inside[] = {&r->instr_inside, &r->refs_inside, &r->i1_misses_inside,
                              &r->d1_misses_inside, &r->ll_misses_inside};
    double *const outside[] = {&r->instr_outside, &r->refs_outside, &r->i1_misses_outside,
                               &r->d1_misses_outside, &r->ll_misses_outside};
    for (unsigned i = 0; i < AB_INSTR_EVENTS && counts->is_known; i++) {
        *inside[i] = counts->inside[i];
        *outside[i] = counts->outside[i];
    }
}
