/* SPDX-License-Identifier: MIT
 *
 * A record as a table: for each member of a struct, in the order of the document, its key in JSON,
 * its type and what it may be. One walk over the table writes the record, one reads it back and
 * checks it, one rounds its numbers. A key stands nowhere else.
 *
 *     static const struct ab_member host_members[] = {
 *         AB_CHARS("cpu", struct ab_host, cpu),
 *         AB_WHOLE("page_bytes", struct ab_host, page_bytes, INT64_MAX, 0, .flags = AB_ZERO),
 *         AB_NUMBER("load_1min", struct ab_host, load_1min),
 *     };
 *     AB_TABLE(host, struct ab_host);
 *     ab_json_put(document, "host", ab_record_json(&host_record, &host, NULL));
 *
 * `context` is the caller's: the functions of a table get it, nobody else looks at it. Of a writer it
 * is another one than of a reader.
 */
#ifndef AB_REPORT_RECORD_H
#define AB_REPORT_RECORD_H

#include "report/json.h"
#include "report/json_in.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The type of a member; in brackets what null is, where null is allowed. */
enum ab_member_type {
    AB_IS_TEXT,    /* const char *, the document's when it is read [""; with AB_ZERO NULL] */
    AB_IS_CHARS,   /* char[] [""] */
    AB_IS_NUMBER,  /* double [NaN; with AB_ZERO 0] */
    AB_IS_NUMBERS, /* double[most] with `names` as keys; without a key they are of this object */
    AB_IS_WHOLE,   /* uint32_t or uint64_t, up to `most` [unknown] */
    AB_IS_INDEX,   /* int32_t [-1] */
    AB_IS_FLAG,    /* bool */
    AB_IS_NAME,    /* enum or bool: an index of the `most` names, of which some may be NULL and are
                    * not read [with AB_ZERO or `has` 0] */
    AB_IS_WORD,    /* const char *, one of the `most` names [with AB_ZERO NULL] */
    AB_IS_RECORD,  /* a struct of `record` [with `has` or `when`: all 0; with AB_POINTER: NULL] */
    AB_IS_PART,    /* the same, but its members are those of this object */
    AB_IS_LIST,    /* pointer to items, malloc'ed when they are read, and a count */
    AB_IS_ARRAY,   /* items in the struct, and a count */
    AB_IS_ROWS,    /* items that `row` makes one by one; not read back */
    AB_IS_FIXED,   /* always `text`, such as the schema of a document; not read back */
    AB_IS_RULE,    /* what `write` and `read` make of it; without one of them, nothing */
};

enum {
    /* Older documents may be without it: it is as if it were null, a flag is `unknown`. Of a PART:
     * it is there where its first member is. */
    AB_LATER = 1,
    AB_SHOWN = 2,        /* written for readers; never read back, nor rounded */
    AB_OMIT = 4,         /* what would be null, or false, is not written and need not be there */
    AB_ZERO = 8,         /* 0 stands for nothing: it is written as null, and null is read as 0 */
    AB_LAST = 16,        /* read after the members without this flag: it refers to them */
    AB_SAME = 32,        /* of a list: more of the items that are there already, one of each */
    AB_ENDS = 64,        /* of a list of texts: it ends with NULL, and need not have a count */
    AB_NEVER_NULL = 128, /* of a value in a list */
    AB_POINTER = 256,    /* of a RECORD: pointer to it, malloc'ed when it is read */
    AB_EXACT = 512,      /* of a NUMBER that is only written: all digits, and 21.0 for 21 */
};

struct ab_record;
struct ab_member;

/* What a function of a table is called with. */
struct ab_writing {
    json_t *o; /* the object that the record becomes */
    const struct ab_member *m;
    const void *record, *p; /* p: the member in it */
    const void *context;
};
struct ab_reading {
    struct ab_json_reader *r;
    const struct ab_json_node *o; /* the object that the record is read from */
    struct ab_json_node at;       /* the member's place in it, for errors */
    const struct ab_member *m;    /* NULL: it is of the record as a whole */
    void *record, *p;
    void *context;
};

