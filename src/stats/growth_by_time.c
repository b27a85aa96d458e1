/* SPDX-License-Identifier: MIT
 *
 * Finds the blocks of time with constant live bytes, and the slope of the resident memory there.
 */
#include "core/alloc.h"
#include "core/median.h"
#include "result/session.h"
#include "stats/growth.h"
#include "stats/over_time.h"
#include "stats/pin_groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const ab_growth_verdict_names[AB_GROWTH_VERDICTS] = {NULL,         "steady", "retained",
                                                                 "fragmented", "leaked", "grows"};

enum part { LIVE, EXTERNAL, RETAINED, RESIDENT, PARTS };
enum { LEAST = AB_GROWTH_BLOCKS_LEAST, LAST_LEAST = 4 };
static const double z99 = 2.5758, window_least_ns = 30e9;
static const double steady_share =
    0.01; /* a growth per hour below this fraction of the live bytes counts as steady */
/* fraction of the resident bytes, per hour: an interval that contains both 0 and this is
 * inconclusive */
static const double wide_share = 0.05;
static const double correlation_most = 0.7;

struct blocks { /* means of the readings over stretches of time */
    uint32_t n;
    double x[AB_GROWTH_BLOCKS]; /* hours */
    double y[PARTS][AB_GROWTH_BLOCKS];
};

/* Splits the resident bytes of a row into its parts. External are all bytes on pages with blocks
 * except live bytes, so internal bytes count as external. */
static void parts_of(const struct ab_over_time *row, double out[PARTS])
{
    out[LIVE] = row->live_bytes;
    out[RETAINED] = row->retained_bytes;
    out[RESIDENT] = row->resident_bytes;
    out[EXTERNAL] = row->resident_bytes - row->retained_bytes - row->live_bytes;
}

struct readings { /* rows of one run whose resident bytes are known */
    const struct ab_over_time **rows;
    uint32_t n;
};

/* Lists the rows with known resident bytes: the ends of idle stretches if there are at least LEAST,
 * otherwise all rows. */
static struct readings list_readings(const struct ab_session *s, uint32_t backend, uint32_t round)
{
    struct readings out = {.rows = ab_alloc_zeroed((size_t)s->n_over_time + 1, sizeof *out.rows)};
    const struct ab_over_time *row;
    uint32_t n_ends = 0;
    for (uint32_t at = 0; (row = ab_over_time_next(s, backend, round, &at)) != NULL;)
        n_ends += row->idle == AB_IDLE_END && isfinite(row->resident_bytes);
    for (uint32_t at = 0; (row = ab_over_time_next(s, backend, round, &at)) != NULL;)
        if (isfinite(row->resident_bytes) && (n_ends < LEAST || row->idle == AB_IDLE_END))
            out.rows[out.n++] = row;
    return out;
}

static double hours(const struct ab_over_time *row)
{
    return (double)row->time_ns / AB_HOUR_NS;
}

/* Returns the block, of n, that a reading belongs to. Ends of idle stretches are divided into
 * blocks of equal number, other readings into blocks of equal time. */
static uint32_t block_of(const struct readings *r, uint32_t i, uint32_t n)
{
    double first = hours(r->rows[0]), span = hours(r->rows[r->n - 1]) - first;
    if (r->rows[0]->idle == AB_IDLE_END && r->rows[r->n - 1]->idle == AB_IDLE_END)
        return (uint32_t)((uint64_t)i * n / r->n);
    return (uint32_t)fmin(n - 1, (hours(r->rows[i]) - first) / span * n);
}

/* Creates the blocks of one run: means in which each reading is weighted by the time since the
 * previous reading. */
