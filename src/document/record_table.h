/* SPDX-License-Identifier: MIT
 *
 * Declares how a struct is stored as JSON. For each member, in the order of the document, a table
 * says its key, its type, its allowed values and its meaning. Five functions walk over the table:
 * one writes the struct, one reads and checks it, one rounds its numbers, one copies it, one
 * describes its JSON. Each key is spelt in one place only.
 *
 *     static const struct ab_member host_members[] = {
 *         AB_CHARS("cpu", struct ab_host, cpu),
 *         AB_WHOLE("page_bytes", struct ab_host, page_bytes, INT64_MAX, 0, .flags = AB_ZERO),
 *         AB_NUMBER("load_1min", struct ab_host, load_1min),
 *     };
 *     AB_TABLE(host, struct ab_host);
 *     ab_json_put(document, "host", ab_record_json(&host_record, &host, NULL));
 *
 * `context` belongs to the caller: it is only passed on to the functions of the table. Writing and
 * reading use different contexts.
 */
#ifndef AB_DOCUMENT_RECORD_TABLE_H
#define AB_DOCUMENT_RECORD_TABLE_H

#include "document/json.h"
#include "document/json_in.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The type of a member. In brackets: the value that stands for null, where null is allowed. */
enum ab_member_type {
    AB_IS_TEXT,    /* const char *; owned by the document when it is read [""; with AB_ZERO NULL] */
    AB_IS_CHARS,   /* char[] [""] */
    AB_IS_NUMBER,  /* double [NaN; with AB_ZERO 0] */
    AB_IS_NUMBERS, /* double[most] with `names` as keys; without a key of its own, they are members
                      of the enclosing object */
    AB_IS_WHOLE,   /* uint32_t or uint64_t, up to `most` [unknown] */
    AB_IS_INDEX,   /* int32_t [-1] */
    AB_IS_FLAG,    /* bool */
    AB_IS_NAME,    /* enum or bool: an index of the `most` names. A NULL name is never read [with
                      AB_ZERO or `has`: 0] */
    AB_IS_WORD,    /* const char *, one of the `most` names [with AB_ZERO NULL] */
    AB_IS_RECORD,  /* a struct of `record` [with `has` or `when`: all 0; with AB_POINTER: NULL] */
    AB_IS_PART,    /* like RECORD, but its members are members of the enclosing object */
    AB_IS_LIST,    /* pointer to items, malloc'ed when they are read, and a count */
    AB_IS_ARRAY,   /* items inside the struct, and a count */
    AB_IS_ROWS,    /* items that `row` produces one by one; never read back */
    AB_IS_FIXED,   /* always `text`, such as the schema of a document; never read back */
    AB_IS_RULE,    /* whatever `write` and `read` do; a missing function does nothing */
};

enum {
    /* May be missing in older documents. A missing member is read as null, a missing flag as
     * `unknown`. A PART is missing if its first member is. */
    AB_LATER = 1,
    AB_SHOWN = 2,        /* written for readers; never read back or rounded. A list is not copied
                            either; a PART is */
    AB_OMIT = 4,         /* null or false is not written, and the member may be missing when it is
                            read */
    AB_ZERO = 8,         /* 0 is written as null, and null is read as 0 */
    AB_LAST = 16,        /* read after all members without this flag, because it refers to them */
    AB_SAME = 32,        /* list: adds members to the items that were read already, so the counts
                            must be equal */
    AB_ENDS = 64,        /* list of texts: ends with NULL, so it may lack a count */
    AB_NEVER_NULL = 128, /* null is never written; a value in a list: null is not allowed */
    AB_POINTER = 256,    /* RECORD: the member is a pointer, malloc'ed when it is read. PART: a
                            pointer to the struct of somebody else, which is not copied */
    AB_EXACT = 512,      /* NUMBER that is only written: with all its digits, and 21.0 for 21 */
    AB_SIGNED = 1024,    /* NUMBER that may be below 0 */
    AB_WRITTEN_ALWAYS = 2048, /* with AB_LATER: the schema requires the member, although a reader
                                 does without */
};

struct ab_record;
struct ab_member;

