/* SPDX-License-Identifier: MIT
 *
 * Writes the file of owners (wire/run_page.h) and names each owner.
 */
#include "app/owners.h"

#include "app/stacks.h"
#include "base/bits.h"
#include "base/nearest.h"
#include "base/units.h"
#include "core/alloc.h"
#include "core/text.h"
#include "core/units_show.h"
#include "report/table/style.h"
#include "stats/gate.h"
#include "symbols/site_match.h"
#include "tape/tape.h"
#include "trace_tools/walk.h"
#include "workload/config.h"
#include "workload/workload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    BUFFERED = 1 << 14, /* owners kept in memory before they are written */
    /* up to this many blocks, the file of a workload's owners is held in memory */
    HELD_MOST = 1 << 24
};

bool ab_owners_are_wanted(const struct ab_measure_request *asked,
                          const struct ab_workload *workload)
{
    bool is_wanted = (asked->passes.topics & AB_TOPIC_PINS) != 0 || asked->passes.n_moments > 0;
    for (size_t i = 0; i < asked->verdicts.n_gates; i++)
        is_wanted = is_wanted || ab_gate_is_of_pins(asked->verdicts.gates[i]);
    const struct ab_remarks *gates = workload != NULL ? ab_workload_gates(workload) : NULL;
    for (size_t i = 0; gates != NULL && i < gates->n; i++)
        is_wanted = is_wanted || ab_gate_is_of_pins(gates->items[i].node.text);
    return is_wanted;
}

bool ab_groups_are_wanted(const struct ab_measure_request *asked)
{
    return asked->maps.n > 0 || ab_owners_are_wanted(asked, NULL);
}

static struct ab_owner_name *add_name(struct ab_owner_list *list, const char *function)
{
    AB_GROW_ZEROED(list->names, list->cap, list->n);
    struct ab_owner_name *name = &list->names[list->n++];
    AB_COPY(name->function, function);
    return name;
}

static void end_names(struct ab_owner_list *list, enum ab_pin_group group)
{
    list->owners.names = list->names;
    list->owners.n = (uint32_t)list->n;
    list->owners.group = group;
}

static void name_sizes(struct ab_owner_list *out)
{
    char text[64];
    add_name(out, "0-1 B");
    for (unsigned c = 1; c < 64; c++) {
        unsigned long long most = 1ull << c;
        AB_FIT(text, c == 1 ? "2 B" : "%llu-%llu B", most / 2 + 1, most);
        add_name(out, text);
    }
    end_names(out, AB_PIN_SIZE);
}

/* ---- the file of owners ---- */

struct writer {
    struct ab_shared_file file;
    uint32_t buffer[BUFFERED];
    size_t n;
    uint64_t n_before; /* owners already in the file */
};

static enum ab_status flush(struct writer *w, struct ab_err *err)
{
    uint64_t ignored;
    size_t bytes = w->n * sizeof w->buffer[0];
    w->n_before += w->n;
    w->n = 0;
    return bytes == 0 ? AB_OK
                      : ab_shared_file_append(&w->file, w->buffer, bytes, sizeof w->buffer[0],
                                              &ignored, err);
}

static enum ab_status put(struct writer *w, uint32_t owner, struct ab_err *err)
{
    if (w->n == BUFFERED)
        AB_TRY(flush(w, err));
    w->buffer[w->n++] = owner;
    return AB_OK;
}

static enum ab_status begin_file(struct writer *w, bool is_held, struct ab_err *err)
{
    w->n = 0;
    w->n_before = 0;
    return ab_shared_file_begin(is_held, "the owners of blocks", 0, &w->file, err);
}

/* Ends the file: passes it to *out if `status` is AB_OK, else closes it. */
static enum ab_status end_file(struct writer *w, enum ab_status status, struct ab_owner_list *out,
                               struct ab_err *err)
{
    if (status == AB_OK)
        status = flush(w, err);
    if (status == AB_OK)
        status = ab_shared_file_protect(&w->file, w->file.end, err);
    if (status == AB_OK && (out->owners.fd = dup(w->file.fd)) < 0)
        status = ab_fail_errno(err, AB_SYSTEM, "cannot keep the owners of blocks");
    ab_shared_file_abandon(&w->file);
    return status;
}