static void make_blocks(const struct readings *r, struct blocks *out)
{
    uint32_t n = r->n < AB_GROWTH_BLOCKS ? r->n : AB_GROWTH_BLOCKS;
    double weights[AB_GROWTH_BLOCKS] = {0};
    *out = (struct blocks){.n = 0};
    if (n < LEAST || hours(r->rows[r->n - 1]) <= hours(r->rows[0]))
        return;
    for (uint32_t i = 0; i < r->n; i++) {
        uint32_t k = block_of(r, i, n);
        double parts[PARTS], weight = i > 0 ? hours(r->rows[i]) - hours(r->rows[i - 1]) : 0;
        weight += 1e-12; /* so that readings at the same time have some weight */
        parts_of(r->rows[i], parts);
        weights[k] += weight;
        out->x[k] += weight * hours(r->rows[i]);
        for (unsigned p = 0; p < PARTS; p++)
            out->y[p][k] += weight * parts[p];
    }
    for (uint32_t k = 0; k < n; k++) {
        if (weights[k] == 0)
            continue; /* no reading in this block */
        out->x[out->n] = out->x[k] / weights[k];
        for (unsigned p = 0; p < PARTS; p++)
            out->y[p][out->n] = out->y[p][k] / weights[k];
        out->n++;
    }
}

/* Returns the blocks, each averaged over the rounds. A round whose number of blocks differs from
 * the first is left out. */
static struct blocks blocks_of(const struct ab_session *s, uint32_t backend, uint32_t round)
{
    struct blocks sum = {.n = 0}, one;
    double n_rounds = 0;
    for (uint32_t i = 0; i < s->n_rounds; i++) {
        if (round != AB_GROWTH_ALL_ROUNDS && s->rounds[i].index != round)
            continue;
        struct readings r = list_readings(s, backend, s->rounds[i].index);
        make_blocks(&r, &one);
        free(r.rows);
        if (one.n == 0 || (n_rounds > 0 && one.n != sum.n))
            continue;
        n_rounds++;
        sum.n = one.n;
        for (uint32_t k = 0; k < one.n; k++) {
            sum.x[k] += (one.x[k] - sum.x[k]) / n_rounds;
            for (unsigned p = 0; p < PARTS; p++)
                sum.y[p][k] += (one.y[p][k] - sum.y[p][k]) / n_rounds;
        }
    }
    return sum;
}

static double mean(const double *y, struct ab_stretch w)
{
    double sum = 0;
    for (uint32_t i = w.first; i < w.end; i++)
        sum += y[i];
    return sum / (w.end - w.first);
}

/* Returns the longest sequence of blocks whose live bytes lie within the band. For real programs,
 * whose live bytes are not known, returns all blocks. */
static struct ab_stretch constant_blocks(const struct blocks *b)
{
    struct ab_stretch best = {0, 0};
    double most = 0;
    for (uint32_t i = 0; i < b->n; i++)
        most = fmax(most, b->y[RESIDENT][i]);
    for (uint32_t first = 0; first < b->n; first++) {
        struct ab_band band = {INFINITY, 0};
        uint32_t end = first;
        while (end < b->n && ab_band_takes(&band, b->y[LIVE][end], most))
            end++;
        if (end - first > best.end - best.first)
            best = (struct ab_stretch){first, end};
    }
    return best;
}

static struct ab_stretch second_half(struct ab_stretch s)
{
    return (struct ab_stretch){s.first + (s.end - s.first) / 2, s.end};
}

/* Returns the correlation of neighbouring residuals from a line of this slope. */
static double correlation(const struct blocks *b, const double *y, struct ab_stretch w,
                          double slope)
{
    double residuals[AB_GROWTH_BLOCKS], sum = 0, square = 0, product = 0;
    uint32_t n = w.end - w.first;
    for (uint32_t i = 0; i < n; i++) {
        residuals[i] = y[w.first + i] - slope * b->x[w.first + i];
        sum += residuals[i];
    }
    for (uint32_t i = 0; i < n; i++) {
        residuals[i] -= sum / n;
        square += residuals[i] * residuals[i];
        product += i > 0 ? residuals[i] * residuals[i - 1] : 0;
    }
    return square > 0 ? fmin(fmax(product / square, 0), correlation_most) : 0;
}

struct slope {
    double slope, low, high;
};

