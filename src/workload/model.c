/* SPDX-License-Identifier: MIT
 *
 * Reads the two tables line by line. Every number is checked against its range, so that play.c
 * needs no checks.
 */
#include "workload/model.h"

#include "base/bits.h"
#include "core/alloc.h"
#include "tape/tape.h"
#include "workload/dist.h"

#include <stdlib.h>
#include <string.h>

static const char *next_line(char **text, unsigned *line)
{
    char *at = *text, *end = at != NULL ? strchr(at, '\n') : NULL;
    if (at == NULL || *at == 0)
        return NULL;
    *text = end != NULL ? end + 1 : NULL;
    if (end != NULL)
        *end = 0;
    size_t n = strlen(at);
    if (n > 0 && at[n - 1] == '\r')
        at[n - 1] = 0;
    ++*line;
    return at;
}

/* Reads the next field of a line as a number of at most `most`. */
static bool take_number(const char **at, uint64_t most, uint64_t *out)
{
    uint64_t value = 0;
    const char *s = *at;
    for (; *s >= '0' && *s <= '9'; s++)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*s - '0'), &value) || value > most)
            return false;
    if (s == *at || (*s != ',' && *s != 0))
        return false;
    *at = *s == ',' ? s + 1 : s;
    *out = value;
    return true;
}

static bool take_end(const char **at, uint64_t *out)
{
    size_t n = strcspn(*at, ",");
    for (size_t i = 0; i < AB_ARRAY_LEN(ab_block_end_words); i++)
        if (strlen(ab_block_end_words[i]) == n && memcmp(ab_block_end_words[i], *at, n) == 0) {
            *at += n + ((*at)[n] == ',');
            *out = i;
            return true;
        }
    return false;
}

/* Returns the next line that has a row, after skipping empty lines and comments; NULL at the
 * end. */
static const char *next_row(char **text, unsigned *line)
{
    const char *row = next_line(text, line);
    while (row != NULL && (row[0] == 0 || row[0] == '#'))
        row = next_line(text, line);
    return row;
}

static const char *check_block(const struct ab_model_block *b)
{
    if (b->align != 0 && (!ab_is_pow2(b->align) || b->align < 8))
        return "align must be 0 or a power of two from 8 to 1 GiB";
    if (b->ends > AB_ENDS_CALLS && b->life == 0)
        return "fifo, lifo and random need a life of 1 part or more";
    if (b->ends > AB_ENDS_CALLS && b->from >= b->to)
        return "from must be below to";
    if (b->resizes > 0 && b->last_size == 0)
        return "a block that is resized needs a last_size";
    return NULL;
}

static const char *read_block(struct ab_model *t, const char *at)
{
    AB_GROW(t->blocks, t->cap_blocks, t->n_blocks);
    struct ab_model_block *b = &t->blocks[t->n_blocks];
    bool ok = take_number(&at, AB_SIZE_MAX, &b->size) &&
              take_number(&at, UINT64_C(1) << 30, &b->align) &&
              take_number(&at, 1, &b->is_zeroed) && take_number(&at, AB_LANES_MAX - 1, &b->lane) &&
              take_number(&at, AB_LANES_MAX - 1, &b->freed_by) &&
              take_number(&at, 1000000, &b->resizes) &&
              take_number(&at, AB_SIZE_MAX, &b->last_size) && take_number(&at, 100, &b->grown) &&
              take_end(&at, &b->ends) && take_number(&at, UINT32_MAX, &b->life) &&
              take_number(&at, 100, &b->from) && take_number(&at, 100, &b->to) && *at == 0;
    if (!ok)
        return "expected " AB_MODEL_BLOCKS_HEAD
               ": whole numbers, sizes of at most 1 TiB, lanes below 256, percentages of at most 100, 'ends' one of never, "
               "calls, fifo, lifo, random";
    uint64_t lane = b->lane > b->freed_by ? b->lane : b->freed_by;
    t->n_lanes = lane >= t->n_lanes ? (uint32_t)lane + 1 : t->n_lanes;
    t->n_blocks++;
    return check_block(b);
}

static const char *read_sequence_row(struct ab_model *t, const char *at)
{
    uint64_t part, state, block, next, count;
    AB_GROW(t->rows, t->cap_rows, t->n_rows);
    const struct ab_model_row *before = t->n_rows > 0 ? &t->rows[t->n_rows - 1] : NULL;
    if (!take_number(&at, AB_MODEL_PARTS_MAX - 1, &part) ||
        !take_number(&at, AB_MODEL_ROWS_MAX, &state) || !take_number(&at, t->n_blocks, &block) ||
        !take_number(&at, AB_MODEL_ROWS_MAX, &next) || !take_number(&at, UINT32_MAX, &count) ||
        *at != 0 || block == 0 || count == 0)
        return "expected " AB_MODEL_SEQUENCE_HEAD
               ": whole numbers, 'block' a row of the other table from 1, 'count' at least 1";
    if (before != NULL && (part < before->part || (part == before->part && state < before->state)))
        return "rows must be sorted by part, then by state";
    t->rows[t->n_rows++] = (struct ab_model_row){
        (uint32_t)part, (uint32_t)state, (uint32_t)block - 1, (uint32_t)next, (uint32_t)count};
    t->n_parts = (uint32_t)part + 1;
    return NULL;
}

const char *ab_model_read(struct ab_model *t, bool is_sequence, char *text, unsigned *line)
{
    const char *row = next_row(&text, line), *wrong = NULL;
    const char *head = is_sequence ? AB_MODEL_SEQUENCE_HEAD : AB_MODEL_BLOCKS_HEAD;
    size_t n = 0;
    t->n_lanes = t->n_lanes > 0 ? t->n_lanes : 1;
    if (row == NULL || strcmp(row, head) != 0)
        return is_sequence ? "the first line must be " AB_MODEL_SEQUENCE_HEAD
                           : "the first line must be " AB_MODEL_BLOCKS_HEAD;
    while (wrong == NULL && (row = next_row(&text, line)) != NULL)
        wrong = n++ >= AB_MODEL_ROWS_MAX ? "too many rows"
                : is_sequence            ? read_sequence_row(t, row)
                                         : read_block(t, row);
    return wrong != NULL || n > 0 ? wrong : "no rows";
}

void ab_model_fini(struct ab_model *t)
{
    free(t->blocks);
    free(t->rows);
    *t = (struct ab_model){0};
}
