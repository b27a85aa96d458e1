/* SPDX-License-Identifier: MIT
 *
 * Writes, reads, rounds, copies and describes structs by walking over their tables
 * (record_table.h).
 */
#include "document/record_table.h"

#include "base/bits.h"
#include "core/alloc.h"
#include "result/session.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool has_flag(const struct ab_member *m, unsigned flag)
{
    return (m->flags & flag) != 0;
}

static void *at(const void *base, size_t offset)
{
    return (char *)(uintptr_t)base + offset;
}

static uint64_t whole_at(const void *p, size_t bytes)
{
    return bytes == sizeof(uint64_t)   ? *(const uint64_t *)p
           : bytes == sizeof(uint32_t) ? *(const uint32_t *)p
                                       : *(const uint8_t *)p;
}

static void set_whole(void *p, size_t bytes, uint64_t n)
{
    if (bytes == sizeof(uint64_t))
        *(uint64_t *)p = n;
    else if (bytes == sizeof(uint32_t))
        *(uint32_t *)p = (uint32_t)n;
    else
        *(uint8_t *)p = (uint8_t)n;
}

/* Returns a pointer to the struct of a RECORD or PART member; NULL = it has no struct. */
static void *inner(const struct ab_member *m, const void *record)
{
    void *p = at(record, m->offset);
    return has_flag(m, AB_POINTER) ? *(void **)p : p;
}

/* ---- lists ---- */

static bool is_list(const struct ab_member *m)
{
    return m->type == AB_IS_LIST || m->type == AB_IS_ARRAY;
}

static char *items_of(const struct ab_member *m, const void *record)
{
    void *p = at(record, m->offset);
    return m->type == AB_IS_LIST ? *(char **)p : p;
}

static uint32_t count_of(const struct ab_member *m, const void *record)
{
    const char *const *texts = (const char *const *)items_of(m, record);
    uint32_t n = 0;
    if (m->n_bytes != 0)
        return (uint32_t)whole_at(at(record, m->n_offset), m->n_bytes);
    while (texts != NULL && texts[n] != NULL)
        n++;
    return n;
}

/* Returns a member that describes an item of a list of plain values, as if the item were a
 * struct. */
static struct ab_member value_of(const struct ab_member *list)
{
    return (struct ab_member){.type = list->values,
                              .flags = list->flags & AB_NEVER_NULL,
                              .bytes = list->values == AB_IS_INDEX   ? sizeof(int32_t)
                                       : list->values == AB_IS_CHARS ? list->stride
                                                                     : sizeof(uint64_t),
                              .most = list->values == AB_IS_INDEX ? INT32_MAX : INT64_MAX,
                              .unknown = list->unknown,
                              .text = list->text};
}

/* Returns the record that describes an item of a list. If items are values, the record has one
 * member, which is stored in *value. */
static struct ab_record items_record(const struct ab_member *list, struct ab_member *value)
{
    if (list->record != NULL)
        return *list->record;
    *value = value_of(list);
    return (struct ab_record){value, 1, list->stride, .check = NULL};
}

/* True if the items of a list are JSON objects. */
static bool has_keys(const struct ab_record *t)
{
    return t->members[0].key != NULL || t->members[0].type == AB_IS_PART ||
           t->members[0].type == AB_IS_RULE;
}

/* ---- writing ---- */

static const char *name_of(const struct ab_member *m, uint64_t i)
{
    if (m->name != NULL)
        return m->name((unsigned)i);
    return i < m->most ? m->names[i] : "unknown";
}

static void put_numbers(json_t *o, const struct ab_member *m, const void *record)
{
    const double *x = at(record, m->offset);
    for (size_t i = 0; i < m->most; i++)
        ab_json_put(o, m->names[i], ab_json_real(x[i]));
}

static json_t *numbers(const struct ab_member *m, const void *record)
{
    json_t *o = json_object();
    put_numbers(o, m, record);
    return o;
}

static json_t *value(const struct ab_member *m, const void *record, const void *context);

