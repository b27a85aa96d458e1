/* SPDX-License-Identifier: MIT
 *
 * Reads shard, parts and machines of a result.
 */
#include "report/read/read_parts.h"

#include "result/merge/shard.h"

#include <stdio.h>
#include <string.h>

static struct ab_run_shard read_shard(struct ab_json_reader *r, const struct ab_json_node *o)
{
    struct ab_json_node at = {.parent = o, .key = "shard"};
    const char *text = ab_json_has(r, o, "shard") ? ab_json_text(r, o, "shard") : "";
    struct ab_run_shard x = {0};
    char again[32];
    if (text[0] == 0)
        return x;
    if (sscanf(text, "%5u/%5u", &x.index, &x.count) == 2 && x.index >= 1 && x.index <= x.count &&
        x.count <= AB_SHARDS_MAX) {
        snprintf(again, sizeof again, "%u/%u", x.index, x.count);
        if (strcmp(again, text) == 0)
            return x;
    }
    ab_json_fail(r, &at, "must be a part of a number, such as \"1/4\"");
    return (struct ab_run_shard){0};
}

static void read_part(struct ab_json_reader *r, const struct ab_json_node *o, struct ab_part *part)
{
    part->file = ab_json_text(r, o, "file");
    ab_json_text_into(r, o, "sha256", part->sha256, sizeof part->sha256);
    part->shard = read_shard(r, o);
    part->host = (uint32_t)ab_json_whole(r, o, "host", UINT32_MAX, 0);
    part->n_rounds = (uint32_t)ab_json_whole(r, o, "n_rounds", UINT32_MAX, 0);
}

void ab_stored_shard(struct ab_stored_reader *r, const struct ab_json_node *config)
{
    struct ab_session *s = r->session;
    s->shard = read_shard(&r->json, config);
    struct ab_json_node list = ab_json_array_if_any(&r->json, config, "parts");
    size_t n = ab_json_count(&r->json, &list, AB_SHARDS_MAX);
    s->parts = ab_stored_records(r, n, sizeof s->parts[0]);
    for (size_t i = 0; i < n && r->json.status == AB_OK; i++) {
        struct ab_json_node o = ab_json_item_object(&r->json, &list, i);
        read_part(&r->json, &o, &s->parts[s->n_parts++]);
    }
}

void ab_stored_hosts(struct ab_stored_reader *r, const struct ab_json_node *document,
                     void (*read_host)(struct ab_json_reader *r, const struct ab_json_node *o,
                                       struct ab_host *h))
{
    struct ab_session *s = r->session;
    struct ab_json_node list = ab_json_array_if_any(&r->json, document, "hosts");
    size_t n = ab_json_count(&r->json, &list, AB_SHARDS_MAX);
    s->hosts = ab_stored_records(r, n, sizeof s->hosts[0]);
    for (size_t i = 0; i < n && r->json.status == AB_OK; i++) {
        struct ab_json_node o = ab_json_item_object(&r->json, &list, i);
        read_host(&r->json, &o, &s->hosts[s->n_hosts++]);
    }
    for (uint32_t i = 0; i < s->n_parts && r->json.status == AB_OK; i++)
        if (s->parts[i].host >= ab_session_host_count(s))
            ab_json_fail(&r->json, document, "config.parts[%u].host is not among the hosts", i);
}

uint32_t ab_stored_round_host(struct ab_stored_reader *r, const struct ab_json_node *round)
{
    struct ab_json_node at = {.parent = round, .key = "host"};
    uint32_t host = 0;
    if (ab_json_has(&r->json, round, "host"))
        host = (uint32_t)ab_json_whole(&r->json, round, "host", UINT32_MAX, 0);
    if (host >= ab_session_host_count(r->session))
        ab_json_fail(&r->json, &at, "is not among the hosts");
    return r->json.status == AB_OK ? host : 0;
}
