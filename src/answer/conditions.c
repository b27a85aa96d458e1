/* SPDX-License-Identifier: MIT
 *
 * Tables of the conditions: the measurement, the hosts, and the libraries of the allocators. A fact
 * that is not known has no row.
 */
#include "answer/topics.h"
#include "result/numbers.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <time.h>

static void say_as(struct ab_grid *g, unsigned column, enum ab_grid_kind kind, const char *text)
{
    ab_grid_say(g, column, "%s", text)->kind = kind;
}

static void add_as(struct ab_grid *g, const char *what, enum ab_grid_kind kind, const char *text)
{
    if (text == NULL || text[0] == 0)
        return;
    ab_grid_add(g, what, "");
    say_as(g, 0, kind, text);
}

static void add_text(struct ab_grid *g, const char *what, const char *text)
{
    add_as(g, what, AB_GRID_PROSE, text);
}

static void add_number(struct ab_grid *g, const char *what, enum ab_grid_kind kind, double value)
{
    if (!(value > 0))
        return;
    ab_grid_add(g, what, "");
    ab_grid_put(g, 0, kind, value, NULL);
}

static void add_host(struct ab_grid *g, const struct ab_host *host)
{
    char text[64];
    g->title = "Machine";
    add_text(g, "name", host->name);
    add_text(g, "CPU", host->cpu);
    snprintf(text, sizeof text, "%" PRIu32 " online, %" PRIu32 " allowed", host->cpus_online,
             host->cpus_allowed);
    add_text(g, "CPUs", host->cpus_online > 0 ? text : "");
    add_number(g, "memory", AB_GRID_BYTES, (double)host->memory_bytes);
    add_number(g, "page size", AB_GRID_BYTES, (double)host->page_bytes);
    add_text(g, "system", host->os);
    add_text(g, "kernel", host->kernel);
    add_text(g, "C library", host->libc);
    add_text(g, "governor", host->governor);
    add_text(g, "virtualization", host->virt);
    add_text(g, "transparent huge pages", host->thp);
    add_text(g, "address space randomization", host->aslr);
    snprintf(text, sizeof text, "%.2f", host->load_1min);
    add_text(g, "load before (1 min)", isnan(host->load_1min) ? "" : text);
    add_as(g, "fingerprint", AB_GRID_CODE, host->fingerprint);
}

static void add_measurement(struct ab_grid *g, const struct ab_session *s)
{
    char text[128] = "";
    struct tm tm;
    g->title = "Measurement";
    add_as(g, "command", AB_GRID_CODE, s->command_line);
    if (s->start != 0 && gmtime_r(&s->start, &tm) != NULL &&
        strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &tm) > 0)
        add_text(g, "measured", text);
    snprintf(text, sizeof text, "%" PRIu32 " of %" PRIu32 "%s", s->n_rounds, s->n_rounds_planned,
             s->is_complete ? "" : " (not complete)");
    add_text(g, "rounds", text);
    snprintf(text, sizeof text, "%" PRIu64, s->seed);
    add_text(g, "seed", text);
    add_text(g, "clock", s->timer.source);
    add_number(g, "timer resolution", AB_GRID_TIME, s->timer.quantum_ns);
    add_number(g, "timer overhead", AB_GRID_TIME, s->timer.floor_ns);
    add_text(g, "version", s->tool.version);
    add_text(g, "compiler", s->tool.compiler);
    add_as(g, "flags", AB_GRID_CODE, s->tool.flags);
    add_as(g, "SHA-256 of the operations", AB_GRID_CODE, s->tape_sha256);
}

/* Puts the exit status of the runs of a back end, or why the back end has no numbers. */
static void put_end(struct ab_grid *g, uint32_t backend)
{
    const struct ab_session *s = g->session;
    const struct ab_backend_info *b = &s->backends[backend];
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n_results; i++)
        n += s->results[i].backend == backend;
    bool has_numbers = ab_session_has_numbers(s, backend);
    struct ab_grid_cell *cell = has_numbers
                                    ? ab_grid_say(g, 0, "0 in all %u runs", n)
                                    : ab_grid_say(g, 0, "%s: %s", ab_backend_status_name(b->status),
                                                  b->reason);
    cell->kind = AB_GRID_PROSE;
    cell->is_long = !has_numbers;
}

/* Adds a row for each back end: its library or, with is_served, how the program ended and which
 * allocator served it. */
static void add_backends(struct ab_grid *g, const struct ab_view *v, bool is_served)
{
    enum { PATH = 1, VERSION, BUILD_ID, COLUMNS };
    const unsigned path = is_served ? PATH : VERSION, version = is_served ? VERSION : PATH;
    g->title = is_served ? "Allocator in use" : "Libraries";
    g->rows_are = "allocator";
    g->n_columns = COLUMNS;
    g->columns[0].in_html = is_served ? "exit status" : "status";
    g->columns[path].in_html = is_served ? "provided by" : "path";
    g->columns[version].in_html = "version";
    g->columns[BUILD_ID].in_html = "build id";
    for (uint32_t i = 0; i < v->ranking.n_rows; i++) {
        uint32_t backend = is_served ? v->ranking.rows[i].backend : i;
        const struct ab_backend_info *b = &g->session->backends[backend];
        struct ab_grid_row *row = ab_grid_add_backend(g, backend);
        row->emphasis = AB_PLAIN;
        if (is_served) {
            put_end(g, backend);
        } else {
            row->label = b->name;
            ab_grid_say(g, 0, "%s%s%s", ab_backend_status_name(b->status),
                        b->reason[0] != 0 ? ": " : "", b->reason)
                ->kind = AB_GRID_PROSE;
        }
        say_as(g, version, AB_GRID_PROSE, b->version);
        say_as(g, path, AB_GRID_CODE,
               !is_served && b->n_heaps > 0     ? b->map
               : b->path[0] != 0                ? b->path
               : b->status == AB_BACKEND_ABSENT ? "n/a"
               : is_served                      ? "the C library"
                                                : "built in");
        say_as(g, BUILD_ID, AB_GRID_CODE, b->build_id);
    }
}

static void begin(const struct ab_topic_at *at, struct ab_grid *g)
{
    *g = (struct ab_grid){.session = at->view->session,
                          .rows_are = "",
                          .columns = {{.in_html = ""}},
                          .n_columns = 1,
                          .is_list = true};
}

bool ab_measurement_grid(const struct ab_topic_at *at, struct ab_grid *g)
{
    begin(at, g);
    add_measurement(g, g->session);
    return true;
}

bool ab_machine_grid(const struct ab_topic_at *at, struct ab_grid *g)
{
    const struct ab_session *s = at->view->session;
    begin(at, g);
    add_host(g, s->hosts != NULL ? &s->hosts[at->number] : &s->host);
    return true;
}

bool ab_libraries_grid(const struct ab_topic_at *at, struct ab_grid *g)
{
    begin(at, g);
    add_backends(g, at->view, false);
    return true;
}

/* Fills the table of how a real program ended under each back end, and which allocator served
 * it. */
bool ab_served_grid(const struct ab_topic_at *at, struct ab_grid *g)
{
    begin(at, g);
    add_backends(g, at->view, true);
    return ab_session_is_exec(g->session);
}
