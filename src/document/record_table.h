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
    /* const char *; owned by the document that it was read from [""; with AB_ZERO NULL] */
    AB_IS_TEXT,
    AB_IS_CHARS,  /* char[] [""] */
    AB_IS_NUMBER, /* double [NaN; with AB_ZERO 0] */
    /* double[most], with `names` as keys. Without a key of its own, the numbers are members of the
     * enclosing object */
    AB_IS_NUMBERS,
    AB_IS_WHOLE, /* uint32_t or uint64_t, up to `most` [unknown] */
    AB_IS_INDEX, /* int32_t [-1] */
    AB_IS_FLAG,  /* bool */
    /* enum or bool: an index into the `most` names. A name that is NULL is never read [with AB_ZERO
     * or `has`: 0] */
    AB_IS_NAME,
    AB_IS_WORD, /* const char *: one of the `most` names [with AB_ZERO NULL] */
    /* a struct, described by `record` [with `has` or `when`: all 0; with AB_POINTER: NULL] */
    AB_IS_RECORD,
    AB_IS_PART,  /* like RECORD, but its members are members of the enclosing object */
    AB_IS_LIST,  /* pointer to items, malloc'ed when they are read, and a count */
    AB_IS_ARRAY, /* items inside the struct, and a count */
    AB_IS_ROWS,  /* items that the function `row` produces one by one; never read back */
    AB_IS_FIXED, /* always the string `text`, such as the schema of a document; never read back */
    /* a value that `write` and `read` handle; if one of them is NULL, it does nothing */
    AB_IS_RULE,
};

enum {
    /* The member may be missing in older documents. If it is missing, it is read as null, and a
     * flag as `unknown`. A PART counts as missing if its first member is missing. */
    AB_LATER = 1,
    /* written for readers only; never read back or rounded. A list is not copied either, but a PART
     * is */
    AB_SHOWN = 2,
    AB_OMIT = 4,  /* null or false is not written; when reading, the member may be missing */
    AB_ZERO = 8,  /* 0 is written as null, and null is read as 0 */
    AB_LAST = 16, /* read after all members without this flag, because it refers to them */
    /* list: its values are members of items that another list has read already, so the counts must
     * be equal */
    AB_SAME = 32,
    AB_ENDS = 64,        /* list of texts that ends with NULL, so it needs no count */
    AB_NEVER_NULL = 128, /* null is never written; for a value in a list, null is an error */
    /* RECORD: the member is a pointer, which is malloc'ed when it is read. PART: a pointer to a
     * struct that another struct owns and that is not copied */
    AB_POINTER = 256,
    /* NUMBER that is only written, with all its digits; 21 is written as 21.0 */
    AB_EXACT = 512,
    AB_SIGNED = 1024, /* NUMBER that may be below 0 */
    /* with AB_LATER: the schema requires the member, although reading does not */
    AB_WRITTEN_ALWAYS = 2048,
};

struct ab_record;
struct ab_member;

/* Arguments of the functions in a table that write and read. */
struct ab_writing {
    json_t *o; /* the JSON object that is written */
    const struct ab_member *m;
    const void *record, *p; /* p: address of the member in `record` */
    const void *context;
};
struct ab_reading {
    struct ab_json_reader *r;
    const struct ab_json_node *o; /* the JSON object that is read */
    struct ab_json_node at;       /* node of the member, for error messages */
    const struct ab_member *m;    /* NULL = the whole record (in `check`) */
    void *record, *p;
    void *context;
};

/* Arguments of the functions in a table that copy. The copy starts with the bytes of the original,
 * so its pointers still point to memory that the original owns. */
struct ab_copying {
    const struct ab_member *m; /* NULL = the whole record */
    void *record, *p;          /* record: the copy; p: address of the member in the copy */
    json_t *texts;             /* array that owns the texts of the copy */
    const void *context;
};

