/* SPDX-License-Identifier: MIT
 *
 * Writes machines and parts of a result.
 */
#include "report/sinks/json_parts.h"

#include <stdio.h>

/* "2/4" */
static json_t *shard(struct ab_run_shard x)
{
    char text[32];
    snprintf(text, sizeof text, "%u/%u", x.index, x.count);
    return x.count > 0 ? ab_json_string(text) : json_null();
}

static json_t *parts(struct ab_json *w, const struct ab_session *s)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < s->n_parts; i++) {
        json_t *o = json_object();
        ab_json_put(w, o, "file", ab_json_string(s->parts[i].file));
        ab_json_put(w, o, "sha256", ab_json_string(s->parts[i].sha256));
        ab_json_put(w, o, "shard", shard(s->parts[i].shard));
        ab_json_put(w, o, "host", ab_json_integer(s->parts[i].host));
        ab_json_put(w, o, "n_rounds", ab_json_integer(s->parts[i].n_rounds));
        ab_json_append(w, list, o);
    }
    return list;
}

static json_t *known(uint64_t n)
{
    return n == 0 ? json_null() : ab_json_integer(n);
}

static json_t *host(struct ab_json *w, const struct ab_host *h)
{
    json_t *o = json_object();
    ab_json_put(w, o, "fingerprint", ab_json_string(h->fingerprint));
    ab_json_put(w, o, "name", ab_json_string(h->name));
    ab_json_put(w, o, "cpu", ab_json_string(h->cpu));
    ab_json_put(w, o, "cpus_online", known(h->cpus_online));
    ab_json_put(w, o, "cpus_allowed", known(h->cpus_allowed));
    ab_json_put(w, o, "kernel", ab_json_string(h->kernel));
    ab_json_put(w, o, "libc", ab_json_string(h->libc));
    ab_json_put(w, o, "os", ab_json_string(h->os));
    ab_json_put(w, o, "governor", ab_json_string(h->governor));
    ab_json_put(w, o, "virt", ab_json_string(h->virt));
    ab_json_put(w, o, "thp", ab_json_string(h->thp));
    ab_json_put(w, o, "aslr", ab_json_string(h->aslr));
    ab_json_put(w, o, "memory_bytes", known(h->memory_bytes));
    ab_json_put(w, o, "page_bytes", known(h->page_bytes));
    ab_json_put(w, o, "load_1min", ab_json_real(h->load_1min));
    return o;
}

static json_t *hosts(struct ab_json *w, const struct ab_session *s)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < s->n_hosts; i++)
        ab_json_append(w, list, host(w, &s->hosts[i]));
    return list;
}

void ab_json_put_parts(struct ab_json *w, json_t *o, const struct ab_session *s)
{
    ab_json_put(w, o, "shard", shard(s->shard));
    if (s->n_parts > 0)
        ab_json_put(w, o, "parts", parts(w, s));
}

void ab_json_put_hosts(struct ab_json *w, json_t *o, const struct ab_session *s)
{
    ab_json_put(w, o, "host", host(w, &s->host));
    if (s->n_hosts > 1)
        ab_json_put(w, o, "hosts", hosts(w, s));
}
