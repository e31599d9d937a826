/*
 * fuzz_request - raw bytes from a client, up to the decision what to answer.
 *
 * The first two bytes of the input say where the rest is split into two reads;
 * the rest is what comes over the connection: requests one after the other,
 * some with bodies. Each must come to the same whole, split and byte by byte,
 * and what it comes to must keep what the headers promise. Any breach aborts.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http/chunked.h"
#include "http/coding.h"
#include "http/condition.h"
#include "http/http1/http1_frame.h"
#include "http/mime.h"
#include "http/path.h"
#include "http/range.h"

#include "head_checks.h"

enum {
    REQUESTS_MAX = 8,      /* of one input */
    BYTEWISE_MAX = 512,    /* longer texts are not read byte by byte */
    WALL_S = 1784600000,   /* in July 2026 */
    MODIFIED_S = 784111777 /* Sun, 06 Nov 1994 08:49:37 GMT */
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* --- The body ------------------------------------------------------------ */

struct decoding {
    enum chunked_event event;
    size_t used;
    struct buf body;
};

static void decode(struct decoding *decoding, struct bytes text, size_t first,
                   size_t step)
{
    size_t len = first < text.len ? first : text.len;
    struct chunked chunked;

    chunked_init(&chunked);
    decoding->used = 0;
    buf_init(&decoding->body, NULL, 0, text.len);
    for (;;) {
        char *copy = copy_of(text.data + decoding->used, len);
        struct bytes input = {copy, len};
        struct bytes data;

        while ((decoding->event = chunked_next(&chunked, &input, &data)) ==
               CHUNKED_DATA) {
            CHECK(is_inside(data, copy, len));
            buf_put(&decoding->body, data);
        }
        CHECK(input.data >= copy && input.data + input.len == copy + len);
        CHECK(decoding->event != CHUNKED_AGAIN || input.len == 0);
        decoding->used += len - input.len;
        free(copy);
        if (decoding->event != CHUNKED_AGAIN || decoding->used == text.len)
            break;
        len = text.len - decoding->used < step ? text.len - decoding->used
                                               : step;
    }
    CHECK(!decoding->body.failed);
}

static void check_same_body(const struct decoding *whole, struct bytes text,
                            size_t first, size_t step)
{
    struct decoding split;

    decode(&split, text, first, step);
    CHECK(split.event == whole->event);
    CHECK(split.event != CHUNKED_END || split.used == whole->used);
    CHECK(bytes_eq(buf_bytes(&split.body), buf_bytes(&whole->body)));
    buf_fini(&split.body);
}

/* Returns whether the whole body is there, and how long it is. */
static bool take_chunks(struct bytes text, size_t split, size_t *used_out)
{
    struct decoding whole;
    bool is_complete;

    decode(&whole, text, text.len, 1);
    check_same_body(&whole, text, split, text.len + 1);
    if (text.len <= BYTEWISE_MAX)
        check_same_body(&whole, text, 1, 1);
    is_complete = whole.event == CHUNKED_END;
    *used_out = whole.used;
    if (is_complete)
        CHECK(memcmp(text.data + whole.used - 4, "\r\n\r\n", 4) == 0 ||
              whole.used == 5);
    buf_fini(&whole.body);
    return is_complete;
}

static bool take_body(const struct request *request, struct bytes text,
                      size_t split, size_t *used_out)
{
    if (request->is_chunked)
        return take_chunks(text, split, used_out);
    *used_out = (size_t)request->content_length;
    return request->content_length <= text.len;
}

/* --- The path ------------------------------------------------------------ */

static void check_clean(struct bytes clean, bool is_hidden)
{
    const char *at = clean.data;
    const char *end = clean.data + clean.len;
    bool hides = false;

    CHECK(clean.len > 0 && *at == '/' && !memchr(at, '\0', clean.len));
    while (at < end) {
        const char *slash = memchr(at + 1, '/', (size_t)(end - at - 1));
        struct bytes segment = bytes_between(at + 1, slash ? slash : end);

        CHECK(segment.len > 0 || !slash);
        CHECK(!bytes_eq(segment, BYTES(".")));
        CHECK(!bytes_eq(segment, BYTES("..")));
        hides |= segment.len > 0 && *segment.data == '.' &&
                 !bytes_eq(segment, BYTES(".well-known"));
        at = slash ? slash : end;
    }
    CHECK(hides == is_hidden);
}

