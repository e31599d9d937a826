/*
 * fuzz_log - what clients send, up to a line of the access log.
 *
 * The first byte of the input chooses a format; 4 and above: the bytes up to
 * a NUL are a template, or are refused as one. The rest are the texts of an
 * entry, each behind two bytes that say how long it is, as far as it goes.
 * Whatever they are, the line ends once, fits, and has no control bytes; in
 * JSON it is an object. Any breach aborts.
 */
#include "observe/log_line.h"

#include <stdio.h>
#include <stdlib.h>

#include "json_check.h"

#define CHECK(condition) \
    ((condition) ? (void)0 : breach(__FILE__, __LINE__, #condition))

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

_Noreturn static void breach(const char *file, int line, const char *condition)
{
    fprintf(stderr, "%s:%d: not so: %s\n", file, line, condition);
    abort();
}

static void check_line(const struct log_format *format,
                       const struct log_entry *entry)
{
    static char line[LOG_LINE_BYTES_MAX + 1];
    const struct now now = {.wall_s = 1784600000,
                            .wall_ns = INT64_C(1784600000123456789)};
    struct log_dates dates;
    struct buf out;

    log_dates_init(&dates);
    log_dates_refresh(&dates, &now);
    buf_init(&out, line, LOG_LINE_BYTES_MAX, LOG_LINE_BYTES_MAX);
    CHECK(log_line_put(&out, format, &dates, 3, entry));
    CHECK(!out.failed && out.data == line && out.len > 0);
    CHECK(memchr(line, '\n', out.len) == line + out.len - 1);
    for (size_t i = 0; i < out.len - 1; i++)
        CHECK((unsigned char)line[i] >= 0x20 && line[i] != 0x7F);
    line[out.len - 1] = '\0';
    CHECK(!format->is_json || (*line == '{' && json_is_valid(line)));
}

/* The next text; as many bytes as there are, so that a sanitizer sees the one
 * behind it. */
static struct bytes take_text(struct bytes *rest)
{
    size_t len = 0;
    char *copy;

    if (rest->len >= 2) {
        len = (size_t)(unsigned char)rest->data[0] << 8 |
              (unsigned char)rest->data[1];
        rest->data += 2;
        rest->len -= 2;
    }
    if (len > rest->len)
        len = rest->len;
    copy = malloc(len + (len == 0));
    CHECK(copy);
    memcpy(copy, rest->data, len);
    rest->data += len;
    rest->len -= len;
    return (struct bytes){copy, len};
}

static void check_texts(const struct log_format *format, struct bytes rest)
{
    const struct address peer = {.family = ADDRESS_IPV4, .port = 1};
    struct log_entry entry = {.peer = &peer,
                              .connection = rest.len,
                              .requests = 1,
                              .reason = BYTES("client"),
                              .protocol = BYTES("HTTP/1.1"),
                              .status = 200};
    struct bytes *texts[] = {&entry.request_line, &entry.method,
                             &entry.target,       &entry.path,
                             &entry.query,        &entry.host,
                             &entry.referer,      &entry.user_agent};

    enum { TEXTS = sizeof(texts) / sizeof(texts[0]) };

    for (size_t i = 0; i < TEXTS; i++)
        *texts[i] = take_text(&rest);
    for (unsigned event = 0; event < LOG_EVENT_COUNT; event++) {
        entry.event = (enum log_event)event;
        if (log_format_tells(format, entry.event))
            check_line(format, &entry);
    }
    for (size_t i = 0; i < TEXTS; i++)
        free((void *)(uintptr_t)texts[i]->data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"common", "combined", "json", "events"};
    struct bytes rest;
    const char *end;
    struct log_format format;
    char fault[LOG_FAULT_BYTES_MAX];
    const char *text;

    if (size == 0)
        return 0;
    rest = (struct bytes){(const char *)data + 1, size - 1};
    text = names[data[0] % 4];
    if (data[0] >= 4) {
        end = memchr(rest.data, '\0', rest.len);
        if (!end)
            return 0;
        text = rest.data;
        rest = bytes_between(end + 1, (const char *)data + size);
    }
    memset(fault, '#', sizeof(fault));
    if (log_format_compile(&format, text, fault) == 0)
        check_texts(&format, rest);
    else
        CHECK(data[0] >= 4 && memchr(fault, '\0', sizeof(fault)) && *fault);
    return 0;
}