static json_t *item_json(const struct ab_record *t, const void *item, const void *context)
{
    if (has_keys(t))
        return ab_record_json(t, item, context);
    if (t->n_members == 1)
        return value(&t->members[0], item, context);
    json_t *values = json_array();
    for (size_t i = 0; i < t->n_members; i++)
        ab_json_append(values, value(&t->members[i], item, context));
    return values;
}

static json_t *list(const struct ab_member *m, const void *record, const void *context)
{
    struct ab_member one;
    struct ab_record t = items_record(m, &one);
    json_t *items = json_array();
    const char *item = items_of(m, record);
    for (uint32_t i = 0, n = count_of(m, record); i < n; i++, item += t.bytes)
        if (t.is_written == NULL || t.is_written(item, context))
            ab_json_append(items, item_json(&t, item, context));
    return items;
}

static json_t *rows(const struct ab_member *m, const void *record, const void *context)
{
    json_t *items = json_array();
    void *item = ab_alloc(m->record->bytes);
    for (size_t i = 0, n = m->n_bytes != 0 ? count_of(m, record) : m->most; i < n; i++) {
        memset(item, 0, m->record->bytes);
        if (m->row(record, i, item))
            ab_json_append(items, item_json(m->record, item, context));
    }
    free(item);
    return items;
}

static json_t *value(const struct ab_member *m, const void *record, const void *context)
{
    const void *p = at(record, m->offset);
    const char *text = m->text;
    bool is_null = has_flag(m, AB_ZERO) &&
                   (m->type == AB_IS_NUMBER                           ? !(*(const double *)p > 0)
                    : m->type == AB_IS_WHOLE || m->type == AB_IS_NAME ? whole_at(p, m->bytes) == 0
                                                                      : false);
    if (is_null)
        return json_null();
    switch (m->type) {
    case AB_IS_TEXT:
    case AB_IS_WORD:
        return ab_json_string(*(const char *const *)p != NULL ? *(const char *const *)p : text);
    case AB_IS_FIXED:
        return ab_json_string(text);
    case AB_IS_CHARS:
        return ab_json_string(p);
    case AB_IS_NUMBER:
        return has_flag(m, AB_EXACT) && isfinite(*(const double *)p)
                   ? json_real(*(const double *)p)
                   : ab_json_real(*(const double *)p);
    case AB_IS_NUMBERS:
        return numbers(m, record);
    case AB_IS_WHOLE:
        return ab_json_integer(whole_at(p, m->bytes));
    case AB_IS_INDEX:
        return *(const int32_t *)p < 0 ? json_null() : json_integer(*(const int32_t *)p);
    case AB_IS_FLAG:
        return json_boolean(*(const bool *)p);
    case AB_IS_NAME:
        return ab_json_string(name_of(m, whole_at(p, m->bytes)));
    case AB_IS_LIST:
    case AB_IS_ARRAY:
        return list(m, record, context);
    case AB_IS_ROWS:
        return rows(m, record, context);
    case AB_IS_RECORD:
        return ab_record_json(m->record, inner(m, record), context);
    case AB_IS_PART:
    case AB_IS_RULE:
        break;
    }
    return NULL;
}

static bool is_there(const struct ab_member *m, const void *record, const void *context)
{
    if (has_flag(m, AB_POINTER) && inner(m, record) == NULL)
        return false;
    if (m->type == AB_IS_FLAG && has_flag(m, AB_OMIT))
        return *(const bool *)at(record, m->offset);
    uint64_t n = m->when_bytes > 0 ? whole_at(at(record, m->when), m->when_bytes) : 1;
    if (m->when_is > 0 ? n != m->when_is : n == 0)
        return false;
    return m->has == NULL || m->has(record, context);
}

