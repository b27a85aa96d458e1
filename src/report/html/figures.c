/* SPDX-License-Identifier: MIT
 *
 * Takes the pictures out of the pages. Names and texts in them are escaped, so that the marks of a
 * figure are not in any of them.
 */
#include "report/html/figures.h"

#include "core/text.h"
#include "report/html/pages/pages.h"
#include "report/html/report.h"
#include "report/output.h"
#include "report/sinks/sinks.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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

struct names { /* that were given */
    char (*list)[FILE_BYTES];
    size_t n, cap;
};

/* "memory-glibc": letters and digits of the title, '-' for all else. */
static void make_stem(char out[NAME_BYTES], const char *page, const char *title, size_t n_title)
{
    size_t n = (size_t)snprintf(out, NAME_BYTES - 16, "%s", page);
    bool wants_dash = true;
    for (size_t i = 0; i < n_title && n + 18 < NAME_BYTES; i++) {
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

/* STEM, or STEM-2 and so on: "heap 2" and the second "heap" have different files. False: out of
 * memory. */
static bool make_name(struct names *names, const char *stem, char out[FILE_BYTES])
{
    if (names->n == names->cap) {
        size_t cap = names->cap == 0 ? 64 : 2 * names->cap;
        void *list = realloc(names->list, cap * sizeof names->list[0]);
        if (list == NULL)
            return false;
        names->list = list;
        names->cap = cap;
    }
    snprintf(out, FILE_BYTES, "%s.svg", stem);
    for (unsigned i = 2; is_given(names, out); i++)
        snprintf(out, FILE_BYTES, "%s-%u.svg", stem, i);
    strcpy(names->list[names->n++], out);
    return true;
}

/* ---- files ---- */

struct picture { /* in a page */
    const char *title, *svg;
    size_t n_title, n_svg;
    const char *next; /* what follows it */
};

/* The next picture at or behind `from`; false: there is none. */
static bool find_picture(const char *from, struct picture *out)
{
    static const char caption[] = "<figcaption>", end[] = "</svg>\n</figure>";
    const char *title = strstr(from, caption);
    const char *svg = title != NULL ? strstr(title, "<svg xmlns=") : NULL;
    const char *close = svg != NULL ? strstr(svg, end) : NULL;
    if (close == NULL)
        return false;
    title += strlen(caption);
    *out = (struct picture){title, svg, strcspn(title, "<"), (size_t)(close - svg) + 6,
                            close + strlen(end)};
    return true;
}

/* The picture on white, with its title. */
static void put_picture(FILE *to, const struct picture *p)
{
    size_t head = strcspn(p->svg, ">") + 1;
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n", to);
    fwrite(p->svg, 1, head, to);
    fprintf(to, "\n<title>%.*s</title>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>",
            (int)p->n_title, p->title);
    fwrite(p->svg + head, 1, p->n_svg - head, to);
    fputc('\n', to);
}

static enum ab_status write_picture(const char *folder, const char *name, const struct picture *p,
                                    struct ab_err *err)
{
    struct ab_output file = {0};
    char *path;
    if (asprintf(&path, "%s/%s", folder, name) < 0)
        return ab_fail(err, AB_SYSTEM, "out of memory for --svg");
    enum ab_status status = ab_output_open(path, &file, err);
    if (status == AB_OK) {
        put_picture(file.to, p);
        status = ab_output_commit(&file, err);
    }
    ab_output_abandon(&file);
    free(path);
    return status;
}

static enum ab_status write_page(const char *folder, const char *page, const char *text,
                                 struct names *names, struct ab_err *err)
{
    struct picture p;
    enum ab_status status = AB_OK;
    for (const char *at = text; status == AB_OK && find_picture(at, &p); at = p.next) {
        char stem[NAME_BYTES], name[FILE_BYTES];
        make_stem(stem, page, p.title, p.n_title);
        if (!make_name(names, stem, name))
            return ab_fail(err, AB_SYSTEM, "out of memory for --svg");
        status = write_picture(folder, name, &p, err);
    }
    return status;
}

enum ab_status ab_sink_svg(const char *folder, const struct ab_session *session, struct ab_err *err)
{
    struct names names = {0};
    enum ab_status status = AB_OK;
    struct ab_html_text *pages = ab_report_pages(session);
    if (pages == NULL)
        return ab_fail(err, AB_SYSTEM, "out of memory for --svg");
    for (size_t i = 0; i < ab_n_pages; i++) {
        if (status == AB_OK && pages[i].n > 0)
            status = write_page(folder, ab_pages[i].id, pages[i].text, &names, err);
        free(pages[i].text);
    }
    free(pages);
    free(names.list);
    return status;
}
