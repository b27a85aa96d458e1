/* SPDX-License-Identifier: MIT
 *
 * Reads the options of `exec --server`: when the server is ready, which metrics its load prints,
 * and the rules between the options.
 */
#include "app/exec_server.h"

#include "core/alloc.h"
#include "core/text.h"
#include "result/result_fields.h"

#include <netdb.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

enum { SHOWN = 300 };

#define END_SIGNALS(X) X(TERM) X(INT) X(QUIT) X(HUP) X(USR1) X(USR2) X(KILL)
#define NAME(signal) #signal,
#define NUMBER(signal) SIG##signal,
const char *const ab_end_signals[] = {END_SIGNALS(NAME) NULL};
static const int numbers[] = {END_SIGNALS(NUMBER)};

/* ---- --ready ---- */

static enum ab_status add_addresses(const char *host, const char *port, int flags,
                                    struct ab_server_ready *out, struct ab_err *err)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = flags}, *list = NULL;
    int failed = getaddrinfo(host, port, &hints, &list);
    if (failed != 0)
        return ab_fail(err, AB_USAGE, "--ready '%s': %s: %s", AB_SHOWN(SHOWN, out->text),
                       AB_SHOWN(SHOWN, host), gai_strerror(failed));
    for (struct addrinfo *a = list; a != NULL && out->n_addresses < AB_SERVER_ADDRESSES;
         a = a->ai_next) {
        struct ab_server_address *to = &out->addresses[out->n_addresses++];
        memcpy(&to->to, a->ai_addr, a->ai_addrlen);
        to->n = a->ai_addrlen;
    }
    freeaddrinfo(list);
    return AB_OK;
}

/* Parses PORT, HOST:PORT or [HOST]:PORT. */
static enum ab_status read_tcp(const char *text, struct ab_server_ready *out, struct ab_err *err)
{
    char host[256] = "", *end;
    const char *colon = strrchr(text, ':'), *port = colon != NULL ? colon + 1 : text;
    long number = strtol(port, &end, 10);
    if (*port < '0' || *port > '9' || *end != 0 || number < 1 || number > 65535)
        return ab_fail(
            err, AB_USAGE,
            "--ready '%s': expected tcp:PORT or tcp:HOST:PORT with a port from 1 to 65535",
            AB_SHOWN(SHOWN, out->text));
    if (colon != NULL)
        AB_FIT(host, "%.*s", (int)(colon - text), text);
    size_t n = strlen(host);
    if (n > 2 && host[0] == '[' && host[n - 1] == ']') {
        host[n - 1] = 0;
        memmove(host, host + 1, n - 1);
    }
    if (host[0] != 0)
        return add_addresses(host, port, 0, out, err);
    AB_TRY(add_addresses("127.0.0.1", port, AI_NUMERICHOST, out, err));
    return add_addresses("::1", port, AI_NUMERICHOST, out, err);
}

static enum ab_status read_unix(const char *path, struct ab_server_ready *out, struct ab_err *err)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    if (path[0] == 0 || strlen(path) >= sizeof to.sun_path)
        return ab_fail(err, AB_USAGE, "--ready '%s': the path of a socket has 1 to %zu characters",
                       AB_SHOWN(SHOWN, out->text), sizeof to.sun_path - 1);
    strcpy(to.sun_path, path);
    memcpy(&out->addresses[0].to, &to, sizeof to);
    out->addresses[0].n = sizeof to;
    out->n_addresses = 1;
    return AB_OK;
}

static enum ab_status read_ready(const char *text, struct ab_server_ready *out, struct ab_err *err)
{
    struct ab_server_ready r = {.text = text};
    enum ab_status status;
    if (strncmp(text, "tcp:", 4) == 0) {
        status = read_tcp(text + 4, &r, err);
    } else if (strncmp(text, "unix:", 5) == 0) {
        status = read_unix(text + 5, &r, err);
    } else if (strncmp(text, "cmd:", 4) == 0 && text[4] != 0) {
        r.command = text + 4;
        status = AB_OK;
    } else {
        status = ab_fail(err, AB_USAGE,
                         "--ready '%s': expected tcp:PORT, tcp:HOST:PORT, unix:PATH or cmd:COMMAND",
                         AB_SHOWN(SHOWN, text));
    }
    if (status == AB_OK)
        *out = r;
    return status;
}

