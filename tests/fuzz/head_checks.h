/*
 * head_checks - what must hold for a head that http1 has read, whole or split.
 *
 * Part of fuzz_request.
 */
#ifndef FUZZ_HEAD_CHECKS_H
#define FUZZ_HEAD_CHECKS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http/http1/http1.h"

/* Any breach of a promise ends the run. */
#define CHECK(condition) \
    ((condition) ? (void)0 : breach(__FILE__, __LINE__, #condition))

_Noreturn static void breach(const char *file, int line, const char *condition)
{
    fprintf(stderr, "%s:%d: not so: %s\n", file, line, condition);
    abort();
}

/* As many bytes as there are, so that a sanitizer sees the next one. */
static inline char *copy_of(const char *data, size_t len)
{
    char *copy = malloc(len > 0 ? len : 1);

    CHECK(copy);
    if (len > 0)
        memcpy(copy, data, len);
    return copy;
}

static inline bool is_inside(struct bytes view, const char *data, size_t len)
{
    return view.data >= data && view.len <= len &&
           (size_t)(view.data - data) <= len - view.len;
}

static inline bool has_control(struct bytes text)
{
    for (size_t i = 0; i < text.len; i++)
        if (((unsigned char)text.data[i] < 0x20 && text.data[i] != '\t') ||
            text.data[i] == 0x7F)
            return true;
    return false;
}

/* --- The head ------------------------------------------------------------ */

struct reading {
    enum http1_verdict verdict;
    size_t used;
    enum reason reason;
    struct request request;
    struct field few[REQUEST_FIELDS_FEW];
    struct field many[REQUEST_FIELDS_MAX];
    char *copy; /* what the request's views point into */
};

/* Reads first bytes of text, then step more each time. */
static inline void read_head(struct reading *reading, struct bytes text,
                             size_t first, size_t step)
{
    struct http1_progress progress = {0};
    size_t len = first < text.len ? first : text.len;

    reading->request.fields = reading->few;
    reading->request.many = reading->many;
    for (;;) {
        reading->copy = copy_of(text.data, len);
        reading->verdict = http1_parse(&progress, reading->copy, len,
                                       &reading->request, &reading->used,
                                       &reading->reason);
        if (reading->verdict != HTTP1_MORE || len == text.len)
            return;
        free(reading->copy);
        len = text.len - len > step ? len + step : text.len;
    }
}

static inline void check_view(struct bytes view, const char *data, size_t len)
{
    CHECK(is_inside(view, data, len));
    CHECK(!has_control(view));
}

static inline void check_fields(const struct request *request, const char *data,
                                size_t len)
{
    uint32_t seen = 0;

    CHECK(request->field_count <= REQUEST_FIELDS_MAX);
    for (unsigned i = 0; i < request->field_count; i++) {
        const struct field *field = &request->fields[i];
        struct bytes value = bytes_trim(field->value);

        check_view(field->name, data, len);
        check_view(field->value, data, len);
        CHECK(field->name.len > 0 && value.len == field->value.len);
        CHECK(!memchr(field->name.data, ' ', field->name.len));
        CHECK(!memchr(field->name.data, ':', field->name.len));
        if (!(seen & (1u << field->id)))
            CHECK(request->first[field->id] == i);
        seen |= 1u << field->id;
    }
    CHECK(request->seen == seen);
}

static inline void check_request(const struct request *request,
                                 const char *data, size_t len)
{
    CHECK(len >= 4 && memcmp(data + len - 4, "\r\n\r\n", 4) == 0);
    CHECK(len <= HTTP1_HEAD_BYTES_MAX + 2 * HTTP1_LEADING_CRLF_MAX);
    CHECK(request->method < METHOD_COUNT && request->minor <= 1);
    check_view(request->line, data, len);
    check_view(request->method_name, data, len);
    check_view(request->target, data, len);
    CHECK(request->method_name.data == request->line.data);
    CHECK(request->target.data ==
          request->line.data + request->method_name.len + 1);
    CHECK(request->line.len ==
          request->method_name.len + request->target.len + 10);
    if (bytes_eq(request->path, BYTES("*")))
        CHECK(request->method == METHOD_OPTIONS);
    else
        CHECK(request->path.len > 0 && *request->path.data == '/');
    if (request->path.len > 1)
        check_view(request->path, data, len);
    if (request->query.data)
        check_view(request->query, data, len);
    if (request->host.len > 0)
        check_view(request->host, data, len);
    else
        CHECK(request->minor == 0);
    CHECK(!request->is_chunked ||
          (request->content_length == 0 && request->minor == 1));
    CHECK(request->content_length <= INT64_MAX);
    check_fields(request, data, len);
}

static inline bool same_view(struct bytes a, struct bytes b)
{
    return bytes_eq(a, b) && !a.data == !b.data;
}

static inline void check_same(const struct reading *a, const struct reading *b)
{
    const struct request *x = &a->request;
    const struct request *y = &b->request;

    CHECK(a->verdict == b->verdict);
    if (a->verdict != HTTP1_DONE)
        return;
    CHECK(a->used == b->used);
    CHECK(x->method == y->method && x->minor == y->minor);
    CHECK(x->keep_alive == y->keep_alive && x->is_chunked == y->is_chunked);
    CHECK(x->expects_continue == y->expects_continue &&
          x->expects_other == y->expects_other);
    CHECK(x->content_length == y->content_length && x->scheme == y->scheme);
    CHECK(same_view(x->line, y->line) && same_view(x->target, y->target));
    CHECK(same_view(x->path, y->path) && same_view(x->query, y->query));
    CHECK(same_view(x->host, y->host) && x->field_count == y->field_count);
    for (unsigned i = 0; i < x->field_count; i++) {
        CHECK(same_view(x->fields[i].name, y->fields[i].name));
        CHECK(same_view(x->fields[i].value, y->fields[i].value));
    }
    check_request(y, b->copy, b->used);
}

static inline void check_pieces(const struct reading *whole, struct bytes text,
                                size_t first, size_t step)
{
    struct reading split;

    read_head(&split, text, first, step);
    check_same(whole, &split);
    free(split.copy);
}

#endif
