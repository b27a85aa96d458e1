/* SPDX-License-Identifier: MIT
 *
 * The only file that knows libcyaml. Aliases are refused and its memory is capped, although the
 * pre-scan has already turned away what would need either: one wall behind the other.
 */
#include "workload/parse/schema.h"

#include "core/memory.h"

#include <cyaml/cyaml.h>
#include <stdlib.h>

#define FIELD_TEXT(owner, member, key) \
    CYAML_FIELD_STRING_PTR(key, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct ab_raw_##owner, \
                           member, 0, CYAML_UNLIMITED),
#define FIELD_TEXTS(owner, member, key) \
    CYAML_FIELD_SEQUENCE(key, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct ab_raw_##owner, \
                         member, &text_value, 0, CYAML_UNLIMITED),
#define FIELD_LIST(owner, member, key, child) \
    CYAML_FIELD_SEQUENCE(key, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct ab_raw_##owner, \
                         member, &child##_value, 0, CYAML_UNLIMITED),
#define FIELD_MIXED(owner, key, child) CYAML_FIELD_IGNORE(key, CYAML_FLAG_OPTIONAL),
#define FIELD_MAP(owner, key, child) CYAML_FIELD_IGNORE(key, CYAML_FLAG_OPTIONAL),
#define FIELD_LATER(key)

static const cyaml_schema_value_t text_value = {
    CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char, 0, CYAML_UNLIMITED)};

static const cyaml_schema_value_t verb_value; /* `do` holds verbs again */
#define FIELDS(owner, OWNER) \
    static const cyaml_schema_field_t owner##_fields[] = {AB_KEYS_##OWNER( \
        FIELD_TEXT, FIELD_TEXTS, FIELD_LIST, FIELD_MIXED, FIELD_MAP, FIELD_LATER) CYAML_FIELD_END}
#define SCHEMA(owner, OWNER) \
    FIELDS(owner, OWNER); \
    static const cyaml_schema_value_t owner##_value = { \
        CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct ab_raw_##owner, owner##_fields)}

SCHEMA(verb, VERB);
SCHEMA(param, PARAM);
SCHEMA(part, PART);
SCHEMA(size, SIZE);
SCHEMA(set, SET);
SCHEMA(role, ROLE);
SCHEMA(phase, PHASE);
SCHEMA(backend, BACKEND);
SCHEMA(claim, CLAIM);
FIELDS(top, TOP);

static const cyaml_schema_value_t root_value = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct ab_raw_top, top_fields)};

enum { MEMORY_CAP_BYTES = 48 << 20 };

/* Ahead of each block, so that the cap can be kept; 16 bytes keep malloc's alignment. */
union header {
    size_t size;
    char align[16];
};

static void *capped(void *ctx, void *ptr, size_t size)
{
    size_t *used = ctx;
    union header *old = ptr == NULL ? NULL : (union header *)ptr - 1;
    size_t old_size = old == NULL ? 0 : old->size;
    if (size == 0) {
        *used -= old_size;
        free(old);
        return NULL;
    }
    if (size > MEMORY_CAP_BYTES || *used - old_size + size > MEMORY_CAP_BYTES)
        return NULL;
    union header *grown = ab_realloc(old, 1, size + sizeof *grown);
    *used += size - old_size;
    grown->size = size;
    return grown + 1;
}

static cyaml_config_t configure(size_t *used_bytes, bool skip_unknown)
{
    return (cyaml_config_t){
        .log_level = CYAML_LOG_ERROR,
        .mem_fn = capped,
        .mem_ctx = used_bytes,
        .flags = CYAML_CFG_NO_ALIAS | (skip_unknown ? CYAML_CFG_IGNORE_UNKNOWN_KEYS : 0u),
    };
}

const char *ab_schema_load(const struct ab_source_text *source, bool skip_unknown,
                           struct ab_schema *out)
{
    cyaml_config_t config = configure(&out->used_bytes, skip_unknown);
    cyaml_data_t *data = NULL;
    cyaml_err_t failed = cyaml_load_data((const uint8_t *)source->text, source->n, &config,
                                         &root_value, &data, NULL);
    if (failed != CYAML_OK)
        return cyaml_strerror(failed);
    if (data == NULL)
        return "the file is empty";
    out->top = data;
    return NULL;
}

void ab_schema_fini(struct ab_schema *schema)
{
    cyaml_config_t config = configure(&schema->used_bytes, false);
    if (schema->top != NULL)
        cyaml_free(&config, &root_value, schema->top, 0);
    schema->top = NULL;
}