/* ---- --metric ---- */

static bool is_own_name(const char *name)
{
    size_t i = 0;
    while (i < ab_field_count && strcmp(ab_fields[i].name, name) != 0)
        i++;
    return i < ab_field_count;
}

static enum ab_status read_metric(const char *text, struct ab_server_metric *out,
                                  struct ab_err *err)
{
    struct ab_server_metric m = {.text = text};
    size_t n_groups;
    /* one byte more than the field, so that a name that is too long still looks too long */
    char name[AB_NAMED_BYTES + 1], why[200];
    const char *sign = strchr(text, '=');
    if (sign == NULL)
        return ab_fail(err, AB_USAGE,
                       "--metric '%s': expected NAME=REGEX, or NAME+=REGEX where higher is better",
                       AB_SHOWN(SHOWN, text));
    bool is_higher = sign > text && sign[-1] == '+';
    size_t n = (size_t)(sign - text) - is_higher;
    AB_FIT(name, "%.*s", (int)n, text);
    if (is_own_name(name))
        return ab_fail(err, AB_USAGE, "--metric '%s': %s is a metric of allocbench itself",
                       AB_SHOWN(SHOWN, text), name);
    m.pattern = sign + 1;
    enum ab_status status = ab_server_check_pattern(m.pattern, &n_groups, why, sizeof why);
    if (status != AB_OK)
        return ab_fail(err, status, "--metric '%s': %s", AB_SHOWN(SHOWN, text), why);
    if (n_groups == 0)
        ab_fail(err, AB_USAGE, "--metric '%s': ( ) must be around the number",
                AB_SHOWN(SHOWN, text));
    else if ((m.field = ab_named_field(name, is_higher ? AB_FIELD_HIGHER : AB_FIELD_LOWER)) == NULL)
        ab_fail(
            err, AB_USAGE,
            "--metric '%s': a name has up to %d letters, digits and '_', and does not begin with "
            "a digit; there are at most %d metrics",
            AB_SHOWN(SHOWN, text), AB_NAMED_BYTES - 1, AB_NAMED_MAX);
    if (m.field == NULL)
        return AB_USAGE;
    *out = m;
    return AB_OK;
}

/* ---- rules ---- */

static enum ab_status read_metrics(const struct ab_server_wanted *wanted, struct ab_server *server,
                                   struct ab_err *err)
{
    server->metrics = ab_alloc_zeroed(wanted->n_metrics + 1, sizeof server->metrics[0]);
    for (size_t i = 0; i < wanted->n_metrics; i++) {
        struct ab_server_metric *m = &server->metrics[i];
        AB_TRY(read_metric(wanted->metrics[i], m, err));
        server->n_metrics++;
        for (size_t k = 0; k < i; k++)
            if (strcmp(server->metrics[k].field->name, m->field->name) == 0)
                return ab_fail(err, AB_USAGE, "--metric: two are named %s", m->field->name);
    }
    return AB_OK;
}

enum ab_status ab_exec_server_read(const struct ab_exec_request *asked, struct ab_server *server,
                                   struct ab_err *err)
{
    const struct ab_server_wanted *wanted = &asked->server;
    if (!wanted->is_server)
        return AB_OK;
    if (wanted->ready == NULL || wanted->load == NULL)
        return ab_fail(err, AB_USAGE,
                       "--server requires --%s: allocbench exec --server --ready tcp:PORT --load "
                       "'CMD' -- ./server …",
                       wanted->ready == NULL ? "ready" : "load");
    if (asked->program.trace != NULL)
        return ab_fail(err, AB_USAGE,
                       "--trace and --server are mutually exclusive: the load of the recording "
                       "may have been another one");
    if (asked->measure.passes.wants_instr)
        return ab_fail(
            err, AB_USAGE,
            "--instr and --server are mutually exclusive: under callgrind a server is 50 "
            "to 100 times slower, and its load would be another");
    server->load = wanted->load;
    server->ready_timeout_ns = wanted->ready_timeout_ns;
    server->rest_ns = wanted->rest_ns;
    server->end_signal = numbers[wanted->end_signal];
    AB_TRY(read_ready(wanted->ready, &server->ready, err));
    return read_metrics(wanted, server, err);
}
