#include "acme/acme_order.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "acme/acme_authorization.h"
#include "acme/acme_issue.h"
#include "acme/acme_poll.h"
#include "base/log.h"

enum { PAYLOAD_MAX = 65536 };

/* An order, as the authority describes it. */
struct order {
    char status[32];
    char finalize[ACME_URL_MAX + 1];
    char certificate[ACME_URL_MAX + 1];
    struct acme_challenge *challenges; /* one for each authorization */
    size_t count;
};

/* --- Records ------------------------------------------------------------- */

int acme_order_save(const struct acme_state *state, const char *name,
                    const struct acme_record *record)
{
    struct buf text;
    int err = -ENOMEM;

    buf_init(&text, NULL, 0, ACME_FILE_MAX);
    acme_record_put(record, &text);
    if (!text.failed)
        err = acme_state_write(state, ACME_FOLDER_ORDERS, name,
                               buf_bytes(&text));
    buf_fini(&text);
    return err;
}

static enum acme_result save(const struct acme_job *job,
                             struct acme_problem *problem)
{
    int err = acme_order_save(job->state, job->certificate->name, job->record);

    return err == 0 ? ACME_DONE
                    : acme_tell(problem, ACME_FAILED,
                                "what is under way cannot be noted in "
                                "'%.200s': %s",
                                job->state->path, strerror(-err));
}

bool acme_order_identify(const struct texts *names,
                         char id_out[ACME_NAMES_ID_MAX + 1])
{
    unsigned char digest[ACME_DIGEST_BYTES];
    struct buf text;
    bool is_done;

    buf_init(&text, NULL, 0, ACME_FILE_MAX);
    for (size_t i = 0; i < names->count; i++) {
        buf_put(&text, bytes_of(names->items[i]));
        buf_put_literal(&text, "\n");
    }
    is_done = !text.failed && acme_digest(buf_bytes(&text), digest);
    buf_fini(&text);
    for (size_t i = 0; is_done && i < ACME_DIGEST_BYTES; i++)
        snprintf(id_out + 2 * i, 3, "%02x", digest[i]);
    return is_done;
}

/* --- The order ----------------------------------------------------------- */

static bool read_order(struct order *order, const struct json_value *json)
{
    const struct json_value *list = json_find(json, "authorizations");
    const struct json_value *item = NULL;
    size_t count = 0;

    (void)!acme_text(json_find(json, "certificate"), order->certificate,
                     sizeof(order->certificate));
    while (order->count == 0 && count < ACME_AUTHORIZATIONS_MAX &&
           (item = json_next(list, item)))
        if (!acme_text(item, order->challenges[count++].url,
                       sizeof(order->challenges[0].url)))
            return false;
    if (order->count == 0)
        order->count = count;
    return acme_text(json_find(json, "status"), order->status,
                     sizeof(order->status)) &&
           acme_text(json_find(json, "finalize"), order->finalize,
                     sizeof(order->finalize)) &&
           order->count > 0;
}

static bool is_in(const struct order *order, const char *status)
{
    return strcmp(order->status, status) == 0;
}

/* Writes into `problem` why an order has failed. */
static enum acme_result tell_invalid(const struct json_value *json,
                                     struct acme_problem *problem)
{
    acme_problem_read(problem, json_find(json, "error"));
    return problem->text[0] != '\0'
               ? ACME_REFUSED
               : acme_tell(problem, ACME_REFUSED,
                           "the authority calls the order invalid");
}

/* Asks for the order until its status is no longer `state`. With "", asks
 * once. */
