#include "acme/acme_authorization.h"

#include "acme/acme_poll.h"

/* Reads the authorization at `url`: its status, its name, and the challenge of
 * the job's type. ACME_REFUSED means that this challenge cannot succeed. */
static enum acme_result look(struct acme_job *job, const char *url,
                             struct acme_challenge *challenge, char status[32],
                             int64_t *wait_out, struct acme_problem *problem)
{
    struct acme_reply reply;
    enum acme_result result = acme_client_post(job->client, url, NULL, false,
                                               &reply, problem);
    const struct json_value *json = acme_reply_json(&reply);

    *wait_out = reply.answer.wait_s;
    if (result == ACME_DONE &&
        (!acme_text(json_find(json, "status"), status, 32) ||
         !acme_challenge_read_name(challenge, json)))
        result = acme_tell(problem, ACME_FAILED,
                           "%.200s: that is no authorisation", url);
    if (result == ACME_DONE && !acme_job_is_for(job, bytes_of(challenge->name)))
        result = acme_tell(problem, ACME_FAILED,
                           "%.200s: it is about %s, which nobody asked for",
                           url, challenge->name);
    if (result == ACME_DONE && strcmp(status, "pending") == 0 &&
        !acme_challenge_read(challenge, json, job->challenge)) {
        job->is_invalid = true;
        result = acme_tell(problem, ACME_REFUSED,
                           "%s: the authority does not offer %s",
                           challenge->name, job->challenge);
    }
    if (result == ACME_DONE && strcmp(status, "invalid") == 0) {
        const struct json_value *list = json_find(json, "challenges");
        const struct json_value *item = NULL;

        problem->text[0] = '\0';
        while (problem->text[0] == '\0' && (item = json_next(list, item)))
            acme_problem_read(problem, json_find(item, "error"));
        job->is_invalid = true;
        result = problem->text[0] != '\0'
                     ? ACME_REFUSED
                     : acme_tell(problem, ACME_REFUSED,
                                 "%s: the authority calls it invalid",
                                 challenge->name);
    }
    acme_reply_fini(&reply);
    return result;
}

static enum acme_result say_ready(struct acme_job *job, const char *url,
                                  struct acme_problem *problem)
{
    struct acme_reply reply;
    enum acme_result result = acme_client_post(job->client, url, "{}", false,
                                               &reply, problem);

    acme_reply_fini(&reply);
    return result;
}

enum acme_result acme_authorization_show(struct acme_job *job,
                                         struct acme_challenge *challenge,
                                         struct acme_problem *problem)
{
    struct acme_poll poll = acme_poll_begin();
    const struct acme_means means = {.state = job->state,
                                     .hook = job->hook,
                                     .key = job->client->key,
                                     .account = job->client->account};
    char url[ACME_URL_MAX + 1];
    char status[32];
    int64_t wait_s;
    enum acme_result result;

    memcpy(url, challenge->url, sizeof(url));
    result = look(job, url, challenge, status, &wait_s, problem);
    if (result != ACME_DONE || strcmp(status, "pending") != 0)
        return result;
    result = acme_challenge_put(challenge, &means, problem);
    if (result == ACME_DONE)
        result = say_ready(job, challenge->url, problem);
    while (result == ACME_DONE && strcmp(status, "pending") == 0) {
        if (!acme_poll_wait(&poll, wait_s)) {
            job->is_invalid = true;
            result = acme_tell(problem, ACME_REFUSED,
                               "%s: the authority has not looked within %d s",
                               challenge->name, ACME_POLL_S);
        } else {
            result = acme_job_stay(job, problem);
            if (result == ACME_DONE)
                result = look(job, url, challenge, status, &wait_s, problem);
        }
    }
    acme_challenge_remove(challenge, &means);
    return result;
}