/* ---- moments ---- */

enum { MARKS_MOST = 8 }; /* without --at, owners are measured at no more than this many marks */

/* True if the text is a number of ops or a time. Sets *kind and *number. */
static bool is_number(const char *text, enum ab_unit_kind *kind, struct ab_number *number)
{
    static const enum ab_unit_kind kinds[] = {AB_UNIT_COUNT, AB_UNIT_TIME};
    for (size_t i = 0; i < AB_ARRAY_LEN(kinds); i++)
        if (ab_units_parse(text, strlen(text), *kind = kinds[i], number) == NULL)
            return true;
    return false;
}

static bool is_mark(const char *text)
{
    enum ab_unit_kind kind;
    struct ab_number number;
    return !is_number(text, &kind, &number);
}

static void add_mark(struct ab_owner_list *list, uint64_t call, const char *name)
{
    struct ab_trace_moments *m = &list->marks;
    size_t i = 0;
    while (i < m->n && strcmp(list->mark_names[i], name) != 0)
        i++;
    if (i < m->n)
        return;
    for (i = m->n++; i > 0 && m->calls[i - 1] > call; i--) {
        m->calls[i] = m->calls[i - 1];
        memcpy(list->mark_names[i], list->mark_names[i - 1], sizeof list->mark_names[0]);
    }
    m->calls[i] = call;
    snprintf(list->mark_names[i], sizeof list->mark_names[0], "%s", name);
}

/* Returns the last mark with a name, or the `number`-th of these marks, counted from 1; NULL =
 * none. */
static const struct ab_trace_mark *find_mark(const struct ab_mark_table *t, const char *name,
                                             size_t n_name, uint64_t number)
{
    const struct ab_trace_mark *found = NULL;
    uint64_t n = 0;
    for (size_t i = 0; i < t->n && (number == 0 || n < number); i++) {
        const char *own = t->names[t->marks[i].name];
        if (strncmp(own, name, n_name) != 0 || own[n_name] != 0)
            continue;
        found = &t->marks[i];
        n++;
    }
    return number == 0 || n == number ? found : NULL;
}

static enum ab_status fail_mark(const struct ab_mark_table *t, const char *text, struct ab_err *err)
{
    const char *near = ab_text_nearest(text, (const char *const *)t->names, t->n_names);
    if (t->n_names == 0)
        return ab_fail(err, AB_USAGE,
                       "--at %s: the trace has no marks; a moment is a number of calls (1.5M) or a "
                       "time of the work (30s)",
                       text);
    return ab_fail(err, AB_USAGE, "--at %s: the trace has no such mark; it has %zu name%s, as %s",
                   text, t->n_names, t->n_names > 1 ? "s" : "", near != NULL ? near : t->names[0]);
}

/* Chooses the mark that is named by the whole text. If there is none, reads the text as
 * NAME#NUMBER. */
static enum ab_status choose_mark(const struct ab_mark_table *t, const char *text,
                                  struct ab_owner_list *list, struct ab_err *err)
{
    const char *hash = strrchr(text, '#');
    const struct ab_trace_mark *mark = find_mark(t, text, strlen(text), 0);
    struct ab_number number = {0};
    if (mark == NULL && hash != NULL &&
        ab_units_parse(hash + 1, strlen(hash + 1), AB_UNIT_COUNT, &number) == NULL &&
        number.whole > 0)
        mark = find_mark(t, text, (size_t)(hash - text), number.whole);
    if (mark == NULL)
        return fail_mark(t, text, err);
    add_mark(list, mark->call, text);
    return AB_OK;
}

static enum ab_status choose_marks(const struct ab_passes_wanted *passes,
                                   const struct ab_mark_table *t, struct ab_owner_list *list,
                                   struct ab_err *err)
{
    size_t most = passes->n_moments + MARKS_MOST;
    list->marks.calls = ab_alloc_zeroed(most, sizeof list->marks.calls[0]);
    list->marks.positions = ab_alloc_zeroed(most, sizeof list->marks.positions[0]);
    list->mark_names = ab_alloc_zeroed(most, sizeof list->mark_names[0]);
    for (size_t i = 0; i < passes->n_moments; i++)
        if (is_mark(passes->moments[i]))
            AB_TRY(choose_mark(t, passes->moments[i], list, err));
    for (size_t i = 0; i < t->n_names && i < MARKS_MOST; i++) {
        const struct ab_trace_mark *last = find_mark(t, t->names[i], strlen(t->names[i]), 0);
        if (last != NULL)
            add_mark(list, last->call, t->names[i]);
    }
    return AB_OK;
}

