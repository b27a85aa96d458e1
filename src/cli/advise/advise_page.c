/* SPDX-License-Identifier: MIT
 *
 * Collects what the page of an advice shows.
 */
#include "cli/advise/advise_page.h"

#include "advise/code.h"
#include "cli/advise/advise_rules.h"
#include "cli/trace/trace_flame.h"
#include "cli/trace/trace_watch.h"
#include "report/html/advice/advice_report.h"

#include <stdlib.h>

/* Stacks of a heap that is not advised are malloc's. */
static enum ab_status read_stacks(const struct ab_advise_page *page, const struct ab_options *o,
                                  struct ab_stacks *out, struct ab_err *err)
{
    const struct ab_advice *a = page->advice;
    if (a->heap_of_site == NULL)
        return AB_OK;
    uint32_t *kinds = calloc(a->sites.n_stacks + 1, sizeof kinds[0]);
    if (kinds == NULL)
        return ab_fail(err, AB_SYSTEM, "out of memory for the flame graphs");
    for (size_t i = 0; i <= a->sites.n_stacks; i++) {
        uint32_t heap = a->heap_of_site[i];
        if (heap != AB_ADVICE_NO_HEAP && (page->used >> heap & 1) != 0)
            kinds[i] = heap + 1;
    }
    struct ab_trace_watch watch;
    struct ab_walk walk = {.path = page->path, .is_partial = o->is_partial};
    ab_trace_watch_begin(&watch, o, page->path, &walk);
    enum ab_status status = ab_trace_stacks_read(&walk, kinds, out, err);
    ab_trace_watch_end(&watch);
    free(kinds);
    return status;
}

static char *make_rules(const struct ab_advise_page *page)
{
    char *text = NULL;
    size_t n;
    FILE *to = open_memstream(&text, &n);
    if (to == NULL)
        return NULL;
    ab_advise_write_rules(to, page->advice, page->used, page->base, page->arguments);
    bool ok = ferror(to) == 0;
    if (fclose(to) == 0 && ok)
        return text;
    free(text);
    return NULL;
}

enum ab_status ab_advise_page_write(const struct ab_advise_page *page, const struct ab_options *o,
                                    struct ab_output *out, struct ab_err *err)
{
    struct ab_stacks stacks = {0};
    struct ab_text code = {0};
    AB_TRY(read_stacks(page, o, &stacks, err));
    char *rules = make_rules(page);
    if (page->used != 0)
        ab_code_write(page->advice, page->used, page->trace, &code);
    const struct ab_advice_report report = {page->document, rules, code.s, &stacks};
    bool ok = rules != NULL && (page->used == 0 || code.s != NULL) &&
              ab_advice_report_write(out->to, &report);
    ab_stacks_fini(&stacks);
    ab_text_fini(&code);
    free(rules);
    return ok ? ab_output_commit(out, err)
              : ab_fail(err, AB_SYSTEM, "out of memory for the page of the advice");
}
