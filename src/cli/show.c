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
#include "base/bits.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "core/command_line.h"
#include "core/text.h"
#include "core/units_show.h"
#include "report/table/sink_checks.h"
#include "report/table/sink_table.h"

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
 *
 * A small file may describe much work, and reading it may take one long call. So no loop can check
 * the clock often enough, and a timer's signal ends the process. */

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

static void begin_limit(const struct ab_talk *talk, const char *what)
{
    struct sigaction action = {.sa_handler = on_timeout};
    char limit[32];
    if (talk->prepare_ns == 0)
        return;
    int n = snprintf(too_long, sizeof too_long,
                     "%sallocbench: %s: reading it and preparing the run takes longer than "
                     "--timeout %s\n",
                     isatty(STDERR_FILENO) ? "\r\033[K" : "", AB_SHOWN(600, what),
                     ab_units_time(limit, sizeof limit, (double)talk->prepare_ns));
    n_too_long = n > 0 && (size_t)n < sizeof too_long ? (size_t)n : 0;
    sigaction(SIGALRM, &action, NULL);
    set_timer(talk->prepare_ns);
}

static void prepare(const struct ab_talk *talk, const char *what)
{
    if (what != NULL) {
        ab_progress_begin(&line, talk->is_quiet);
        begin_limit(talk, what);
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

static void doing(const struct ab_talk *talk, const char *text)
{
    if (text == NULL) {
        ab_progress_end(&line);
        return;
    }
    if (!line.is_on)
        ab_progress_begin(&line, talk->is_quiet);
    ab_progress_show_text(&line, text);
}

static void begin(const struct ab_talk *talk, const struct ab_session *session)
{
    const struct ab_stage *stage = &talk->stage;
    uint32_t n = 0;
    for (uint32_t i = 0; i < session->n_backends; i++)
        n += session->backends[i].status == AB_BACKEND_OK;
    ab_progress_begin(&line, talk->is_quiet);
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

/* ---- failed back ends ---- */

static bool failed_in(const struct ab_session *s, const char *name)
{
    for (uint32_t i = 0; i < s->n_backends; i++)
        if (strcmp(s->backends[i].name, name) == 0)
            return !ab_backend_status_has_numbers(s->backends[i].status);
    return false;
}

/* Prints the failed back ends. Omits back ends that failed in session `printed` too, because these
 * failures were printed before. `where` ("replay: ") comes before each name. */
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

/* ---- the line "next: …" ---- */

enum { ROUNDS_WORTH_TRYING = 200 };

/* Returns the number of rounds that would settle all inconclusive cells and gates, at most
 * ROUNDS_WORTH_TRYING; 0 = none is inconclusive. */
static uint32_t most_needed(const struct ab_session *s)
{
    const struct ab_comparison *c = s->comparison;
    uint32_t of_cells = c != NULL ? ab_checks_rounds_needed(c->cells, c->n_cells) : 0;
    uint32_t most = ab_checks_rounds_needed(s->gates, s->n_gates);
    most = of_cells > most ? of_cells : most;
    return most < ROUNDS_WORTH_TRYING ? most : ROUNDS_WORTH_TRYING;
}

/* Appends the command that measured `s`, but with another number of rounds. The option is inserted
 * in front of the other arguments, because the rest may be the command line of a program. */
static void add_command(struct ab_text *t, const struct ab_session *s, uint32_t rounds)
{
    static const char *const without[] = {"--rounds", "--reps", "--time-budget", "--precision"};
    const char *arguments = ab_command_line_arguments(s->command_line);
    ab_text_addf(t, "%.*s%s--rounds %u ", (int)(arguments - s->command_line), s->command_line,
                 arguments[-1] == ' ' ? "" : " ", rounds);
    ab_command_line_add_without(t, arguments, without, AB_ARRAY_LEN(without));
}

/* True if the command line is that of a command that measures. Repeating `merge` would only join
 * the same parts again. */
static bool is_measurement(const char *command_line)
{
    char name[16] = "";
    return sscanf(command_line, "%*s %15s", name) == 1 &&
           (strcmp(name, "run") == 0 || strcmp(name, "replay") == 0 || strcmp(name, "exec") == 0);
}

/* True if the session's command line can be run again with other options. A command line of exec
 * must have " -- ", which shows where the program's own arguments begin. */
static bool can_repeat(const struct ab_session *s)
{
    return s->command_line != NULL && is_measurement(s->command_line) &&
           strstr(s->command_line, "--resume") == NULL &&
           strstr(s->command_line, AB_NO_COMMAND_LINE) == NULL &&
           (!ab_session_is_exec(s) || strstr(s->command_line, " -- ") != NULL);
}

/* Prints a command to type, and frees the text. */
static void print_command(FILE *to, const char *lead, struct ab_text *t,
                          struct ab_table_style style)
{
    char shown[4096];
    ab_table_command(to, style, lead, ab_text_printable(shown, sizeof shown, t->s));
    ab_text_fini(t);
}

static void print_repeat(FILE *to, const char *lead, const struct ab_session *s, uint32_t rounds,
                         struct ab_table_style style)
{
    struct ab_text t = {0};
    add_command(&t, s, rounds);
    print_command(to, lead, &t, style);
}

/* Prints the commands that measure both sides of a comparison with enough rounds. A baseline that
 * is measured by the same command, or has enough rounds, needs no command. */
static void print_rounds(FILE *to, const struct ab_comparison *c, const struct ab_session *s,
                         uint32_t rounds, struct ab_table_style style)
{
    print_repeat(to, "next: ", s, rounds, style);
    if (c == NULL || c->base == s || c->base->n_rounds >= rounds ||
        strstr(s->command_line, "--baseline") != NULL)
        return;
    if (can_repeat(c->base))
        print_repeat(to, "and:  ", c->base, rounds, style);
    else
        ab_table_prose(to, style, AB_PLAIN, "and:  measure the base with as many rounds");
}

/* Returns the name of the baseline in a label; NULL = the label is that of a file or of this
 * run. */
static const char *name_in(const char *label)
{
    const size_t n = strlen(AB_BASELINE_LABEL);
    return label != NULL && strncmp(label, AB_BASELINE_LABEL, n) == 0 ? label + n : NULL;
}

/* True if the result is better than a baseline and may replace it. */
static bool is_renewal(const struct ab_comparison *c, const char *file)
{
    return file != NULL && name_in(c->base_label) != NULL && name_in(c->now_label) == NULL &&
           ab_comparison_status(c) == AB_OK && ab_comparison_count(c, AB_VERDICT_IMPROVED) > 0;
}

static void print_update(FILE *to, const char *folder, const char *name, const char *file,
                         struct ab_table_style style)
{
    struct ab_text t = {0};
    ab_text_addf(&t, "allocbench baseline update %s", name);
    if (file[0] != 0) {
        ab_text_add(&t, " ");
        ab_text_add_shell(&t, file);
    }
    if (folder != NULL) {
        ab_text_add(&t, " --results ");
        ab_text_add_shell(&t, folder);
    }
    print_command(to, "next: ", &t, style);
}

/* Prints the option that shows more of the comparison. */
static void print_look(FILE *to, const struct ab_comparison *c, struct ab_table_style style)
{
    bool is_cut = ab_sink_compare_is_cut(c, style.is_verbose), is_drawn = c->base != c->now;
    if (is_cut || is_drawn)
        ab_table_prose(
            to, style, AB_PLAIN,
            !is_drawn ? "next: -v lists every percentile"
            : is_cut
                ? "next: -v lists every percentile, --html FILE draws both results on top of each "
                  "other"
                : "next: --html FILE draws both results on top of each other");
}

void ab_verdicts_print(FILE *to, const char *folder, const struct ab_session *s, const char *file,
                       struct ab_table_style style)
{
    const struct ab_comparison *c = s->comparison;
    uint32_t rounds = most_needed(s);
    char text[64];
    if (c != NULL)
        ab_sink_compare(to, c, style);
    ab_sink_gates(to, s, style);
    snprintf(text, sizeof text, "next: measure both with --rounds %u", rounds);
    if (rounds > 0 && can_repeat(s))
        print_rounds(to, c, s, rounds, style);
    else if (rounds > 0 && c != NULL && c->base != s)
        ab_table_prose(to, style, AB_PLAIN, text);
    else if (c != NULL && ab_comparison_count(c, AB_VERDICT_FAIL) > 0)
        print_look(to, c, style);
    else if (c != NULL && is_renewal(c, file))
        print_update(to, folder, name_in(c->base_label), file, style);
}

/* ---- the answer ---- */

void ab_outputs_lines(const struct ab_outputs_wanted *wanted, const struct ab_session *session,
                      FILE *to)
{
    for (unsigned i = 0; i < AB_SINK_COUNT; i++)
        if (wanted->wants_lines[i])
            ab_sinks[i].write(to, session);
}

void ab_store_tell(const struct ab_store *store)
{
    char shown[512];
    if (store->folder != NULL && store->name[0] != 0)
        fprintf(stderr, "Stored: %s/%s\n", ab_text_printable(shown, sizeof shown, store->folder),
                store->name);
}

static void print_answer(const struct ab_options *o, const struct ab_measured *m, bool is_taken)
{
    struct ab_table_style style = ab_terminal_style(o);
    FILE *beside = is_taken ? stderr : stdout;
    style.is_live = !ab_session_is_exec(m->session);
    if (!is_taken)
        ab_sink_table(stdout, m->session, style);
    if (!is_taken && m->session->n_results > 0 && m->n_left > 0)
        printf("Up to %u processes of the program still ran after its end and were ended.\n",
               m->n_left);
    style.is_live = false;
    style.color = style.color && !is_taken;
    if (!is_taken)
        ab_sink_claims(stdout, m->session, style);
    if (m->session->comparison != NULL)
        fputc('\n', beside);
    ab_verdicts_print(beside, o->store.folder, m->session, m->store->name[0] != 0 ? "" : NULL,
                      style);
}

void ab_show_measured(void *user, const struct ab_measured *m)
{
    const struct ab_options *o = user;
    const struct ab_outputs_wanted *outputs = &m->asked->outputs;
    /* o->outputs has also the outputs of the suite, if this is the result of one of its files */
    bool is_taken = ab_outputs_use_stdout(&o->outputs);
    if (o->talk.is_quiet)
        ab_verdicts_tell(m->session, o->verdicts.fails_inconclusive);
    else
        print_answer(o, m, is_taken);
    if (m->status == AB_OK)
        ab_outputs_lines(outputs, m->session, is_taken ? stderr : stdout);
    fflush(stdout); /* writes the table before the path of the result, which goes to stderr */
    if (!o->talk.is_quiet)
        ab_store_tell(m->store);
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
};