static enum ab_status add_moment(struct ab_owner_list *list, uint32_t position, const char *name,
                                 struct ab_err *err)
{
    struct ab_owners *o = &list->owners;
    if (o->n_moments == AB_PINS_ASKED_MOST)
        return ab_fail(err, AB_USAGE, "--at: more than %d moments", AB_PINS_ASKED_MOST);
    o->moments[o->n_moments].position = position;
    snprintf(o->moments[o->n_moments++].name, sizeof o->moments[0].name, "%s", name);
    return AB_OK;
}

/* Returns the position in the tape at which `time_ns` of the work's time have passed;
 * AB_MEMORY_NEVER if the work has no times. */
static uint32_t position_at(const struct ab_tape_image *tape, uint64_t time_ns)
{
    const struct ab_time_step *steps = ab_tape_steps(tape);
    uint32_t i = 0;
    while (i < tape->n_steps && steps[i].time_ns < time_ns)
        i++;
    return i < tape->n_steps ? steps[i].position : AB_MEMORY_NEVER;
}

static enum ab_status find_number(const struct ab_tape_image *tape, const char *text,
                                  uint32_t *position, struct ab_err *err)
{
    enum ab_unit_kind kind;
    struct ab_number number;
    is_number(text, &kind, &number);
    if (kind == AB_UNIT_COUNT && number.whole > 0 && number.whole <= tape->n_counted) {
        *position = ab_tape_position_of(tape, (uint32_t)number.whole);
        return AB_OK;
    }
    if (kind == AB_UNIT_COUNT)
        return ab_fail(err, AB_USAGE, "--at %s: the work has %u ops: 1 to that many", text,
                       tape->n_counted);
    if (tape->n_steps == 0)
        return ab_fail(err, AB_USAGE, "--at %s: the work has no times; a number of ops is possible",
                       text);
    *position = position_at(tape, number.whole);
    return *position != AB_MEMORY_NEVER ? AB_OK
                                        : ab_fail(err, AB_USAGE, "--at %s: the work lasts %s", text,
                                                  AB_TIME((double)tape->duration_ns));
}

enum ab_status ab_owners_find_moments(const struct ab_passes_wanted *passes,
                                      const struct ab_tape_image *tape, struct ab_owner_list *list,
                                      struct ab_err *err)
{
    uint32_t position = position_at(tape, tape->duration_ns / 2);
    list->owners.n_moments = 0;
    if (tape->n_steps > 0 && position != AB_MEMORY_NEVER)
        AB_TRY(add_moment(list, position, ab_pin_moment_names[AB_PIN_HALF_TIME], err));
    for (size_t i = 0; i < list->marks.n; i++)
        AB_TRY(add_moment(list, list->marks.positions[i], list->mark_names[i], err));
    for (size_t i = 0; i < passes->n_moments; i++) {
        if (is_mark(passes->moments[i]) && list->mark_names == NULL)
            return ab_fail(
                err, AB_USAGE,
                "--at %s: a workload has no marks; a moment is a number of ops (1.5M) or "
                "a time of the work (30s)",
                passes->moments[i]);
        if (is_mark(passes->moments[i]))
            continue;
        AB_TRY(find_number(tape, passes->moments[i], &position, err));
        AB_TRY(add_moment(list, position, passes->moments[i], err));
    }
    return AB_OK;
}

/* ---- call sites ---- */

struct ab_owner_sites {
    struct writer writer;
    struct ab_site_table table;
    struct ab_site_names names;
    uint32_t *hashed; /* hash table from the name of an owner to its number + 1 */
    size_t n_hashed;
    struct ab_owner_list *out;
};