static enum acme_result follow(struct acme_job *job, struct order *order,
                               const char *state, struct acme_problem *problem)
{
    struct acme_poll poll = acme_poll_begin();
    enum acme_result result;

    do {
        struct acme_reply reply;
        int64_t wait_s = 0;

        result = acme_client_post(job->client, job->record->order, NULL, false,
                                  &reply, problem);
        if (result == ACME_DONE && !read_order(order, acme_reply_json(&reply)))
            result = acme_tell(problem, ACME_FAILED, "%.200s: that is no order",
                               job->record->order);
        if (result == ACME_DONE && is_in(order, "invalid"))
            result = tell_invalid(acme_reply_json(&reply), problem);
        wait_s = reply.answer.wait_s;
        acme_reply_fini(&reply);
        if (result != ACME_DONE || !is_in(order, state))
            return result;
        if (!acme_poll_wait(&poll, wait_s))
            return acme_tell(problem, ACME_FAILED,
                             "the authority has not made up its mind in %d s",
                             ACME_POLL_S);
        result = acme_job_stay(job, problem);
    } while (result == ACME_DONE);
    return result;
}

static bool put_question(const struct acme_job *job, struct buf *json)
{
    const struct texts *names = &job->certificate->names;

    buf_put_literal(json, "{\"identifiers\":[");
    for (size_t i = 0; i < names->count; i++) {
        buf_printf(json, "%s{\"type\":\"dns\",\"value\":\"", i > 0 ? "," : "");
        buf_put_json(json, bytes_of(names->items[i]));
        buf_put_literal(json, "\"}");
    }
    buf_put_literal(json, "]");
    if (job->settings->profile) {
        buf_put_literal(json, ",\"profile\":\"");
        buf_put_json(json, bytes_of(job->settings->profile));
        buf_put_literal(json, "\"");
    }
    if (job->replaces[0] != '\0' &&
        job->client->places[ACME_RENEWAL_INFO][0] != '\0')
        buf_printf(json, ",\"replaces\":\"%s\"", job->replaces);
    buf_put_literal(json, "}");
    buf_put(json, (struct bytes){"", 1});
    return !json->failed;
}

static enum acme_result send_question(struct acme_job *job,
                                      struct acme_reply *reply,
                                      struct acme_problem *problem)
{
    enum acme_result result = ACME_FAILED;
    struct buf json;

    *reply = (struct acme_reply){.json = {0}};
    buf_init(&json, NULL, 0, PAYLOAD_MAX);
    if (put_question(job, &json))
        result = acme_client_post(job->client,
                                  job->client->places[ACME_NEW_ORDER],
                                  json.data, false, reply, problem);
    else
        acme_tell(problem, ACME_FAILED, "out of memory");
    buf_fini(&json);
    return result;
}

/* Whether the authority may have refused the order because it replaces a
 * certificate: that certificate was replaced already, or belongs to another
 * account (RFC 9773 5). */
static bool is_about_replacing(const struct acme_job *job,
                               const struct acme_problem *problem)
{
    static const char *const types[] = {"alreadyReplaced", "conflict",
                                        "malformed", "unauthorized",
                                        "serverInternal"};

    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
        if (strcmp(problem->type, types[i]) == 0)
            return job->replaces[0] != '\0';
    return false;
}

static enum acme_result ask(struct acme_job *job, struct order *order,
                            struct acme_problem *problem)
{
    struct acme_reply reply;
    enum acme_result result = send_question(job, &reply, problem);

    if (result == ACME_REFUSED && is_about_replacing(job, problem)) {
        job->replaces[0] = '\0';
        acme_reply_fini(&reply);
        result = send_question(job, &reply, problem);
    }
    if (result == ACME_DONE && (reply.answer.location[0] == '\0' ||
                                !read_order(order, acme_reply_json(&reply))))
        result = acme_tell(problem, ACME_FAILED, "%.200s: that is no order",
                           job->client->places[ACME_NEW_ORDER]);
    if (result == ACME_DONE) {
        memcpy(job->record->order, reply.answer.location,
               sizeof(job->record->order));
        result = save(job, problem);
    }
    acme_reply_fini(&reply);
    return result;
}

