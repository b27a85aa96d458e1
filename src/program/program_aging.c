/* SPDX-License-Identifier: MIT
 *
 * Passes the plan of an aged heap to the preloaded library, and subtracts the cost of making it.
 * The program can write to the mapping, so nothing in it is used as an index, and no time falls
 * below 0.
 */
#include "program/program_aging.h"

#include "core/text.h"
#include "inside/aging_library.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum ab_status ab_program_aging_open(const struct ab_aging_plan *plan,
                                     struct ab_program_aging_run *out, struct ab_err *err)
{
    struct ab_program_aging_run r = {.fd = memfd_create("allocbench-litter", MFD_CLOEXEC)};
    void *p = r.fd < 0 || ftruncate(r.fd, sizeof *r.file) != 0
                  ? MAP_FAILED
                  : mmap(NULL, sizeof *r.file, PROT_READ | PROT_WRITE, MAP_SHARED, r.fd, 0);
    if (p == MAP_FAILED) {
        ab_fail_errno(err, AB_SYSTEM, "--aged: cannot share memory with the program");
        if (r.fd >= 0)
            close(r.fd);
        return AB_SYSTEM;
    }
    r.file = p;
    r.file->request = plan->request;
    r.file->live_peak_bytes = plan->live_peak_bytes;
    r.file->n_sizes = plan->n_sizes < AB_AGING_SIZES_MOST ? plan->n_sizes : AB_AGING_SIZES_MOST;
    memcpy(r.file->sizes, plan->sizes, r.file->n_sizes * sizeof plan->sizes[0]);
    AB_FIT(r.path, AB_AGING_VARIABLE "=/proc/%d/fd/%d", (int)getpid(), r.fd);
    *out = r;
    return AB_OK;
}

static void fail(struct ab_program_outcome *o, enum ab_backend_status status, const char *why)
{
    if (o->status != AB_BACKEND_OK)
        return;
    o->status = status;
    AB_COPY(o->reason, why);
}

struct ab_aging_count ab_program_aging_take(const struct ab_program_aging_run *run,
                                            struct ab_program_outcome *o)
{
    struct ab_aging_file f = *run->file;
    char why[160];
    if (f.is_done == 0)
        fail(o, AB_BACKEND_WRONG_LIBRARY,
             "the library that ages the heap did not run in the program: LD_PRELOAD was removed");
    if (f.count.made_blocks < f.foreseen.made_blocks) {
        AB_FIT(why, "the allocator returned NULL while its heap was aged, after %" PRIu64 " blocks",
               f.count.made_blocks);
        fail(o, AB_BACKEND_OOM, why);
    }
    o->wall_ns = fmax(0, o->wall_ns - (double)f.wall_ns);
    o->user_ns = fmax(0, o->user_ns - (double)f.user_ns);
    o->system_ns = fmax(0, o->system_ns - (double)f.system_ns);
    o->faults_minor -= f.faults_minor < o->faults_minor ? f.faults_minor : o->faults_minor;
    o->faults_major -= f.faults_major < o->faults_major ? f.faults_major : o->faults_major;
    return f.count;
}

void ab_program_aging_close(struct ab_program_aging_run *run)
{
    munmap(run->file, sizeof *run->file);
    close(run->fd);
}
