#include "http/error_page.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "http/status.h"

static char text[ERROR_PAGE_BYTES_MAX];

/* As a string; the room has a byte to spare for its end. What is not of the page
 * was there before. */
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

static void the_status_is_title_and_heading(void **state)
{
    (void)state;
    assert_non_null(strstr(page_of(404), "<title>404 Not Found</title>"));
    assert_non_null(strstr(text, "<main><h1>404 Not Found</h1></main>"));
}

static void a_phone_and_a_dark_room_are_thought_of(void **state)
{
    (void)state;
    assert_non_null(strstr(page_of(500), "<meta name=\"viewport\""));
    assert_non_null(strstr(text, "<meta name=\"color-scheme\" "
                                 "content=\"light dark\">"));
    assert_non_null(strstr(text, "@media(prefers-color-scheme:dark)"));
    assert_non_null(strstr(text, "<html lang=\"en\">"));
}

static void nothing_else_is_fetched_or_run(void **state)
{
    (void)state;
    page_of(403);
    assert_null(strstr(text, "<script"));
    assert_null(strstr(text, "<link"));
    assert_null(strstr(text, "url("));
    assert_null(strstr(text, "src="));
}

static void every_status_fits(void **state)
{
    (void)state;
    for (unsigned status = 100; status < 600; status++) {
        char title[100];

        snprintf(title, sizeof(title), "<title>%u %.*s</title>", status,
                 (int)status_reason(status).len, status_reason(status).data);
        assert_non_null(strstr(page_of(status), title));
        assert_string_equal(text + strlen(text) - 8, "</html>\n");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_status_is_title_and_heading),
        cmocka_unit_test(a_phone_and_a_dark_room_are_thought_of),
        cmocka_unit_test(nothing_else_is_fetched_or_run),
        cmocka_unit_test(every_status_fits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
