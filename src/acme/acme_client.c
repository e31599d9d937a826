#include "acme/acme_client.h"

#include <stdio.h>

#include "acme/acme_jws.h"

enum { MESSAGE_MAX = 256 * 1024 };

/* --- Opening and closing ------------------------------------------------- */

bool acme_client_open(struct acme_client *client, const char *directory,
                      const char *ca)
{
    *client = (struct acme_client){.directory = directory,
                                   .http = acme_http_create(ca)};
    return client->http;
}

void acme_client_close(struct acme_client *client)
{
    acme_http_destroy(client->http);
    *client = (struct acme_client){0};
}

void acme_reply_fini(struct acme_reply *reply)
{
    json_fini(&reply->json);
    acme_answer_fini(&reply->answer);
}

const struct json_value *acme_reply_json(const struct acme_reply *reply)
{
    return reply->json.count > 0 ? reply->json.values : NULL;
}

/* --- Asking -------------------------------------------------------------- */

static bool is_json(const char *type)
{
    struct bytes text = bytes_of(type);

    return bytes_ieq(text, BYTES("application/json")) ||
           bytes_ieq(text, BYTES("application/problem+json"));
}

/* Finds out what an answer means, by its status and its problem document. */
static enum acme_result judge(const char *url, struct acme_reply *reply,
                              struct acme_problem *problem)
{
    struct acme_answer *answer = &reply->answer;
    bool has_read = is_json(answer->type) &&
                    json_read_few(&reply->json, buf_bytes(&answer->body),
                                  ACME_VALUES_MAX) == 0;

    *problem = (struct acme_problem){.wait_s = answer->wait_s};
    if (!has_read)
        json_fini(&reply->json);
    if (answer->status >= 200 && answer->status < 300) {
        /* A type may be told although there is no body, as of a revocation. */
        if (!is_json(answer->type) || has_read || answer->body.len == 0)
            return ACME_DONE;
        return acme_tell(problem, ACME_FAILED,
                         "%.200s: the answer is no JSON that can be read", url);
    }
    if (answer->status >= 300 && answer->status < 400)
        return acme_tell(problem, ACME_FAILED,
                         "%.200s: it leads elsewhere (status %ld), which no "
                         "authority does",
                         url, answer->status);
    acme_problem_read(problem, acme_reply_json(reply));
    if (problem->text[0] == '\0')
        return acme_tell(problem, ACME_FAILED, "%.200s: status %ld", url,
                         answer->status);
    return problem->type[0] != '\0' ? ACME_REFUSED : ACME_FAILED;
}

static enum acme_result ask(struct acme_client *client,
                            const struct acme_request *request,
                            struct acme_reply *reply,
                            struct acme_problem *problem)
{
    *reply = (struct acme_reply){.json = {0}};
    *problem = (struct acme_problem){.wait_s = -1};
    if (acme_http_ask(client->http, request, &reply->answer) != 0)
        return acme_tell(problem, ACME_FAILED, "%s", reply->answer.fault);
    snprintf(client->nonce, sizeof(client->nonce), "%s", reply->answer.nonce);
    return judge(request->url, reply, problem);
}

enum acme_result acme_client_get(struct acme_client *client, const char *url,
                                 struct acme_reply *reply,
                                 struct acme_problem *problem)
{
    return ask(client, &(struct acme_request){.url = url}, reply, problem);
}

static enum acme_result fetch_nonce(struct acme_client *client,
                                    struct acme_problem *problem)
{
    struct acme_request request = {.url = client->places[ACME_NEW_NONCE],
                                   .is_head = true};
    struct acme_reply reply;
    enum acme_result result = ask(client, &request, &reply, problem);

    acme_reply_fini(&reply);
    if (result == ACME_DONE && client->nonce[0] == '\0')
        result = acme_tell(problem, ACME_FAILED, "%.200s: it has no nonce",
                           request.url);
    return result;
}

/* Sends a POST with the client's nonce, which cannot be used again. */
static enum acme_result post_once(struct acme_client *client, const char *url,
                                  struct bytes payload, bool as_key,
                                  struct acme_reply *reply,
                                  struct acme_problem *problem)
{
    struct acme_jws jws = {.key = client->key,
                           .account = as_key || client->account[0] == '\0'
                                          ? NULL
                                          : client->account,
                           .nonce = client->nonce,
                           .url = url,
                           .payload = payload};
    struct buf message;
    struct bytes body;
    enum acme_result result = ACME_FAILED;

    buf_init(&message, NULL, 0, MESSAGE_MAX);
    if (acme_jws_put(&jws, &message)) {
        body = buf_bytes(&message);
        client->nonce[0] = '\0';
        result = ask(client, &(struct acme_request){.url = url, .body = &body},
                     reply, problem);
    } else {
        acme_tell(problem, ACME_FAILED, "out of memory");
    }
    buf_fini(&message);
    return result;
}

enum acme_result acme_client_post(struct acme_client *client, const char *url,
                                  const char *payload, bool as_key,
                                  struct acme_reply *reply,
                                  struct acme_problem *problem)
{
    struct bytes text = payload ? bytes_of(payload) : BYTES("");
    enum acme_result result = ACME_FAILED;

    *reply = (struct acme_reply){.json = {0}};
    *problem = (struct acme_problem){.wait_s = -1};
    for (int i = 0; i < ACME_NONCE_TRIES; i++) {
        if (client->nonce[0] == '\0') {
            result = fetch_nonce(client, problem);
            if (result != ACME_DONE)
                return result;
        }
        result = post_once(client, url, text, as_key, reply, problem);
        if (result != ACME_REFUSED || strcmp(problem->type, "badNonce") != 0)
            return result;
        if (i + 1 < ACME_NONCE_TRIES) {
            acme_reply_fini(reply);
            *reply = (struct acme_reply){.json = {0}};
        }
    }
    return result;
}

/* --- The directory ------------------------------------------------------- */

enum acme_result acme_client_begin(struct acme_client *client,
                                   struct acme_problem *problem)
{
    static const char *const names[ACME_PLACES] = {"newNonce",  "newAccount",
                                                   "newOrder",  "revokeCert",
                                                   "keyChange", "renewalInfo"};
    struct acme_reply reply;
    enum acme_result result = acme_client_get(client, client->directory, &reply,
                                              problem);
    const struct json_value *json = acme_reply_json(&reply);
    const struct json_value *meta = json_find(json, "meta");
    bool has_all = true;

    for (size_t i = 0; result == ACME_DONE && i < ACME_PLACES; i++)
        if (!acme_text(json_find(json, names[i]), client->places[i],
                       sizeof(client->places[i])))
            has_all = has_all && i > ACME_NEW_ORDER;
    if (result == ACME_DONE && !has_all)
        result = acme_tell(problem, ACME_FAILED,
                           "%.200s: that is no directory of an authority",
                           client->directory);
    (void)!acme_text(json_find(meta, "termsOfService"), client->terms,
                     sizeof(client->terms));
    client->needs_binding = json_is_true(json_find(meta,
                                                   "externalAccountRequired"));
    acme_reply_fini(&reply);
    return result;
}
