/* SPDX-License-Identifier: MIT
 *
 * Draws progress, ends the process if preparing takes too long, and prints the answer with its
 * verdicts, its failures and the place of the result.
 */
#include "cli/show.h"

#include "answer/findings.h"
#include "answer/warnings.h"
#include "app/backend_choice.h"
#include "app/outputs.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "core/text.h"
#include "core/units_show.h"
#include "report/table/sink_checks.h"
#include "report/table/sink_table.h"
#include "result/shown.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

static struct ab_progress_line line;

static void say(const char *text)
{
    size_t n = strlen(text);
    fprintf(stderr, "%s%s", text, n > 0 && text[n - 1] == '\n' ? "" : "\n");
}

/* ---- --timeout before the first run ----
 * A small file may describe much work. Part of the work is one long call, so no loop can check the
 * clock often enough. Therefore a timer's signal ends the process. */

static char too_long[1024]; /* made in advance, because a signal handler must not format text */
static size_t n_too_long;

static void on_timeout(int signal)
{
    (void)signal;
    ssize_t ignored = write(STDERR_FILENO, too_long, n_too_long);
    (void)ignored;
    _exit(ab_status_exit_code(AB_SYSTEM));
}

static void set_timer(uint64_t ns)
{
    struct itimerval timer = {.it_value = {.tv_sec = (time_t)(ns / 1000000000),
                                           .tv_usec = (suseconds_t)(ns / 1000 % 1000000)}};
    setitimer(ITIMER_REAL, &timer, NULL);
}

static void begin_limit(const struct ab_options *o, const char *what)
{
    struct sigaction action = {.sa_handler = on_timeout};
    char limit[32];
    if (o->conditions.timeout_ns == 0)
        return;
    int n = snprintf(too_long, sizeof too_long,
                     "%sallocbench: %s: reading it and preparing the run takes longer than "
                     "--timeout %s\n",
                     isatty(STDERR_FILENO) ? "\r\033[K" : "", AB_SHOWN(600, what),
                     ab_units_time(limit, sizeof limit, (double)o->conditions.timeout_ns));
    n_too_long = n > 0 && (size_t)n < sizeof too_long ? (size_t)n : 0;
    sigaction(SIGALRM, &action, NULL);
    set_timer(o->conditions.timeout_ns);
}

static void prepare(const struct ab_options *o, const char *what)
{
    if (what != NULL) {
        ab_progress_begin(&line, o->talk.is_quiet);
        begin_limit(o, what);
        return;
    }
    set_timer(0);
    signal(SIGALRM, SIG_DFL);
    ab_progress_end(&line);
}

/* ---- progress ---- */

static void count(const char *what, const char *unit, uint64_t done, uint64_t total)
{
    ab_progress_show_counted(&line, what, unit, done, total);
}

static void doing(const struct ab_options *o, const char *text)
{
    if (text == NULL) {
        ab_progress_end(&line);
        return;
    }
    if (!line.is_on)
        ab_progress_begin(&line, o->talk.is_quiet);
    ab_progress_show_text(&line, text);
}

static void begin(const struct ab_options *o, const struct ab_session *session)
{
    const struct ab_stage *stage = &o->talk.stage;
    uint32_t n = 0;
    for (uint32_t i = 0; i < session->n_backends; i++)
        n += session->backends[i].status == AB_BACKEND_OK;
    ab_progress_begin(&line, o->talk.is_quiet);
    if (stage->number > 0 && stage->n == 0)
        snprintf(line.stage, sizeof line.stage, "stage %u: %.32s", stage->number, stage->name);
    else if (stage->number > 0)
        snprintf(line.stage, sizeof line.stage, "stage %u of %u: %.30s", stage->number, stage->n,
                 stage->name);
    else if (stage->name != NULL)
        snprintf(line.stage, sizeof line.stage, "%.32s", stage->name);
    if (stage->started_ns != 0)
        line.started_ns = stage->started_ns;
    line.rounds_after = stage->again + (n > 0 ? stage->runs / n : 0);
    line.has_rule = session->stopping.time_budget_s > 0 || session->stopping.precision > 0;
}

static void progress(const struct ab_progress *p)
{
    ab_progress_show(&line, p);
}

static void end_round(const struct ab_session *session, uint32_t n_expected)
{
    line.n_expected = n_expected;
    ab_progress_round(&line, session);
}

static void end(void)
{
    ab_progress_end(&line);
}

/* ---- what failed ---- */