/* A clean path, encoded, is the way to the same clean path. */
static void check_way_back(const struct path *path)
{
    char *encoded = malloc(3 * path->clean.len);
    size_t len;
    struct path again;
    char *out;

    CHECK(encoded);
    len = path_encode(path->clean, encoded);
    CHECK(len <= 3 * path->clean.len && !memchr(encoded, '"', len));
    out = malloc(len);
    CHECK(out && path_clean((struct bytes){encoded, len}, out, &again));
    CHECK(bytes_eq(again.clean, path->clean));
    CHECK(again.is_hidden == path->is_hidden);
    free(out);
    free(encoded);
}

/* What other servers make of it is as clean, and the same if there is nothing
 * to make anything of. */
static void check_readings(const struct request *request)
{
    struct path path, other;
    char *out = malloc(request->path.len);
    char *other_out = malloc(request->path.len);

    CHECK(out && other_out);
    for (unsigned reading = 0; reading < PATH_READINGS; reading++) {
        bool is_clean = path_clean(request->path, out, &path);
        bool is_other = path_clean_as(request->path, reading, other_out,
                                      &other);

        if (is_other)
            check_clean(other.clean, other.is_hidden);
        if (reading != 0 && (path_is_ambiguous(request->path) ||
                             path_may_have_authority(request->path)))
            continue;
        CHECK(is_clean == is_other);
        CHECK(!is_clean || bytes_eq(path.clean, other.clean));
    }
    free(other_out);
    free(out);
}

/* Whether there is a clean path. */
static bool clean_path(const struct request *request)
{
    static struct mime *mime;
    char *out = malloc(request->path.len);
    struct path path;
    bool is_clean;

    if (!mime)
        mime = mime_create(NULL);
    CHECK(out && mime);
    check_readings(request);
    is_clean = path_clean(request->path, out, &path);
    if (is_clean) {
        CHECK(is_inside(path.clean, out, request->path.len) ||
              bytes_eq(path.clean, request->path));
        check_clean(path.clean, path.is_hidden);
        check_way_back(&path);
        CHECK(memchr(mime_find(mime, path.clean).data, '/',
                     mime_find(mime, path.clean).len));
    }
    free(out);
    return is_clean;
}

/* --- Ranges, conditions, codings ----------------------------------------- */

static void check_ranges(struct bytes value, uint64_t length)
{
    char *copy = copy_of(value.data, value.len);
    struct range ranges[RANGE_COUNT_MAX];
    size_t count = 0;

    switch (range_parse((struct bytes){copy, value.len}, length, ranges,
                        &count)) {
    case RANGE_IGNORE:
        break;
    case RANGE_UNSATISFIABLE:
        CHECK(value.len > strlen("bytes="));
        break;
    case RANGE_PARTIAL:
        CHECK(count > 0 && count <= RANGE_COUNT_MAX);
        for (size_t i = 0; i < count; i++) {
            CHECK(ranges[i].first <= ranges[i].last);
            CHECK(ranges[i].last < length);
            for (size_t j = 0; j < i; j++)
                CHECK(ranges[i].first > ranges[j].last + 1 ||
                      ranges[j].first > ranges[i].last + 1);
        }
        break;
    }
    free(copy);
}

static bool has_condition(const struct request *request)
{
    return request_find(request, FIELD_IF_MATCH) ||
           request_find(request, FIELD_IF_NONE_MATCH) ||
           request_find(request, FIELD_IF_MODIFIED_SINCE) ||
           request_find(request, FIELD_IF_UNMODIFIED_SINCE);
}

static unsigned check_conditions(const struct request *request)
{
    static const struct validators both = {.etag = {"\"abc\"", 5},
                                           .modified = MODIFIED_S};
    static const struct validators none = {.modified = INT64_MIN};
    unsigned status = 200;

    switch (condition_evaluate(request, &both, WALL_S)) {
    case CONDITION_PROCEED:
        break;
    case CONDITION_NOT_MODIFIED:
        CHECK(request->method == METHOD_GET || request->method == METHOD_HEAD);
        status = 304;
        break;
    case CONDITION_FAILED:
        status = 412;
        break;
    }
    CHECK(status == 200 || has_condition(request));
    if (!request_find(request, FIELD_IF_RANGE)) {
        CHECK(condition_range_applies(request, &both, WALL_S));
        CHECK(condition_range_applies(request, &none, WALL_S));
    } else {
        (void)condition_range_applies(request, &both, WALL_S);
        CHECK(!condition_range_applies(request, &none, WALL_S));
    }
    if (condition_evaluate(request, &none, WALL_S) != CONDITION_PROCEED)
        CHECK(request_find(request, FIELD_IF_MATCH) ||
              request_find(request, FIELD_IF_NONE_MATCH));
    return status;
}