/* Arguments of the functions of a table. */
struct ab_writing {
    json_t *o; /* the JSON object that is written */
    const struct ab_member *m;
    const void *record, *p; /* p: the member within `record` */
    const void *context;
};
struct ab_reading {
    struct ab_json_reader *r;
    const struct ab_json_node *o; /* the JSON object that is read */
    struct ab_json_node at;       /* the position of the member, for error messages */
    const struct ab_member *m;    /* NULL: the whole record (in `check`) */
    void *record, *p;
    void *context;
};

/* Arguments of the functions that copy. The copy is a struct whose bytes are those of the original,
 * so its pointers still lead to what the original owns. */
struct ab_copying {
    const struct ab_member *m; /* NULL: the whole record */
    void *record, *p;          /* the copy, and the member within it */
    json_t *texts;             /* a list that owns the texts of the copy */
    const void *context;
};

struct ab_member {
    /* NULL: the item is not an object but a value, or an array with one value for each member */
    const char *key;
    enum ab_member_type type;
    unsigned flags;
    size_t offset, bytes, n_offset, n_bytes; /* position and size in the struct; n_bytes 0: no
                                                count */
    /* `most`: see the type; for a list, the largest number of items. `unknown`: the value for
     * null. */
    uint64_t most, unknown;
    const struct ab_record *record;
    const char *const *names;
    const char *(*name)(unsigned i); /* used instead of `names` */
    /* List without `record`: the items are values of this type, `stride` bytes apart. RULE: the
     * type of what `write` returns, with `record` and `most`; AB_IS_PART: it puts the members of
     * `record`. */
    enum ab_member_type values;
    size_t stride;
    /* `text`: for a TEXT, the string that is written for NULL; for values in a list, the error
     * message about a wrong type, "must be …". `same`: the error message for a list with AB_SAME
     * whose count differs. */
    const char *text, *same;
    /* The meaning of the key, for the schema and results/keys.csv; NULL = the name says it.
     * `schema`: members of the JSON Schema beside those that follow from the type, as a JSON
     * object. */
    const char *doc, *schema;
    /* A table may hold the members of several records. A record uses the members with its own
     * group. */
    unsigned group;
    /* The member is null (with AB_OMIT: missing) if `has` returns false, or if the number or bool
     * at `when` is 0; a PART is then not read either. `has` NULL and when_bytes 0: always present.
     * Reading a RECORD sets the bool at `when`. */
    bool (*has)(const void *record, const void *context);
    size_t when, when_bytes;
    uint64_t when_is; /* if not 0, the number at `when` must equal this */
    /* Replace the default of the type. `write` returns the value; NULL = no value, or it put the
     * value into x->o itself. */
    json_t *(*write)(const struct ab_writing *x);
    void (*read)(const struct ab_reading *x);
    /* Gives the copy its own value of a member that refers to other memory. A RULE without it has
     * no such members. */
    void (*copy)(const struct ab_copying *x);
    /* ROWS: fills a zeroed item; returns false if item `i` does not exist. */
    bool (*row)(const void *record, size_t i, void *item);
};

struct ab_record {
    const struct ab_member *members;
    size_t n_members, bytes; /* bytes: size of the struct */
    unsigned group;
    /* True if this item of a list is to be written; NULL = every item is. */
    bool (*is_written)(const void *record, const void *context);
    /* Checks conditions between members, after all of them were read without an error. */
    void (*check)(const struct ab_reading *x);
    /* Replaces the walk over the members when a record is copied; NULL = walk. */
    void (*copy)(const struct ab_copying *x);
};