static void put_member(json_t *o, const struct ab_member *m, const void *record,
                       const void *context)
{
    const struct ab_writing x = {o, m, record, at(record, m->offset), context};
    json_t *json = NULL;
    if (!is_there(m, record, context))
        json = has_flag(m, AB_OMIT) || m->key == NULL ? NULL : json_null();
    else if (m->write != NULL)
        json = m->write(&x);
    else if (m->type == AB_IS_PART)
        ab_record_put(o, m->record, inner(m, record), context);
    else if (m->key == NULL && m->type == AB_IS_NUMBERS)
        put_numbers(o, m, record);
    else
        json = value(m, record, context);
    if (json != NULL)
        ab_json_put(o, m->key, json);
}

void ab_record_put(json_t *o, const struct ab_record *table, const void *record,
                   const void *context)
{
    for (size_t i = 0; i < table->n_members; i++)
        if (table->members[i].group == table->group)
            put_member(o, &table->members[i], record, context);
}

json_t *ab_record_json(const struct ab_record *table, const void *record, const void *context)
{
    json_t *o = json_object();
    ab_record_put(o, table, record, context);
    return o;
}

/* ---- reading ---- */

/* Sets a member that is missing or null to the value that stands for null. */
static void set_unknown(const struct ab_member *m, void *record)
{
    void *p = at(record, m->offset);
    double nothing = has_flag(m, AB_ZERO) ? 0 : (double)NAN;
    if (m->type == AB_IS_WHOLE || m->type == AB_IS_FLAG)
        set_whole(p, m->bytes, m->unknown);
    else if (m->type == AB_IS_INDEX)
        *(int32_t *)p = -1;
    for (size_t i = 0; i < (m->type == AB_IS_NUMBER    ? 1
                            : m->type == AB_IS_NUMBERS ? m->most
                                                       : 0);
         i++)
        ((double *)p)[i] = nothing;
}

void ab_record_forget(const struct ab_record *table, void *record)
{
    for (size_t i = 0; i < table->n_members; i++)
        if (table->members[i].group == table->group)
            set_unknown(&table->members[i], record);
}

static void read_numbers(const struct ab_reading *x, const struct ab_json_node *o)
{
    double *to = x->p;
    for (size_t i = 0; i < x->m->most; i++)
        to[i] = ab_json_number(x->r, o, x->m->names[i]);
}

static size_t read_name(struct ab_json_reader *r, const struct ab_json_node *node,
                        const struct ab_member *m)
{
    const char *names[64];
    unsigned numbers[64], n = 0;
    for (unsigned i = 0; i < m->most && n < AB_ARRAY_LEN(names); i++)
        if (m->name != NULL || m->names[i] != NULL) {
            names[n] = m->name != NULL ? m->name(i) : m->names[i];
            numbers[n++] = i;
        }
    return numbers[ab_json_one_of_at(r, node, names, n)];
}

/* Copies a string into a fixed buffer; an error if it does not fit. */
static void json_chars_at(struct ab_json_reader *r, const struct ab_json_node *at, char *buf,
                          size_t cap)
{
    const char *s = ab_json_text_at(r, at);
    size_t n = strlen(s);
    if (n >= cap)
        ab_json_fail(r, at, "has %zu bytes, at most %zu are allowed", n, cap - 1);
    else
        memcpy(buf, s, n + 1);
}

static void read_value(struct ab_json_reader *r, const struct ab_json_node *node,
                       const struct ab_member *m, void *record)
{
    void *p = at(record, m->offset);
    bool is_null = json_is_null(node->json), is_zero = has_flag(m, AB_ZERO);
    const char *text;
    if (m->type == AB_IS_CHARS) {
        json_chars_at(r, node, p, m->bytes);
    } else if (m->type == AB_IS_TEXT) {
        text = ab_json_text_at(r, node);
        *(const char **)p = text[0] != 0 || !is_zero ? text : NULL;
    } else if (m->type == AB_IS_WORD) {
        if (!is_zero || ab_json_text_at(r, node)[0] != 0)
            *(const char **)p = m->names[ab_json_one_of_at(r, node, m->names, m->most)];
    } else if (is_null && m->type != AB_IS_FLAG &&
               (m->type != AB_IS_NAME || is_zero || m->has != NULL)) {
        set_unknown(m, record);
    } else if (m->type == AB_IS_NUMBER) {
        *(double *)p = ab_json_number_at(r, node);
    } else if (m->type == AB_IS_WHOLE) {
        set_whole(p, m->bytes, ab_json_whole_at(r, node, m->most, m->unknown));
    } else if (m->type == AB_IS_INDEX) {
        *(int32_t *)p = (int32_t)ab_json_whole_at(r, node, m->most, 0);
    } else if (m->type == AB_IS_FLAG) {
        *(bool *)p = ab_json_flag_at(r, node);
    } else if (m->type == AB_IS_NAME) {
        set_whole(p, m->bytes, read_name(r, node, m));
    }
}

