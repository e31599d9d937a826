#include "unit/http/http1/http1_pieces.h"

void assert_bytes(struct bytes text, const char *expected)
{
    assert_int_equal(text.len, strlen(expected));
    assert_memory_equal(text.data, expected, text.len);
}

static void dump_view(struct buf *dump, const char *name, struct bytes text)
{
    buf_printf(dump, "%s=", name);
    if (text.data)
        buf_put(dump, text);
    else
        buf_put_literal(dump, "(none)");
    buf_put_literal(dump, "\n");
}

void dump_request(struct buf *dump, const struct request *request)
{
    buf_printf(dump,
               "method=%d minor=%u keep=%d chunked=%d expects=%d,%d scheme=%u "
               "length=%ju",
               request->method, request->minor, request->keep_alive,
               request->is_chunked, request->expects_continue,
               request->expects_other, request->scheme,
               (uintmax_t)request->content_length);
    dump_view(dump, "line", request->line);
    dump_view(dump, "method", request->method_name);
    dump_view(dump, "target", request->target);
    dump_view(dump, "path", request->path);
    dump_view(dump, "query", request->query);
    dump_view(dump, "host", request->host);
    for (unsigned i = 0; i < request->field_count; i++) {
        buf_printf(dump, "%u:", request->fields[i].id);
        buf_put(dump, request->fields[i].name);
        dump_view(dump, "", request->fields[i].value);
    }
    for (unsigned id = 0; id < FIELD_COUNT; id++)
        if (request->seen & (1u << id))
            buf_printf(dump, "first[%u]=%u\n", id, request->first[id]);
}

void read_in_steps(struct outcome *outcome, struct bytes text, size_t first,
                   size_t step)
{
    struct http1_progress progress = {0};
    size_t len = first;

    outcome->request.fields = outcome->few;
    outcome->request.many = outcome->many;
    for (;;) {
        outcome->copy = malloc(len > 0 ? len : 1);
        assert_non_null(outcome->copy);
        if (len > 0)
            memcpy(outcome->copy, text.data, len);
        outcome->read = len;
        outcome->used = 0;
        outcome->reason = REASON_NONE;
        outcome->verdict = http1_parse(&progress, outcome->copy, len,
                                       &outcome->request, &outcome->used,
                                       &outcome->reason);
        outcome->status = reason_status(outcome->reason);
        assert_memory_equal(outcome->copy, text.data, len);
        if (outcome->verdict != HTTP1_MORE || len == text.len)
            break;
        free(outcome->copy);
        len = text.len - len > step ? len + step : text.len;
    }
    buf_init(&outcome->dump, NULL, 0, DUMP_BYTES_MAX);
    if (outcome->verdict == HTTP1_DONE)
        dump_request(&outcome->dump, &outcome->request);
    if (outcome->verdict != HTTP1_MORE)
        assert_true(progress.checked == 0 && progress.line == 0 &&
                    progress.start == 0 && progress.lines == 0);
}

void read_whole(struct outcome *outcome, struct bytes text)
{
    read_in_steps(outcome, text, text.len, 0);
}

void outcome_fini(struct outcome *outcome)
{
    free(outcome->copy);
    buf_fini(&outcome->dump);
}

bool is_inside(struct bytes view, const char *data, size_t len)
{
    return view.data >= data && view.len <= len &&
           (size_t)(view.data - data) <= len - view.len;
}

static bool is_one_of(struct bytes view, const char *a, const char *b)
{
    return bytes_eq(view, bytes_of(a)) || bytes_eq(view, bytes_of(b));
}

void assert_views_are_inside(const struct outcome *outcome)
{
    const struct request *request = &outcome->request;
    const char *data = outcome->copy;
    size_t len = outcome->used;

    assert_true(is_inside(request->line, data, len));
    assert_true(is_inside(request->method_name, data, len));
    assert_true(is_inside(request->target, data, len));
    assert_true(is_inside(request->path, data, len) ||
                is_one_of(request->path, "/", "*"));
    assert_true(!request->query.data || is_inside(request->query, data, len));
    assert_true(is_inside(request->host, data, len) || request->host.len == 0);
    for (unsigned i = 0; i < request->field_count; i++) {
        assert_true(is_inside(request->fields[i].name, data, len));
        assert_true(is_inside(request->fields[i].value, data, len));
    }
}

void assert_same_in_steps(const struct outcome *whole, struct bytes text,
                          size_t first, size_t step, bool has_one_fault)
{
    struct outcome split;

    read_in_steps(&split, text, first, step);
    assert_int_equal(split.verdict, whole->verdict);
    if (whole->verdict == HTTP1_DONE) {
        assert_int_equal(split.used, whole->used);
        assert_int_equal(split.dump.len, whole->dump.len);
        assert_memory_equal(split.dump.data, whole->dump.data, split.dump.len);
        assert_views_are_inside(&split);
    }
    if (whole->verdict == HTTP1_BAD && has_one_fault)
        assert_int_equal(split.reason, whole->reason);
    outcome_fini(&split);
}

void assert_same_in_any_split(const struct outcome *whole, struct bytes text,
                              bool has_one_fault)
{
    for (size_t first = 0; first < text.len; first++)
        assert_same_in_steps(whole, text, first, text.len, has_one_fault);
    assert_same_in_steps(whole, text, 0, 1, has_one_fault);
    assert_same_in_steps(whole, text, 1, 2, has_one_fault);
}