struct ab_member {
    /* NULL = items of this table are not objects, but values, or arrays with one value for each
     * member */
    const char *key;
    enum ab_member_type type;
    unsigned flags;
    /* offset and size of the member and of its count in the struct; n_bytes 0 = no count */
    size_t offset, bytes, n_offset, n_bytes;
    /* `most`: limit, see enum ab_member_type; for a list, the largest number of items. `unknown`:
     * value that stands for null. */
    uint64_t most, unknown;
    const struct ab_record *record;
    const char *const *names;
    const char *(*name)(unsigned i); /* used instead of `names` */
    /* For a list without `record`: type of the items, which are values, `stride` bytes apart. For a
     * RULE: type of the value that `write` returns, with `record` and `most`; AB_IS_PART = `write`
     * puts the members of `record`. */
    enum ab_member_type values;
    size_t stride;
    /* `text`: for a TEXT, the string that is written for NULL. For values in a list, the error
     * message "must be …" for a wrong type. `same`: error message for a list with AB_SAME whose
     * count differs. */
    const char *text, *same;
    /* `doc`: meaning of the key, for the schema and results/keys.csv; NULL = the name is enough.
     * `schema`: further members of the JSON Schema, as a JSON object; NULL = only those that follow
     * from the type. */
    const char *doc, *schema;
    /* A table may contain the members of several records. A record uses the members that have its
     * own group. */
    unsigned group;
    /* The member is null (with AB_OMIT: missing) if `has` returns false, or if the number or bool
     * at offset `when` is 0. A PART is then not read either. If `has` is NULL and when_bytes is 0,
     * the member is always present. Reading a RECORD sets the bool at `when`. */
    bool (*has)(const void *record, const void *context);
    size_t when, when_bytes;
    uint64_t when_is; /* if not 0, the member is present only if the number at `when` equals this */
    /* Functions that replace those of the type. `write` returns the value; NULL = there is no
     * value, or `write` has put it into x->o itself. */
    json_t *(*write)(const struct ab_writing *x);
    void (*read)(const struct ab_reading *x);
    /* Copies the memory that a member refers to, and sets the member in the copy. Not needed by a
     * RULE whose member does not refer to other memory. */
    void (*copy)(const struct ab_copying *x);
    /* ROWS: fills a zeroed item. Returns false if item `i` does not exist. */
    bool (*row)(const void *record, size_t i, void *item);
};

struct ab_record {
    const struct ab_member *members;
    size_t n_members, bytes; /* bytes: size of the struct */
    unsigned group;
    /* Returns true if this item of a list must be written; NULL = every item is written. */
    bool (*is_written)(const void *record, const void *context);
    /* Checks conditions between members, after all of them were read without an error. */
    void (*check)(const struct ab_reading *x);
    /* Copies the record instead of copying its members one by one; NULL = the members are
     * copied. */
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
/* AB_NAME and AB_WORD need .names or .name. */
#define AB_NAME(k, of, member, n, ...) AB_MEMBER(NAME, k, of, member, .most = (n), __VA_ARGS__)
#define AB_WORD(k, of, member, n, ...) AB_MEMBER(WORD, k, of, member, .most = (n), __VA_ARGS__)
#define AB_RECORD(k, of, member, table, ...) \
    AB_MEMBER(RECORD, k, of, member, .record = (table), __VA_ARGS__)
/* Group members of the same struct: AB_RECORD_HERE puts them in a JSON object of their own, AB_PART
 * does not. */
#define AB_RECORD_HERE(k, table, ...) \
    { \
        .key = (k), .type = AB_IS_RECORD, .record = (table), __VA_ARGS__ \
    }
#define AB_PART(table, ...) \
    { \
        .type = AB_IS_PART, .record = (table), __VA_ARGS__ \
    }
/* AB_LIST and AB_ARRAY need .record, or .values, .stride and .text. */
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
/* A member that is only written, by `function`. If k is NULL, the function may put any members into
 * the object. */
#define AB_WRITTEN(k, function, ...) \
    { \
        .key = (k), .type = AB_IS_RULE, .write = (function), __VA_ARGS__ \
    }
#define AB_FIXED(k, words, ...) \
    { \
        .key = (k), .type = AB_IS_FIXED, .text = (words), __VA_ARGS__ \
    }
/* A text that is a SHA-256 digest in hexadecimal digits. */
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
/* Functions for AB_UNSEALED. The JSON key has the opposite meaning of the bool, and only false is
 * written. */
json_t *ab_unsealed_write(const struct ab_writing *x);
void ab_unsealed_read(const struct ab_reading *x);
/* Sets every member to the value that stands for null. */
void ab_record_forget(const struct ab_record *table, void *record);

/* Copies a record with everything that it owns. Lists and records are malloc'ed, as in reading;
 * texts are added to the array `texts`. Items that are not written are left out of their lists, and
 * lists that are only shown are empty in the copy. */
void ab_record_copy(const struct ab_record *table, const void *from, void *to, json_t *texts,
                    const void *context);
/* Returns a copy of the text, which belongs to x->texts; NULL for NULL. */
const char *ab_copied_text(const struct ab_copying *x, const char *text);

/* Returns the JSON Schema of a record. */
json_t *ab_record_schema(const struct ab_record *table);

/* Rounds every double that can be read back from a document, with ab_number_settle. */
void ab_record_settle(const struct ab_record *table, void *record);

#endif
