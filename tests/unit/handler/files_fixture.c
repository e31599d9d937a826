#include "unit/handler/files_fixture.h"

#include <errno.h>

#include "http/http1/http1.h"
#include "unit/small_cache.h"

struct place place;
static struct docroot root;
static struct mime *mime;
static struct now now;
struct file_cache_options cache_options;
struct static_files_options options;
static struct file_cache *cache;
static struct static_files *files;
const struct head_edits *edits;
char large_bytes[LARGE_BYTES];

static void make(void)
{
    cache = file_cache_create(&cache_options);
    options.cache = cache;
    options.defaults = &cache_options.defaults;
    options.send_method = cache_options.send_method;
    files = static_files_create(&options);
}

void remake(void)
{
    static_files_destroy(files);
    file_cache_destroy(cache);
    make();
    assert_non_null(files);
}

void write_file(const char *name, const char *text)
{
    assert_int_equal(place_write(&place, name, text), 0);
    assert_int_equal(place_set_time(&place, name, MODIFIED_S), 0);
}

int set_up(void **state)
{
    (void)state;
    mime = mime_create(NULL);
    if (!mime || place_open(&place) != 0)
        return -1;
    for (size_t i = 0; i < LARGE_BYTES; i++)
        large_bytes[i] = (char)('a' + i % 23);
    write_file("file.txt", "0123456789");
    if (place_write_bytes(&place, "large", large_bytes, LARGE_BYTES) != 0 ||
        place_set_time(&place, "large", MODIFIED_S) != 0 ||
        mkdirat(place.fd, "folder", 0755) != 0)
        return -1;
    if (docroot_open(&root, place.name, false) != 0)
        return -1;
    now = (struct now){.mono_ms = 1000000, .wall_s = 4000000000};
    now.wall_ns = now.wall_s * 1000000000;
    options = (struct static_files_options){
        .space = {.root = &root, .index = "index.html"}};
    cache_options = small_cache(mime, &now);
    make();
    return files ? 0 : -1;
}

int tear_down(void **state)
{
    (void)state;
    static_files_destroy(files);
    file_cache_destroy(cache);
    cache = NULL;
    files = NULL;
    docroot_close(&root);
    mime_destroy(mime);
    return place_close_tidy(&place);
}

/* --- Asking -------------------------------------------------------------- */

struct whole_answer answer;

void ask_as(const char *request, bool persists)
{
    static struct exchange exchange;
    static char clean[HTTP1_LINE_BYTES_MAX];
    struct handler handler = static_files_handler(files);
    struct http1_progress progress = {0};
    struct response *response = &exchange.response;
    enum reason reason;
    size_t used;
    size_t len;

    answer = (struct whole_answer){.body = answer.text};
    exchange.request.fields = exchange.room.fields;
    if (http1_parse(&progress, request, strlen(request), &exchange.request,
                    &used, &reason) != HTTP1_DONE) {
        /* It does not even come to the handler. */
        answer.status = reason_status(reason);
        return;
    }
    response_init(response, &exchange.room.response);
    response->persists = persists;
    response->edits = edits;
    response->is_head = exchange.request.method == METHOD_HEAD;
    if (path_clean(exchange.request.path, clean, &exchange.path))
        handler.answer(handler.self, &exchange, exchange.path.clean);
    else
        fail_msg("that path leads to no handler: %s", request);
    assert_true(sent_look(&exchange, &now));
    answer.status = response->status;
    answer.persists = response->persists;
    answer.body_bytes = response->body_bytes;
    len = sent_take(response, answer.text, sizeof(answer.text));
    while (!exchange_is_done(&exchange)) {
        assert_int_equal(sent_step(&exchange, &now), SENT_ON);
        len += sent_take(response, answer.text + len,
                         sizeof(answer.text) - len);
    }
    answer.body = answer.text + response->head_bytes;
    answer.body_len = len - response->head_bytes;
    assert_in_range(response->head_bytes, 4, len);
    assert_memory_equal(answer.body - 4, "\r\n\r\n", 4);
    response_fini(response);
}

void ask(const char *request)
{
    ask_as(request, true);
}

void get(const char *target, const char *fields)
{
    static char request[20000];

    snprintf(request, sizeof(request), "GET %s HTTP/1.1\r\nHost: h\r\n%s\r\n",
             target, fields);
    ask(request);
}

unsigned status_of(const char *target)
{
    get(target, "");
    return answer.status;
}

bool has(const char *part)
{
    const char *at = strstr(answer.text, part);

    return at && at < answer.body;
}

void assert_has(const char *part)
{
    if (!has(part))
        fail_msg("'%s' is not in: %s", part, answer.text);
}

void assert_has_not(const char *part)
{
    if (has(part))
        fail_msg("'%s' is in: %s", part, answer.text);
}

void assert_body(const char *expected)
{
    char length[50];

    assert_int_equal(answer.body_len, strlen(expected));
    assert_memory_equal(answer.body, expected, strlen(expected));
    assert_int_equal(answer.body_bytes, strlen(expected));
    snprintf(length, sizeof(length), "\r\nContent-Length: %zu\r\n",
             strlen(expected));
    assert_has(length);
}

const char *etag_of(const char *target)
{
    static char etag[100];
    const char *at;

    get(target, "");
    at = strstr(answer.text, "\r\nETag: ");
    assert_non_null(at);
    snprintf(etag, sizeof(etag), "%.*s", (int)strcspn(at + 8, "\r"), at + 8);
    return etag;
}
