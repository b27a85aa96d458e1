/* SPDX-License-Identifier: MIT
 *
 * The message queue against a plain model: an array of messages.
 */
#include "workload/generate/queue.h"

#include "base/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64, LONGEST = 40, STEPS = 50000 };

struct model {
    uint32_t lengths[MOST], first[MOST], n; /* a message is first, first + 1 … */
};

static void put(struct ab_queue *q, struct model *m, uint32_t first, uint32_t length, bool to_front)
{
    struct ab_message message = {0};
    for (uint32_t i = 0; i < length; i++)
        ab_message_add(&message, first + i);
    ab_queue_put(q, &message, to_front);
    assert_int_equal(message.n, 0);
    free(message.slots);
    size_t at = to_front ? 0 : m->n;
    memmove(&m->lengths[at + 1], &m->lengths[at], (m->n - at) * sizeof m->lengths[0]);
    memmove(&m->first[at + 1], &m->first[at], (m->n - at) * sizeof m->first[0]);
    m->lengths[at] = length;
    m->first[at] = first;
    m->n++;
}

static void get(struct ab_queue *q, struct model *m, bool from_back)
{
    struct ab_message message = {0};
    size_t at = from_back ? m->n - 1 : 0;
    ab_queue_get(q, &message, from_back);
    assert_int_equal(message.n, m->lengths[at]);
    for (uint32_t i = 0; i < message.n; i++)
        assert_int_equal(message.slots[i], m->first[at] + i);
    free(message.slots);
    m->n--;
    memmove(&m->lengths[at], &m->lengths[at + 1], (m->n - at) * sizeof m->lengths[0]);
    memmove(&m->first[at], &m->first[at + 1], (m->n - at) * sizeof m->first[0]);
}

static void it_agrees_with_a_plain_model_at_both_ends(void **state)
{
    (void)state;
    struct ab_queue q = {0};
    struct model model = {.n = 0};
    struct ab_rng rng;
    ab_rng_init(&rng, 1, 1);
    for (uint32_t i = 0; i < STEPS; i++) {
        bool end = ab_rng_below(&rng, 2);
        bool is_put = model.n == 0 || (model.n < MOST && ab_rng_below(&rng, 2) == 0);
        if (is_put)
            put(&q, &model, i * LONGEST, 1 + (uint32_t)ab_rng_below(&rng, LONGEST), end);
        else
            get(&q, &model, end);
        assert_int_equal(q.lengths.n, model.n);
    }
    ab_queue_fini(&q);
}

static void the_rest_of_a_message_goes_back_as_a_message(void **state)
{
    (void)state;
    struct ab_queue q = {0};
    struct ab_message m = {0};
    for (uint32_t i = 0; i < 5; i++)
        ab_message_add(&m, i);
    m.next = 3;
    ab_queue_put(&q, &m, true);
    ab_queue_get(&q, &m, false);
    assert_int_equal(m.n, 2);
    assert_int_equal(m.slots[0], 3);
    assert_int_equal(m.slots[1], 4);
    free(m.slots);
    ab_queue_fini(&q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_agrees_with_a_plain_model_at_both_ends),
        cmocka_unit_test(the_rest_of_a_message_goes_back_as_a_message),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
