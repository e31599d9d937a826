#include "handler/bad_request.h"

#include "unit/handler/asked.h"

static bool wants(const char *fields)
{
    ask("GET /", fields);
    return bad_request_wants_problem(&exchange.request);
}

TEST(a_problem_is_for_who_names_it_before_text)
{
    static const struct {
        const char *value;
        bool is_wanted;
    } cases[] = {
        {"application/problem+json", true},
        {"application/json", true},
        {"Application/JSON;q=0.1", true},
        {"application/json, text/plain, */*", true},
        {"text/html;q=0.5, application/json", true},
        {"text/html, application/json;q=0.9", false},
        {"text/plain, application/problem+json;q=0.5", false},
        {"application/json;q=0", false},
        {"application/*", false},
        {"*/*", false},
        {"", false},
        {"text/html, image/avif, */*;q=0.8", false},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char head[200];

        snprintf(head, sizeof(head), "Accept: %s\r\n", cases[i].value);
        if (wants(head) != cases[i].is_wanted)
            fail_msg("%s", cases[i].value);
        snprintf(head, sizeof(head), "nonsense\nX: y\r\naccEPT:%s\nZ",
                 cases[i].value);
        if (bad_request_wants_problem_in(bytes_of(head)) != cases[i].is_wanted)
            fail_msg("%s, raw", cases[i].value);
    }
    assert_false(wants(""));
    assert_false(bad_request_wants_problem_in(BYTES("")));
    assert_false(bad_request_wants_problem_in(BYTES("\r\n\n\r")));
    assert_false(bad_request_wants_problem_in(BYTES("Accept:")));
    assert_false(
        bad_request_wants_problem_in(BYTES("Accept : application/json")));
    assert_true(bad_request_wants_problem_in(BYTES("Accept:application/json")));
}

/* Every reason's answer is written whole, in both forms. */
TEST(every_reason_can_be_told)
{
    for (int i = REASON_NONE + 1; i < REASON_COUNT; i++) {
        enum reason reason = (enum reason)i;
        char part[100];

        ask("GET /", "");
        bad_request_answer(&exchange, reason, &defaults);
        assert_true(exchange.response.is_error);
        assert_int_equal(exchange.response.reason, reason);
        snprintf(part, sizeof(part), "HTTP/1.1 %u ", reason_status(reason));
        assert_has(part);
        snprintf(part, sizeof(part), ". (%s)\n", reason_word(reason).data);
        assert_has(part);
        ask("GET /", "Accept: application/json\r\n");
        bad_request_answer(&exchange, reason, &defaults);
        assert_false(exchange.response.is_error);
        assert_has("\r\nContent-Type: application/problem+json\r\n");
        snprintf(part, sizeof(part), "\"reason\":\"%s\"}\n",
                 reason_word(reason).data);
        assert_has(part);
    }
}

TEST(a_new_answer_has_no_reason_any_more)
{
    ask("GET /", "");
    bad_request_answer(&exchange, REASON_CHUNK, &defaults);
    response_make_error(&exchange.response, 404, BYTES(""), &defaults);
    assert_int_equal(exchange.response.reason, REASON_NONE);
}

SUITE(.each_begin = begin_asking, .each_end = end_asking);
