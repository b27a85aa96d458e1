/* SPDX-License-Identifier: MIT
 *
 * Writes the report: assigns styles to back ends, and puts the pages into their frame.
 */
#include "report/html/report.h"

#include "core/alloc.h"
#include "core/output.h"
#include "core/text.h"
#include "document/read_result.h"
#include "report/html/frame.h"
#include "report/html/latency_curve.h"
#include "report/html/report_pages.h"
#include "report/sinks/sinks.h"
#include "result/hdr.h"
#include "result/merge/merge_rounds.h"
#include "result/shown.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

/* ---- styles of back ends ---- */

static size_t count_names(const struct ab_session *s, const struct ab_comparison *const *c,
                          size_t n)
{
    size_t count = s->n_backends;
    for (size_t i = 0; i < n; i++)
        count += c[i]->base->n_backends + c[i]->now->n_backends;
    return count;
}

static void add_names(const struct ab_session *s, struct ab_report_series *series, size_t *n)
{
    for (uint32_t b = 0; b < s->n_backends; b++) {
        size_t i = 0;
        while (i < *n && strcmp(series[i].name, s->backends[b].name) != 0)
            i++;
        if (i == *n)
            series[(*n)++] = (struct ab_report_series){.name = s->backends[b].name,
                                                       .title = ab_backend_label(&s->backends[b])};
    }
}

/* Returns the back ends of all results with their styles, each name once. The caller frees the
 * list. */
static struct ab_report_series *make_series(const struct ab_session *s,
                                            const struct ab_comparison *const *c, size_t n_c,
                                            size_t *n_out)
{
    size_t most = count_names(s, c, n_c) + 1, n = 0;
    const char **names = ab_alloc_zeroed(most, sizeof names[0]);
    struct ab_series_style *styles = ab_alloc_zeroed(most, sizeof styles[0]);
    struct ab_report_series *series = ab_alloc_zeroed(most, sizeof series[0]);
    add_names(s, series, &n);
    for (size_t i = 0; i < n_c; i++) {
        add_names(c[i]->base, series, &n);
        add_names(c[i]->now, series, &n);
    }
    for (size_t i = 0; i < n; i++)
        names[i] = series[i].name;
    ab_palette_assign(names, n, styles);
    for (size_t i = 0; i < n; i++) {
        series[i].style = styles[i];
        series[i].number = (uint32_t)i + 1;
    }
    *n_out = n;
    free(names);
    free(styles);
    return series;
}

/* ---- pages ---- */

struct page_of { /* a page of a report */
    const struct ab_page *page;
    const struct ab_report *report;
};

static void write_page(struct ab_html *h, const void *user)
{
    const struct page_of *p = user;
    p->page->write(h, p->report);
}

/* Returns the comparison of two results that the report is about; NULL = the report is about one
 * result. */
static const struct ab_comparison *find_subject(const struct ab_report *report)
{
    for (size_t i = 0; i < report->n_comparisons; i++)
        if (report->comparisons[i]->base != report->comparisons[i]->now)
            return report->comparisons[i];
    return NULL;
}

static void put_data(struct ab_html *h, const void *user)
{
    const struct ab_session *s = user;
    ab_html_embed(h->to, s, s->embed);
}

static void put_document(FILE *to, const struct ab_report *report)
{
    const struct ab_comparison *c = find_subject(report);
    const struct ab_session *s = report->session;
    struct ab_html h = {.to = to};
    struct page_of *pages = ab_alloc_zeroed(ab_n_pages, sizeof pages[0]);
    struct ab_frame_part *parts = ab_alloc_zeroed(ab_n_pages + 1, sizeof parts[0]);
    size_t n = 0;
    char title[1024];
    /* a comparison of two results is the first page */
    for (unsigned is_rest = 0; is_rest < 2; is_rest++)
        for (size_t i = 0; i < ab_n_pages; i++) {
            bool is_first = ab_pages[i].write == ab_page_compare && c != NULL;
            if (is_first == (is_rest == 1))
                continue;
            pages[n] = (struct page_of){&ab_pages[i], report};
            parts[n] = (struct ab_frame_part){ab_pages[i].id, ab_pages[i].title, write_page,
                                              &pages[n]};
            n++;
        }
    parts[n++] = (struct ab_frame_part){.write = put_data, .user = s};
    AB_COPY(title, s->name);
    if (c != NULL && c->base_label != NULL && c->now_label != NULL)
        AB_FIT(title, "%s: %s against %s", s->name, c->now_label, c->base_label);
    ab_frame_document(&h, title, s->about, s->tool.version, parts, n);
    free(pages);
    free(parts);
}

