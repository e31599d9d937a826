#include "http/accept.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct request request;

static void add(const char *value)
{
    if (!(request.seen & 1u << FIELD_ACCEPT))
        request.first[FIELD_ACCEPT] = request.field_count;
    request.seen |= 1u << FIELD_ACCEPT;
    request.fields[request.field_count++] = (struct field){
        .id = FIELD_ACCEPT, .value = bytes_of(value)};
}

static struct accepted find(const char *value)
{
    request = (struct request){.method = METHOD_GET, .fields = request.few};
    if (value)
        add(value);
    return accept_find(&request, BYTES("text/html"));
}

static void the_most_precise_range_decides(void **state)
{
    static const struct {
        const char *value;
        enum accept_precision precision;
        unsigned weight;
    } cases[] = {
        {NULL, ACCEPT_UNNAMED, 0},
        {"", ACCEPT_UNNAMED, 0},
        {"text/html", ACCEPT_ITSELF, 1000},
        {"TEXT/Html", ACCEPT_ITSELF, 1000},
        {"text/html;level=1;q=0.5", ACCEPT_ITSELF, 500},
        {"text/html ; Q=0.125", ACCEPT_ITSELF, 125},
        {"text/html;q=0", ACCEPT_ITSELF, 0},
        {"*/*, text/html;q=0", ACCEPT_ITSELF, 0},
        {"text/html;q=0, text/*, */*", ACCEPT_ITSELF, 0},
        {"text/*;q=0.3", ACCEPT_FAMILY, 300},
        {"TEXT/*", ACCEPT_FAMILY, 1000},
        {"*/*;q=0.8", ACCEPT_ANY, 800},
        {"text/html;q=0.1, text/html;q=0.2", ACCEPT_ITSELF, 200},
        {"text/htm", ACCEPT_UNNAMED, 0},
        {"text/htmlx", ACCEPT_UNNAMED, 0},
        {"text/", ACCEPT_UNNAMED, 0},
        {"text", ACCEPT_UNNAMED, 0},
        {"xext/*", ACCEPT_UNNAMED, 0},
        {"*", ACCEPT_UNNAMED, 0},
        {"application/xhtml+xml,text/html;q=0.9,*/*;q=0.8", ACCEPT_ITSELF, 900},
        {"a/b;c=\", text/html\", */*", ACCEPT_ANY, 1000},
        {",,;,text/html", ACCEPT_ITSELF, 1000},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct accepted found = find(cases[i].value);

        if (found.precision != cases[i].precision ||
            found.weight != cases[i].weight)
            fail_msg("'%s': %d %u", cases[i].value, (int)found.precision,
                     found.weight);
    }
}

static void a_malformed_weight_counts_as_none(void **state)
{
    static const char *const weights[] = {"",      "2",      "1.1", "0.0001",
                                          ".5",    "-1",     "0,5", "1.5",
                                          "0.1.1", "1.0000", "0x1", "0.5a",
                                          "a",     "00.5"};

    (void)state;
    for (size_t i = 0; i < sizeof(weights) / sizeof(*weights); i++) {
        char value[50];

        snprintf(value, sizeof(value), "text/html;q=%s", weights[i]);
        if (find(value).weight != 0)
            fail_msg("'%s' weighs something", value);
    }
}

static void all_lines_count(void **state)
{
    (void)state;
    assert_int_equal(find("*/*;q=0.1").weight, 100);
    add("text/html;q=0.7");
    add("text/*");
    assert_int_equal(accept_find(&request, BYTES("text/html")).weight, 700);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_most_precise_range_decides),
        cmocka_unit_test(a_malformed_weight_counts_as_none),
        cmocka_unit_test(all_lines_count),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