/* Names a frame without a known function by its module and offset. */
static void name_address(const struct ab_site_table *t, const struct ab_site_frame *frame,
                         struct ab_owner_name *out)
{
    const struct ab_site_module *module = ab_site_module_of(t, frame);
    if (module == NULL)
        AB_FIT(out->function, "code made at run time");
    else
        AB_FIT(out->function, "%s+0x%llx", basename(module->path),
               (unsigned long long)frame->address);
}

/* Names the innermost function of the frame, leaving out functions that only pass memory on.
 * Returns false if there is no other function. */
static bool name_frame(struct ab_owner_sites *s, const struct ab_site_frame *frame, bool is_last,
                       struct ab_owner_name *out)
{
    const struct ab_site_module *module = ab_site_module_of(&s->table, frame);
    struct ab_site_named named = ab_site_names_find(&s->names, frame);
    for (size_t i = 0; i < named.n; i++) {
        const struct ab_symbol *symbol = &named.items[i];
        if (ab_wrappers_has(module, symbol) && !(is_last && i + 1 == named.n))
            continue;
        *out = (struct ab_owner_name){.line = symbol->line > 0 ? (uint32_t)symbol->line : 0};
        AB_COPY(out->file, symbol->file[0] != 0 ? basename(symbol->file)
                           : module != NULL     ? basename(module->path)
                                                : "");
        if (symbol->function[0] != 0)
            ab_wrappers_bare_name(symbol->function, out->function, sizeof out->function);
        else
            name_address(&s->table, frame, out);
        return true;
    }
    return false;
}

static void name_stack(struct ab_owner_sites *s, uint32_t stack, struct ab_owner_name *out)
{
    size_t depth = s->table.stacks[stack - 1].depth;
    *out = (struct ab_owner_name){.function = AB_PIN_UNKNOWN};
    for (size_t i = 0; i < depth; i++)
        if (name_frame(s, ab_site_frame(&s->table, stack, i), i + 1 == depth, out))
            return;
}

static uint64_t hash_name(const struct ab_owner_name *name)
{
    uint64_t h = UINT64_C(14695981039346656037) ^ name->line;
    for (const char *c = name->function; *c != 0; c++)
        h = (h ^ (uint8_t)*c) * UINT64_C(1099511628211);
    for (const char *c = name->file; *c != 0; c++)
        h = (h ^ (uint8_t)*c) * UINT64_C(1099511628211);
    return h;
}

static void hash_again(struct ab_owner_sites *s)
{
    s->n_hashed = s->n_hashed == 0 ? 1024 : 2 * s->n_hashed;
    free(s->hashed);
    s->hashed = ab_alloc_zeroed(s->n_hashed, sizeof s->hashed[0]);
    for (uint32_t i = 0; i < s->out->n; i++) {
        size_t at = hash_name(&s->out->names[i]) & (s->n_hashed - 1);
        while (s->hashed[at] != 0)
            at = (at + 1) & (s->n_hashed - 1);
        s->hashed[at] = i + 1;
    }
}

static bool is_same(const struct ab_owner_name *a, const struct ab_owner_name *b)
{
    return a->line == b->line && strcmp(a->function, b->function) == 0 &&
           strcmp(a->file, b->file) == 0;
}

static uint32_t know_name(struct ab_owner_sites *s, const struct ab_owner_name *name)
{
    if (s->out->n * 2 >= s->n_hashed)
        hash_again(s);
    size_t at = hash_name(name) & (s->n_hashed - 1);
    for (; s->hashed[at] != 0; at = (at + 1) & (s->n_hashed - 1))
        if (is_same(&s->out->names[s->hashed[at] - 1], name))
            return s->hashed[at] - 1;
    *add_name(s->out, "") = *name;
    s->hashed[at] = (uint32_t)s->out->n;
    return s->hashed[at] - 1;
}

/* Writes the owner of each stack, after the stacks of the blocks. Stacks without a known site
 * belong to owner 0. */
static enum ab_status put_map(struct ab_owner_sites *s, struct ab_err *err)
{
    struct ab_owner_name name;
    struct ab_owners *o = &s->out->owners;
    o->n_stacks = (uint32_t)s->table.n_stacks + 1;
    o->map_at = (s->writer.n_before + s->writer.n) * sizeof s->writer.buffer[0];
    AB_TRY(put(&s->writer, 0, err));
    for (uint32_t stack = 1; stack < o->n_stacks; stack++) {
        name_stack(s, stack, &name);
        AB_TRY(put(&s->writer, know_name(s, &name), err));
    }
    return AB_OK;
}

