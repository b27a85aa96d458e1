/* SPDX-License-Identifier: MIT
 *
 * The workload file as libcyaml loads it: every scalar is text, NULL where the key is absent.
 * libcyaml 1.3.1 reads numbers wrongly (1e6 as 1, 64KiB as 64, -1 as 2^64-1), so it never gets to.
 */
#ifndef AB_WORKLOAD_PARSE_SCHEMA_H
#define AB_WORKLOAD_PARSE_SCHEMA_H

#include "workload/parse/yaml_index.h"
#include "workload/verbs.h"

/* Every key of the language, once. schema.h expands these lists to the records that libcyaml
 * fills, schema.c to libcyaml's schema and to the tables that find unknown keys, wrong shapes
 * and keys that this version does not know yet.
 *
 *     TEXT(owner, member, key)          a scalar, always kept as text
 *     TEXTS(owner, member, key)         a list of scalars, each kept as text
 *     LIST(owner, member, key, child)   a list of maps, each a `child`
 *     MIXED(owner, key, child)          a list of texts or of maps, each a `child`; left to the tree
 *     MAP(owner, key, child)            a map, a `child`; left to the tree
 *     LATER(key)                        in the language, not built yet: an error that says so */

#define AB_KEYS_TOP(TEXT, TEXTS, LIST, MIXED, MAP, LATER) \
    TEXT(top, allocbench, "allocbench") \
    TEXT(top, name, "name") \
    TEXT(top, about, "about") \
    TEXT(top, seed, "seed") \
    LIST(top, params, "params", param) \
    LIST(top, sizes, "sizes", size) \
    LIST(top, sets, "sets", set) \
    LIST(top, phases, "phases", phase) \
    LIST(top, backends, "backends", backend) \
    MIXED(top, "gates", gate) \
    LIST(top, claims, "claims", claim)

#define AB_KEYS_PARAM(TEXT, TEXTS, LIST, MIXED, MAP, LATER) \
    TEXT(param, name, "name") \
    TEXT(param, value, "value")

#define AB_KEYS_SIZE(TEXT, TEXTS, LIST, MIXED, MAP, LATER) \
    TEXT(size, name, "name") \
    TEXT(size, dist, "dist") \
    LIST(size, mix, "mix", part)

#define AB_KEYS_PART(TEXT, TEXTS, LIST, MIXED, MAP, LATER) \
    TEXT(part, weight, "weight") \
    TEXT(part, dist, "dist") \
    TEXT(part, times, "times")

#define AB_KEYS_SET(TEXT, TEXTS, LIST, MIXED, MAP, LATER) \
    TEXT(set, name, "name") \
    TEXT(set, kind, "kind") \
    TEXT(set, count, "count") \
    TEXT(set, per, "per") \
    TEXT(set, unit, "unit") \
    TEXT(set, order, "order") \
    TEXT(set, on_full, "on_full") \
    TEXT(set, via, "via") \
    LATER("fixed") \
    LATER("survive") \
    LATER("below") \
    LATER("above")

#define AB_KEYS_PHASE(TEXT, TEXTS, LIST, MIXED, MAP, LATER) \
    TEXT(phase, name, "name") \
    TEXT(phase, until, "until") \
    TEXT(phase, repeat, "repeat") \
    TEXT(phase, measure, "measure") \
    TEXT(phase, lanes, "lanes") \
    TEXT(phase, run_as, "run_as") \
    LIST(phase, roles, "roles", role) \
    LIST(phase, body, "do", verb) \
    MAP(phase, "each", each) \
    LATER("renew") \
    LATER("cap") \
    LATER("start") \
    LATER("pace") \
    LATER("check") \
    LATER("finally") \
    LATER("drain")

#define AB_KEYS_ROLE(TEXT, TEXTS, LIST, MIXED, MAP, LATER) \
    TEXT(role, name, "name") \
    TEXT(role, lanes, "lanes") \
    LIST(role, body, "do", verb)

#define AB_VERB_KEY(TEXT, NAME, key, options, kinds, pick, traits) TEXT(verb, key, #key)
#define AB_OPTION_KEY(TEXT, NAME, key) TEXT(verb, key, #key)
#define AB_KEYS_VERB(TEXT, TEXTS, LIST, MIXED, MAP, LATER) \
    AB_VERBS(AB_VERB_KEY, TEXT) \
    LIST(verb, body, "do", verb) \
    AB_VERB_OPTIONS(AB_OPTION_KEY, TEXT) \
    AB_VERB_KEYS_LATER(LATER)

#define AB_KEYS_BACKEND(TEXT, TEXTS, LIST, MIXED, MAP, LATER) \
    TEXT(backend, name, "name") \
    TEXTS(backend, params, "params") \
    TEXTS(backend, env, "env")

#define AB_KEYS_GATE(TEXT, TEXTS, LIST, MIXED, MAP, LATER) \
    TEXT(gate, gate, "gate") \
    TEXT(gate, level, "level")

#define AB_KEYS_EACH(TEXT, TEXTS, LIST, MIXED, MAP, LATER) \
    TEXT(each, name, "name") \
    TEXT(each, budget, "budget")

#define AB_KEYS_CLAIM(TEXT, TEXTS, LIST, MIXED, MAP, LATER) \
    TEXT(claim, claim, "claim") \
    TEXT(claim, says, "says") \
    TEXT(claim, source, "source")

/* Compares the tree with the tables and reports every unknown, unbuilt or misshapen key.
 * False when something has the wrong shape, so that the file cannot be loaded at all;
 * *has_unknown is set when there are keys that the loader must skip. */
bool ab_keys_check(struct ab_tree *tree, struct ab_diag *diag, bool *has_unknown);

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
