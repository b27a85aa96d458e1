/* SPDX-License-Identifier: MIT
 *
 * The workload file as libcyaml loads it: every scalar is text, NULL where the key is absent.
 * libcyaml 1.3.1 reads numbers wrongly (1e6 as 1, 64KiB as 64, -1 as 2^64-1), so it never gets to.
 */
#ifndef AB_WORKLOAD_PARSE_SCHEMA_H
#define AB_WORKLOAD_PARSE_SCHEMA_H

#include "workload/parse/schema_keys.h"

#define AB_RAW_TEXT(owner, member, key) char *member;
#define AB_RAW_TEXTS(owner, member, key) \
    char **member; \
    unsigned member##_count;
#define AB_RAW_LIST(owner, member, key, child) \
    struct ab_raw_##child *member; \
    unsigned member##_count;
#define AB_RAW_MIXED(owner, key, child)
#define AB_RAW_MAP(owner, key, child)
#define AB_RAW_LATER(key)
#define AB_RAW(owner, OWNER) \
    struct ab_raw_##owner { \
        AB_KEYS_##OWNER(AB_RAW_TEXT, AB_RAW_TEXTS, AB_RAW_LIST, AB_RAW_MIXED, AB_RAW_MAP, \
                        AB_RAW_LATER) \
    }

AB_RAW(verb, VERB);
AB_RAW(param, PARAM);
AB_RAW(part, PART);
AB_RAW(size, SIZE);
AB_RAW(set, SET);
AB_RAW(role, ROLE);
AB_RAW(phase, PHASE);
AB_RAW(backend, BACKEND);
AB_RAW(claim, CLAIM);
AB_RAW(top, TOP);

struct ab_schema {
    struct ab_raw_top *top;
    size_t used_bytes; /* of the loader, against its cap */
};

/* Loads text that ab_tree_scan and ab_keys_check found loadable into a zeroed schema. skip_unknown:
 * keys that were complained about are passed over, so that the values after them are checked as
 * well. NULL, or a static message. */
const char *ab_schema_load(const struct ab_source_text *source, bool skip_unknown,
                           struct ab_schema *out);
void ab_schema_fini(struct ab_schema *schema);

#endif