/* Begins a new order. The attempt is counted before the request is sent. */
static enum acme_result begin_new(struct acme_job *job, struct order *order,
                                  struct acme_problem *problem)
{
    struct acme_record *record = job->record;
    int64_t now_s = time(NULL);
    int64_t when_s;
    enum acme_result result;

    record->order[0] = '\0';
    snprintf(record->directory, sizeof(record->directory), "%.*s", ACME_URL_MAX,
             job->client->directory);
    if (!acme_order_identify(&job->certificate->names, record->names))
        return acme_tell(problem, ACME_FAILED, "out of memory");
    if (!acme_record_begin(record, now_s, &when_s)) {
        result = acme_tell(problem, ACME_FAILED,
                           "%d orders have failed within an hour: no more "
                           "until that is over; the last: %.200s",
                           ACME_FAILURES_MAX, record->error);
        problem->wait_s = when_s - now_s;
        return result;
    }
    result = save(job, problem);
    if (result == ACME_DONE)
        result = acme_issue_make_key(job, problem);
    return result == ACME_DONE ? ask(job, order, problem) : result;
}

/* Whether the record's current order is for these names and this authority. */
static bool is_ours(const struct acme_job *job)
{
    const struct acme_record *record = job->record;
    char names[ACME_NAMES_ID_MAX + 1];

    return record->order[0] != '\0' &&
           strcmp(record->directory, job->client->directory) == 0 &&
           acme_order_identify(&job->certificate->names, names) &&
           strcmp(record->names, names) == 0;
}

static enum acme_result begin(struct acme_job *job, struct order *order,
                              struct acme_problem *problem)
{
    if (is_ours(job)) {
        enum acme_result result = follow(job, order, "", problem);

        if (result == ACME_DONE && acme_issue_has_key(job))
            return ACME_DONE;
        if (result == ACME_FAILED)
            return result;
        order->count = 0; /* expired or refused: begin a new order */
    }
    return begin_new(job, order, problem);
}

static enum acme_result show_all(struct acme_job *job, struct order *order,
                                 struct acme_problem *problem)
{
    enum acme_result result = ACME_DONE;

    for (size_t i = 0; i < order->count && result == ACME_DONE; i++)
        result = acme_authorization_show(job, &order->challenges[i], problem);
    return result;
}

/* --- All steps ----------------------------------------------------------- */

static enum acme_result run(struct acme_job *job, struct order *order,
                            struct acme_problem *problem)
{
    enum acme_result result = begin(job, order, problem);

    if (result == ACME_DONE && is_in(order, "pending")) {
        result = show_all(job, order, problem);
        if (result == ACME_DONE)
            result = follow(job, order, "pending", problem);
    }
    if (result == ACME_DONE && is_in(order, "ready"))
        result = acme_issue_finalize(job, order->finalize, problem);
    if (result == ACME_DONE && !is_in(order, "valid"))
        result = follow(job, order, "processing", problem);
    if (result == ACME_DONE && order->certificate[0] == '\0')
        result = acme_tell(problem, ACME_FAILED,
                           "%.200s: the order is '%s', and has no certificate",
                           job->record->order, order->status);
    if (result == ACME_DONE)
        result = acme_issue_take(job, order->certificate, problem);
    if (result != ACME_DONE)
        return result;
    acme_record_succeed(job->record);
    if (acme_order_save(job->state, job->certificate->name, job->record) == 0)
        acme_issue_forget_key(job);
    return ACME_DONE;
}

enum acme_result acme_order_run(struct acme_job *job,
                                struct acme_problem *problem)
{
    struct order order = {.count = 0};
    enum acme_result result;

    job->is_invalid = false;
    *problem = (struct acme_problem){.wait_s = -1};
    order.challenges = calloc(ACME_AUTHORIZATIONS_MAX,
                              sizeof(*order.challenges));
    if (!order.challenges)
        return acme_tell(problem, ACME_FAILED, "out of memory");
    result = run(job, &order, problem);
    free(order.challenges);
    return result;
}
