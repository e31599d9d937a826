/*
 * What stands behind the '?' is nobody's but the application's: browsers send
 * there what people type. It passes as it is, and whoever looks at it here
 * (redirects, keys, logs) does so without harm.
 */
#include "configured.h"
#include "store.h"

/* Every byte but controls, space and DEL, and escapes that are none. */
static const char *odd_query(void)
{
    char *text = scratch(300);
    size_t len = 0;

    for (unsigned byte = 0x21; byte < 0x100; byte++)
        if (byte != 0x7f)
            text[len++] = (char)byte;
    memcpy(text + len, "%zz%4&q=100%", sizeof("%zz%4&q=100%"));
    return text;
}

E2E_BEGIN(start)
{
    site_text("page", "page\n");
    site_text("folder/x", "x\n");
}

/* The first line of a log. */
static const char *first_line(const char *path)
{
    size_t len;
    char *text;

    assert_true(eventually((text = read_text(path, &len)) != NULL &&
                               strchr(text, '\n'),
                           2000));
    *strchr(text, '\n') = '\0';
    return text;
}

TEST(files_are_sent_whatever_the_query)
{
    struct server *one = START(NULL);
    struct client *client = client_open(one);

    expect_body(client_ask(client, "GET", "/page?q=100%", NULL), "page\n");
    expect_body(client_ask(client, "GET", printed("/page?%s", odd_query()),
                           NULL),
                "page\n");
    expect_body(client_ask(client, "GET",
                           printed("http://a/page?%s", odd_query()), NULL),
                "page\n");
    expect_status(client_ask(client, "GET", "/lost?%", NULL), 404);
    expect_status(get(one, "/page%?a"), 400);
    expect_status(get(one, "/page?\x01"), 400);
}

/* The server behind writes down what it was asked for. */
TEST(a_query_is_passed_on_unchanged)
{
    const char *log = printed("%s/query.log", folder());
    struct server *behind = START("--access-log", log, "--log-format",
                                  "{%{query}}");
    struct server *one = START("--proxy",
                               printed("/=http://127.0.0.1:%u", behind->port));
    const char *expected = "{!\\x22#$%&'()*+,-./0123456789:;<=>?@A";

    expect_body(get(one, printed("/page?%s", odd_query())), "page\n");
    server_stop(one);
    server_stop(behind);
    assert_memory_equal(first_line(log), expected, strlen(expected));
    assert_non_null(strstr(first_line(log), "~\\x80\\x81"));
    assert_non_null(strstr(first_line(log), "\\xff%zz%4&q=100%}"));
}

TEST(redirects_keep_it)
{
    struct server *one;

    site_text("../www/folder/x", "x\n");
    one = start_configured("root = www\n"
                           "site all { redirect = \"/old /new\" }\n");
    expect_field(get(one, "/old?q=100%&a|b"), "Location", "/new?q=100%&a|b");
    expect_field(get(one, "/folder?q=100%"), "Location", "/folder/?q=100%");
    expect_field(get(one, "/folder?caf\xc3\xa9#%"), "Location",
                 "/folder/?caf%C3%A9%23%");
}

TEST(keys_are_asked_for_by_it_or_it_is_said_what_is_wrong)
{
    struct server *one = START("--kv", printed("/kv=%s/store", folder()));
    struct reply *reply;

    expect_status(ask(one, "PUT", "/kv/caf%C3%A9", "Content-Length: 0\r\n"),
                  201);
    reply = get(one, "/kv/?prefix=caf\xc3\xa9");
    expect_status(reply, 200);
    assert_non_null(strstr(reply->body, "caf\xc3\xa9"));
    reply = get(one, "/kv/?prefix=100%");
    expect_status(reply, 400);
    expect_field(reply, "Content-Type", "application/problem+json");
    assert_non_null(strstr(reply->body, "\"parameter\":\"prefix\""));
}

E2E_SUITE(start);