/* True if the JSON value has the type of `m`, which describes a value in a list. */
static bool fits(const json_t *json, const struct ab_member *m)
{
    if (json_is_null(json))
        return !has_flag(m, AB_NEVER_NULL);
    if (m->type == AB_IS_TEXT || m->type == AB_IS_CHARS)
        return json_is_string(json) &&
               (m->type == AB_IS_TEXT || json_string_length(json) < m->bytes);
    if (m->type == AB_IS_NUMBER)
        return json_is_number(json);
    return json_is_integer(json) && json_integer_value(json) >= 0 &&
           (uint64_t)json_integer_value(json) <= m->most;
}

/* Reads an item that is a plain value, or an array of values. */
static void read_plain(struct ab_json_reader *r, const struct ab_json_node *item,
                       const struct ab_record *t, void *to)
{
    bool is_one = t->n_members == 1;
    bool is_good = is_one || json_array_size(item->json) == t->n_members;
    for (size_t i = 0; i < t->n_members && is_good; i++) {
        struct ab_json_node node = *item;
        node.json = is_one ? item->json : json_array_get(item->json, i);
        is_good = fits(node.json, &t->members[i]);
        if (is_good)
            read_value(r, &node, &t->members[i], to);
    }
    if (!is_good)
        ab_json_fail(r, item, "%s", t->members[0].text);
}

static void read_items(const struct ab_reading *x, const struct ab_json_node *list,
                       const struct ab_record *t)
{
    size_t n = json_array_size(list->json);
    char *to = items_of(x->m, x->record);
    for (size_t i = 0; i < n && x->r->status == AB_OK; i++, to += t->bytes) {
        if (!has_flag(x->m, AB_SAME) && x->m->n_bytes != 0)
            set_whole(at(x->record, x->m->n_offset), x->m->n_bytes, i + 1);
        struct ab_json_node item = has_keys(t) ? ab_json_item_object(x->r, list, i)
                                               : ab_json_item(list, i);
        if (has_keys(t))
            ab_record_read(x->r, &item, t, to, x->context);
        else
            read_plain(x->r, &item, t, to);
    }
}

static void read_list(const struct ab_reading *x)
{
    const struct ab_member *m = x->m;
    struct ab_member one;
    struct ab_record t = items_record(m, &one);
    struct ab_json_node list = ab_json_array(x->r, x->o, m->key);
    size_t n = ab_json_count(x->r, &list, m->most), more = has_flag(m, AB_ENDS);
    if (x->r->status != AB_OK)
        return;
    if (has_flag(m, AB_SAME) && n != count_of(m, x->record))
        ab_json_fail(x->r, &list, "%s", m->same);
    if (m->type == AB_IS_LIST && !has_flag(m, AB_SAME) && n + more > 0)
        *(void **)x->p = ab_alloc_zeroed(n + more, t.bytes);
    read_items(x, &list, &t);
}

