#include "auth/password_check.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "auth/password_check_priv.h"
#include "auth/password_order_priv.h"

enum {
    THREAD_NICE = 10, /* about a tenth of a worker's CPU share */
    /* Jobs for refreshes, in addition to the PASSWORD_JOBS for questions. So a
     * flood of questions does not delay a refresh, which finds withdrawn
     * passwords. */
    REFRESH_JOBS = 4,
    /* Jobs of dropped questions, which stay in use until their clients know. */
    GIVEN_UP_JOBS = 16,
    ALL_JOBS = PASSWORD_JOBS + GIVEN_UP_JOBS + REFRESH_JOBS
};

/* The asker of refreshes; no address has this key. */
#define NO_ASKER UINT64_MAX

struct password_check {
    struct siphash_key secret; /* key of digests */
    pthread_mutex_t mutex;     /* guards all below except `threads` */
    pthread_cond_t changed;
    bool is_stopping;
    struct list free;
    unsigned free_count;
    struct password_order order;
    struct password_job jobs[ALL_JOBS];
    unsigned thread_count;
    pthread_t threads[PASSWORD_THREADS_MAX];
};

static struct password_job *job_at(struct list *list_node)
{
    return OWNER_OF(list_node, struct password_job, list_node);
}

/* --- Jobs, with the mutex held -------------------------------------------- */

/* Wipes a job and frees it. Returns its file, which the caller must release. */
static struct htpasswd *free_job(struct password_check *check,
                                 struct password_job *job)
{
    struct htpasswd *htpasswd = job->htpasswd;

    list_drop(&job->list_node);
    explicit_bzero(job, sizeof(*job));
    list_put_first(&check->free, &job->list_node);
    check->free_count++;
    return htpasswd;
}

/* Takes a free job. Returns NULL if at most `kept` are free, or if the threads
 * are being stopped. */
static struct password_job *take_job(struct password_check *check,
                                     uint64_t asker, unsigned kept)
{
    struct password_job *job;

    if (check->is_stopping || check->free_count <= kept)
        return NULL;
    check->free_count--;
    job = job_at(check->free.next);
    list_drop(&job->list_node);
    job->state = PASSWORD_JOB_TAKEN;
    job->asker = asker;
    return job;
}

/* Drops another asker's question to make room for one of `asker`. Returns false
 * if no question may be dropped. The note to the dropped question's client is
 * sent with the mutex held, so that this client cannot go away meanwhile. */
static bool make_room(struct password_check *check, uint64_t asker)
{
    struct password_job *job = password_order_find_victim(&check->order, asker);

    if (!job)
        return false;
    list_drop(&job->list_node);
    job->state = PASSWORD_JOB_GIVEN_UP;
    job->verdict = PASSWORD_BUSY;
    mailbox_send(job->mailbox, &job->note);
    return true;
}

/* Returns how many free jobs must be left for refreshes: REFRESH_JOBS, less the
 * jobs that refreshes have already. */
static unsigned count_kept(const struct password_check *check)
{
    unsigned looks = password_order_load(&check->order, NO_ASKER).own;

    return looks < REFRESH_JOBS ? REFRESH_JOBS - looks : 0;
}

/* Takes a free job for a question, after dropping another question if free jobs
 * are short. Returns NULL if `asker` may not have a job. */
static struct password_job *take_question(struct password_check *check,
                                          uint64_t asker)
{
    unsigned kept = count_kept(check);

    if (check->is_stopping ||
        password_order_load(&check->order, asker).own >= PASSWORD_JOBS_EACH)
        return NULL;
    if (check->free_count <= GIVEN_UP_JOBS + kept &&
        (check->free_count <= kept || !make_room(check, asker)))
        return NULL;
    return take_job(check, asker, kept);
}

static void put_job(struct password_check *check, struct password_job *job)
{
    password_order_put(&check->order, job);
    pthread_cond_signal(&check->changed);
}

/* Sets the verdict of the job, and of all queued jobs with the same question.
 * Moves all these jobs to the list `done`. */
static void finish_job(struct password_check *check, struct password_job *job,
                       bool is_right, struct list *done)
{
    struct siphash digest = job->digest;
    struct list *next;

    list_drop(&job->list_node);
    list_put_last(done, &job->list_node);
    for (struct list *at = check->order.queued.next; at != &check->order.queued;
         at = next) {
        next = at->next;
        if (!password_job_is_question(job_at(at)) ||
            !siphash_eq(job_at(at)->digest, digest))
            continue;
        list_drop(at);
        list_put_last(done, at);
    }
    for (struct list *at = done->next; at != done; at = at->next) {
        job_at(at)->state = PASSWORD_JOB_DONE;
        job_at(at)->verdict = is_right ? PASSWORD_RIGHT : PASSWORD_WRONG;
        password_order_note(&check->order, job_at(at)->asker, is_right);
    }
}

/* --- The threads ---------------------------------------------------------- */

/* Sends the note of each job to its client. A job is not touched after its note
 * was sent, since the client may free the job at once. */
static void send_notes(struct list *done)
{
    while (!list_is_empty(done)) {
        struct password_job *job = job_at(done->next);

        list_drop(&job->list_node);
        mailbox_send(job->mailbox, &job->note);
    }
}

