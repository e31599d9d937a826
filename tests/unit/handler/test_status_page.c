#include "handler/status_page.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/buf.h"

/* The three texts, each ending in NUL. */
static char *html, *style, *script;

static char *copy_of(struct bytes text)
{
    char *copy = malloc(text.len + 1);

    assert_non_null(copy);
    memcpy(copy, text.data, text.len);
    copy[text.len] = '\0';
    return copy;
}

static int set_up(void **state)
{
    (void)state;
    html = copy_of(status_page_html());
    style = copy_of(status_page_style());
    script = copy_of(status_page_script());
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    free(html);
    free(style);
    free(script);
    return 0;
}

static void assert_has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("'%s' is missing", part);
}

static void assert_has_not(const char *text, const char *part)
{
    const char *at = strstr(text, part);

    if (at)
        fail_msg("'%s' is in it: %.60s", part, at);
}

static void assert_ends(struct bytes text, const char *end)
{
    size_t len = strlen(end);

    assert_true(text.len > len);
    assert_memory_equal(text.data + text.len - len, end, len);
}

/* --- What they are ----------------------------------------------------------- */

static void texts_are_whole(void **state)
{
    (void)state;
    assert_memory_equal(html, "<!DOCTYPE html>\n", 16);
    assert_ends(status_page_html(), "</html>\n");
    assert_memory_equal(style, "/* ", 3);
    assert_ends(status_page_style(), "}\n");
    assert_memory_equal(script, "/* ", 3);
    assert_ends(status_page_script(), ";\n");
}

static void texts_are_utf8_without_controls(void **state)
{
    const char *const texts[] = {html, style, script};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct buf buf;

        for (const char *at = texts[i]; *at; at++)
            assert_true(*at == '\n' || (unsigned char)*at >= ' ');
        /* What is no UTF-8 would become this. */
        buf_init(&buf, NULL, 0, 1 << 20);
        buf_put_json(&buf, bytes_of(texts[i]));
        buf_put(&buf, (struct bytes){"", 1});
        assert_false(buf.failed);
        assert_has_not(buf.data, "\\ufffd");
        buf_fini(&buf);
    }
}

static void all_is_at_most_40_kib(void **state)
{
    (void)state;
    assert_in_range(status_page_html().len + status_page_style().len +
                        status_page_script().len,
                    1, 40 << 10);
}

/* --- What the policy asks for --------------------------------------------------- */

static void policy_allows_files_of_the_same_server_only(void **state)
{
    (void)state;
    assert_memory_equal(STATUS_PAGE_POLICY, "default-src 'none'; ", 20);
    assert_has_not(STATUS_PAGE_POLICY, "unsafe");
    assert_has_not(STATUS_PAGE_POLICY, "*");
    assert_has_not(STATUS_PAGE_POLICY, "http");
    assert_has(STATUS_PAGE_POLICY, "frame-ancestors 'none'");
}

static void page_names_its_neighbours_by_relative_addresses(void **state)
{
    (void)state;
    assert_has(html, "<link rel=\"stylesheet\" href=\"style.css\">");
    assert_has(html, "<script type=\"module\" src=\"script.js\"></script>");
    assert_has(script, "new EventSource(\"events\")");
    assert_has(script, "fetch(\"status.json\", ");
    for (const char *at = html; (at = strchr(at, '=')); at++)
        assert_true(at[1] != '"' || (at[2] != '/' && at[2] != '.'));
}

static void page_holds_no_script_and_no_style_itself(void **state)
{
    (void)state;
    assert_has_not(html, "<style");
    assert_has_not(html, " style=");
    assert_has_not(html, "javascript:");
    assert_has_not(strstr(html, "<script") + 1, "<script");
    for (const char *at = html; (at = strstr(at, " on")); at++) {
        size_t len = strspn(at + 3, "abcdefghijklmnopqrstuvwxyz");

        if (at[3 + len] == '=')
            fail_msg("a handler of an event: %.40s", at);
    }
}