static bool failed_in(const struct ab_session *s, const char *name)
{
    for (uint32_t i = 0; i < s->n_backends; i++)
        if (strcmp(s->backends[i].name, name) == 0)
            return !ab_backend_status_has_numbers(s->backends[i].status);
    return false;
}

/* Prints the failed back ends. Omits those that failed in session `printed`, whose failures were
 * printed before. `where` ("replay: ") comes before the name. */
static void print_failures(const struct ab_session *session, const char *where,
                           const struct ab_session *printed, bool is_quiet)
{
    bool is_program = ab_view_program_fails(session), is_said = false;
    for (uint32_t i = 0; i < session->n_backends; i++) {
        const struct ab_backend_info *b = &session->backends[i];
        bool is_error = ab_case_is_error(b);
        if (is_program && b->status == AB_BACKEND_FAILED_CHECK) {
            if (!is_said)
                fprintf(stderr, "allocbench: error: %s%s (under every allocator)\n", where,
                        AB_SHOWN(1400, b->reason));
            is_said = true;
            continue;
        }
        if (ab_backend_status_has_numbers(b->status) || (is_quiet && !is_error) ||
            (printed != NULL && failed_in(printed, b->name)))
            continue;
        fprintf(stderr, "allocbench: %s: %s%s: %s: %s\n", is_error ? "error" : "warning", where,
                AB_SHOWN(300, b->name), ab_backend_status_name(b->status),
                AB_SHOWN(1400, b->reason));
    }
}

void ab_failures_tell(const struct ab_session *session, const char *where, bool is_quiet)
{
    print_failures(session, where, NULL, is_quiet);
}

/* True if the finding is a failed verdict. Failed back ends are printed separately. */
static bool is_listed(const struct ab_finding *f, bool fails_inconclusive)
{
    bool is_verdict = strcmp(f->kind, "gate") == 0 || strcmp(f->kind, "comparison") == 0;
    bool is_bad = f->outcome == AB_OUTCOME_FAILED || f->outcome == AB_OUTCOME_ERROR ||
                  (fails_inconclusive && strcmp(f->verdict, "inconclusive") == 0);
    return is_verdict && is_bad && !f->is_shown_only;
}

void ab_verdicts_tell(const struct ab_session *session, bool fails_inconclusive)
{
    struct ab_findings all;
    struct ab_format_guard guard;
    ab_format_begin(&guard);
    ab_findings_make(session, &all);
    for (size_t i = 0; i < all.n; i++)
        if (is_listed(&all.items[i], fails_inconclusive))
            fprintf(stderr, "allocbench: %s: %s: %s\n", all.items[i].kind, all.items[i].title.s,
                    all.items[i].sentence.s);
    ab_findings_fini(&all);
    ab_format_end(&guard);
}

/* ---- the answer ---- */

static void print_answer(const struct ab_measured *m, bool is_taken)
{
    struct ab_table_style style = ab_terminal_style(m->options);
    FILE *beside = is_taken ? stderr : stdout;
    style.is_live = !ab_session_is_exec(m->session);
    if (!is_taken)
        ab_sink_table(stdout, m->session, style);
    if (!is_taken && m->session->n_results > 0 && m->n_left > 0)
        printf("Up to %u processes of it ran on after its end and were ended.\n", m->n_left);
    style.is_live = false;
    style.color = style.color && !is_taken;
    if (!is_taken)
        ab_sink_claims(stdout, m->session, style);
    if (m->session->comparison != NULL)
        fputc('\n', beside);
    ab_verdicts_print(beside, m->options, m->session, m->store->name[0] != 0 ? "" : NULL, style);
}

static void show_measured(const struct ab_measured *m)
{
    const struct ab_options *o = m->options;
    bool is_taken = ab_outputs_use_stdout(o);
    if (o->talk.is_quiet)
        ab_verdicts_tell(m->session, o->verdicts.fails_inconclusive);
    else
        print_answer(m, is_taken);
    if (m->status == AB_OK)
        ab_outputs_lines(o, m->session, is_taken ? stderr : stdout);
    fflush(stdout); /* the table comes before the place of the result */
    if (!o->talk.is_quiet)
        ab_store_tell(m->store, stderr);
    ab_failures_tell(m->session, "", o->talk.is_quiet);
    if (m->replay != NULL)
        print_failures(m->replay, "replay: ", m->session, o->talk.is_quiet);
}

const struct ab_listener ab_show_listener = {
    .say = say,
    .prepare = prepare,
    .count = count,
    .doing = doing,
    .begin = begin,
    .progress = progress,
    .round = end_round,
    .end = end,
    .show = show_measured,
};