static void answer(struct password_check *check, struct password_job *job)
{
    bool is_right =
        htpasswd_check(job->htpasswd, (struct bytes){job->user, job->user_len},
                       (struct bytes){job->password, job->password_len});
    struct list done;

    list_init(&done);
    pthread_mutex_lock(&check->mutex);
    finish_job(check, job, is_right, &done);
    pthread_mutex_unlock(&check->mutex);
    send_notes(&done);
}

static void *run(void *context)
{
    struct password_check *check = context;

    /* On Linux, this sets the priority of only this thread. If the call fails,
     * the thread runs at the usual priority. */
    (void)setpriority(PRIO_PROCESS, 0, THREAD_NICE);
    pthread_mutex_lock(&check->mutex);
    while (!check->is_stopping) {
        struct password_job *job = password_order_start(&check->order);

        if (!job) {
            pthread_cond_wait(&check->changed, &check->mutex);
            continue;
        }
        pthread_mutex_unlock(&check->mutex);
        if (password_job_is_question(job)) {
            answer(check, job);
        } else {
            htpasswd_refresh(job->htpasswd);
            password_check_give(check, job);
        }
        pthread_mutex_lock(&check->mutex);
    }
    pthread_mutex_unlock(&check->mutex);
    return NULL;
}

/* --- For clients --------------------------------------------------------- */

const struct siphash_key *password_check_secret(const struct password_check
                                                    *check)
{
    return &check->secret;
}

struct password_job *password_check_take(struct password_check *check,
                                         uint64_t asker)
{
    struct password_job *job;

    pthread_mutex_lock(&check->mutex);
    job = take_question(check, asker);
    pthread_mutex_unlock(&check->mutex);
    return job;
}

void password_check_put(struct password_check *check, struct password_job *job)
{
    pthread_mutex_lock(&check->mutex);
    put_job(check, job);
    pthread_mutex_unlock(&check->mutex);
}

bool password_check_cancel(struct password_check *check,
                           struct password_job *job)
{
    struct htpasswd *htpasswd = NULL;
    bool was_queued;

    pthread_mutex_lock(&check->mutex);
    was_queued = job->state == PASSWORD_JOB_QUEUED;
    if (was_queued)
        htpasswd = free_job(check, job);
    pthread_mutex_unlock(&check->mutex);
    htpasswd_release(&htpasswd);
    return was_queued;
}

void password_check_give(struct password_check *check, struct password_job *job)
{
    struct htpasswd *htpasswd;

    pthread_mutex_lock(&check->mutex);
    htpasswd = free_job(check, job);
    pthread_mutex_unlock(&check->mutex);
    htpasswd_release(&htpasswd);
}

void password_check_refresh(struct password_check *check,
                            struct htpasswd *htpasswd)
{
    struct password_job *job;

    pthread_mutex_lock(&check->mutex);
    job = take_job(check, NO_ASKER, 0);
    if (job) {
        job->htpasswd = htpasswd_acquire(htpasswd);
        put_job(check, job);
    }
    pthread_mutex_unlock(&check->mutex);
}

/* --- Creating and destroying ---------------------------------------------- */

static int start_threads(struct password_check *check, unsigned count)
{
    int err = 0;

    while (err == 0 && check->thread_count < count) {
        err = -pthread_create(&check->threads[check->thread_count], NULL, run,
                              check);
        if (err == 0)
            check->thread_count++;
    }
    return err;
}

int password_check_create(struct password_check **check_out,
                          unsigned thread_count)
{
    struct password_check *check = calloc(1, sizeof(*check));
    int err;

    assert(thread_count >= 1 && thread_count <= PASSWORD_THREADS_MAX);
    if (!check)
        return -ENOMEM;
    err = siphash_make_key(&check->secret);
    if (err == 0)
        err = siphash_make_key(&check->order.secret);
    if (err != 0) {
        free(check);
        return err;
    }
    list_init(&check->free);
    list_init(&check->order.queued);
    list_init(&check->order.running);
    check->order.jobs = check->jobs;
    check->order.job_count = ALL_JOBS;
    check->free_count = ALL_JOBS;
    for (size_t i = 0; i < ALL_JOBS; i++)
        list_put_last(&check->free, &check->jobs[i].list_node);
    pthread_mutex_init(&check->mutex, NULL);
    pthread_cond_init(&check->changed, NULL);
    err = start_threads(check, thread_count);
    if (err != 0) {
        password_check_destroy(check);
        return err;
    }
    *check_out = check;
    return 0;
}

void password_check_stop(struct password_check *check)
{
    pthread_mutex_lock(&check->mutex);
    check->is_stopping = true;
    pthread_cond_broadcast(&check->changed);
    pthread_mutex_unlock(&check->mutex);
    for (; check->thread_count > 0; check->thread_count--)
        pthread_join(check->threads[check->thread_count - 1], NULL);
}

void password_check_destroy(struct password_check *check)
{
    if (!check)
        return;
    password_check_stop(check);
    for (size_t i = 0; i < ALL_JOBS; i++)
        if (check->jobs[i].state != PASSWORD_JOB_FREE)
            htpasswd_release(&check->jobs[i].htpasswd);
    explicit_bzero(check->jobs, sizeof(check->jobs));
    pthread_cond_destroy(&check->changed);
    pthread_mutex_destroy(&check->mutex);
    free(check);
}
