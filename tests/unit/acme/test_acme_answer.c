#include "acme/acme_problem.h"

#include "suite.h"

static struct acme_answer take(const char *line)
{
    struct acme_answer answer = {.wait_s = -1};

    acme_answer_take_line(&answer, bytes_of(line), 784111777);
    return answer;
}

TEST(fields_are_read)
{
    assert_string_equal(take("Replay-Nonce: abc\r\n").nonce, "abc");
    assert_string_equal(take("replay-nonce:abc").nonce, "abc");
    assert_string_equal(take("Location: https://a.example/1\r\n").location,
                        "https://a.example/1");
    assert_string_equal(
        take("Content-Type: application/json; charset=utf-8\r\n").type,
        "application/json");
    assert_string_equal(take("X-Other: abc\r\n").nonce, "");
}

TEST(what_could_be_mistaken_is_left_out)
{
    char line[ACME_NONCE_MAX + 64];

    assert_string_equal(take("Replay-Nonce: a b\r\n").nonce, "");
    assert_string_equal(take("Replay-Nonce: a\001\r\n").nonce, "");
    assert_string_equal(take("Replay-Nonce: a\377\r\n").nonce, "");
    memset(line, 'a', sizeof(line));
    memcpy(line, "Replay-Nonce: ", 14);
    line[14 + ACME_NONCE_MAX + 1] = '\0';
    assert_string_equal(take(line).nonce, "");
    line[14 + ACME_NONCE_MAX] = '\0';
    assert_int_equal(strlen(take(line).nonce), ACME_NONCE_MAX);
}

TEST(pauses_are_seconds_or_dates)
{
    assert_int_equal(take("Retry-After: 5\r\n").wait_s, 5);
    assert_int_equal(take("Retry-After: 99999999999999999999\r\n").wait_s,
                     ACME_WAIT_MAX_S);
    assert_int_equal(
        take("Retry-After: Sun, 06 Nov 1994 08:49:47 GMT\r\n").wait_s, 10);
    assert_int_equal(
        take("Retry-After: Sun, 06 Nov 1994 08:49:07 GMT\r\n").wait_s, 0);
    assert_int_equal(take("Retry-After: soon\r\n").wait_s, -1);
    assert_int_equal(take("Retry-After: -5\r\n").wait_s, -1);
    assert_int_equal(take("Retry-After:\r\n").wait_s, -1);
}

static struct acme_problem read_problem(const char *text)
{
    struct acme_problem problem = {.wait_s = -1};
    struct json_reader json;

    assert_int_equal(json_read(&json, bytes_of(text)), 0);
    acme_problem_read(&problem, json.values);
    json_fini(&json);
    return problem;
}

TEST(problems_are_told_in_words)
{
    struct acme_problem problem =
        read_problem("{\"type\":\"urn:ietf:params:acme:error:rateLimited\","
                     "\"detail\":\"too\\nmany\"}");

    assert_string_equal(problem.type, "rateLimited");
    assert_string_equal(problem.text, "rateLimited: too many");
    problem = read_problem("{\"type\":\"about:blank\",\"detail\":5}");
    assert_string_equal(problem.type, "");
    problem = read_problem(
        "{\"type\":\"urn:ietf:params:acme:error:malformed\",\"detail\":\"x\","
        "\"subproblems\":[{\"detail\":\"no such name\"}]}");
    assert_string_equal(problem.text, "malformed: no such name");
    problem = read_problem("[]");
    assert_string_equal(problem.text, "");
}

/* Addresses that are kept in files, at root's terminal. */
TEST(what_is_told_gives_a_terminal_no_orders)
{
    struct acme_problem problem = {.wait_s = -1};

    assert_int_equal(acme_tell(&problem, ACME_FAILED, "%.200s: none",
                               "https://\x1b]0;mine\a"),
                     ACME_FAILED);
    assert_string_equal(problem.text, "https://?]0;mine?: none");
}

SUITE(.begin = NULL);
