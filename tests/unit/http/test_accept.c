#include "http/accept.h"

#include "suite.h"
#include "unit/http/request_fixture.h"

static void add(const char *value)
{
    request_add(FIELD_ACCEPT, value, ',');
}

static struct accepted find(const char *value)
{
    request_begin(METHOD_GET);
    if (value)
        add(value);
    return accept_find(&request, BYTES("text/html"));
}

TEST(the_most_precise_range_decides)
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

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct accepted found = find(cases[i].value);

        if (found.precision != cases[i].precision ||
            found.weight != cases[i].weight)
            fail_msg("'%s': %d %u", cases[i].value, (int)found.precision,
                     found.weight);
    }
}

TEST(a_malformed_weight_counts_as_none)
{
    static const char *const weights[] = {"",      "2",      "1.1", "0.0001",
                                          ".5",    "-1",     "0,5", "1.5",
                                          "0.1.1", "1.0000", "0x1", "0.5a",
                                          "a",     "00.5"};

    for (size_t i = 0; i < sizeof(weights) / sizeof(*weights); i++) {
        char value[50];

        snprintf(value, sizeof(value), "text/html;q=%s", weights[i]);
        if (find(value).weight != 0)
            fail_msg("'%s' weighs something", value);
    }
}

TEST(all_lines_count)
{
    assert_int_equal(find("*/*;q=0.1").weight, 100);
    add("text/html;q=0.7");
    add("text/*");
    assert_int_equal(accept_find(&request, BYTES("text/html")).weight, 700);
}
