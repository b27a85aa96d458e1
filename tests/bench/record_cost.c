/* SPDX-License-Identifier: MIT
 *
 * What recording costs a program, and what its trace costs afterwards:
 *   record_cost [-sDEPTH] ROUNDS RECORDER TRACE COMMAND…
 * Each round runs COMMAND plain and under RECORDER, in turns which is first, because the machine's
 * speed drifts; the ratio is the median of the rounds' own. The last spool is converted to TRACE,
 * and TRACE is decoded. Prints one line:
 *   EVENTS BYTES WALL_RATIO CPU_RATIO NS_PLAIN NS_ADDED NS_CONVERT NS_DECODE REPAIRS SPOOL_BYTES
 * where ns are an event's; with -sDEPTH call sites are recorded too, to that depth.
 *   record_cost -sDEPTH FOLDER
 * only makes FOLDER a spool that asks a recorder for them. The command's input, output and errors are /dev/null.
 */
#include "record/convert.h"
#include "trace/reader.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS_MAX = 99, CHUNK = 4096 };

struct timing {
    double wall_ns, cpu_ns;
};

static char folder[PATH_MAX];
static uint32_t site_depth;

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double cpu_ns(const struct rusage *u)
{
    return (double)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) * 1e9 +
           (double)(u->ru_utime.tv_usec + u->ru_stime.tv_usec) * 1e3;
}

static _Noreturn void become(char **command, const char *recorder)
{
    char pid[16];
    int null = open("/dev/null", O_RDWR);
    for (int fd = 0; fd < 3; fd++)
        dup2(null, fd);
    snprintf(pid, sizeof pid, "%d", (int)getpid());
    if (recorder != NULL) {
        setenv("LD_PRELOAD", recorder, 1);
        setenv(AB_SPOOL_ENV_FOLDER, folder, 1);
        setenv(AB_SPOOL_ENV_PID, pid, 1);
    }
    execvp(command[0], command);
    _exit(127);
}

/* What `record` would leave in the folder. */
static bool ask_for_sites(void)
{
    static struct ab_spool_control control;
    char path[PATH_MAX + 32];
    control.magic = AB_SPOOL_MAGIC;
    control.site_depth = site_depth;
    snprintf(path, sizeof path, "%s/%s", folder, AB_SPOOL_CONTROL);
    FILE *f = fopen(path, "wb");
    bool ok = f != NULL && fwrite(&control, sizeof control, 1, f) == 1;
    return f != NULL && fclose(f) == 0 && ok;
}