static struct slope slope_by_time(const struct blocks *b, const double *y, struct ab_stretch w)
{
    double x[AB_GROWTH_BLOCKS * (AB_GROWTH_BLOCKS - 1) / 2];
    uint32_t n_pairs = 0, n = w.end - w.first;
    for (uint32_t i = w.first; i < w.end; i++)
        for (uint32_t k = i + 1; k < w.end; k++)
            if (b->x[k] > b->x[i] && isfinite(y[k] - y[i]))
                x[n_pairs++] = (y[k] - y[i]) / (b->x[k] - b->x[i]);
    struct slope out = {ab_median(x, n_pairs), NAN, NAN}; /* sorts x */
    if (n_pairs == 0)
        return out;
    double r = correlation(b, y, w, out.slope);
    double variance = n * (n - 1.0) * (2.0 * n + 5) / 18 * (1 + r) / (1 - r);
    double below = fmax(0, floor((n_pairs - z99 * sqrt(variance)) / 2));
    uint32_t rank = (uint32_t)fmin(below, (n_pairs - 1) / 2);
    rank -= rank > 0; /* ranks count from 1 */
    out.low = x[rank];
    out.high = x[n_pairs - 1 - rank];
    return out;
}

static enum ab_growth_verdict name_growth(const struct blocks *b, struct ab_stretch w,
                                          double growth)
{
    double live = slope_by_time(b, b->y[LIVE], w).slope;
    double external = slope_by_time(b, b->y[EXTERNAL], w).slope;
    double retained = slope_by_time(b, b->y[RETAINED], w).slope;
    if (isnan(retained) || isnan(external))
        return live >= growth / 2 ? AB_GROWTH_LEAKED : AB_GROWTH_GROWS;
    if (live >= external && live >= retained)
        return AB_GROWTH_LEAKED;
    return external >= retained ? AB_GROWTH_FRAGMENTED : AB_GROWTH_RETAINED;
}

/* True if growth stopped in the last third of the window: the interval of the slope there contains
 * 0 or is below, and the slope is less than a third of that of the whole window. */
static bool has_stopped(const struct blocks *b, struct ab_stretch w, double growth)
{
    const uint32_t n = w.end - w.first, third = n / 3;
    if (third < LAST_LEAST)
        return false;
    struct slope last = slope_by_time(b, b->y[RESIDENT], (struct ab_stretch){w.end - third, w.end});
    return last.low <= 0 && last.slope < growth / 3;
}

static void judge(const struct blocks *b, struct ab_stretch w, struct ab_growth_by_time *g)
{
    struct slope s = slope_by_time(b, b->y[RESIDENT], w);
    double live = mean(b->y[LIVE], w), resident = mean(b->y[RESIDENT], w);
    double half = (s.high - s.low) / 2, wide = wide_share * resident;
    g->begin_ns = b->x[w.first] * AB_HOUR_NS;
    g->end_ns = b->x[w.end - 1] * AB_HOUR_NS;
    g->live_bytes = live;
    if (g->end_ns - g->begin_ns < window_least_ns) {
        g->needs_ns = g->lasts_ns * window_least_ns / fmax(g->end_ns - g->begin_ns, 1e9);
        g->why = "the work is too short";
        return;
    }
    /* Round to whole bytes; adding 0.0 turns -0 into 0. */
    g->bytes_per_hour = rint(s.slope) + 0.0;
    g->low = rint(s.low) + 0.0;
    g->high = rint(s.high) + 0.0;
    if (s.low <= 0 && s.high > wide) {
        /* The width of an interval falls with the work's length to the power of 3/2. */
        g->needs_ns = g->lasts_ns * pow(fmax(half / wide, 1), 2.0 / 3);
        g->why = "the work is too short: what it takes varies more than it may have grown";
    } else if (s.low <= 0 || s.slope < steady_share * (isfinite(live) ? live : resident)) {
        g->verdict = AB_GROWTH_STEADY;
    } else if (has_stopped(b, w, s.slope)) {
        g->why = "it grew at first and then no more: longer work would show";
        g->brief = "it grew, then no more";
    } else {
        g->verdict = name_growth(b, w, s.slope);
    }
}

/* Returns the number of idle stretches in the round that has the fewest; NaN = no round has any. */
static double count_ends(const struct ab_session *s, uint32_t backend)
{
    double least = NAN;
    for (uint32_t i = 0; i < s->n_rounds; i++) {
        struct ab_idles all = ab_idles_of(s, backend, s->rounds[i].index);
        if (all.n > 0)
            least = fmin(least, all.n); /* fmin ignores NaN */
        free(all.items);
    }
    return least;
}

