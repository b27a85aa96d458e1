/* SPDX-License-Identifier: MIT
 *
 * Measures one back end under two names, as any two back ends are measured.
 */
#include "app/calibrate.h"

#include "app/result_store.h"
#include "app/run_workload.h"
#include "app/say.h"
#include "core/alloc.h"
#include "core/embed.h"
#include "core/output.h"
#include "core/text.h"
#include "runner/setting_proof.h"
#include "tape/tape_file.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Two names for one back end: their settings differ only in a variable that nothing reads. */
static const char *const twins[] = {"glibc{" AB_TWIN_VARIABLE "=a}",
                                    "glibc{" AB_TWIN_VARIABLE "=b}"};

AB_EMBED(churn, "configs/churn.yaml")

enum { ROUNDS_MEASURED = 2 * AB_ROUNDS_DEFAULT };

static enum ab_status take(void *user, const struct ab_session *s, struct ab_err *err)
{
    struct ab_calibration *f = user;
    struct tm tm;
    for (uint32_t i = 0; i < 2; i++)
        if (s->n_backends != 2 || s->backends[i].status != AB_BACKEND_OK)
            return ab_fail(err, AB_BACKEND, "nothing was calibrated: %s: %.400s",
                           ab_backend_status_name(s->backends[i].status), s->backends[i].reason);
    ab_noise_measure(s, 0, 1, AB_ROUNDS_DEFAULT, &f->noise);
    if (f->noise.n == 0)
        return ab_fail(err, AB_USAGE, "nothing was calibrated: at least 2 rounds are needed");
    if (gmtime_r(&s->start, &tm) != NULL)
        strftime(f->date, sizeof f->date, "%Y-%m-%dT%H:%M:%SZ", &tm);
    AB_COPY(f->version, AB_VERSION);
    AB_COPY(f->fingerprint, s->host.fingerprint);
    AB_COPY(f->cpu, s->host.cpu);
    AB_COPY(f->kernel, s->host.kernel);
    AB_COPY(f->workload, s->name);
    AB_COPY(f->tape_sha256, s->tape_sha256);
    return AB_OK;
}

/* Makes sure that the folder for results exists and is writable, before anything is measured. */
static enum ab_status check_folder(const struct ab_store_wanted *store, struct ab_err *err)
{
    struct ab_output probe;
    const char *folder = ab_store_folder(store);
    if (folder == NULL)
        return ab_fail(err, AB_USAGE,
                       "calibrate stores what it finds: $ALLOCBENCH_RESULTS is empty, name a "
                       "folder with --results");
    mkdir(folder, 0777);
    enum ab_status status = ab_output_open_new(folder, &probe, err);
    if (status == AB_OK)
        ab_output_abandon(&probe);
    return status;
}

static enum ab_status store(const struct ab_store_wanted *wanted, const struct ab_talk *talk,
                            const struct ab_calibration *c, struct ab_err *err)
{
    char path[4300], name[64];
    struct ab_output file;
    ab_calibration_name(c->fingerprint, name, sizeof name);
    AB_FIT(path, "%s/%s", ab_store_folder(wanted), name);
    AB_TRY(ab_output_open(path, &file, err));
    ab_calibration_write(file.to, c);
    AB_TRY(ab_output_commit(&file, err));
    ab_say(talk, "Stored: %s", AB_SHOWN(512, path));
    return AB_OK;
}

/* Calibrates with the workload that was named. Without a name, uses half the ops of
 * configs/churn.yaml, passed as an unnamed file (memfd). */
enum ab_status ab_calibrate(const struct ab_measure_request *asked, ab_show_calibration *show,
                            int *exit_code, struct ab_err *err)
{
    static struct ab_calibration found;
    char path[64];
    const char *named = path, **sets = NULL;
    int fd = -1;
    AB_TRY(check_folder(&asked->store, err));
    struct ab_measure_request both = {
        .talk = asked->talk,
        .command = asked->command,
        .args = asked->args,
        .n_args = asked->n_args,
        .backends = {.names = (const char **)twins, .n = 2},
        .settings = asked->settings,
        .rules = {.rounds = asked->rules.has_rounds ? asked->rules.rounds : ROUNDS_MEASURED,
                  .has_rounds = asked->rules.has_rounds},
        .passes = {.is_given = true},
        .conditions = asked->conditions,
        .store = {.is_part = true},
        .ignores_gates = true,
        .take = take,
        .user = &found,
    };
    for (unsigned pass = 0; pass < AB_PASS_COUNT; pass++)
        both.passes.plan.rounds[pass] = AB_EVERY_ROUND;
    if (asked->n_args == 0) {
        const size_t n = strlen(churn);
        fd = ab_memfd("allocbench-churn", n);
        if (fd < 0 || pwrite(fd, churn, n, 0) != (ssize_t)n)
            return ab_fail_errno(err, AB_SYSTEM, "cannot make the workload");
        AB_FIT(path, "/proc/self/fd/%d", fd);
        both.args = &named;
        both.n_args = 1;
        sets = ab_alloc_zeroed(asked->settings.n_sets + 2, sizeof sets[0]); /* ends with NULL */
        sets[0] = "ops=1M"; /* the user's settings come later, and win */
        for (size_t i = 0; i < asked->settings.n_sets; i++)
            sets[i + 1] = asked->settings.sets[i];
        both.settings.sets = sets;
        both.settings.n_sets++;
    }
    enum ab_status status = ab_run_workload(&both, exit_code, err);
    if (fd >= 0)
        close(fd);
    free(sets);
    if (status != AB_OK || *exit_code != 0)
        return status;
    show(asked->user, &found);
    return store(&asked->store, &asked->talk, &found, err);
}
