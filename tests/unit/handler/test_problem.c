#include "handler/problem.h"

#include "json_check.h"
#include "unit/handler/asked.h"

static const char *body(void)
{
    const char *text = strstr(answer_text(), "\r\n\r\n");

    assert_non_null(text);
    if (text[4] != '\0' && !json_is_valid(text + 4))
        fail_msg("no JSON: %s", text);
    return text + 4;
}

TEST(a_problem_has_a_title_a_status_and_more)
{
    struct problem problem = {
        .status = 400,
        .detail = BYTES("a \"detail\"\n"),
        .fields = BYTES("X-Y: z\r\n"),
        .members = {{.name = "parameter", .text = BYTES("\377\\")},
                    {.name = "line", .number = 12}}};

    ask("GET /", "");
    problem_answer(&exchange.response, &problem, &defaults);
    assert_string_equal(body(),
                        "{\"type\":\"about:blank\",\"title\":\"Bad Request\","
                        "\"status\":400,\"detail\":\"a \\\"detail\\\"\\u000a\","
                        "\"parameter\":\"\\ufffd\\\\\",\"line\":12}\n");
    assert_has("X-Y: z\r\nContent-Type: application/problem+json\r\n");
    assert_int_equal(exchange.response.status, 400);
    assert_false(exchange.response.is_error); /* no page takes its place */
    ask("HEAD /", "");
    problem_answer(&exchange.response, &problem, &defaults);
    assert_has("Content-Length: 121\r\n");
    assert_string_equal(body(), "");
}

TEST(texts_are_cut_where_they_are_too_long)
{
    static char text[2000];
    struct problem problem = {.status = 500,
                              .detail = {text, sizeof(text)},
                              .members = {{"a", {text, sizeof(text)}, 0},
                                          {"b", {text, sizeof(text)}, 0},
                                          {"c", {text, sizeof(text)}, 0},
                                          {"d", {text, sizeof(text)}, 0}}};
    size_t count = 0;

    memset(text, '\1', sizeof(text));
    ask("GET /", "");
    problem_answer(&exchange.response, &problem, &defaults);
    for (const char *at = body(); (at = strstr(at, "\\u0001")); at += 6)
        count++;
    assert_int_equal(count, PROBLEM_DETAIL_BYTES_MAX +
                                PROBLEM_MEMBERS_MAX * PROBLEM_TEXT_BYTES_MAX);
}

SUITE(.each_begin = begin_asking, .each_end = end_asking);
