/* SPDX-License-Identifier: MIT
 *
 * Reads the files of heaptrack: lines of a letter and hexadecimal numbers. In raw files (heaptrack
 * --raw) a call has the address of its block: "+ SIZE TRACE ADDRESS", "- ADDRESS". In interpreted
 * files, lines "a SIZE TRACE" define pairs of size and call site, numbered from 0, and a call has
 * such a number. Which of the blocks with the same size and call site was freed is then lost; the
 * youngest is assumed. Both kinds of files record a resize as a free and an allocation, and have no
 * threads. "c MILLISECONDS" is the time, every 10 ms. Other lines describe call sites.
 *
 * The header of a trace says whether the trace has times. Calls before the first "c" are therefore
 * held back.
 */
#include "core/text.h"
#include "exchange/intake.h"

#include "core/alloc.h"

#include <stdlib.h>
#include <string.h>

static const char expected[] = "a line of heaptrack, such as \"+ 64 8 55a2dc7681d0\" or \"+ 1f\"";

enum { INTERPRETED = 1, RAW = 2 }; /* set when a line has shown the kind */
enum { VERSION_LEAST = 1, VERSION_MOST = 3 };
enum { SITES_MOST = 1 << 26 }; /* limit, because a compressed file can hold any number of lines */
/* more calls than fit into 10 ms: a file without "c" up to here has no times */
enum { HELD_MOST = 1 << 20 };
#define NONE UINT32_MAX

/* live block of an interpreted file, in a list of the blocks with the same size and call site */
struct node {
    uint64_t address;
    uint32_t next;
};

struct site {
    uint64_t size;
    uint32_t youngest; /* index in `nodes` of the youngest block; NONE = no blocks */
};

struct heap {
    struct ab_feed *from;
    struct ab_intake *to;
    int kind; /* 0 = not known yet */
    uint64_t time_ns, n_addresses;
    struct ab_foreign_call *held;
    size_t n_held, cap_held;
    /* True once it is known whether the file has times; then nothing is held back */
    bool is_settled;
    bool has_version;
    struct site *sites;
    size_t n_sites, cap_sites;
    struct node *nodes;
    size_t n_nodes, cap_nodes;
    uint32_t unused; /* list of unused nodes; NONE = empty */
};

static bool scan_number(const char **at, uint64_t *out)
{
    return ab_scan_text(at, " ") && ab_scan_hex(at, out);
}

/* Sets the kind of the file, raw or interpreted. Refuses a line of the other kind. */
static enum ab_status settle(struct heap *h, int kind, const char *line, struct ab_err *err)
{
    if (h->kind != 0 && h->kind != kind)
        return ab_feed_odd_line(
            h->from, line, kind == RAW ? "interpreted lines, as before" : "raw lines, as before",
            err);
    h->kind = kind;
    return AB_OK;
}

static enum ab_status settle_times(struct heap *h, bool has_time, struct ab_err *err)
{
    enum ab_status status = AB_OK;
    if (h->is_settled)
        return AB_OK;
    h->is_settled = true;
    h->to->has_time = has_time;
    for (size_t i = 0; i < h->n_held && status == AB_OK; i++)
        status = ab_intake_take(h->to, &h->held[i], err);
    free(h->held);
    h->held = NULL;
    return status;
}

static enum ab_status take(struct heap *h, struct ab_foreign_call call, struct ab_err *err)
{
    call.time_ns = h->time_ns;
    if (h->n_held == HELD_MOST)
        AB_TRY(settle_times(h, false, err));
    if (h->is_settled)
        return ab_intake_take(h->to, &call, err);
    AB_GROW(h->held, h->cap_held, h->n_held);
    h->held[h->n_held++] = call;
    return AB_OK;
}

/* ---- interpreted ---- */

static enum ab_status add_site(struct heap *h, uint64_t size, struct ab_err *err)
{
    if (h->n_sites == SITES_MOST)
        return ab_feed_bad(h->from, err, "more than %d lines \"a SIZE TRACE\"", SITES_MOST);
    AB_GROW(h->sites, h->cap_sites, h->n_sites);
    h->sites[h->n_sites++] = (struct site){size, NONE};
    return AB_OK;
}

static enum ab_status alloc_at(struct heap *h, struct site *site, struct ab_err *err)
{
    uint32_t i = h->unused;
    if (i != NONE) {
        h->unused = h->nodes[i].next;
    } else {
        if (h->n_nodes >= NONE)
            return ab_fail(err, AB_SYSTEM, "out of memory for the live blocks");
        AB_GROW(h->nodes, h->cap_nodes, h->n_nodes);
        i = (uint32_t)h->n_nodes++;
    }
    h->nodes[i] = (struct node){++h->n_addresses, site->youngest};
    site->youngest = i;
    return take(h, (struct ab_foreign_call){.address = h->n_addresses, .size = site->size}, err);
}

static enum ab_status free_at(struct heap *h, struct site *site, struct ab_err *err)
{
    uint32_t i = site->youngest;
    struct ab_foreign_call call = {.kind = AB_EVENT_FREE,
                                   .old = ++h->n_addresses}; /* an address that no block has */
    if (i != NONE) {
        h->to->report.n_guessed += h->nodes[i].next != NONE;
        call.old = h->nodes[i].address;
        site->youngest = h->nodes[i].next;
        h->nodes[i].next = h->unused;
        h->unused = i;
    }
    return take(h, call, err);
}