static bool is_constant(const struct blocks *b, struct ab_stretch w)
{
    double resident = mean(b->y[RESIDENT], w);
    struct ab_band band = {INFINITY, 0};
    uint32_t i = w.first;
    while (i < w.end && ab_band_takes(&band, b->y[LIVE][i], resident))
        i++;
    return i == w.end;
}

/* Returns the duration of the longest round, in ns; NaN = not known. */
static double duration_of(const struct ab_session *s, uint32_t backend)
{
    const struct ab_over_time *row;
    double last = NAN;
    for (uint32_t at = 0;
         (row = ab_over_time_next(s, backend, AB_OVER_TIME_ALL_ROUNDS, &at)) != NULL;)
        last = fmax(last, (double)row->time_ns); /* fmax ignores NaN */
    return last;
}

static void add_site(struct ab_growth_by_time *g, const struct ab_pin *pin, double bytes)
{
    uint32_t i = g->n_sites < AB_GROWTH_SITES ? g->n_sites++ : AB_GROWTH_SITES;
    for (; i > 0 && g->sites[i - 1].bytes < bytes; i--)
        if (i < AB_GROWTH_SITES)
            g->sites[i] = g->sites[i - 1];
    if (i == AB_GROWTH_SITES)
        return;
    g->sites[i] = (struct ab_growth_site){.line = pin->line, .bytes = bytes};
    memcpy(g->sites[i].function, pin->function, sizeof pin->function);
    memcpy(g->sites[i].file, pin->file, sizeof pin->file);
}

static void find_sites(const struct ab_session *s, uint32_t backend, struct ab_growth_by_time *g)
{
    struct ab_pins_of half, end;
    if (!ab_pins_find(s, backend, AB_PINS_FIRST_ROUND, ab_pin_moment_names[AB_PIN_HALF_TIME],
                      &half) ||
        !ab_pins_find(s, backend, AB_PINS_FIRST_ROUND, ab_pin_moment_names[AB_PIN_END], &end))
        return;
    for (uint32_t i = 0; i < end.n; i++) {
        const struct ab_pin *before = ab_pins_same(&half, &end.pins[i]);
        double bytes = end.pins[i].live_bytes - (before != NULL ? before->live_bytes : 0);
        if (bytes > 0)
            add_site(g, &end.pins[i], bytes);
    }
}

struct ab_growth_by_time ab_growth_by_time(const struct ab_session *s, uint32_t backend,
                                           uint32_t round)
{
    struct ab_growth_by_time g = {.bytes_per_hour = NAN,
                                  .low = NAN,
                                  .high = NAN,
                                  .begin_ns = NAN,
                                  .end_ns = NAN,
                                  .live_bytes = NAN,
                                  .lasts_ns = duration_of(s, backend),
                                  .needs_ns = NAN,
                                  .why = "",
                                  .brief = ""};
    struct blocks b = {.n = 0};
    if (ab_session_has_numbers(s, backend))
        b = blocks_of(s, backend, round);
    struct ab_stretch constant = constant_blocks(&b),
                      half = second_half((struct ab_stretch){0, b.n});
    if (isnan(g.lasts_ns)) {
        g.why = g.brief = "no memory over time was measured";
    } else if (b.n < LEAST) {
        g.needs_ns = fmax(3 * window_least_ns, 2 * g.lasts_ns);
        g.why = "the work is too short";
    } else if (!is_constant(&b, half) && slope_by_time(&b, b.y[LIVE], half).low > 0) {
        judge(&b, half, &g);
    } else if (constant.end - constant.first >= LEAST) {
        judge(&b, second_half(constant), &g);
    } else if (count_ends(s, backend) > 1) {
        g.needs_ns = fmax(2 * window_least_ns, g.lasts_ns * LEAST / count_ends(s, backend));
        g.why = "the work does not repeat often enough";
    } else {
        g.why = "the live bytes of this work do not stay constant for long enough";
        g.brief = "live bytes vary";
    }
    if (g.verdict == AB_GROWTH_LEAKED)
        find_sites(s, backend, &g);
    return g;
}