/* Reads a member that is a JSON object of its own. */
static void read_record(const struct ab_reading *x)
{
    const struct ab_member *m = x->m;
    bool may_be_null = has_flag(m, AB_POINTER) ||
                       ((m->has != NULL || m->when_bytes > 0) && !has_flag(m, AB_OMIT));
    if (may_be_null && ab_json_has(x->r, x->o, m->key) && !ab_json_has_value(x->r, x->o, m->key))
        return;
    struct ab_json_node node = ab_json_object(x->r, x->o, m->key);
    if (x->r->status != AB_OK)
        return;
    if (m->type == AB_IS_NUMBERS) {
        read_numbers(x, &node);
        return;
    }
    if (has_flag(m, AB_POINTER))
        *(void **)x->p = ab_alloc_zeroed(1, m->record->bytes);
    if (m->when_bytes == sizeof(bool))
        *(bool *)at(x->record, m->when) = true;
    ab_record_read(x->r, &node, m->record, inner(m, x->record), x->context);
}

static void read_part(const struct ab_reading *x)
{
    const struct ab_member *m = x->m;
    bool is_missing = has_flag(m, AB_LATER) && !ab_json_has(x->r, x->o, m->record->members[0].key);
    if (!is_missing && is_there(m, x->record, x->context))
        ab_record_read(x->r, x->o, m->record, inner(m, x->record), x->context);
}

/* Handles an optional member that is missing: sets it to the value that stands for null. For a list
 * with AB_SAME, does so in every item. */
static void pass_over(const struct ab_reading *x)
{
    struct ab_member one;
    if (!is_list(x->m)) {
        set_unknown(x->m, x->record);
    } else if (has_flag(x->m, AB_SAME)) {
        struct ab_record t = items_record(x->m, &one);
        char *item = items_of(x->m, x->record);
        for (uint32_t n = count_of(x->m, x->record); n > 0; n--, item += t.bytes)
            ab_record_forget(&t, item);
    }
}

static void read_member(const struct ab_reading *x)
{
    const struct ab_member *m = x->m;
    if (m->read != NULL) {
        m->read(x);
    } else if (m->type == AB_IS_PART) {
        read_part(x);
    } else if (m->type == AB_IS_RULE || m->type == AB_IS_FIXED || m->type == AB_IS_ROWS) {
        return;
    } else if (m->key == NULL) {
        read_numbers(x, x->o);
    } else if (has_flag(m, AB_LATER | AB_OMIT) && !ab_json_has(x->r, x->o, m->key)) {
        pass_over(x);
    } else if (is_list(m)) {
        read_list(x);
    } else if (m->type == AB_IS_RECORD || m->type == AB_IS_NUMBERS) {
        read_record(x);
    } else {
        struct ab_json_node node = ab_json_member(x->r, x->o, m->key);
        read_value(x->r, &node, m, x->record);
    }
}

void ab_record_read(struct ab_json_reader *r, const struct ab_json_node *o,
                    const struct ab_record *table, void *record, void *context)
{
    struct ab_reading x = {.r = r, .o = o, .record = record, .context = context};
    for (unsigned last = 0; last <= AB_LAST; last += AB_LAST)
        for (size_t i = 0; i < table->n_members && r->status == AB_OK; i++) {
            x.m = &table->members[i];
            x.p = at(record, x.m->offset);
            x.at = (struct ab_json_node){.parent = o, .key = x.m->key};
            if (x.m->group == table->group && (x.m->flags & (AB_LAST | AB_SHOWN)) == last)
                read_member(&x);
        }
    x.m = NULL;
    if (table->check != NULL && r->status == AB_OK)
        table->check(&x);
}

/* ---- rounding ---- */

static void settle_member(const struct ab_member *m, void *record)
{
    double *x = at(record, m->offset);
    size_t n = m->type == AB_IS_NUMBER ? 1 : m->type == AB_IS_NUMBERS ? m->most : 0;
    for (size_t i = 0; i < n; i++)
        x[i] = ab_number_settle(x[i]);
    if (m->type == AB_IS_RECORD || m->type == AB_IS_PART) {
        if (inner(m, record) != NULL)
            ab_record_settle(m->record, inner(m, record));
    } else if (is_list(m)) {
        struct ab_member one;
        struct ab_record t = items_record(m, &one);
        char *item = items_of(m, record);
        for (uint32_t i = count_of(m, record); i > 0; i--, item += t.bytes)
            ab_record_settle(&t, item);
    }
}