static void nothing_comes_from_elsewhere(void **state)
{
    /* The only address is no place: what kind of picture the icon is. */
    static const char kind[] = "xmlns='http://www.w3.org/2000/svg'";
    char *page = copy_of(status_page_html());
    char *at = strstr(page, kind);

    (void)state;
    assert_non_null(at);
    memset(at, ' ', strlen(kind));
    assert_has_not(page, "//");
    free(page);
    assert_has_not(style, "//");
    assert_has_not(script, "//");
    assert_has_not(style, "url(");
    assert_has_not(style, "@import");
    assert_has_not(script, "import");
}

static void script_makes_no_markup_or_code_of_text(void **state)
{
    static const char *const ways[] = {
        "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write",
        "srcdoc",    "DOMParser", "createContextual",   "eval(",
        "Function(", "setHTML",   "\"style\"",          "cssText"};

    (void)state;
    for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
        assert_has_not(script, ways[i]);
    assert_has(script, "textContent");
}

/* --- Page and script know each other ----------------------------------------------- */

/* Every name that follows before in text, up to the next quote, is with its
 * suffix the id of one element of the page. */
static void assert_ids(const char *text, const char *before, const char *suffix)
{
    size_t count = 0;

    for (const char *at = text; (at = strstr(at, before)); count++) {
        char id[64];
        const char *found;

        at += strlen(before);
        assert_in_range(strcspn(at, "\""), 1, 30);
        snprintf(id, sizeof(id), " id=\"%.*s%s\"", (int)strcspn(at, "\""), at,
                 suffix);
        found = strstr(html, id);
        if (!found || strstr(found + 1, id))
            fail_msg("not once in the page: %s", id);
    }
    assert_true(count > 0);
}

static void script_uses_elements_the_page_has(void **state)
{
    (void)state;
    assert_ids(script, "$(\"", "");
    assert_ids(script, "fill(\"", "");
    assert_ids(script, "fillFacts(\"", "");
    assert_ids(script, "new Chart(\"", "-chart");
}

static void readers_of_the_screen_find_their_way(void **state)
{
    size_t sections = 0;
    size_t labels = 0;

    (void)state;
    assert_has(html, "<html lang=\"en\">");
    assert_has(html, "<h1>");
    assert_has(html, "role=\"status\"");
    assert_ids(html, "aria-labelledby=\"", "");
    for (const char *at = html; (at = strstr(at, "<section ")); at++)
        sections++;
    for (const char *at = html; (at = strstr(at, "aria-labelledby=")); at++)
        labels++;
    assert_int_equal(sections, labels);
    for (const char *at = html; (at = strstr(at, "<th")); at++)
        assert_true(memcmp(at, "<thead>", 7) == 0 ||
                    memcmp(at, "<th scope=\"col\"", 15) == 0);
}

static void style_minds_what_the_reader_prefers(void **state)
{
    (void)state;
    assert_has(style, "prefers-color-scheme: dark");
    assert_has(style, "prefers-reduced-motion: no-preference");
    assert_has(style, "forced-colors: active");
    assert_has(html, "<meta name=\"viewport\" content=\"width=device-width");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_whole),
        cmocka_unit_test(texts_are_utf8_without_controls),
        cmocka_unit_test(all_is_at_most_40_kib),
        cmocka_unit_test(policy_allows_files_of_the_same_server_only),
        cmocka_unit_test(page_names_its_neighbours_by_relative_addresses),
        cmocka_unit_test(page_holds_no_script_and_no_style_itself),
        cmocka_unit_test(nothing_comes_from_elsewhere),
        cmocka_unit_test(script_makes_no_markup_or_code_of_text),
        cmocka_unit_test(script_uses_elements_the_page_has),
        cmocka_unit_test(readers_of_the_screen_find_their_way),
        cmocka_unit_test(style_minds_what_the_reader_prefers),
    };

    return cmocka_run_group_tests_name("status_page", tests, set_up, tear_down);
}