/* False when the command cannot run or fails. */
static bool time_run(char **command, const char *recorder, struct timing *out)
{
    struct rusage usage;
    int status;
    if (recorder != NULL && site_depth > 0 && !ask_for_sites())
        return false;
    double begin = now_ns();
    pid_t child = fork();
    if (child == 0)
        become(command, recorder);
    if (child < 0 || wait4(child, &status, 0, &usage) != child)
        return false;
    *out = (struct timing){now_ns() - begin, cpu_ns(&usage)};
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Empties the spool; returns what lay in it. */
static uint64_t clear_folder(void)
{
    uint64_t bytes = 0;
    char path[PATH_MAX + 256];
    struct stat info;
    DIR *dir = opendir(folder);
    for (struct dirent *e; dir != NULL && (e = readdir(dir)) != NULL;) {
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        if (e->d_name[0] != '.' && stat(path, &info) == 0 && unlink(path) == 0)
            bytes += (uint64_t)info.st_size;
    }
    if (dir != NULL)
        closedir(dir);
    return bytes;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, unsigned n)
{
    qsort(values, n, sizeof values[0], by_value);
    return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

struct cost {
    double wall_ratio, cpu_ratio, plain_ns, added_ns;
};

static bool measure(unsigned n_rounds, const char *recorder, char **command, struct cost *out)
{
    double wall[ROUNDS_MAX], cpu[ROUNDS_MAX], plain_ns[ROUNDS_MAX], added[ROUNDS_MAX];
    struct timing plain, recorded;
    for (unsigned i = 0; i < n_rounds; i++) {
        clear_folder();
        bool ok = (i % 2 == 0 || time_run(command, recorder, &recorded)) &&
                  time_run(command, NULL, &plain) &&
                  (i % 2 == 1 || time_run(command, recorder, &recorded));
        if (!ok)
            return false;
        wall[i] = recorded.wall_ns / plain.wall_ns;
        cpu[i] = recorded.cpu_ns / plain.cpu_ns;
        plain_ns[i] = plain.wall_ns;
        added[i] = recorded.wall_ns - plain.wall_ns;
    }
    *out = (struct cost){median(wall, n_rounds), median(cpu, n_rounds), median(plain_ns, n_rounds),
                         median(added, n_rounds)};
    return true;
}

static enum ab_status convert_once(struct ab_forks *family, const struct ab_spool_entry *image,
                                   const char *trace, struct ab_convert_report *report,
                                   struct ab_err *err)
{
    FILE *to = fopen(trace, "wb");
    if (to == NULL)
        return ab_fail_errno(err, AB_SYSTEM, "cannot write %s", trace);
    enum ab_status status = ab_convert(family, image, to, report, NULL, NULL, err);
    fclose(to);
    return status;
}

/* The last run's program with the most events, as the command may have become it by exec. The
 * best of a few rounds. */
static enum ab_status convert(const char *trace, struct ab_convert_report *report, double *ns,
                              struct ab_err *err)
{
    struct ab_spool_entry *entries, *most;
    struct ab_forks *forks = NULL;
    size_t n;
    enum ab_status status = ab_spool_list(folder, &entries, &n, err);
    if (status != AB_OK)
        return status;
    most = entries;
    for (size_t i = 0; i < n; i++)
        most = entries[i].n_events > most->n_events ? &entries[i] : most;
    if (n == 0)
        status = ab_fail(err, AB_INPUT, "nothing was recorded");
    else
        forks = ab_forks_open(folder, entries, n);
    for (int round = 0; round < 3 && status == AB_OK; round++) {
        double begin = now_ns();
        status = convert_once(forks, most, trace, report, err);
        double took = now_ns() - begin;
        *ns = round == 0 || took < *ns ? took : *ns;
    }
    ab_forks_close(forks);
    free(entries);
    return status;
}

/* The best of a few readings: a decoder that was interrupted is no slower decoder. */
static enum ab_status decode(const char *trace, double *ns, struct ab_err *err)
{
    static struct ab_event events[CHUNK];
    enum ab_status status = AB_OK;
    for (int round = 0; round < 5 && status == AB_OK; round++) {
        struct ab_trace_reader *reader;
        size_t n = 1;
        double begin = now_ns();
        status = ab_trace_open(trace, &reader, err);
        if (status != AB_OK)
            return status;
        while (status == AB_OK && n > 0)
            status = ab_trace_next(reader, events, CHUNK, &n, err);
        ab_trace_close(reader);
        double took = now_ns() - begin;
        *ns = round == 0 || took < *ns ? took : *ns;
    }
    return status;
}

int main(int argc, char **argv)
{
    struct ab_convert_report report;
    struct ab_err err = {0};
    struct cost cost;
    double convert_ns = 0, decode_ns = 0;
    const char *place = getenv("TMPDIR");
    if (argc > 2 && strncmp(argv[1], "-s", 2) == 0) {
        site_depth = (uint32_t)atoi(argv[1] + 2);
        argc--, argv++;
    }
    if (argc == 2 && site_depth > 0) {
        snprintf(folder, sizeof folder, "%s", argv[1]);
        return !ask_for_sites();
    }
    unsigned n_rounds = argc > 4 ? (unsigned)atoi(argv[1]) : 0;
    if (n_rounds == 0 || n_rounds > ROUNDS_MAX)
        return 2;
    snprintf(folder, sizeof folder, "%s/allocbench-XXXXXX", place != NULL ? place : "/tmp");
    if (mkdtemp(folder) == NULL)
        return 2;
    bool ok = measure(n_rounds, argv[2], argv + 4, &cost);
    bool is_read = ok && convert(argv[3], &report, &convert_ns, &err) == AB_OK &&
                   decode(argv[3], &decode_ns, &err) == AB_OK;
    double spool_bytes = (double)clear_folder();
    rmdir(folder);
    if (!is_read) {
        fprintf(stderr, "record_cost: %s: %s\n", argv[4], ok ? err.text : "fails");
        return 1;
    }
    double n = (double)report.info.events;
    printf("%.0f %llu %.3f %.3f %.1f %.1f %.1f %.2f %llu %.0f\n", n,
           (unsigned long long)report.info.file_bytes, cost.wall_ratio, cost.cpu_ratio,
           cost.plain_ns / n, cost.added_ns / n, convert_ns / n, decode_ns / n,
           (unsigned long long)report.n_repairs, spool_bytes);
    return 0;
}