void ab_record_settle(const struct ab_record *table, void *record)
{
    for (size_t i = 0; i < table->n_members; i++)
        if (table->members[i].group == table->group && !has_flag(&table->members[i], AB_SHOWN))
            settle_member(&table->members[i], record);
}

/* ---- copying ---- */

const char *ab_copied_text(const struct ab_copying *x, const char *text)
{
    if (text == NULL)
        return NULL;
    json_t *copy = json_stringn_nocheck(text, strlen(text));
    ab_json_append(x->texts, copy);
    return json_string_value(copy);
}

static void own_record(const struct ab_record *table, struct ab_copying x);

static void own_list(const struct ab_copying *x)
{
    const struct ab_member *m = x->m;
    struct ab_member one;
    struct ab_record t = items_record(m, &one);
    char *from = items_of(m, x->record), *to = from;
    uint32_t n = has_flag(m, AB_SHOWN) ? 0 : count_of(m, x->record), n_copied = 0;
    size_t more = has_flag(m, AB_ENDS);
    if (m->type == AB_IS_LIST)
        *(void **)x->p = to = n + more > 0 ? ab_alloc_zeroed(n + more, t.bytes) : NULL;
    for (; n > 0; n--, from += t.bytes)
        if (t.is_written == NULL || t.is_written(from, x->context)) {
            char *item = to + n_copied++ * t.bytes;
            memmove(item, from, t.bytes);
            own_record(&t, (struct ab_copying){NULL, item, item, x->texts, x->context});
        }
    if (m->n_bytes != 0)
        set_whole(at(x->record, m->n_offset), m->n_bytes, n_copied);
}

static void own_member(const struct ab_copying *x)
{
    const struct ab_member *m = x->m;
    if (m->copy != NULL) {
        m->copy(x);
    } else if (m->type == AB_IS_TEXT) {
        *(const char **)x->p = ab_copied_text(x, *(const char **)x->p);
    } else if (is_list(m) && !has_flag(m, AB_SAME)) {
        own_list(x);
    } else if (m->type == AB_IS_RECORD || (m->type == AB_IS_PART && !has_flag(m, AB_POINTER))) {
        void *record = inner(m, x->record);
        if (record != NULL && has_flag(m, AB_POINTER))
            *(void **)x->p = record = ab_memdup(record, m->record->bytes);
        if (record != NULL)
            own_record(m->record, (struct ab_copying){NULL, record, record, x->texts, x->context});
    }
}

static void own_record(const struct ab_record *table, struct ab_copying x)
{
    if (table->copy != NULL) {
        table->copy(&x);
        return;
    }
    for (size_t i = 0; i < table->n_members; i++) {
        x.m = &table->members[i];
        x.p = at(x.record, x.m->offset);
        if (x.m->group == table->group)
            own_member(&x);
    }
}

void ab_record_copy(const struct ab_record *table, const void *from, void *to, json_t *texts,
                    const void *context)
{
    memcpy(to, from, table->bytes);
    own_record(table, (struct ab_copying){NULL, to, to, texts, context});
}

/* ---- describing ---- */

static bool is_conditional(const struct ab_member *m)
{
    return m->has != NULL || m->when_bytes > 0;
}

static bool may_be_null(const struct ab_member *m)
{
    if (has_flag(m, AB_NEVER_NULL))
        return false;
    if (is_conditional(m) && !has_flag(m, AB_OMIT))
        return true;
    switch (m->type) {
    case AB_IS_TEXT:
    case AB_IS_CHARS:
    case AB_IS_WHOLE: /* a number of 64 bits may be more than JSON can hold */
        return !(is_conditional(m) && m->when == m->offset) &&
               (m->type != AB_IS_WHOLE || m->bytes == sizeof(uint64_t) || has_flag(m, AB_ZERO));
    case AB_IS_RECORD:
        return has_flag(m, AB_POINTER);
    case AB_IS_NAME:
    case AB_IS_WORD:
        return has_flag(m, AB_ZERO);
    default:
        return m->type == AB_IS_NUMBER || m->type == AB_IS_INDEX;
    }
}