struct ab_member {
    /* NULL: the value is the item itself; several such members are an array of values. */
    const char *key;
    enum ab_member_type type;
    unsigned flags;
    size_t offset, bytes, n_offset, n_bytes; /* in the struct; n_bytes 0: no count */
    /* What its type says; of a list how many items there may be. */
    uint64_t most, unknown;
    const struct ab_record *record;
    const char *const *names;
    const char *(*name)(unsigned i); /* instead of names */
    /* Of a list without `record`: its items are values of this type, so many bytes apart. */
    enum ab_member_type values;
    size_t stride;
    /* Of a TEXT: what NULL is written as. Of a value in a list, or a list of values: what is said of
     * one of another type, "must be …"; `same` of a list with AB_SAME and another count. */
    const char *text, *same;
    /* A table may hold the members of several records: this one is of those with the same group. */
    unsigned group;
    /* Where `has` says no, or the number or bool at `when` is 0, the member is null, or not there
     * (AB_OMIT); a PART is not read there either. NULL, 0 bytes: always there. Reading a RECORD sets
     * the bool. */
    bool (*has)(const void *record, const void *context);
    size_t when, when_bytes;
    uint64_t when_is; /* and not 0: the number there has to be this one */
    /* Instead of what the type would do. `write`: the value; NULL: none, or it is in x->o. */
    json_t *(*write)(const struct ab_writing *x);
    void (*read)(const struct ab_reading *x);
    /* Of ROWS: fills a zeroed item; false: there is no item `i`. */
    bool (*row)(const void *record, size_t i, void *item);
};

struct ab_record {
    const struct ab_member *members;
    size_t n_members, bytes; /* of the struct */
    unsigned group;
    /* In a list: is the item written? NULL: each is. */
    bool (*is_told)(const void *record, const void *context);
    /* What holds between members, once all were read without an error. */
    void (*check)(const struct ab_reading *x);
};

/* `k`: the key. The rest of the arguments are more members of struct ab_member: .flags = AB_LATER. */
#define AB_MEMBER(is, k, of, member, ...) \
    { \
        .key = (k), .type = AB_IS_##is, .offset = offsetof(of, member), \
        .bytes = sizeof(((of *)NULL)->member), __VA_ARGS__ \
    }
#define AB_TEXT(k, of, member, ...) AB_MEMBER(TEXT, k, of, member, __VA_ARGS__)
#define AB_CHARS(k, of, member, ...) AB_MEMBER(CHARS, k, of, member, __VA_ARGS__)
#define AB_NUMBER(k, of, member, ...) AB_MEMBER(NUMBER, k, of, member, __VA_ARGS__)
#define AB_NUMBERS(k, of, member, n, keys, ...) \
    AB_MEMBER(NUMBERS, k, of, member, .most = (n), .names = (keys), __VA_ARGS__)
#define AB_WHOLE(k, of, member, max, null, ...) \
    AB_MEMBER(WHOLE, k, of, member, .most = (max), .unknown = (null), __VA_ARGS__)
/* The key is the name of the member. */
#define AB_COUNT(of, member, ...) AB_WHOLE(#member, of, member, INT64_MAX, 0, __VA_ARGS__)
#define AB_INDEX(k, of, member, ...) AB_MEMBER(INDEX, k, of, member, .most = INT32_MAX, __VA_ARGS__)
#define AB_FLAG(k, of, member, ...) AB_MEMBER(FLAG, k, of, member, __VA_ARGS__)
/* Both with .names or .name. */
#define AB_NAME(k, of, member, n, ...) AB_MEMBER(NAME, k, of, member, .most = (n), __VA_ARGS__)
#define AB_WORD(k, of, member, n, ...) AB_MEMBER(WORD, k, of, member, .most = (n), __VA_ARGS__)
#define AB_RECORD(k, of, member, table, ...) \
    AB_MEMBER(RECORD, k, of, member, .record = (table), __VA_ARGS__)
/* Members of the struct itself, in an object of their own, or (PART) not. */
#define AB_RECORD_HERE(k, table, ...) \
    { \
        .key = (k), .type = AB_IS_RECORD, .record = (table), __VA_ARGS__ \
    }
#define AB_PART(table, ...) \
    { \
        .type = AB_IS_PART, .record = (table), __VA_ARGS__ \
    }