/* `k` is the key. Further arguments are initializers of struct ab_member, such as .flags =
 * AB_LATER. */
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
/* Uses the name of the member as the key. */
#define AB_COUNT(of, member, ...) AB_WHOLE(#member, of, member, INT64_MAX, 0, __VA_ARGS__)
#define AB_INDEX(k, of, member, ...) AB_MEMBER(INDEX, k, of, member, .most = INT32_MAX, __VA_ARGS__)
#define AB_FLAG(k, of, member, ...) AB_MEMBER(FLAG, k, of, member, __VA_ARGS__)
/* Both need .names or .name. */
#define AB_NAME(k, of, member, n, ...) AB_MEMBER(NAME, k, of, member, .most = (n), __VA_ARGS__)
#define AB_WORD(k, of, member, n, ...) AB_MEMBER(WORD, k, of, member, .most = (n), __VA_ARGS__)
#define AB_RECORD(k, of, member, table, ...) \
    AB_MEMBER(RECORD, k, of, member, .record = (table), __VA_ARGS__)
/* Groups members of the same struct: RECORD_HERE in a JSON object of their own, PART without
 * one. */
#define AB_RECORD_HERE(k, table, ...) \
    { \
        .key = (k), .type = AB_IS_RECORD, .record = (table), __VA_ARGS__ \
    }
#define AB_PART(table, ...) \
    { \
        .type = AB_IS_PART, .record = (table), __VA_ARGS__ \
    }
/* Need .record, or .values, .stride and .text. */
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
/* Is only written, by `function`. Without a key, the function may put any members. */
#define AB_WRITTEN(k, function, ...) \
    { \
        .key = (k), .type = AB_IS_RULE, .write = (function), __VA_ARGS__ \
    }
#define AB_FIXED(k, words, ...) \
    { \
        .key = (k), .type = AB_IS_FIXED, .text = (words), __VA_ARGS__ \
    }
/* The text is a digest in hexadecimal digits. */
#define AB_SHA256 .schema = "{\"pattern\": \"^[0-9a-f]{64}$\"}"
#define AB_UNSEALED(of) \
    AB_RULE(AB_SEALED_KEY, of, is_unsealed, .write = ab_unsealed_write, .read = ab_unsealed_read, \
            .values = AB_IS_RULE, .flags = AB_OMIT, .schema = "{\"const\": false}", \
            .doc = "false: made by report, merge, --resume or baseline from a result without a " \
                   "checksum, which readers say; otherwise no such key.")
#define AB_WHEN(of, member) .when = offsetof(of, member), .when_bytes = sizeof(((of *)NULL)->member)
#define AB_WHEN_IS(of, member, value) AB_WHEN(of, member), .when_is = (value)
/* Expands to ROW(a), ROW(b), … for up to 8 members; for members whose key is their name. */
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

/* Defines NAME_record from NAME_members. */
#define AB_TABLE(name, of, ...) \
    static const struct ab_record name##_record = AB_RECORD_OF(of, name##_members, __VA_ARGS__)

/* Writes all members of a record: ab_record_json into a new object, ab_record_put into the object
 * `o`. */
json_t *ab_record_json(const struct ab_record *table, const void *record, const void *context);
void ab_record_put(json_t *o, const struct ab_record *table, const void *record,
                   const void *context);

/* Reads the members of the object `o` into *record, which the caller has zeroed. Even after an
 * error, *record holds everything that was malloc'ed, with its count. */
void ab_record_read(struct ab_json_reader *r, const struct ab_json_node *o,
                    const struct ab_record *table, void *record, void *context);
/* The functions of AB_UNSEALED: a bool whose key means the opposite, so that only false is
 * written. */
json_t *ab_unsealed_write(const struct ab_writing *x);
void ab_unsealed_read(const struct ab_reading *x);
/* Sets every member to the value that stands for null. */
void ab_record_forget(const struct ab_record *table, void *record);

/* Copies a record with everything that it owns: lists and records are malloc'ed, as when they are
 * read, and texts are added to the array `texts`. Items of lists that are not written are left out,
 * and lists that are only shown are empty. */
void ab_record_copy(const struct ab_record *table, const void *from, void *to, json_t *texts,
                    const void *context);
/* Returns a copy of the text, which belongs to x->texts; NULL for NULL. */
const char *ab_copied_text(const struct ab_copying *x, const char *text);

/* Returns the JSON Schema of a record. */
json_t *ab_record_schema(const struct ab_record *table);

/* Rounds every double that is read back, with ab_number_settle. */
void ab_record_settle(const struct ab_record *table, void *record);

#endif
