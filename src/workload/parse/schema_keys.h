/* SPDX-License-Identifier: MIT
 *
 * Every key of the language, once. schema.h expands these lists to the records that libcyaml
 * fills, schema.c to libcyaml's schema, keys.c to the tables that find unknown keys, wrong shapes
 * and keys that this version does not know yet.
 *
 *     TEXT(owner, member, key)          a scalar, always kept as text
 *     TEXTS(owner, member, key)         a list of scalars, each kept as text
 *     LIST(owner, member, key, child)   a list of maps, each a `child`
 *     LATER(key)                        in the language, not built yet: an error that says so
 */
#ifndef AB_WORKLOAD_PARSE_SCHEMA_KEYS_H
#define AB_WORKLOAD_PARSE_SCHEMA_KEYS_H

#include "workload/parse/yaml_index.h"

#define AB_KEYS_TOP(TEXT, TEXTS, LIST, LATER)                                            \
    TEXT(top, allocbench, "allocbench")                                                  \
    TEXT(top, name, "name")                                                              \
    TEXT(top, about, "about")                                                            \
    TEXT(top, seed, "seed")                                                              \
    LIST(top, params, "params", param)                                                   \
    LIST(top, sizes, "sizes", size)                                                      \
    LIST(top, sets, "sets", set)                                                         \
    LIST(top, phases, "phases", phase)                                                   \
    LIST(top, backends, "backends", backend)                                             \
    TEXTS(top, gates, "gates")                                                           \
    LIST(top, claims, "claims", claim)

#define AB_KEYS_PARAM(TEXT, TEXTS, LIST, LATER)                                          \
    TEXT(param, name, "name")                                                            \
    TEXT(param, value, "value")

#define AB_KEYS_SIZE(TEXT, TEXTS, LIST, LATER)                                           \
    TEXT(size, name, "name")                                                             \
    TEXT(size, dist, "dist")                                                             \
    LIST(size, mix, "mix", part)

#define AB_KEYS_PART(TEXT, TEXTS, LIST, LATER)                                           \
    TEXT(part, weight, "weight")                                                         \
    TEXT(part, dist, "dist")                                                             \
    TEXT(part, times, "times")

#define AB_KEYS_SET(TEXT, TEXTS, LIST, LATER)                                            \
    TEXT(set, name, "name")                                                              \
    TEXT(set, kind, "kind")                                                              \
    TEXT(set, count, "count")                                                            \
    TEXT(set, per, "per")                                                                \
    TEXT(set, unit, "unit")                                                              \
    TEXT(set, order, "order")                                                            \
    TEXT(set, on_full, "on_full")                                                        \
    LATER("via")                                                                         \
    LATER("fixed")                                                                       \
    LATER("survive")                                                                     \
    LATER("below")                                                                       \
    LATER("above")

#define AB_KEYS_PHASE(TEXT, TEXTS, LIST, LATER)                                          \
    TEXT(phase, name, "name")                                                            \
    TEXT(phase, until, "until")                                                          \
    TEXT(phase, repeat, "repeat")                                                        \
    TEXT(phase, measure, "measure")                                                      \
    TEXT(phase, lanes, "lanes")                                                          \
    TEXT(phase, run_as, "run_as")                                                        \
    LIST(phase, roles, "roles", role)                                                    \
    LIST(phase, body, "do", verb)                                                        \
    LATER("renew")                                                                       \
    LATER("cap")                                                                         \
    LATER("start")                                                                       \
    LATER("pace")                                                                        \
    LATER("each")                                                                        \
    LATER("check")                                                                       \
    LATER("finally")                                                                     \
    LATER("drain")

#define AB_KEYS_ROLE(TEXT, TEXTS, LIST, LATER)                                           \
    TEXT(role, name, "name")                                                             \
    TEXT(role, lanes, "lanes")                                                           \
    LIST(role, body, "do", verb)

/* First the verbs (enum ab_verb_kind has their order), then the options. */
#define AB_KEYS_VERB(TEXT, TEXTS, LIST, LATER)                                           \
    TEXT(verb, alloc, "alloc")                                                           \
    TEXT(verb, free, "free")                                                             \
    TEXT(verb, replace, "replace")                                                       \
    TEXT(verb, resize, "resize")                                                         \
    TEXT(verb, repeat, "repeat")                                                         \
    TEXT(verb, toggle, "toggle")                                                         \
    TEXT(verb, exchange, "exchange")                                                     \
    TEXT(verb, reset, "reset")                                                           \
    TEXT(verb, send, "send")                                                             \
    TEXT(verb, recv, "recv")                                                             \
    TEXT(verb, shuffle, "shuffle")                                                       \
    TEXT(verb, access, "access")                                                         \
    LIST(verb, body, "do", verb)                                                         \
    TEXT(verb, at, "at")                                                                 \
    TEXT(verb, order, "order")                                                           \
    TEXT(verb, count, "count")                                                           \
    TEXT(verb, fraction, "fraction")                                                     \
    TEXT(verb, size, "size")                                                             \
    TEXT(verb, align, "align")                                                           \
    TEXT(verb, touch, "touch")                                                           \
    TEXT(verb, from, "from")                                                             \
    TEXT(verb, to, "to")                                                                 \
    TEXT(verb, then, "then")                                                             \
    TEXT(verb, into, "into")                                                             \
    TEXT(verb, with, "with")                                                             \
    TEXT(verb, with_at, "with_at")                                                       \
    TEXT(verb, mode, "mode")                                                             \
    LATER("swap")                                                                        \
    LATER("churn")                                                                       \
    LATER("leak")                                                                        \
    LATER("walk")                                                                        \
    LATER("sample")                                                                      \
    LATER("settle")                                                                      \
    LATER("choose")                                                                      \
    LATER("maybe")                                                                       \
    LATER("every")                                                                       \
    LATER("fn")                                                                          \
    LATER("how")                                                                         \
    LATER("think")                                                                       \
    LATER("p")

#define AB_KEYS_BACKEND(TEXT, TEXTS, LIST, LATER)                                        \
    TEXT(backend, name, "name")                                                          \
    TEXTS(backend, params, "params")                                                     \
    TEXTS(backend, env, "env")

#define AB_KEYS_CLAIM(TEXT, TEXTS, LIST, LATER)                                          \
    TEXT(claim, claim, "claim")                                                          \
    TEXT(claim, says, "says")                                                            \
    TEXT(claim, source, "source")

/* Compares the tree with the tables and reports every unknown, unbuilt or misshapen key.
 * False when something has the wrong shape, so that the file cannot be loaded at all;
 * *has_unknown is set when there are keys that the loader must skip. */
bool ab_keys_check(struct ab_tree *tree, struct ab_diag *diag, bool *has_unknown);

#endif
