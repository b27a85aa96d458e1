/* SPDX-License-Identifier: MIT
 *
 * Finds the parent of a forked image and replays it up to the fork. Keeps a few replayed parents
 * for their later children.
 */
#include "record/converter.h"

#include "core/alloc.h"

#include <stdlib.h>

/* number of replayed parents that are kept; a parent that was dropped must be replayed again */
enum { PARENTS = 4 };

struct parent {
    const struct ab_spool_entry *image; /* NULL = unused */
    struct ab_converter converter;
    struct ab_convert_report unread;
    uint64_t at_fork;
    uint64_t used_at;
};

struct ab_forks {
    const char *folder;
    const struct ab_spool_entry *images;
    size_t n_images;
    struct parent parents[PARENTS];
    uint64_t n_used;
};

struct ab_forks *ab_forks_open(const char *folder, const struct ab_spool_entry *images, size_t n)
{
    struct ab_forks *f = ab_alloc_zeroed(1, sizeof *f);
    *f = (struct ab_forks){.folder = folder, .images = images, .n_images = n};
    return f;
}

static void forget(struct parent *p)
{
    if (p->image != NULL)
        ab_converter_close(&p->converter);
    p->image = NULL;
}

void ab_forks_close(struct ab_forks *f)
{
    if (f == NULL)
        return;
    for (size_t i = 0; i < PARENTS; i++)
        forget(&f->parents[i]);
    free(f);
}

const char *ab_forks_folder(const struct ab_forks *f)
{
    return f->folder;
}

static bool is_child_of(const struct ab_spool_entry *child, const struct ab_spool_entry *e)
{
    return child->image.fork_number != 0 && child->image.parent == e->image.pid &&
           child->image.parent_generation == e->generation;
}

static const struct ab_spool_entry *find_parent(const struct ab_forks *f,
                                                const struct ab_spool_entry *child)
{
    for (size_t i = 0; i < f->n_images; i++)
        if (is_child_of(child, &f->images[i]))
            return &f->images[i];
    return NULL;
}

static bool has_later_child(const struct ab_forks *f, const struct ab_spool_entry *e, uint64_t fork)
{
    for (size_t i = 0; i < f->n_images; i++)
        if (is_child_of(&f->images[i], e) && f->images[i].image.fork_number > fork)
            return true;
    return false;
}

static struct parent *find_kept(struct ab_forks *f, const struct ab_spool_entry *e, uint64_t fork)
{
    for (size_t i = 0; i < PARENTS; i++)
        if (f->parents[i].image == e && f->parents[i].at_fork <= fork)
            return &f->parents[i];
    return NULL;
}

static struct parent *longest_unused(struct ab_forks *f)
{
    struct parent *found = &f->parents[0];
    for (size_t i = 0; i < PARENTS; i++) {
        if (f->parents[i].image == NULL)
            return &f->parents[i];
        if (f->parents[i].used_at < found->used_at)
            found = &f->parents[i];
    }
    return found;
}

static enum ab_status inherited(struct ab_forks *f, const struct ab_spool_entry *image,
                                size_t depth, struct ab_held **out, size_t *n, struct ab_err *err);

/* Opens a parent at the beginning of its recording. The parent may be a forked child itself. */
static enum ab_status begin_parent(struct ab_forks *f, const struct ab_spool_entry *e, size_t depth,
                                   struct parent **out, struct ab_err *err)
{
    struct ab_held *blocks = NULL;
    size_t n = 0;
    enum ab_status status = inherited(f, e, depth, &blocks, &n, err);
    struct parent *p = *out = longest_unused(f);
    forget(p);
    if (status == AB_OK) {
        *p = (struct parent){.image = e};
        ab_converter_open(&p->converter, f->folder, e, &p->unread);
        status = ab_converter_inherit(&p->converter, blocks, n, err);
    }
    free(blocks);
    return status;
}

/* Replays a parent up to the fork. Sets *is_there to whether its recording reaches the fork. A
 * recording ends at events that cannot be read. */
static enum ab_status go_to_fork(struct parent *p, uint64_t fork, bool *is_there,
                                 struct ab_err *err)
{
    enum ab_status status = AB_OK;
    bool is_over = false;
    if (p->at_fork != fork) {
        p->converter.until_fork = fork;
        p->converter.has_reached = false;
        status = ab_converter_run(&p->converter, UINT64_MAX, &is_over, err);
        p->at_fork = fork;
    }
    *is_there = status == AB_OK && p->converter.has_reached;
    return status == AB_INPUT ? AB_OK : status;
}

static enum ab_status inherited(struct ab_forks *f, const struct ab_spool_entry *image,
                                size_t depth, struct ab_held **out, size_t *n, struct ab_err *err)
{
    const struct ab_spool_entry *e = find_parent(f, image);
    uint64_t fork = image->image.fork_number;
    bool is_there = false;
    enum ab_status status = AB_OK;
    *out = NULL;
    *n = 0;
    if (e == NULL || depth > f->n_images) /* parents form a cycle only if the spool is damaged */
        return AB_OK;
    struct parent *p = find_kept(f, e, fork);
    if (p == NULL)
        status = begin_parent(f, e, depth + 1, &p, err);
    if (status == AB_OK) {
        p->used_at = ++f->n_used;
        status = go_to_fork(p, fork, &is_there, err);
    }
    if (status == AB_OK && is_there) {
        *n = p->converter.live.n;
        *out = ab_address_map_sorted(&p->converter.live);
    }
    if (status != AB_OK || !is_there || !has_later_child(f, e, fork))
        forget(p);
    return status;
}

enum ab_status ab_forks_inherited(struct ab_forks *f, const struct ab_spool_entry *image,
                                  struct ab_held **out, size_t *n, struct ab_err *err)
{
    return inherited(f, image, 0, out, n, err);
}
