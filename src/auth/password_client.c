#include "auth/password_client.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "auth/password_cache.h"
#include "auth/password_check_priv.h"
#include "base/address_key.h"

struct password_client {
    struct password_check *check;
    struct mailbox *mailbox;
    struct list asked; /* jobs whose notes have not arrived yet */
    struct password_cache cache;
};

/* Returns a digest that identifies the question without revealing it. It covers
 * the password file by its generation, which changes with the content. */
static struct siphash make_digest(const struct password_client *client,
                                  const struct password_question *question)
{
    char text[sizeof(uint64_t) + 1 + HTPASSWD_NAME_BYTES_MAX +
              HTPASSWD_PASSWORD_BYTES_MAX];
    uint64_t generation = htpasswd_generation(question->htpasswd);
    struct siphash digest;
    size_t len = 0;

    memcpy(text, &generation, sizeof(generation));
    len += sizeof(generation);
    text[len++] = (char)question->user.len;
    memcpy(text + len, question->user.data, question->user.len);
    len += question->user.len;
    memcpy(text + len, question->password.data, question->password.len);
    len += question->password.len;
    digest = siphash_of(password_check_secret(client->check),
                        (struct bytes){text, len});
    explicit_bzero(text, sizeof(text));
    return digest;
}

static struct password_job *find_job(struct password_client *client,
                                     struct siphash digest)
{
    for (struct list *at = client->asked.next; at != &client->asked;
         at = at->next) {
        struct password_job *job = OWNER_OF(at, struct password_job,
                                            client_link);

        if (siphash_eq(job->digest, digest))
            return job;
    }
    return NULL;
}

static void join(struct password_job *job, struct password_wait *wait)
{
    list_put_last(&job->waits, &wait->list_node);
    wait->job = job;
}

/* Passes the verdict to all waits of the job. Each wait leaves the list before
 * its callback is called, since the callback may free it, or cancel others. */
static void on_answer(struct mailbox_note *note)
{
    struct password_job *job = OWNER_OF(note, struct password_job, note);
    struct password_client *client = job->client;
    enum password_verdict verdict = job->verdict;

    list_drop(&job->client_link); /* so that no other wait joins the job */
    if (verdict == PASSWORD_RIGHT)
        password_cache_put(&client->cache, job->digest, job->asked_ms);
    while (!list_is_empty(&job->waits)) {
        struct password_wait *wait = OWNER_OF(job->waits.next,
                                              struct password_wait, list_node);

        list_drop(&wait->list_node);
        wait->job = NULL;
        wait->on_done(wait, verdict);
    }
    password_check_give(client->check, job);
}

static void fill_job(struct password_client *client, struct password_job *job,
                     const struct password_question *question,
                     struct siphash digest)
{
    job->note.on_arrive = on_answer;
    job->mailbox = client->mailbox;
    job->client = client;
    job->htpasswd = htpasswd_acquire(question->htpasswd);
    job->digest = digest;
    job->asked_ms = question->now_ms;
    job->user_len = (uint16_t)question->user.len;
    job->password_len = (uint16_t)question->password.len;
    memcpy(job->user, question->user.data, question->user.len);
    memcpy(job->password, question->password.data, question->password.len);
    list_init(&job->waits);
    list_put_last(&client->asked, &job->client_link);
}

enum password_verdict password_client_ask(
    struct password_client *client, const struct password_question *question,
    struct password_wait *wait)
{
    struct siphash digest;
    struct password_job *job;

    if (htpasswd_is_due(question->htpasswd, question->now_ms))
        password_check_refresh(client->check, question->htpasswd);
    if (question->user.len > HTPASSWD_NAME_BYTES_MAX ||
        question->password.len > HTPASSWD_PASSWORD_BYTES_MAX)
        return PASSWORD_WRONG; /* no user has such a name or password */
    digest = make_digest(client, question);
    if (password_cache_has(&client->cache, digest, question->now_ms))
        return PASSWORD_RIGHT;
    job = find_job(client, digest);
    if (job) {
        join(job, wait);
        return PASSWORD_LATER;
    }
    job = password_check_take(client->check, address_key_of(question->asker));
    if (!job)
        return PASSWORD_BUSY;
    fill_job(client, job, question, digest);
    join(job, wait);
    password_check_put(client->check, job);
    return PASSWORD_LATER;
}

void password_client_cancel(struct password_client *client,
                            struct password_wait *wait)
{
    struct password_job *job = wait->job;

    if (!job)
        return;
    wait->job = NULL;
    list_drop(&wait->list_node);
    if (!list_is_empty(&job->waits) || list_is_empty(&job->client_link))
        return;
    /* The job leaves client->asked before password_check_cancel() frees it,
     * since another client may take a free job at once. */
    list_drop(&job->client_link);
    if (!password_check_cancel(client->check, job))
        list_put_last(&client->asked, &job->client_link); /* not free yet */
}

int password_client_create(struct password_client **client_out,
                           struct password_check *check,
                           struct mailbox *mailbox)
{
    struct password_client *client = calloc(1, sizeof(*client));

    if (!client)
        return -ENOMEM;
    client->check = check;
    client->mailbox = mailbox;
    list_init(&client->asked);
    *client_out = client;
    return 0;
}

void password_client_destroy(struct password_client *client)
{
    if (!client)
        return;
    /* Nobody waits for the jobs that are still in the list. Their notes never
     * arrived, and password_check frees them. */
    for (struct list *at = client->asked.next; at != &client->asked;
         at = at->next)
        assert(list_is_empty(&OWNER_OF(at, struct password_job, client_link)
                                  ->waits));
    explicit_bzero(&client->cache, sizeof(client->cache));
    free(client);
}
