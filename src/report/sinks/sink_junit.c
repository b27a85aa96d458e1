/* SPDX-License-Identifier: MIT
 *
 * JUnit XML, as Jenkins and GitLab read it: a testcase for each verdict. GitLab shows only the body
 * of a failure, so the whole sentence is there; message and type are for Jenkins.
 */
#include "report/sinks/sinks.h"

#include "report/ci/findings.h"
#include "report/format.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* For attributes and bodies alike. What comes is printable; U+FFFE and U+FFFF are UTF-8, but no
 * characters of XML. */
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
    snprintf(seed, sizeof seed, "%" PRIu64, s->seed);
    snprintf(rounds, sizeof rounds, "%" PRIu32, s->n_rounds);
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

static void put_testcase(FILE *to, const struct ab_session *s, const struct ab_finding *f)
{
    static const char *const tags[AB_OUTCOME_COUNT] = {[AB_OUTCOME_FAILED] = "failure",
                                                       [AB_OUTCOME_ERROR] = "error",
                                                       [AB_OUTCOME_SKIPPED] = "skipped"};
    struct ab_text class = {0};
    ab_text_addf(&class, "%s.%s", s->name, f->kind);
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

static double seconds_of(const struct ab_findings *all)
{
    double sum = 0;
    for (size_t i = 0; i < all->n; i++)
        sum += isfinite(all->items[i].seconds) ? all->items[i].seconds : 0;
    return sum;
}

static void put_counts(FILE *to, const struct ab_findings *all)
{
    size_t n = 0;
    for (unsigned i = 0; i < AB_OUTCOME_COUNT; i++)
        n += all->counts[i];
    fprintf(to, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\" time=\"%.6f\"", n,
            all->counts[AB_OUTCOME_FAILED], all->counts[AB_OUTCOME_ERROR],
            all->counts[AB_OUTCOME_SKIPPED], seconds_of(all));
}

static void put_document(FILE *to, const struct ab_session *s, const struct ab_findings *all)
{
    struct tm tm;
    char when[32];
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"allocbench\"", to);
    put_counts(to, all);
    fputs(">\n  <testsuite", to);
    put_attribute(to, "name", s->name);
    put_counts(to, all);
    if (s->start != 0 && gmtime_r(&s->start, &tm) != NULL &&
        strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%S", &tm) > 0)
        put_attribute(to, "timestamp", when);
    fputs(">\n", to);
    put_properties(to, s);
    for (size_t i = 0; i < all->n; i++)
        if (!all->items[i].is_shown_only)
            put_testcase(to, s, &all->items[i]);
    fputs("  </testsuite>\n</testsuites>\n", to);
}

bool ab_sink_junit(FILE *to, const struct ab_session *session)
{
    struct ab_findings all;
    struct ab_format_guard guard;
    ab_format_begin(&guard);
    ab_findings_make(session, &all);
    put_document(to, session, &all);
    ab_findings_fini(&all);
    ab_format_end(&guard);
    return true;
}
