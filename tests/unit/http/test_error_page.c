#include "http/error_page.h"

#include "http/status.h"
#include "suite.h"

static char text[ERROR_PAGE_BYTES_MAX];

/* As a string; the room has a byte to spare for its end. What is not of the
 * page was there before. */
static const char *page_of(unsigned status)
{
    struct bytes page;

    memset(text, '#', sizeof(text));
    page = error_page_write(text, status);
    assert_ptr_equal(page.data, text);
    assert_in_range(page.len, 1, sizeof(text) - 1);
    assert_true(text[page.len] == '#');
    text[page.len] = '\0';
    assert_int_equal(page.len, strlen(text));
    return text;
}

TEST(the_status_is_title_and_heading)
{
    assert_non_null(strstr(page_of(404), "<title>404 Not Found</title>"));
    assert_non_null(strstr(text, "<main><h1>404 Not Found</h1></main>"));
}

TEST(a_phone_and_a_dark_room_are_thought_of)
{
    assert_non_null(strstr(page_of(500), "<meta name=\"viewport\""));
    assert_non_null(strstr(text, "<meta name=\"color-scheme\" "
                                 "content=\"light dark\">"));
    assert_non_null(strstr(text, "@media(prefers-color-scheme:dark)"));
    assert_non_null(strstr(text, "<html lang=\"en\">"));
}

TEST(nothing_else_is_fetched_or_run)
{
    page_of(403);
    assert_null(strstr(text, "<script"));
    assert_null(strstr(text, "<link"));
    assert_null(strstr(text, "url("));
    assert_null(strstr(text, "src="));
}

TEST(every_status_fits)
{
    for (unsigned status = 100; status < 600; status++) {
        char title[100];

        snprintf(title, sizeof(title), "<title>%u %.*s</title>", status,
                 (int)status_reason(status).len, status_reason(status).data);
        assert_non_null(strstr(page_of(status), title));
        assert_string_equal(text + strlen(text) - 8, "</html>\n");
    }
}