/* Everything that a report needs, from begin_report to end_report. */
struct prepared {
    struct ab_format_guard guard;
    struct ab_view view;
    struct ab_report report;
};

static void begin_report(struct prepared *p, const struct ab_session *session,
                         const struct ab_comparison *const *comparisons, size_t n_comparisons)
{
    p->report = (struct ab_report){.session = session,
                                   .view = &p->view,
                                   .comparisons = comparisons,
                                   .n_comparisons = n_comparisons,
                                   .n_curve_points = ab_latency_points(session)};
    p->report.series = make_series(session, comparisons, n_comparisons, &p->report.n_series);
    ab_view_make(session, &p->view);
    ab_format_begin(&p->guard);
}

static void end_report(struct prepared *p)
{
    ab_format_end(&p->guard);
    ab_view_fini(&p->view);
    free((void *)p->report.series);
}

void ab_report_write(FILE *to, const struct ab_session *session,
                     const struct ab_comparison *const *comparisons, size_t n_comparisons)
{
    struct prepared p;
    begin_report(&p, session, comparisons, n_comparisons);
    put_document(to, &p.report);
    end_report(&p);
}

struct ab_html_text *ab_report_pages(const struct ab_session *session,
                                     const struct ab_picture_files *pictures)
{
    const struct ab_comparison *one = session->comparison;
    struct ab_html_text *pages = ab_alloc_zeroed(ab_n_pages, sizeof pages[0]);
    struct prepared p;
    begin_report(&p, session, &one, one != NULL ? 1 : 0);
    for (size_t i = 0; i < ab_n_pages; i++)
        ab_frame_write(&(struct ab_html){.pictures = pictures, .page = ab_pages[i].id}, write_page,
                       &(struct page_of){&ab_pages[i], &p.report}, &pages[i]);
    end_report(&p);
    return pages;
}

void ab_sink_html(FILE *to, const struct ab_session *session)
{
    const struct ab_comparison *one = session->comparison;
    ab_report_write(to, session, &one, one != NULL ? 1 : 0);
}

/* ---- the embedded result ---- */

/* bytes of a line before encoding; an encoded line has 1,024 characters */
enum { LINE_BYTES = 768 };

static uint8_t *pack(const char *text, size_t n, size_t *n_packed)
{
    uLongf most = compressBound(n);
    uint8_t *packed = ab_alloc(most);
    if (compress2(packed, &most, (const Bytef *)text, n, 6) != Z_OK)
        ab_memory_end(most); /* the only error possible here is a lack of memory */
    *n_packed = most;
    return packed;
}

static void put_base64(FILE *to, const uint8_t *bytes, size_t n)
{
    char line[LINE_BYTES / 3 * 4 + 1];
    for (size_t at = 0; at < n; at += LINE_BYTES) {
        ab_hdr_base64(line, bytes + at, n - at < LINE_BYTES ? n - at : LINE_BYTES);
        fputs(line, to);
        fputc('\n', to);
    }
}

static void write_json(struct ab_html *h, const void *user)
{
    ab_sink_json(h->to, user);
}

static void put_result(FILE *to, const struct ab_session *s)
{
    struct ab_html_text json;
    size_t n_packed;
    ab_frame_write(&(struct ab_html){0}, write_json, s, &json);
    uint8_t *packed = pack(json.text, json.n, &n_packed);
    fputs(AB_HTML_RESULT_BEGIN "\n", to);
    put_base64(to, packed, n_packed);
    fputs(AB_HTML_RESULT_END "\n", to);
    free(packed);
    free(json.text);
}

