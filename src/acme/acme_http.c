#include "acme/acme_http.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <curl/curl.h>

#include "base/version.h"

enum {
    STALL_BYTES = 1,
    STALL_S = 20,
    URL_SCHEME = 8 /* length of "https://" */
};

struct acme_http {
    CURL *curl;
    struct curl_slist *fields;
    char why[CURL_ERROR_SIZE];
};

void acme_http_destroy(struct acme_http *http)
{
    if (!http)
        return;
    curl_slist_free_all(http->fields);
    curl_easy_cleanup(http->curl);
    free(http);
}

/* Takes a piece of the body. If the body gets too long, ends the connection. */
static size_t on_body(char *data, size_t size, size_t count, void *context)
{
    struct acme_answer *answer = context;

    buf_put(&answer->body, (struct bytes){data, size * count});
    return answer->body.failed ? 0 : size * count;
}

static size_t on_line(char *data, size_t size, size_t count, void *context)
{
    struct acme_answer *answer = context;
    size_t len = size * count;

    answer->head_bytes += len;
    if (answer->head_bytes > ACME_HEAD_MAX)
        return 0;
    acme_answer_take_line(answer, (struct bytes){data, len}, time(NULL));
    return len;
}

static bool set_rules(struct acme_http *http, const char *ca)
{
    CURL *curl = http->curl;

    return curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "https") == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT,
                            (long)ACME_CONNECT_S) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_TIMEOUT, (long)ACME_ANSWER_S) ==
               CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, (long)STALL_BYTES) ==
               CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, (long)STALL_S) ==
               CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_HTTP_VERSION,
                            (long)CURL_HTTP_VERSION_1_1) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_SSLVERSION,
                            (long)CURL_SSLVERSION_TLSv1_2) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_USERAGENT,
                            "sprintd/" SPRINTD_VERSION) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, http->why) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_body) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, on_line) ==
               CURLE_OK &&
           (!ca || curl_easy_setopt(curl, CURLOPT_CAINFO, ca) == CURLE_OK);
}

struct acme_http *acme_http_create(const char *ca)
{
    struct acme_http *http = calloc(1, sizeof(*http));

    if (!http)
        return NULL;
    if (curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK)
        http->curl = curl_easy_init();
    http->fields = curl_slist_append(NULL,
                                     "Content-Type: application/jose+json");
    if (http->curl && http->fields && set_rules(http, ca))
        return http;
    acme_http_destroy(http);
    return NULL;
}

static bool set_request(struct acme_http *http,
                        const struct acme_request *request,
                        struct acme_answer *answer)
{
    CURL *curl = http->curl;
    const struct bytes *body = request->body;
    bool is_set =
        curl_easy_setopt(curl, CURLOPT_URL, request->url) == CURLE_OK &&
        curl_easy_setopt(curl, CURLOPT_WRITEDATA, answer) == CURLE_OK &&
        curl_easy_setopt(curl, CURLOPT_HEADERDATA, answer) == CURLE_OK &&
        curl_easy_setopt(curl, CURLOPT_HTTPHEADER,
                         body ? http->fields : NULL) == CURLE_OK;

    if (!is_set)
        return false;
    if (!body)
        return curl_easy_setopt(curl, CURLOPT_HTTPGET, 1L) == CURLE_OK &&
               curl_easy_setopt(curl, CURLOPT_NOBODY,
                                request->is_head ? 1L : 0L) == CURLE_OK;
    return curl_easy_setopt(curl, CURLOPT_NOBODY, 0L) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_POST, 1L) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE,
                            (curl_off_t)body->len) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body->data) == CURLE_OK;
}

/* Returns a hint to append to the error message `why`, or "". Authorities renew
 * their own certificates in time; so if one seems to be expired, this machine's
 * clock may be wrong. The compared texts are OpenSSL's. */
static const char *ask_for_clock(const char *why)
{
    return strstr(why, "certificate has expired") ||
                   strstr(why, "certificate is not yet valid")
               ? ": is this machine's clock right?"
               : "";
}

/* Records why there is no answer; a partial answer is discarded. Returns
 * -EIO. */
static int fail(struct acme_http *http, struct acme_answer *answer,
                const char *url, CURLcode code)
{
    const char *why = http->why[0] != '\0' ? http->why
                                           : curl_easy_strerror(code);

    if (answer->body.failed || answer->head_bytes > ACME_HEAD_MAX)
        why = "it says more than any authority needs to";
    snprintf(answer->fault, sizeof(answer->fault), "%.200s: %.200s%s", url, why,
             ask_for_clock(why));
    answer->status = 0;
    answer->body.len = 0;
    return -EIO;
}

int acme_http_ask(struct acme_http *http, const struct acme_request *request,
                  struct acme_answer *answer)
{
    CURLcode code = CURLE_OUT_OF_MEMORY;

    *answer = (struct acme_answer){.wait_s = -1};
    buf_init(&answer->body, NULL, 0, ACME_BODY_MAX);
    if (strncmp(request->url, "https://", URL_SCHEME) != 0) {
        snprintf(answer->fault, sizeof(answer->fault),
                 "'%.200s' is no address of https", request->url);
        return -EIO;
    }
    http->why[0] = '\0';
    if (set_request(http, request, answer))
        code = curl_easy_perform(http->curl);
    if (code != CURLE_OK)
        return fail(http, answer, request->url, code);
    curl_easy_getinfo(http->curl, CURLINFO_RESPONSE_CODE, &answer->status);
    return 0;
}
