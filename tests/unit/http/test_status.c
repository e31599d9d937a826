#include "http/status.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void assert_reason(unsigned status, const char *reason)
{
    struct bytes text = status_reason(status);

    assert_int_equal(text.len, strlen(reason));
    assert_memory_equal(text.data, reason, text.len);
}

/* As RFC 9110 15 and RFC 6585 write them. */
static void every_status_in_use_has_its_registered_reason(void **state)
{
    static const struct {
        unsigned status;
        const char *reason;
    } cases[] = {
        {200, "OK"},
        {204, "No Content"},
        {206, "Partial Content"},
        {301, "Moved Permanently"},
        {304, "Not Modified"},
        {400, "Bad Request"},
        {403, "Forbidden"},
        {404, "Not Found"},
        {405, "Method Not Allowed"},
        {408, "Request Timeout"},
        {411, "Length Required"},
        {412, "Precondition Failed"},
        {413, "Content Too Large"},
        {414, "URI Too Long"},
        {416, "Range Not Satisfiable"},
        {417, "Expectation Failed"},
        {431, "Request Header Fields Too Large"},
        {500, "Internal Server Error"},
        {501, "Not Implemented"},
        {503, "Service Unavailable"},
        {505, "HTTP Version Not Supported"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        assert_reason(cases[i].status, cases[i].reason);
}

static void a_status_not_in_use_is_unknown(void **state)
{
    static const unsigned statuses[] = {0, 99, 299, 418, 999, 65736};

    (void)state;
    for (size_t i = 0; i < sizeof(statuses) / sizeof(*statuses); i++)
        assert_reason(statuses[i], "Unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_status_in_use_has_its_registered_reason),
        cmocka_unit_test(a_status_not_in_use_is_unknown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
