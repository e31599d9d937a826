#include "handler/status/status.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "handler/local.h"
#include "handler/status/status_page.h"
#include "handler/status/status_priv.h"
#include "http/accept.h"
#include "observe/metrics.h"
#include "observe/status_json.h"

#define ALLOW_LINE "Allow: GET, HEAD\r\n"

static void release_origin(void *object)
{
    struct status_text *text = object;

    status_text_release(&text);
}

/* --- Whole answers -------------------------------------------------------- */

struct status_content {
    struct bytes type;
    struct bytes fields; /* whole lines for the head */
    struct bytes body;
};

#define NO_CACHE "Cache-Control: no-cache\r\n"

static void send_content(const struct status *status, struct exchange *exchange,
                         unsigned code, const struct status_content *content)
{
    struct response *response = &exchange->response;

    response_begin(response, code, &status->options.defaults);
    head_field(&response->head, BYTES("Content-Type"), content->type);
    head_number(&response->head, BYTES("Content-Length"), content->body.len);
    buf_put(&response->head, content->fields);
    if (encode_add_memory(&status->encode, exchange, content->body))
        return;
    response_add_head(response);
    if (response->is_head || response->head.failed)
        return;
    response->body_bytes = content->body.len;
    response_add_memory(response, content->body);
}

/* Sends a text. The response takes over the reference to `text`. */
static void send_text(const struct status *status, struct exchange *exchange,
                      struct bytes type, struct status_text *text)
{
    struct response *response = &exchange->response;
    struct status_content content = {.type = type,
                                     .fields = BYTES(STATUS_NO_STORE)};

    if (!text || text->buf.failed) {
        status_text_release(&text);
        status_fail(status, response, 500, BYTES(""));
        return;
    }
    content.body = buf_bytes(&text->buf);
    send_content(status, exchange, 200, &content);
    response->origin = (struct origin){.release = release_origin,
                                       .object = text};
}

static void answer_page(struct status *status, struct exchange *exchange)
{
    struct status_content content = {
        .type = BYTES(STATUS_PAGE_HTML_TYPE),
        .fields = BYTES(NO_CACHE "Content-Security-Policy: " STATUS_PAGE_POLICY
                                 "\r\nReferrer-Policy: no-referrer\r\n"),
        .body = status_page_html()};

    send_content(status, exchange, 200, &content);
}

static void answer_style(struct status *status, struct exchange *exchange)
{
    struct status_content content = {.type = BYTES(STATUS_PAGE_STYLE_TYPE),
                                     .fields = BYTES(NO_CACHE),
                                     .body = status_page_style()};

    send_content(status, exchange, 200, &content);
}

static void answer_script(struct status *status, struct exchange *exchange)
{
    struct status_content content = {.type = BYTES(STATUS_PAGE_SCRIPT_TYPE),
                                     .fields = BYTES(NO_CACHE),
                                     .body = status_page_script()};

    send_content(status, exchange, 200, &content);
}

/* Returns a reference to this turn's text, or NULL if there is none yet. */
static struct status_text *find_kept(struct status *status,
                                     enum status_kept which)
{
    struct status_text *text = status->kept[which];

    if (text)
        text->refs++;
    return text;
}

/* Begins a text of the present statistics, which is kept for this turn. Returns
 * NULL when there is no memory. */
static struct status_text *begin_kept(struct status *status,
                                      enum status_kept which, size_t bytes_max)
{
    struct status_text *text = status_text_create(bytes_max);

    if (!text)
        return NULL;
    text->refs++;
    status->kept[which] = text;
    status_look(status);
    return text;
}

void status_turn(struct status *status)
{
    for (unsigned i = 0; i < STATUS_KEPT_COUNT; i++)
        status_text_release(&status->kept[i]);
}

static void answer_json(struct status *status, struct exchange *exchange)
{
    struct status_text *text = find_kept(status, STATUS_KEPT_JSON);

    if (!text &&
        (text = begin_kept(status, STATUS_KEPT_JSON, STATUS_JSON_BYTES_MAX)))
        status_json_put(&text->buf, status->snapshot, status->options.history);
    send_text(status, exchange, BYTES("application/json"), text);
}

/* Chooses the format of /metrics: OpenMetrics, if Accept names it, unless
 * text/plain has a higher weight. */
static enum metrics_format choose_format(const struct request *request)
{
    struct accepted open = accept_find(request,
                                       BYTES("application/openmetrics-text"));
    struct accepted plain = accept_find(request, BYTES("text/plain"));

    if (open.precision != ACCEPT_ITSELF || open.weight == 0 ||
        (plain.precision == ACCEPT_ITSELF && plain.weight > open.weight))
        return METRICS_PROMETHEUS;
    return METRICS_OPENMETRICS;
}

static void answer_metrics(struct status *status, struct exchange *exchange)
{
    enum metrics_format format = choose_format(&exchange->request);
    enum status_kept which = format == METRICS_OPENMETRICS
                                 ? STATUS_KEPT_OPENMETRICS
                                 : STATUS_KEPT_PROMETHEUS;
    struct status_text *text = find_kept(status, which);

    if (!text && (text = begin_kept(status, which, METRICS_BYTES_MAX)))
        metrics_put(&text->buf, status->snapshot, format);
    send_text(status, exchange, bytes_of(metrics_media_type(format)), text);
}