/* Sets "type" of a schema to the type; adds "null" if the member may be null. */
static void set_type(json_t *schema, const struct ab_member *m, const char *type)
{
    ab_json_put(schema, "type",
                may_be_null(m) ? json_pack("[ss]", type, "null") : json_string(type));
}

static json_t *names_json(const struct ab_member *m)
{
    json_t *names = json_array();
    for (unsigned i = 0; i < m->most; i++)
        if (m->name != NULL || m->names[i] != NULL)
            ab_json_append(names, ab_json_string(name_of(m, i)));
    if (may_be_null(m))
        ab_json_append(names, json_null());
    return names;
}

/* Largest limit of a list that the schema states as "maxItems". Larger limits are only bounds on
 * what is read, and no part of the format. */
enum { ITEMS_SHOWN = 1000 };

static void describe(json_t *schema, const struct ab_member *m);

static void describe_list(json_t *schema, const struct ab_member *m)
{
    struct ab_member one;
    struct ab_record t = items_record(m, &one);
    json_t *items = json_object();
    size_t n = t.n_members;
    ab_json_put(schema, "type", json_string("array"));
    if (m->most > 0 && m->most <= ITEMS_SHOWN)
        ab_json_put(schema, "maxItems", ab_json_integer(m->most));
    if (m->record == NULL && (one.type == AB_IS_TEXT || one.type == AB_IS_CHARS))
        /* values in a list are never null, because NULL ends the list */
        one.flags |= AB_NEVER_NULL;
    if (has_keys(&t)) {
        json_decref(items);
        items = ab_record_schema(&t);
    } else if (n == 1) {
        describe(items, &t.members[0]);
    } else { /* each item is an array, with a value for each member */
        ab_json_put(items, "type", json_string("array"));
        json_t *each = json_object();
        describe(each, &t.members[n - 1]);
        ab_json_put(items, "items", each);
        ab_json_put(items, "minItems", ab_json_integer(n));
        ab_json_put(items, "maxItems", ab_json_integer(n));
    }
    ab_json_put(schema, "items", items);
}

static void describe_numbers(json_t *required, json_t *properties, const struct ab_member *m)
{
    for (size_t i = 0; i < m->most; i++) {
        json_t *number = json_object();
        describe(number, &(struct ab_member){.type = AB_IS_NUMBER, .flags = m->flags});
        ab_json_append(required, json_string(m->names[i]));
        ab_json_put(properties, m->names[i], number);
    }
}

/* Adds the description of a value of the type of `m` to the schema. */
static void describe(json_t *schema, const struct ab_member *m)
{
    json_t *required, *properties;
    switch (m->type) {
    case AB_IS_TEXT:
    case AB_IS_CHARS:
        set_type(schema, m, "string");
        break;
    case AB_IS_FIXED:
        ab_json_put(schema, "const", json_string(m->text));
        break;
    case AB_IS_NUMBER:
        set_type(schema, m, "number");
        if (!has_flag(m, AB_SIGNED))
            ab_json_put(schema, "minimum", json_integer(0));
        break;
    case AB_IS_WHOLE:
    case AB_IS_INDEX:
        set_type(schema, m, "integer");
        ab_json_put(schema, "minimum", json_integer(0));
        break;
    case AB_IS_FLAG:
        ab_json_put(schema, "type", json_string("boolean"));
        break;
    case AB_IS_NAME:
    case AB_IS_WORD:
        ab_json_put(schema, "enum", names_json(m));
        break;
    case AB_IS_NUMBERS:
        required = json_array();
        properties = json_object();
        describe_numbers(required, properties, m);
        set_type(schema, m, "object");
        ab_json_put(schema, "required", required);
        ab_json_put(schema, "properties", properties);
        break;
    case AB_IS_RECORD:
        json_object_update_new(schema, ab_record_schema(m->record));
        set_type(schema, m, "object");
        break;
    case AB_IS_LIST:
    case AB_IS_ARRAY:
    case AB_IS_ROWS:
        describe_list(schema, m);
        break;
    case AB_IS_PART:
    case AB_IS_RULE:
        break;
    }
}

