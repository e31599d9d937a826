/* link: -Wl,--wrap=acme_http_ask -lcurl */
#include "acme/acme_client.h"

#include <stdio.h>

#include "suite.h"
#include "wrap.h"

static const char *type; /* of the authority's answer */
static const char *body;
static long status;

WRAP(int, acme_http_ask, struct acme_http *http,
     const struct acme_request *request, struct acme_answer *answer)
{
    (void)http;
    (void)request;
    *answer = (struct acme_answer){.status = status, .wait_s = -1};
    snprintf(answer->type, sizeof(answer->type), "%s", type);
    buf_init(&answer->body, NULL, 0, ACME_BODY_MAX);
    buf_put(&answer->body, bytes_of(body));
    return 0;
}

static enum acme_result get(void)
{
    struct acme_client client = {.http = NULL};
    struct acme_problem problem;
    struct acme_reply reply;
    enum acme_result result = acme_client_get(&client, "https://a.example/x",
                                              &reply, &problem);

    assert_true(body[0] == '{' || !acme_reply_json(&reply));
    acme_reply_fini(&reply);
    return result;
}

TEST(an_answer_without_a_body_may_tell_a_type)
{
    status = 200;
    body = "";
    type = "";
    assert_int_equal(get(), ACME_DONE);
    type = "application/json";
    assert_int_equal(get(), ACME_DONE);
}

TEST(a_body_that_is_no_json_is_told)
{
    status = 200;
    type = "application/json";
    body = " ";
    assert_int_equal(get(), ACME_FAILED);
    body = "words";
    assert_int_equal(get(), ACME_FAILED);
    body = "{}";
    assert_int_equal(get(), ACME_DONE);
}