static void check_codings(const struct request *request)
{
    struct coding_taste taste;
    bool has_taste = coding_taste_read(&taste, request);

    CHECK(has_taste == (request_find(request, FIELD_ACCEPT_ENCODING) != NULL));
    for (unsigned available = 0; available < 1u << CODING_COUNT; available++) {
        enum coding coding = CODING_IDENTITY;

        if (has_taste)
            coding = coding_pick(&taste, available, &coding_order_of_siblings);

        CHECK(coding == CODING_IDENTITY || available & 1u << coding);
    }
}

/* --- The answer ---------------------------------------------------------- */

/* An error's page, when there is one, is sent whole and says how long it is. */
static void check_error(unsigned status, const struct request *request)
{
    static const struct now now = {.wall_s = WALL_S};
    static const struct server_defaults defaults = {.server_field = true,
                                                    .now = &now};
    struct response response;
    struct response_room room;
    char line[16];
    const char *text, *end;

    response_init(&response, &room);
    if (request) {
        response.is_head = request->method == METHOD_HEAD;
        response.persists = request->keep_alive;
    }
    response_make_error(&response, status, BYTES("Allow: GET\r\n"), &defaults);
    http1_frame(&response, request && request->minor == 0, &now);
    CHECK(response.part_count == 1u + (response.body_bytes > 0));
    CHECK(response.status == status);
    text = response.parts[0].at.memory;
    snprintf(line, sizeof(line), "HTTP/1.1 %03u ", status);
    CHECK(memcmp(text, line, strlen(line)) == 0);
    end = memmem(text, response.parts[0].len, "\r\n\r\n", 4);
    CHECK(end && (size_t)(end + 4 - text) == response.head_bytes);
    CHECK(response.head_bytes == response.parts[0].len);
    CHECK(response.head_bytes + response.body_bytes == response.bytes_left);
    response_advance(&response, response.bytes_left);
    CHECK(response_is_done(&response));
    response_fini(&response);
}

static void decide(const struct request *request)
{
    static const uint64_t lengths[] = {0, 1, 1000, UINT64_C(5) << 30,
                                       UINT64_MAX};
    const struct field *range = request_single(request, FIELD_RANGE);
    unsigned status = check_conditions(request);

    check_codings(request);
    for (size_t i = 0; range && i < sizeof(lengths) / sizeof(*lengths); i++)
        check_ranges(range->value, lengths[i]);
    if (*request->path.data == '/' && !clean_path(request))
        status = 400;
    if (request->expects_other)
        status = 417;
    if (status >= 400)
        check_error(status, request);
}

static bool is_of_head(enum reason reason)
{
    return reason > REASON_NONE && reason < REASON_EXPECTATION &&
           reason != REASON_HEAD_TIMEOUT;
}

/* Takes one request with its body off the front of text. False: it is not
 * whole, or the connection ends with it. */
static bool take_request(struct bytes *text, size_t split)
{
    struct reading whole;
    bool goes_on = false;
    size_t body_bytes;

    read_head(&whole, *text, text->len, 1);
    check_pieces(&whole, *text, split, text->len + 1);
    if (text->len <= BYTEWISE_MAX)
        check_pieces(&whole, *text, 0, 1);
    switch (whole.verdict) {
    case HTTP1_MORE:
        break;
    case HTTP1_BAD:
        CHECK(is_of_head(whole.reason));
        CHECK(is_inside(whole.request.line, whole.copy, text->len));
        check_error(reason_status(whole.reason), NULL);
        break;
    case HTTP1_DONE:
        check_request(&whole.request, whole.copy, whole.used);
        decide(&whole.request);
        text->data += whole.used;
        text->len -= whole.used;
        goes_on = take_body(&whole.request, *text, split, &body_bytes) &&
                  whole.request.keep_alive;
        if (goes_on) {
            text->data += body_bytes;
            text->len -= body_bytes;
        }
        break;
    }
    free(whole.copy);
    return goes_on;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes text;
    size_t split;

    if (size < 2)
        return 0;
    text = (struct bytes){(const char *)data + 2, size - 2};
    split = ((size_t)data[0] << 8 | data[1]) % (text.len + 1);
    for (int i = 0; i < REQUESTS_MAX && take_request(&text, split); i++)
        ;
    return 0;
}
