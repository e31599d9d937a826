#include "handler/status/status_page.h"

#include "base/buf.h"
#include "suite.h"
#include "unit/says.h"

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

static void assert_ends(struct bytes text, const char *end)
{
    size_t len = strlen(end);

    assert_true(text.len > len);
    assert_memory_equal(text.data + text.len - len, end, len);
}

/* --- What they are ------------------------------------------------------- */

TEST(texts_are_whole)
{
    assert_memory_equal(html, "<!DOCTYPE html>\n", 16);
    assert_ends(status_page_html(), "</html>\n");
    assert_memory_equal(style, "/* ", 3);
    assert_ends(status_page_style(), "}\n");
    assert_memory_equal(script, "/* ", 3);
    assert_ends(status_page_script(), ";\n");
}

TEST(texts_are_utf8_without_controls)
{
    const char *const texts[] = {html, style, script};

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

TEST(all_is_at_most_43_kib)
{
    assert_in_range(status_page_html().len + status_page_style().len +
                        status_page_script().len,
                    1, 43 << 10);
}

/* --- What the policy asks for -------------------------------------------- */

TEST(policy_allows_files_of_the_same_server_only)
{
    assert_memory_equal(STATUS_PAGE_POLICY, "default-src 'none'; ", 20);
    assert_has_not(STATUS_PAGE_POLICY, "unsafe");
    assert_has_not(STATUS_PAGE_POLICY, "*");
    assert_has_not(STATUS_PAGE_POLICY, "http");
    assert_has(STATUS_PAGE_POLICY, "frame-ancestors 'none'");
}

TEST(page_names_its_neighbours_by_relative_addresses)
{
    assert_has(html, "<link rel=\"stylesheet\" href=\"style.css\">");
    assert_has(html, "<script type=\"module\" src=\"script.js\"></script>");
    assert_has(script, "new EventSource(\"events\")");
    assert_has(script, "fetch(\"status.json\", ");
    for (const char *at = html; (at = strchr(at, '=')); at++)
        assert_true(at[1] != '"' || (at[2] != '/' && at[2] != '.'));
}

TEST(page_holds_no_script_and_no_style_itself)
{
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

TEST(nothing_comes_from_elsewhere)
{
    /* The only address is no place: what kind of picture the icon is. */
    static const char kind[] = "xmlns='http://www.w3.org/2000/svg'";
    char *page = copy_of(status_page_html());
    char *at = strstr(page, kind);

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

TEST(script_makes_no_markup_or_code_of_text)
{
    static const char *const ways[] = {
        "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write",
        "srcdoc",    "DOMParser", "createContextual",   "eval(",
        "Function(", "setHTML",   "\"style\"",          "cssText"};

    for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
        assert_has_not(script, ways[i]);
    assert_has(script, "textContent");
}

/* --- Page and script know each other ------------------------------------- */

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

TEST(script_uses_elements_the_page_has)
{
    assert_ids(script, "$(\"", "");
    assert_ids(script, "fill(\"", "");
    assert_ids(script, "fillFacts(\"", "");
    assert_ids(script, "new Chart(\"", "-chart");
}

TEST(readers_of_the_screen_find_their_way)
{
    size_t sections = 0;
    size_t labels = 0;

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

TEST(style_minds_what_the_reader_prefers)
{
    assert_has(style, "prefers-color-scheme: dark");
    assert_has(style, "prefers-reduced-motion: no-preference");
    assert_has(style, "forced-colors: active");
    assert_has(html, "<meta name=\"viewport\" content=\"width=device-width");
}

SUITE(.begin = set_up, .end = tear_down);
