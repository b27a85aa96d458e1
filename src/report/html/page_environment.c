/* SPDX-License-Identifier: MIT
 *
 * What it was measured with: host, clock, order, command, libraries, workload.
 */
#include "report/html/pages.h"

#include "core/units_show.h"

#include <inttypes.h>
#include <math.h>

static void put_fact(struct ab_html *h, const char *what, const char *text)
{
    if (text != NULL && text[0] != 0)
        ab_html_f(h, "<tr><th scope=\"row\">%s</th><td>%s</td></tr>\n", what, text);
}

/* What is copied, or has no blanks to break at. */
static void put_code(struct ab_html *h, const char *what, const char *text)
{
    if (text != NULL && text[0] != 0)
        ab_html_f(h, "<tr><th scope=\"row\">%s</th><td><code>%s</code></td></tr>\n", what, text);
}

static void put_ns(struct ab_html *h, const char *what, double ns)
{
    char text[64];
    if (!isnan(ns) && ns > 0)
        put_fact(h, what, ab_axis_text(text, sizeof text, AB_AXIS_TIME, ns));
}

static void put_bytes(struct ab_html *h, const char *what, uint64_t bytes)
{
    char text[32];
    if (bytes > 0)
        put_fact(h, what, ab_units_bytes(text, sizeof text, (double)bytes));
}

static void put_host(struct ab_html *h, const struct ab_host *host)
{
    char text[64];
    ab_page_table_begin(h, "Machine", (const char *const[]){"", "", NULL});
    put_fact(h, "name", host->name);
    put_fact(h, "CPU", host->cpu);
    snprintf(text, sizeof text, "%" PRIu32 " online, %" PRIu32 " allowed", host->cpus_online,
             host->cpus_allowed);
    put_fact(h, "CPUs", host->cpus_online > 0 ? text : "");
    put_bytes(h, "memory", host->memory_bytes);
    put_bytes(h, "page size", host->page_bytes);
    put_fact(h, "system", host->os);
    put_fact(h, "kernel", host->kernel);
    put_fact(h, "C library", host->libc);
    put_fact(h, "governor", host->governor);
    put_fact(h, "virtualization", host->virt);
    put_fact(h, "transparent huge pages", host->thp);
    put_fact(h, "address space randomization", host->aslr);
    snprintf(text, sizeof text, "%.2f", host->load_1min);
    put_fact(h, "load before (1 min)", isnan(host->load_1min) ? "" : text);
    put_code(h, "fingerprint", host->fingerprint);
    ab_page_table_end(h);
}

static void put_measurement(struct ab_html *h, const struct ab_session *s)
{
    char text[128] = "";
    struct tm tm;
    ab_page_table_begin(h, "Measurement", (const char *const[]){"", "", NULL});
    put_code(h, "command", s->command_line);
    if (s->start != 0 && gmtime_r(&s->start, &tm) != NULL &&
        strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &tm) > 0)
        put_fact(h, "measured", text);
    snprintf(text, sizeof text, "%" PRIu32 " of %" PRIu32 "%s", s->n_rounds, s->n_rounds_planned,
             s->is_complete ? "" : " (not complete)");
    put_fact(h, "rounds", text);
    snprintf(text, sizeof text, "%" PRIu64, s->seed);
    put_fact(h, "seed", text);
    put_fact(h, "clock", s->timer.source);
    put_ns(h, "timer resolution", s->timer.quantum_ns);
    put_ns(h, "timer overhead", s->timer.floor_ns);
    put_fact(h, "version", s->tool.version);
    put_fact(h, "compiler", s->tool.compiler);
    put_code(h, "flags", s->tool.flags);
    put_code(h, "SHA-256 of the operations", s->tape_sha256);
    ab_page_table_end(h);
}

static void put_libraries(struct ab_html *h, const struct ab_report *report)
{
    static const char *const columns[] = {"allocator", "status",   "version",
                                          "path",      "build id", NULL};
    const struct ab_session *s = report->session;
    ab_page_table_begin(h, "Libraries", columns);
    for (uint32_t i = 0; i < s->n_backends; i++) {
        const struct ab_backend_info *b = &s->backends[i];
        ab_html_f(h, "<tr><th scope=\"row\">");
        ab_page_name(h, report, b->name);
        ab_html_f(
            h,
            "</th><td>%s%s%s</td><td>%s</td><td><code>%s</code></td><td><code>%s</code></td></tr>\n",
            ab_backend_status_name(b->status), b->reason[0] != 0 ? ": " : "", b->reason, b->version,
            b->n_heaps > 0                   ? b->map
            : b->path[0] != 0                ? b->path
            : b->status == AB_BACKEND_ABSENT ? "n/a"
                                             : "built in",
            b->build_id);
    }
    ab_page_table_end(h);
}

static void put_order(struct ab_html *h, const struct ab_session *s)
{
    ab_page_fold_begin(h, "Order of the runs", AB_PAGE_OPEN);
    ab_html_f(h, "<ol>\n");
    for (uint32_t r = 0; r < s->n_rounds; r++) {
        ab_html_f(h, "<li>");
        for (uint32_t i = 0; i < s->rounds[r].n_order; i++)
            if (s->rounds[r].order[i] < s->n_backends)
                ab_html_f(h, "%s%s", i > 0 ? ", " : "", s->backends[s->rounds[r].order[i]].name);
        ab_html_f(h, "</li>\n");
    }
    ab_html_f(h, "</ol>\n");
    ab_page_fold_end(h);
}

void ab_page_environment(struct ab_html *h, const struct ab_report *report)
{
    const struct ab_session *s = report->session;
    put_measurement(h, s);
    for (uint32_t i = 0; i < ab_session_host_count(s); i++)
        put_host(h, s->hosts != NULL ? &s->hosts[i] : &s->host);
    put_libraries(h, report);
    if (s->rounds != NULL)
        put_order(h, s);
    if (s->config_text != NULL && s->config_text[0] != 0) {
        ab_page_fold_begin(h, s->config_path != NULL ? s->config_path : "workload", AB_PAGE_OPEN);
        ab_html_f(h, "<pre>");
        ab_html_lines(h, s->config_text);
        ab_html_f(h, "</pre>\n");
        ab_page_fold_end(h);
    }
}