static void describe_members(json_t *schema, const struct ab_record *table, bool is_required);

/* Returns the NAME member whose value decides whether the part is present; NULL = none does. */
static const struct ab_member *switch_of(const struct ab_record *table,
                                         const struct ab_member *part)
{
    for (size_t i = 0; i < table->n_members && part->when_is > 0; i++)
        if (table->members[i].type == AB_IS_NAME && table->members[i].offset == part->when)
            return &table->members[i];
    return NULL;
}

/* Describes the members of a part that are present only if the member `by` has a certain name. */
static void describe_choice(json_t *schema, const struct ab_member *part,
                            const struct ab_member *by)
{
    json_t *only = ab_record_schema(part->record), *absent = json_object(), *properties;
    const char *key;
    json_t *member;
    properties = json_object_get(only, "properties");
    json_object_foreach(properties, key, member) ab_json_put(absent, key, json_false());
    json_object_update(json_object_get(schema, "properties"), properties);
    ab_json_put(
        schema, "if",
        json_pack("{s{s{ss}}}", "properties", by->key, "const", name_of(by, part->when_is)));
    ab_json_put(schema, "then", json_pack("{sO}", "required", json_object_get(only, "required")));
    ab_json_put(schema, "else", json_pack("{so}", "properties", absent));
    json_decref(only);
}

static void describe_member(json_t *schema, const struct ab_record *table,
                            const struct ab_member *m, bool is_required)
{
    struct ab_member as = *m;
    json_t *required = json_object_get(schema, "required"),
           *properties = json_object_get(schema, "properties"), *o;
    const struct ab_member *by = switch_of(table, m);
    if (m->type == AB_IS_RULE) {
        as.type = m->values;
        as.values = AB_IS_TEXT;
        if (m->write == NULL)
            return;
    }
    is_required = is_required &&
                  (!has_flag(m, AB_LATER | AB_OMIT) || has_flag(m, AB_WRITTEN_ALWAYS));
    if (as.type == AB_IS_PART && by != NULL) {
        describe_choice(schema, m, by);
    } else if (as.type == AB_IS_PART) {
        describe_members(schema, m->record, is_required && !is_conditional(m));
    } else if (m->key == NULL && m->type == AB_IS_NUMBERS) {
        describe_numbers(required, properties, m);
    } else if (m->key != NULL) {
        o = json_object();
        if (m->doc != NULL)
            ab_json_put(o, "description", json_string(m->doc));
        describe(o, &as);
        if (m->schema != NULL)
            json_object_update_new(o, json_loads(m->schema, 0, NULL));
        ab_json_put(properties, m->key, o);
        if (is_required)
            ab_json_append(required, json_string(m->key));
    }
}

static void describe_members(json_t *schema, const struct ab_record *table, bool is_required)
{
    for (size_t i = 0; i < table->n_members; i++)
        if (table->members[i].group == table->group)
            describe_member(schema, table, &table->members[i], is_required);
}

json_t *ab_record_schema(const struct ab_record *table)
{
    json_t *schema = json_pack("{sss[]s{}}", "type", "object", "required", "properties");
    describe_members(schema, table, true);
    return schema;
}

json_t *ab_unsealed_write(const struct ab_writing *x)
{
    return *(const bool *)x->p ? json_false() : NULL;
}

void ab_unsealed_read(const struct ab_reading *x)
{
    if (!ab_json_has(x->r, x->o, x->m->key))
        return;
    struct ab_json_node node = ab_json_member(x->r, x->o, x->m->key);
    *(bool *)x->p = !ab_json_flag_at(x->r, &node);
}
