/* SPDX-License-Identifier: MIT
 *
 * Writes JUnit XML for Jenkins and GitLab: a testsuite per result, a testcase per verdict. The body
 * of a failure has the whole sentence, because GitLab shows only that. Message and type are for
 * Jenkins.
 */
#include "core/text.h"
#include "report/sinks/sinks.h"

#include "answer/findings.h"
#include "core/alloc.h"
#include "result/shown.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Escapes text for attributes and bodies. The text must be printable. U+FFFE and U+FFFF are valid
 * UTF-8, but not allowed in XML. */
static void put_escaped(FILE *to, const char *s)
{
    for (; *s != 0; s++) {
        if (strncmp(s, "\xef\xbf\xbe", 3) == 0 || strncmp(s, "\xef\xbf\xbf", 3) == 0) {
            fputc('?', to);
            s += 2;
        } else if (*s == '&') {
            fputs("&amp;", to);
        } else if (*s == '<') {
            fputs("&lt;", to);
        } else if (*s == '>') {
            fputs("&gt;", to);
        } else if (*s == '"') {
            fputs("&quot;", to);
        } else {
            fputc(*s, to);
        }
    }
}

static void put_attribute(FILE *to, const char *name, const char *value)
{
    struct ab_text printable = {0};
    ab_finding_text(&printable, value);
    fprintf(to, " %s=\"", name);
    put_escaped(to, printable.s);
    fputc('"', to);
    ab_text_fini(&printable);
}

static void put_property(FILE *to, const char *name, const char *value)
{
    if (value == NULL || value[0] == 0)
        return;
    fputs("      <property", to);
    put_attribute(to, "name", name);
    put_attribute(to, "value", value);
    fputs("/>\n", to);
}

static void put_properties(FILE *to, const struct ab_session *s)
{
    char seed[24], rounds[16];
    AB_FIT(seed, "%" PRIu64, s->seed);
    AB_FIT(rounds, "%" PRIu32, s->n_rounds);
    fputs("    <properties>\n", to);
    put_property(to, "allocbench", s->tool.version != NULL ? s->tool.version : AB_VERSION);
    put_property(to, "command", s->command_line);
    put_property(to, "tape_sha256", s->tape_sha256);
    put_property(to, "seed", seed);
    put_property(to, "rounds", rounds);
    put_property(to, "cpu", s->host.cpu);
    put_property(to, "kernel", s->host.kernel);
    put_property(to, "libc", s->host.libc);
    fputs("    </properties>\n", to);
}

static void put_child(FILE *to, const char *tag, const struct ab_finding *f)
{
    fprintf(to, "      <%s", tag);
    if (strcmp(tag, "skipped") != 0)
        put_attribute(to, "type", f->verdict);
    put_attribute(to, "message", f->sentence.s);
    fputc('>', to);
    put_escaped(to, f->sentence.s);
    fprintf(to, "</%s>\n", tag);
}

static void put_testcase(FILE *to, const char *suite, const struct ab_finding *f)
{
    static const char *const tags[AB_OUTCOME_COUNT] = {[AB_OUTCOME_FAILED] = "failure",
                                                       [AB_OUTCOME_ERROR] = "error",
                                                       [AB_OUTCOME_SKIPPED] = "skipped"};
    struct ab_text class = {0};
    ab_text_addf(&class, "%s.%s", suite, f->kind);
    fputs("    <testcase", to);
    put_attribute(to, "classname", class.s);
    put_attribute(to, "name", f->title.s);
    fprintf(to, " time=\"%.6f\"", isfinite(f->seconds) ? f->seconds : 0);
    if (f->file.s != NULL) {
        put_attribute(to, "file", f->file.s);
        fprintf(to, " line=\"%" PRIu32 "\"", f->line);
    }
    fputs(">\n", to);
    if (tags[f->outcome] != NULL) {
        put_child(to, tags[f->outcome], f);
    } else {
        fputs("      <system-out>", to);
        fputs(f->outcome == AB_OUTCOME_WARNED ? "Warning: " : "", to);
        put_escaped(to, f->sentence.s);
        fputs("</system-out>\n", to);
    }
    fputs("    </testcase>\n", to);
    ab_text_fini(&class);
}