/* With .record, or with .values, .stride and .text. */
#define AB_LIST(k, of, member, count, max, ...) \
    AB_MEMBER(LIST, k, of, member, .n_offset = offsetof(of, count), \
              .n_bytes = sizeof(((of *)NULL)->count), .most = (max), __VA_ARGS__)
#define AB_ARRAY(k, of, member, count, max, ...) \
    AB_MEMBER(ARRAY, k, of, member, .n_offset = offsetof(of, count), \
              .n_bytes = sizeof(((of *)NULL)->count), .most = (max), __VA_ARGS__)
#define AB_ROWS(k, make, n, table, ...) \
    { \
        .key = (k), .type = AB_IS_ROWS, .row = (make), .most = (n), .record = (table), __VA_ARGS__ \
    }
#define AB_RULE(k, of, member, ...) AB_MEMBER(RULE, k, of, member, __VA_ARGS__)
/* Written only, by a function; without a key it puts what it likes. */
#define AB_WRITTEN(k, function, ...) \
    { \
        .key = (k), .type = AB_IS_RULE, .write = (function), __VA_ARGS__ \
    }
#define AB_FIXED(k, words, ...) \
    { \
        .key = (k), .type = AB_IS_FIXED, .text = (words), __VA_ARGS__ \
    }
#define AB_WHEN(of, member) .when = offsetof(of, member), .when_bytes = sizeof(((of *)NULL)->member)
#define AB_WHEN_IS(of, member, value) AB_WHEN(of, member), .when_is = (value)
/* ROW(a), ROW(b), … of up to 8 members: for those whose key is their name. */
#define AB_EACH_1(ROW, m) ROW(m)
#define AB_EACH_2(ROW, m, ...) ROW(m), AB_EACH_1(ROW, __VA_ARGS__)
#define AB_EACH_3(ROW, m, ...) ROW(m), AB_EACH_2(ROW, __VA_ARGS__)
#define AB_EACH_4(ROW, m, ...) ROW(m), AB_EACH_3(ROW, __VA_ARGS__)
#define AB_EACH_5(ROW, m, ...) ROW(m), AB_EACH_4(ROW, __VA_ARGS__)
#define AB_EACH_6(ROW, m, ...) ROW(m), AB_EACH_5(ROW, __VA_ARGS__)
#define AB_EACH_7(ROW, m, ...) ROW(m), AB_EACH_6(ROW, __VA_ARGS__)
#define AB_EACH_8(ROW, m, ...) ROW(m), AB_EACH_7(ROW, __VA_ARGS__)
#define AB_EACH_OF(a, b, c, d, e, f, g, h, n, ...) AB_EACH_##n
#define AB_EACH(ROW, ...) AB_EACH_OF(__VA_ARGS__, 8, 7, 6, 5, 4, 3, 2, 1, 0)(ROW, __VA_ARGS__)
#define AB_RECORD_OF(of, table, ...) \
    { \
        .members = (table), .n_members = sizeof(table) / sizeof((table)[0]), .bytes = sizeof(of), \
        __VA_ARGS__ \
    }

/* NAME_record, of NAME_members. */
#define AB_TABLE(name, of, ...) \
    static const struct ab_record name##_record = AB_RECORD_OF(of, name##_members, __VA_ARGS__)

/* An object with all members of a record; an object that is there already gets them. */
json_t *ab_record_json(const struct ab_record *table, const void *record, const void *context);
void ab_record_put(json_t *o, const struct ab_record *table, const void *record,
                   const void *context);

/* Members of the object `o` into *record, which begins as zeroes. After an error too, what was
 * malloc'ed is in it, with its count. */
void ab_record_read(struct ab_json_reader *r, const struct ab_json_node *o,
                    const struct ab_record *table, void *record, void *context);
/* `write` and `read` of a bool that is AB_SEALED_KEY turned round: only false is written. */
json_t *ab_unsealed_write(const struct ab_writing *x);
void ab_unsealed_read(const struct ab_reading *x);
/* Every member of it is as if it were null. */
void ab_record_forget(const struct ab_record *table, void *record);

/* Rounds every double that is read back, as ab_number_settle does. */
void ab_record_settle(const struct ab_record *table, void *record);

#endif
