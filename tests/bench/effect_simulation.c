/* SPDX-License-Identifier: MIT
 *
 * What the intervals and verdicts are worth, on made-up rounds whose true ratio is known: false
 * alarms, power, coverage, and how good the estimate of the rounds needed is.
 *   usage: effect_simulation [EXPERIMENTS [SEED]]      (default: 2000 1)
 * Takes a minute or so with 2000. The same seed gives the same figures everywhere.
 */
#include "support/noise_model.h"

#include "base/bits.h"

#include <stdio.h>
#include <stdlib.h>

static uint32_t times = 2000;
static uint64_t seed = 1;

static const struct noise_model *const models[] = {&noise_shared_runner, &noise_far_tail};
static const double slower[] = {0, 0.02, 0.05, 0.08, 0.10, 0.15};

static void print_power(const char *what, enum noise_question question, uint32_t n, bool is_paired)
{
    printf("  %-46s", what);
    for (size_t m = 0; m < AB_ARRAY_LEN(models); m++) {
        for (size_t i = 0; i < AB_ARRAY_LEN(slower); i++) {
            struct noise_experiment e = {models[m], 1 + slower[i], 0.05, n, is_paired};
            printf("%6.1f", 100 * noise_share(&e, question, times, seed));
        }
        printf("   |");
    }
    putchar('\n');
}

static void print_powers(void)
{
    printf("found slower, in %% of %u experiments; truly slower by\n  %-46s", times, "");
    for (size_t m = 0; m < AB_ARRAY_LEN(models); m++) {
        for (size_t i = 0; i < AB_ARRAY_LEN(slower); i++)
            printf("%5.0f%%", 100 * slower[i]);
        printf("   |");
    }
    printf("\n  %-46s%-36s   |%s\n", "", models[0]->name, models[1]->name);
    print_power("one after the other, mean ratio > 1.05, 10", NOISE_MEAN_RATIO, 10, false);
    print_power("in rounds, mean ratio > 1.05, 10", NOISE_MEAN_RATIO, 10, true);
    print_power("verdict at 5 %, 10 rounds", NOISE_REGRESSED, 10, true);
    print_power("verdict at 5 %, 20 rounds", NOISE_REGRESSED, 20, true);
    print_power("interval above 1.05, 10 rounds", NOISE_PROVEN, 10, true);
    print_power("stored results, verdict at 5 %, 10 + 10", NOISE_REGRESSED, 10, false);
}

static void print_coverage(void)
{
    static const uint32_t rounds[] = {6, 8, 10, 15, 20, 40};
    struct noise_model still = noise_shared_runner; /* rounds of one result that do not drift */
    still.drift = 0;
    const struct noise_experiment cases[] = {
        {&noise_shared_runner, 1.08, 0, 0, true},
        {&noise_far_tail, 1.08, 0, 0, true},
        {&still, 1.08, 0, 0, false},
        {&noise_shared_runner, 1.08, 0, 0, false},
    };
    static const char *const names[] = {"pairs, shared runner", "pairs, p99.9",
                                        "two samples, no drift", "two samples, shared runner"};
    printf("\n90 %% intervals that hold the true ratio, in %%; rounds\n  %-46s", "");
    for (size_t i = 0; i < AB_ARRAY_LEN(rounds); i++)
        printf("%6u", rounds[i]);
    for (size_t c = 0; c < AB_ARRAY_LEN(cases); c++) {
        printf("\n  %-46s", names[c]);
        for (size_t i = 0; i < AB_ARRAY_LEN(rounds); i++) {
            struct noise_experiment e = cases[c];
            e.n = rounds[i];
            printf("%6.1f", 100 * noise_share(&e, NOISE_COVERED, times, seed + 1));
        }
    }
    putchar('\n');
}

static void print_needed(const struct noise_experiment *e)
{
    double estimates[3];
    noise_estimated_rounds(e, times, seed, estimates);
    printf("  %-14s +%2.0f %%  %6u  %8.0f%8.0f%8.0f\n", e->model->name, 100 * (e->ratio - 1),
           noise_rounds_for_power(e, times, seed), estimates[0], estimates[1], estimates[2]);
}

static void print_all_needed(void)
{
    static const double ratios[] = {1.02, 1.03, 1.05, 1.10};
    printf("\nrounds for 80 %% power: true, and as estimated (quartiles) from 10\n");
    for (size_t m = 0; m < AB_ARRAY_LEN(models); m++)
        for (size_t i = 0; i < AB_ARRAY_LEN(ratios); i++)
            print_needed(&(struct noise_experiment){models[m], ratios[i], 0, 10, true});
}

static void print_advice(void)
{
    printf("\nleft open by 10 rounds and a limit of 5 %%; decided by as many new rounds as they "
           "asked for\n");
    for (size_t m = 0; m < AB_ARRAY_LEN(models); m++)
        for (size_t i = 0; i < AB_ARRAY_LEN(slower); i++) {
            if (slower[i] == 0.05) /* on the limit itself no number of rounds decides */
                continue;
            struct noise_experiment e = {models[m], 1 + slower[i], 0.05, 10, true};
            struct noise_advice a = noise_follow_advice(&e, times, seed);
            printf("  %-14s +%2.0f %%  %5.1f %% open  asked for %4.0f (median), %4.1f %% for over "
                   "1000; %5.1f %% decided\n",
                   models[m]->name, 100 * slower[i], 100.0 * a.asked / times, a.rounds,
                   100.0 * a.too_many / times, 100 * a.decided);
        }
}

static void print_stops(void)
{
    static const double precisions[] = {0.01, 0.02, 0.05, 0.10};
    uint32_t n = times / 2 > 0 ? times / 2 : 1;
    printf("\nstopped as soon as the interval is within …, after 6 to 100 rounds\n");
    for (size_t m = 0; m < AB_ARRAY_LEN(models); m++)
        for (size_t i = 0; i < AB_ARRAY_LEN(precisions); i++) {
            struct noise_experiment e = {models[m], 1.08, 0, 0, true};
            struct noise_stop s = noise_stop_at(&e, precisions[i], 100, n, seed + 2);
            printf("  %-14s %3.0f %%  %5.1f %% of the intervals hold the true ratio; %5.1f %% "
                   "stopped before the last, rounds %3.0f (median)\n",
                   models[m]->name, 100 * precisions[i], 100 * s.covered, 100 * s.reached,
                   s.rounds);
        }
}

int main(int argc, char **argv)
{
    if (argc > 1)
        times = (uint32_t)strtoul(argv[1], NULL, 10);
    if (argc > 2)
        seed = strtoull(argv[2], NULL, 10);
    if (argc > 3 || times == 0) {
        fputs("usage: effect_simulation [EXPERIMENTS [SEED]]\n", stderr);
        return 2;
    }
    print_powers();
    print_coverage();
    print_all_needed();
    print_advice();
    print_stops();
    return 0;
}
