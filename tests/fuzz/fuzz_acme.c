/*
 * fuzz_acme - what an authority of certificates says: lines of its heads, its
 * JSON, and what we have noted of an order.
 *
 * The first byte says which; the rest is it. What is taken over fits, is ended,
 * and has nothing in it but visible ASCII; a record that is written reads the
 * same. Any breach aborts.
 */
#include <stdint.h>
#include <stdlib.h>

#include "acme/acme_challenge.h"
#include "acme/acme_problem.h"
#include "acme/acme_record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { NOW_S = 1784600000 };

static void expect(bool is_so)
{
    if (!is_so)
        abort();
}

static void expect_clean(const char *text, size_t size)
{
    size_t len = strnlen(text, size);

    expect(len < size);
    for (size_t i = 0; i < len; i++)
        expect(text[i] > ' ' && text[i] <= '~');
}

static void try_line(struct bytes text)
{
    struct acme_answer answer = {.wait_s = -1};

    acme_answer_take_line(&answer, text, NOW_S);
    expect_clean(answer.nonce, sizeof(answer.nonce));
    expect_clean(answer.location, sizeof(answer.location));
    expect_clean(answer.type, sizeof(answer.type));
    expect(answer.wait_s >= -1 && answer.wait_s <= ACME_WAIT_MAX_S);
}

static void try_challenge(const struct json_value *json, const char *type)
{
    struct acme_challenge challenge = {.is_put = false};

    if (acme_challenge_read_name(&challenge, json))
        expect_clean(challenge.name, sizeof(challenge.name));
    if (!acme_challenge_read(&challenge, json, type))
        return;
    expect_clean(challenge.url, sizeof(challenge.url));
    expect_clean(challenge.token, sizeof(challenge.token));
    expect(!strpbrk(challenge.token, "/."));
}

static void try_json(struct bytes text)
{
    struct acme_problem problem = {.wait_s = -1};
    struct json_reader json;
    char value[64];

    if (json_read_few(&json, text, 8192) == 0) {
        acme_problem_read(&problem, json.values);
        expect(strnlen(problem.text, sizeof(problem.text)) <
               sizeof(problem.text));
        if (acme_text(json_find(json.values, "status"), value, sizeof(value)))
            expect_clean(value, sizeof(value));
        try_challenge(json.values, "http-01");
        try_challenge(json.values, "dns-persist-01");
    }
    json_fini(&json);
}

static void try_record(struct bytes text)
{
    struct acme_record record, again;
    struct buf written;
    int64_t when_s;

    acme_record_read(&record, text);
    expect(strnlen(record.order, sizeof(record.order)) < sizeof(record.order));
    expect(strnlen(record.error, sizeof(record.error)) < sizeof(record.error));
    buf_init(&written, NULL, 0, 1 << 20);
    acme_record_put(&record, &written);
    acme_record_read(&again, buf_bytes(&written));
    expect(strcmp(record.order, again.order) == 0);
    expect(record.next_s == again.next_s);
    buf_fini(&written);
    (void)!acme_record_begin(&record, NOW_S, &when_s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes text = {(const char *)data + 1, size - 1};

    if (size < 2)
        return 0;
    if (data[0] % 3 == 0)
        try_line(text);
    else if (data[0] % 3 == 1)
        try_json(text);
    else
        try_record(text);
    return 0;
}