void ab_html_embed(FILE *to, const struct ab_session *session, enum ab_embed embed)
{
    struct ab_merged_rounds merged;
    if (embed == AB_EMBED_FULL)
        put_result(to, session);
    if (embed == AB_EMBED_NONE || embed == AB_EMBED_FULL)
        return;
    ab_merge_rounds(session, &merged);
    put_result(to, &merged.session);
    ab_merged_rounds_fini(&merged);
}

/* ---- pictures as files ---- */

enum { NAME_BYTES = 120, FILE_BYTES = NAME_BYTES + 16 };

enum ab_status ab_figures_prepare(const char *folder, struct ab_err *err)
{
    struct ab_output trial;
    char shown[300];
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return ab_fail_errno(err, AB_USAGE, "--svg: cannot make the folder '%s'",
                             ab_text_printable(shown, sizeof shown, folder));
    AB_TRY(ab_output_open_new(folder, &trial, err));
    ab_output_abandon(&trial);
    return AB_OK;
}

/* ---- names ---- */

struct names { /* names in use */
    char (*list)[FILE_BYTES];
    size_t n, cap;
};

/* Writes "memory-glibc": the id of the page, then letters and digits of the title; '-' replaces
 * everything else. */
static void make_stem(char out[NAME_BYTES], const char *page, const char *title)
{
    size_t n = (size_t)snprintf(out, NAME_BYTES - 16, "%s", page);
    bool wants_dash = true;
    for (size_t i = 0; title[i] != 0 && n + 18 < NAME_BYTES; i++) {
        unsigned char c = (unsigned char)title[i];
        if (!isascii(c) || !isalnum(c)) {
            wants_dash = true;
            continue;
        }
        if (wants_dash)
            out[n++] = '-';
        wants_dash = false;
        out[n++] = (char)tolower(c);
    }
    out[n] = 0;
}

static bool is_given(const struct names *names, const char *name)
{
    for (size_t i = 0; i < names->n; i++)
        if (strcmp(names->list[i], name) == 0)
            return true;
    return false;
}

/* Writes an unused name: STEM, or STEM-2 and so on. Thus "heap 2" and a second "heap" have
 * different files. */
static void make_name(struct names *names, const char *stem, char out[FILE_BYTES])
{
    AB_GROW(names->list, names->cap, names->n);
    snprintf(out, FILE_BYTES, "%s.svg", stem);
    for (unsigned i = 2; is_given(names, out); i++)
        snprintf(out, FILE_BYTES, "%s-%u.svg", stem, i);
    strcpy(names->list[names->n++], out);
}

/* ---- files ---- */

struct pictures {
    const char *folder;
    struct names names;
    struct ab_output file; /* file of the picture that is being written */
    enum ab_status status; /* the first error; nothing is written after it */
    struct ab_err *err;
};

static FILE *begin_picture(void *user, const char *page, const char *title)
{
    struct pictures *p = user;
    char stem[NAME_BYTES], name[FILE_BYTES];
    if (p->status != AB_OK)
        return NULL;
    make_stem(stem, page, title);
    make_name(&p->names, stem, name);
    char *path = ab_strdupf("%s/%s", p->folder, name);
    p->file = (struct ab_output){0};
    p->status = ab_output_open(path, &p->file, p->err);
    free(path);
    return p->status == AB_OK ? p->file.to : NULL;
}

static void end_picture(void *user)
{
    struct pictures *p = user;
    p->status = ab_output_commit(&p->file, p->err);
    ab_output_abandon(&p->file);
}

enum ab_status ab_sink_svg(const char *folder, const struct ab_session *session, struct ab_err *err)
{
    struct pictures p = {.folder = folder, .err = err};
    const struct ab_picture_files files = {begin_picture, end_picture, &p};
    struct ab_html_text *pages = ab_report_pages(session, &files);
    for (size_t i = 0; i < ab_n_pages; i++)
        free(pages[i].text);
    free(pages);
    free(p.names.list);
    return p.status;
}