struct counts {
    size_t of[AB_OUTCOME_COUNT];
    double seconds;
};

static void count(const struct ab_findings *all, struct counts *sum)
{
    for (unsigned i = 0; i < AB_OUTCOME_COUNT; i++)
        sum->of[i] += all->counts[i];
    for (size_t i = 0; i < all->n; i++)
        sum->seconds += isfinite(all->items[i].seconds) ? all->items[i].seconds : 0;
}

static void put_counts(FILE *to, const struct counts *sum)
{
    size_t n = 0;
    for (unsigned i = 0; i < AB_OUTCOME_COUNT; i++)
        n += sum->of[i];
    fprintf(to, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\" time=\"%.6f\"", n,
            sum->of[AB_OUTCOME_FAILED], sum->of[AB_OUTCOME_ERROR], sum->of[AB_OUTCOME_SKIPPED],
            sum->seconds);
}

/* Finds the verdicts of a work. A work without a result counts as an error, like a back end without
 * numbers. */
static void find(const struct ab_suite_work *w, struct ab_findings *out)
{
    if (w->session != NULL) {
        ab_findings_make(w->session, out);
        return;
    }
    *out = (struct ab_findings){.n = 1, .counts = {[AB_OUTCOME_ERROR] = 1}};
    out->items = ab_alloc_zeroed(1, sizeof out->items[0]);
    out->items[0] = (struct ab_finding){
        .outcome = AB_OUTCOME_ERROR, .kind = "session", .verdict = "no_result", .seconds = NAN};
    ab_text_add(&out->items[0].title, "there is a result");
    ab_text_add(&out->items[0].sentence, "There is no result: ");
    ab_finding_text(&out->items[0].sentence, w->reason);
}

static void put_suite(FILE *to, const struct ab_suite_work *w, const struct ab_findings *all)
{
    const struct ab_session *s = w->session;
    struct counts sum = {0};
    struct tm tm;
    char when[32];
    count(all, &sum);
    fputs("  <testsuite", to);
    put_attribute(to, "name", w->name);
    put_counts(to, &sum);
    if (s != NULL && s->start != 0 && gmtime_r(&s->start, &tm) != NULL &&
        strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%S", &tm) > 0)
        put_attribute(to, "timestamp", when);
    fputs(">\n", to);
    if (s != NULL)
        put_properties(to, s);
    for (size_t i = 0; i < all->n; i++)
        if (!all->items[i].is_shown_only)
            put_testcase(to, w->name, &all->items[i]);
    fputs("  </testsuite>\n", to);
}

void ab_sinks_junit(FILE *to, const struct ab_suite_work *works, size_t n,
                    const struct ab_session *means)
{
    const struct ab_suite_work of_means = {.name = AB_SUITE_MEAN, .session = means};
    struct ab_format_guard guard;
    struct ab_findings *all = ab_alloc_zeroed(n + 1, sizeof all[0]);
    struct counts sum = {0};
    ab_format_begin(&guard);
    for (size_t i = 0; i < n; i++) {
        find(&works[i], &all[i]);
        count(&all[i], &sum);
    }
    if (means != NULL) {
        ab_findings_of_gates(means->gates, means->n_gates, &all[n]);
        count(&all[n], &sum);
    }
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"allocbench\"", to);
    put_counts(to, &sum);
    fputs(">\n", to);
    for (size_t i = 0; i < n; i++) {
        put_suite(to, &works[i], &all[i]);
        ab_findings_fini(&all[i]);
    }
    if (means != NULL)
        put_suite(to, &of_means, &all[n]);
    ab_findings_fini(&all[n]);
    fputs("</testsuites>\n", to);
    free(all);
    ab_format_end(&guard);
}

void ab_sink_junit(FILE *to, const struct ab_session *session)
{
    ab_sinks_junit(to, &(struct ab_suite_work){.name = session->name, .session = session}, 1, NULL);
}