static enum ab_status visit(void *user, const struct ab_walk_batch *batch, struct ab_err *err)
{
    struct ab_owner_sites *s = user;
    for (size_t i = 0; i < batch->n; i++) {
        const struct ab_event *e = &batch->events[i];
        if (e->kind != AB_EVENT_FREE && !e->released)
            AB_TRY(put(&s->writer, e->site, err));
    }
    return AB_OK;
}

static enum ab_status walk_trace(struct ab_owner_sites *s, const struct ab_walk *walk,
                                 struct ab_trace_info *info, struct ab_err *err)
{
    add_name(s->out, AB_PIN_UNKNOWN);
    AB_TRY(begin_file(&s->writer, false, err));
    enum ab_status status = ab_trace_walk(walk, info, err);
    if (status == AB_OK)
        status = put_map(s, err);
    return end_file(&s->writer, status, s->out, err);
}

/* Makes size classes the owners, because the trace has no call sites. */
static void fall_back_to_sizes(struct ab_owner_list *list)
{
    close(list->owners.fd);
    list->owners.fd = 0;
    list->owners.n_stacks = 0;
    list->owners.take_stack = NULL;
    list->n = 0;
    name_sizes(list);
}

static void take_stack(void *user, uint32_t stack, uint64_t external)
{
    struct ab_owner_list *list = user;
    if (list->flame != NULL && external > 0)
        ab_stacks_add(list->flame, &list->sites->names, stack, external);
}

enum ab_status ab_owners_of_trace(const struct ab_measure_request *asked, const char *path,
                                  struct ab_owner_list *out, struct ab_err *err)
{
    struct ab_owner_sites *s = out->sites = ab_alloc_zeroed(1, sizeof *s);
    struct ab_mark_table marks = {0};
    struct ab_trace_info info;
    const struct ab_walk walk = {.path = path,
                                 .is_partial = asked->replay.is_partial,
                                 .sites = &s->table,
                                 .marks = &marks,
                                 .visit = visit,
                                 .user = s};
    s->out = out;
    ab_site_names_init(&s->names, &s->table);
    enum ab_status status = walk_trace(s, &walk, &info, err);
    end_names(out, AB_PIN_SITE);
    out->owners.take_stack = take_stack;
    out->owners.user = out;
    if (status == AB_OK && !info.has_sites)
        fall_back_to_sizes(out);
    if (status == AB_OK)
        status = choose_marks(&asked->passes, &marks, out, err);
    ab_mark_table_fini(&marks);
    return status;
}

static void close_sites(struct ab_owner_sites *s)
{
    if (s == NULL)
        return;
    ab_site_names_fini(&s->names);
    ab_site_table_fini(&s->table);
    free(s->hashed);
    free(s);
}

/* ---- sets ---- */

enum ab_status ab_owners_of_sets(const struct ab_tape *tape, const struct ab_workload *workload,
                                 struct ab_owner_list *out, struct ab_err *err)
{
    if (tape->group_order == NULL) {
        name_sizes(out);
        return AB_OK;
    }
    struct writer *w = ab_alloc_zeroed(1, sizeof *w);
    for (size_t i = 0; i < ab_workload_count_sets(workload) && i < AB_GROUPS_MAX; i++)
        add_name(out, ab_workload_set_name(workload, i));
    enum ab_status status = begin_file(w, tape->n_group_order <= HELD_MOST, err);
    if (status == AB_OK) {
        for (size_t i = 0; i < tape->n_group_order && status == AB_OK; i++)
            status = put(w, tape->group_order[i], err);
        status = end_file(w, status, out, err);
    }
    end_names(out, AB_PIN_SET);
    free(w);
    return status;
}

void ab_owners_fini(struct ab_owner_list *list)
{
    if (list->owners.fd > 0)
        close(list->owners.fd);
    close_sites(list->sites);
    free(list->names);
    free(list->marks.calls);
    free(list->marks.positions);
    free(list->mark_names);
    *list = (struct ab_owner_list){0};
}