static void answer_health(struct status *status, struct exchange *exchange)
{
    struct status_content content = {
        .type = BYTES("text/plain; charset=utf-8"),
        .fields = BYTES(STATUS_NO_STORE),
        .body = status->is_draining ? BYTES("draining\n") : BYTES("ok\n")};

    send_content(status, exchange, status->is_draining ? 503 : 200, &content);
}

/* --- Which answer --------------------------------------------------------- */

static const struct {
    struct bytes rest;
    void (*answer)(struct status *status, struct exchange *exchange);
} places[] = {
    {{"/", 1}, answer_page},
    {{"/style.css", 10}, answer_style},
    {{"/script.js", 10}, answer_script},
    {{"/status.json", 12}, answer_json},
    {{"/metrics", 8}, answer_metrics},
    {{"/events", 7}, status_answer_events},
    {{"/health", 7}, answer_health},
};

/* Whether the peer is the client itself. If an untrusted proxy passes on a
 * request, the peer is the proxy, and the client is not known. */
static bool knows_client(const struct status_audience *audience,
                         const struct exchange *exchange)
{
    const struct forwarded_trust *trust = audience->trust;

    return !local_is_passed_on(&exchange->request) ||
           (trust && trust->field != FORWARDED_NONE &&
            forwarded_is_trusted(trust, exchange->neighbour));
}

static bool is_allowed(const struct status *status,
                       const struct exchange *exchange)
{
    const struct status_audience *audience = &status->options.audience;

    return (local_is_sender(exchange, audience->trust) ||
            (cidrs_contain(audience->allowed, exchange->peer) &&
             knows_client(audience, exchange))) &&
           local_is_named(audience->names, exchange->request.host);
}

void status_show(struct status *status, const struct status_audience *audience,
                 const struct stats_upstreams *upstreams,
                 const struct stats_certificates *certificates)
{
    status->options.audience = *audience;
    status->upstreams = upstreams;
    status->certificates = certificates;
}

void status_encode(struct status *status, const struct encode *encode)
{
    status->encode = *encode;
}

static void redirect_to_slash(const struct status *status,
                              struct exchange *exchange)
{
    struct bytes path = exchange->path.clean;
    char line[3 * STATUS_PREFIX_BYTES_MAX + 32];
    struct buf fields;
    char *to;

    buf_init(&fields, line, sizeof(line), RESPONSE_HEAD_BYTES_MAX / 2);
    buf_put_literal(&fields, "Location: ");
    to = buf_reserve(&fields, 3 * path.len);
    if (to)
        fields.len += path_encode(path, to);
    buf_put_literal(&fields, "/\r\n");
    status_fail(status, &exchange->response, fields.failed ? 500 : 301,
                fields.failed ? BYTES("") : buf_bytes(&fields));
    buf_fini(&fields);
}

static void answer(void *self, struct exchange *exchange, struct bytes rest)
{
    struct status *status = self;
    struct response *response = &exchange->response;

    if (!is_allowed(status, exchange)) {
        status_fail(status, response, 403, BYTES(""));
        return;
    }
    if (exchange->request.method != METHOD_GET &&
        exchange->request.method != METHOD_HEAD) {
        status_fail(status, response, 405, BYTES(ALLOW_LINE));
        return;
    }
    if (rest.len == 0) {
        redirect_to_slash(status, exchange);
        return;
    }
    for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
        if (bytes_eq(rest, places[i].rest)) {
            places[i].answer(status, exchange);
            return;
        }
    }
    status_fail(status, response, 404, BYTES(""));
}

struct handler status_handler(struct status *status)
{
    return (struct handler){.answer = answer, .self = status};
}

/* --- Coming and going ----------------------------------------------------- */

void status_drain(struct status *status)
{
    status->is_draining = true;
    status_turn(status);
}

struct status *status_create(const struct status_options *options)
{
    struct status *status = calloc(1, sizeof(*status));

    if (!status)
        return NULL;
    status->options = *options;
    status->snapshot = stats_snapshot_create(options->stats);
    if (status->snapshot &&
        stream_seats_init(&status->seats, STATUS_STREAMS_MAX) == 0)
        return status;
    status_destroy(status);
    return NULL;
}

void status_destroy(struct status *status)
{
    if (!status)
        return;
    assert(status->streams == 0);
    status_turn(status);
    status_text_release(&status->tick);
    stream_seats_fini(&status->seats);
    stats_snapshot_destroy(status->snapshot);
    free(status);
}

/* --- The prefix ----------------------------------------------------------- */

static bool is_segment(struct bytes text)
{
    static const char marks[] = "-._~";

    for (size_t i = 0; i < text.len; i++) {
        char lower = byte_lower(text.data[i]);

        if ((lower < 'a' || lower > 'z') && !byte_is_digit(lower) &&
            !memchr(marks, lower, sizeof(marks) - 1))
            return false;
    }
    return text.len > 0 && !bytes_eq(text, BYTES(".")) &&
           !bytes_eq(text, BYTES(".."));
}

bool status_read_prefix(const char *text, struct bytes *prefix_out)
{
    struct bytes prefix = bytes_of(text);
    const char *at = text;

    if (prefix.len > 0 && text[prefix.len - 1] == '/')
        prefix.len--;
    if (prefix.len == 0 || prefix.len > STATUS_PREFIX_BYTES_MAX)
        return false;
    while (at < text + prefix.len) {
        size_t len;

        if (*at++ != '/')
            return false;
        len = strcspn(at, "/");
        if (!is_segment((struct bytes){at, len}))
            return false;
        at += len;
    }
    *prefix_out = prefix;
    return true;
}