static enum ab_status take_named(struct heap *h, const char *line, uint64_t index,
                                 struct ab_err *err)
{
    AB_TRY(settle(h, INTERPRETED, line, err));
    if (index >= h->n_sites)
        return ab_feed_bad(h->from, err,
                           "allocation %llx, but only %zx were named by lines \"a SIZE TRACE\"",
                           (unsigned long long)index, h->n_sites);
    struct site *site = &h->sites[index];
    return line[0] == '+' ? alloc_at(h, site, err) : free_at(h, site, err);
}

/* ---- both ---- */

static enum ab_status take_alloc(struct heap *h, const char *line, struct ab_err *err)
{
    const char *at = line + 1;
    uint64_t size, trace, address;
    if (!scan_number(&at, &size))
        return ab_feed_odd_line(h->from, line, expected, err);
    if (ab_scan_end(at))
        return take_named(h, line, size, err);
    if (!scan_number(&at, &trace) || !scan_number(&at, &address) || !ab_scan_end(at) ||
        address == 0)
        return ab_feed_odd_line(h->from, line, expected, err);
    AB_TRY(settle(h, RAW, line, err));
    return take(h, (struct ab_foreign_call){.address = address, .size = size}, err);
}

static enum ab_status take_free(struct heap *h, const char *line, struct ab_err *err)
{
    const char *at = line + 1;
    uint64_t name;
    if (!scan_number(&at, &name) || !ab_scan_end(at))
        return ab_feed_odd_line(h->from, line, expected, err);
    if (h->kind == INTERPRETED)
        return take_named(h, line, name, err);
    AB_TRY(settle(h, RAW, line, err));
    return take(h, (struct ab_foreign_call){.kind = AB_EVENT_FREE, .old = name}, err);
}

static enum ab_status take_site(struct heap *h, const char *line, struct ab_err *err)
{
    const char *at = line + 1;
    uint64_t size, trace;
    if (!scan_number(&at, &size) || !scan_number(&at, &trace) || !ab_scan_end(at))
        return ab_feed_odd_line(h->from, line, expected, err);
    AB_TRY(settle(h, INTERPRETED, line, err));
    return add_site(h, size, err);
}

static enum ab_status take_version(struct heap *h, const char *line, struct ab_err *err)
{
    const char *at = line + 1;
    uint64_t heaptrack, version = 0;
    bool ok = scan_number(&at, &heaptrack) && (ab_scan_end(at) || scan_number(&at, &version));
    if (!ok || !ab_scan_end(at))
        return ab_feed_odd_line(h->from, line, expected, err);
    if (version < VERSION_LEAST || version > VERSION_MOST)
        return ab_feed_bad(h->from, err, "version %llu of the format; %d to %d are read",
                           (unsigned long long)version, VERSION_LEAST, VERSION_MOST);
    if (h->has_version)
        return ab_feed_bad(h->from, err, "a second recording begins here; import each by itself");
    h->has_version = true;
    return AB_OK;
}

/* Stores the name of the command, without folder and arguments. */
static void take_program(struct heap *h, const char *command)
{
    size_t n = strcspn(command, " ");
    while (n > 0 && memchr(command, '/', n) != NULL) {
        size_t folder = (size_t)((const char *)memchr(command, '/', n) - command) + 1;
        command += folder;
        n -= folder;
    }
    AB_FIT(h->to->program, "%.*s", (int)(n < 255 ? n : 255), command);
}

static enum ab_status take_time(struct heap *h, const char *line, struct ab_err *err)
{
    const char *at = line + 1;
    uint64_t ms;
    if (!scan_number(&at, &ms) || !ab_scan_end(at) || ms > UINT64_MAX / 1000000)
        return ab_feed_odd_line(h->from, line, expected, err);
    AB_TRY(settle_times(h, true, err));
    h->time_ns = ms * 1000000;
    return AB_OK;
}

static enum ab_status take_line(struct heap *h, const char *line, struct ab_err *err)
{
    const char *at = line + 1;
    switch (line[0]) {
    case '+':
        return take_alloc(h, line, err);
    case '-':
        return take_free(h, line, err);
    case 'a':
        return take_site(h, line, err);
    case 'v':
        return take_version(h, line, err);
    case 'c':
        return take_time(h, line, err);
    case 'X':
        take_program(h, *at == ' ' ? at + 1 : at);
        return AB_OK;
    default: /* frames, strings, modules, comments, memory of the process, suppressions */
        return line[0] != 0 && strchr("#ARISimstx", line[0]) == NULL
                   ? ab_feed_odd_line(h->from, line, expected, err)
                   : AB_OK;
    }
}

enum ab_status ab_import_heaptrack(struct ab_feed *from, struct ab_intake *to, struct ab_err *err)
{
    struct heap h = {.from = from, .to = to, .unused = NONE};
    enum ab_status status;
    char *line;
    while ((status = ab_feed_line(from, &line, err)) == AB_OK && line != NULL &&
           (status = take_line(&h, line, err)) == AB_OK)
        ;
    if (status == AB_OK)
        status = settle_times(&h, false, err);
    free(h.held);
    free(h.sites);
    free(h.nodes);
    return status;
}
