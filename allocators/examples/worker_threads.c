/* SPDX-License-Identifier: MIT
 *
 * A queue of jobs: one thread produces jobs, and several worker threads process and free them. Jobs
 * are allocated from a pool, their texts from slabs. Both have a heap for every thread, so that no
 * allocation waits for a lock. A block that another thread frees returns to the heap of its owner.
 * When a worker ends, the next new one takes over its heaps.
 *     cc -I. -pthread -o worker_threads allocators/examples/worker_threads.c \
 *        allocators/pool/pool.c allocators/pool/pool_shared.c allocators/pool/pool_shared_own.c \
 *        allocators/slab/slab.c allocators/slab/slab_shared.c allocators/slab/slab_shared_own.c \
 *        allocators/common/pages.c allocators/common/shards.c allocators/common/shards_queue.c \
 *        allocators/common/shards_thread.c allocators/common/checked.c
 */
#include "allocators/pool/pool_shared.h"
#include "allocators/slab/slab_shared.h"

#include <stdio.h>

/* JOBS: jobs of each shift; every shift starts new workers */
enum { WORKERS = 4, SHIFTS = 25, JOBS = 2000 };

struct job {
    struct job *next;
    char *text;
    int number;
};

struct office {
    struct ab_pool_shared *jobs;
    struct ab_slab_shared *texts;
    pthread_mutex_t mutex;
    pthread_cond_t wakes;
    struct job *queue;
    int is_over;
    long sum;
};

static struct job *take_job(struct office *o)
{
    pthread_mutex_lock(&o->mutex);
    while (o->queue == NULL && !o->is_over)
        pthread_cond_wait(&o->wakes, &o->mutex);
    struct job *job = o->queue;
    if (job != NULL)
        o->queue = job->next;
    pthread_mutex_unlock(&o->mutex);
    return job;
}

static void *work(void *arg)
{
    struct office *o = (struct office *)arg;
    struct ab_pool_shared *jobs = ab_pool_shared_own(o->jobs);
    struct ab_slab_shared *texts = ab_slab_shared_own(o->texts);
    long sum = 0;
    for (struct job *job; (job = take_job(o)) != NULL;) {
        int number = 0;
        for (const char *c = job->text; *c != '\0'; c++)
            number = 10 * number + (*c - '0');
        sum += number == job->number ? number : -1;
        ab_slab_shared_free(texts, job->text);
        ab_pool_shared_free(jobs, job);
    }
    pthread_mutex_lock(&o->mutex);
    o->sum += sum;
    pthread_mutex_unlock(&o->mutex);
    return NULL; /* the thread ends here and leaves its heaps to the next one */
}

static int make_job(struct office *o, int number)
{
    struct job *job = (struct job *)ab_pool_shared_alloc(ab_pool_shared_own(o->jobs), sizeof *job);
    char *text = (char *)ab_slab_shared_alloc(ab_slab_shared_own(o->texts), 16);
    if (job == NULL || text == NULL)
        return 0;
    snprintf(text, 16, "%d", number);
    job->text = text;
    job->number = number;
    pthread_mutex_lock(&o->mutex);
    job->next = o->queue;
    o->queue = job;
    pthread_cond_signal(&o->wakes);
    pthread_mutex_unlock(&o->mutex);
    return 1;
}

static int work_a_shift(struct office *o)
{
    pthread_t workers[WORKERS];
    o->is_over = 0;
    for (int i = 0; i < WORKERS; i++)
        if (pthread_create(&workers[i], NULL, work, o) != 0)
            return 0;
    for (int i = 0; i < JOBS; i++)
        if (!make_job(o, i))
            return 0;
    pthread_mutex_lock(&o->mutex);
    o->is_over = 1;
    pthread_cond_broadcast(&o->wakes);
    pthread_mutex_unlock(&o->mutex);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL);
    return 1;
}

int main(void)
{
    static struct office o;
    struct ab_pool_shared_options jobs = {0};
    struct ab_slab_shared_options texts = {0};
    jobs.pool.slot_bytes = sizeof(struct job);
    jobs.pool.grows = true;
    jobs.threads.mode = texts.threads.mode = AB_SHARDS_LOCAL;
    o.jobs = ab_pool_shared_open(&jobs);
    o.texts = ab_slab_shared_open(&texts);
    if (o.jobs == NULL || o.texts == NULL || pthread_mutex_init(&o.mutex, NULL) != 0 ||
        pthread_cond_init(&o.wakes, NULL) != 0)
        return 1;
    for (int i = 0; i < SHIFTS; i++)
        if (!work_a_shift(&o))
            return 1;
    printf("%d jobs, sum %ld\n", SHIFTS * JOBS, o.sum);
    printf("live at the end: %zu jobs, %zu bytes of texts\n", ab_pool_shared_sum(o.jobs).live,
           ab_slab_shared_sum(o.texts).live);
    int is_few = ab_pool_shared_sum(o.jobs).n_heaps <= WORKERS + 2;
    printf("%d threads, %s\n", SHIFTS * WORKERS + 1, is_few ? "a heap for each at a time" : "?");
    ab_pool_shared_close(o.jobs);
    ab_slab_shared_close(o.texts);
    return 0;
}
