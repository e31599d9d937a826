/*
 * Directories: the redirect to the slash, the index, and listings, whose
 * every link leads to what it names.
 */
#include "client.h"
#include "json.h"

/* Names that mean something to HTML, URLs or JSON. */
static const char *const odd_names[] = {
    "plain.txt",  "with space.txt", "<script>alert(1)",
    "a&amp;b",    "q\"uote'.txt",   "50%.txt",
    "%41.txt",    "ha#sh.txt",      "que?ry.txt",
    "semi;colon", "pl+us",          "back\\slash",
    "new\nline",  "t\tab",          "euro-\xe2\x82\xac.txt",
    "latin-\xe9", "co:lon",         "javascript:alert(1)",
    "~tilde",     "[brackets]",     "esc\x1b[2J",
    "...",        "-dash",          "{brace}|pipe^`",
};
enum { ODD = sizeof(odd_names) / sizeof(*odd_names) };

static struct server *server; /* with --autoindex */
static struct server *plain;  /* without */

E2E_BEGIN(start)
{
    site_text("index.html", "root index\n");
    site_text("indexed/index.html", "an index\n");
    site_text("bare/file.txt", "file\n");
    site_text("bare/.hidden", "hidden\n");
    site_text("bare/sub/file.txt", "file\n");
    site_text("sp ace/file.txt", "file\n");
    site_text("x\r\nSet-Cookie: a=b/file", "file\n");
    site_text("evil.example/file", "file\n");
    site_folder("empty");
    for (size_t i = 0; i < ODD; i++)
        site_text(printed("odd/%s", odd_names[i]), odd_names[i]);
    server = START("--autoindex");
    plain = START(NULL);
}

TEST(a_directory_without_slash_is_redirected)
{
    static const struct {
        const char *target;
        const char *location;
    } cases[] = {
        {"/indexed", "/indexed/"},
        {"/bare", "/bare/"},
        {"/bare/sub", "/bare/sub/"},
        {"/bare?a=b&c=%20d", "/bare/?a=b&c=%20d"},
        {"/bare?", "/bare/?"},
        {"/bare?x=//y/../z?", "/bare/?x=//y/../z?"},
        {"/sp%20ace", "/sp%20ace/"},
        {"/%62are", "/bare/"},
        {"/bare/../indexed", "/indexed/"},
        {"http://test/bare?x", "/bare/?x"},
        {"//evil.example", "/evil.example/"},
        {"///evil.example", "/evil.example/"},
        {"/.//evil.example", "/evil.example/"},
        {"/x/..//evil.example", "/evil.example/"},
        {"/x%0d%0aSet-Cookie:%20a=b", "/x%0D%0ASet-Cookie"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct reply *reply = get(plain, cases[i].target);
        const char *location = reply_field(reply, "Location");

        going_on("%s", cases[i].target);
        expect_status(reply, 301);
        /* Absolute would do as well, if it named the right host. */
        if (strncmp(location, "http://test/", 12) == 0)
            location += 11;
        if (strncmp(location, cases[i].location, strlen(cases[i].location)) !=
                0 ||
            (strlen(cases[i].location) != strlen(location) && i != 14))
            flunk("redirected to '%s'", location);
        expect_no_field(reply, "Set-Cookie");
        reply = ask(plain, "HEAD", cases[i].target, NULL);
        expect_status(reply, 301);
    }
}

TEST(an_index_stands_for_its_directory)
{
    expect_body(get(server, "/indexed/"), "an index\n");
    expect_body(get(plain, "/indexed/"), "an index\n");
    expect_body(get(plain, "/"), "root index\n");
    expect_field(get(plain, "/indexed/"), "Content-Type",
                 "text/html; charset=utf-8");
    assert_int_equal(ask(plain, "HEAD", "/indexed/", NULL)->length, 9);
}

TEST(without_index_and_listing_it_is_forbidden)
{
    expect_status(get(plain, "/bare/"), 403);
    expect_status(get(plain, "/empty/"), 403);
    expect_status(get(plain, "/bare/none/"), 404);
    expect_status(get(plain, "/none/"), 404);
    /* A file is no directory. */
    expect_status(get(plain, "/bare/file.txt/"), 404);
    expect_status(get(plain, "/bare/file.txt/x"), 404);
}

TEST(listings_name_what_is_there_and_not_what_is_hidden)
{
    struct reply *reply = get(server, "/bare/");

    expect_status(reply, 200);
    expect_field(reply, "Content-Type", "text/html; charset=utf-8");
    assert_int_equal(reply->framing, REPLY_BY_CHUNKS);
    assert_non_null(memmem(reply->body, reply->body_len, "file.txt", 8));
    assert_non_null(memmem(reply->body, reply->body_len, "sub/", 4));
    assert_null(memmem(reply->body, reply->body_len, "hidden", 6));
    expect_status(get(server, "/empty/"), 200);
    reply = get(START("--autoindex", "--show-hidden"), "/bare/");
    assert_non_null(memmem(reply->body, reply->body_len, ".hidden", 7));
}

/* The value of an attribute, with the entities of HTML taken off. */
static char *unescape(const char *at, const char *end)
{
    static const struct {
        const char *entity;
        char character;
    } entities[] = {{"&amp;", '&'},  {"&lt;", '<'},   {"&gt;", '>'},
                    {"&#39;", '\''}, {"&quot;", '"'}, {"&#34;", '"'},
                    {"&#x27;", '\''}};
    char *out = scratch((size_t)(end - at) + 1);
    size_t len = 0;

    while (at < end) {
        size_t i = 0;

        while (i < 7 &&
               strncmp(at, entities[i].entity, strlen(entities[i].entity)) != 0)
            i++;
        if (*at == '&' && i == 7)
            flunk("an entity nobody knows: '%.10s'", at);
        out[len++] = i < 7 ? entities[i].character : *at;
        at += i < 7 ? strlen(entities[i].entity) : 1;
    }
    out[len] = '\0';
    return out;
}

TEST(every_link_leads_to_its_file)
{
    struct client *client = client_open(server);
    struct reply *reply = client_ask(client, "GET", "/odd/", NULL);
    char *page = printed("%.*s", (int)reply->body_len, reply->body);
    bool seen[ODD] = {false};
    size_t count = 0;

    assert_null(strstr(page, "<script>alert"));
    for (char *at = page; (at = strstr(at, "href=\""));) {
        char *end = strchr(at + 6, '"');
        char *link = unescape(at + 6, end);

        at = end;
        if (link[0] == '/' || link[0] == '#' || link[0] == '?' ||
            strcmp(link, "../") == 0 || strncmp(link, "data:", 5) == 0)
            continue;
        going_on("link '%s'", link);
        if (strncmp(link, "./", 2) == 0)
            link += 2;
        else if (strcspn(link, ":") < strcspn(link, "/"))
            flunk("it would be read as a scheme");
        reply = client_ask(client, "GET", printed("/odd/%s", link), NULL);
        expect_status(reply, 200);
        for (size_t i = 0; i < ODD; i++)
            if (reply->body_len == strlen(odd_names[i]) &&
                memcmp(reply->body, odd_names[i], reply->body_len) == 0) {
                assert_false(seen[i]);
                seen[i] = true;
                count++;
            }
    }
    for (size_t i = 0; i < ODD; i++)
        if (!seen[i] && odd_names[i][0] != '.')
            flunk("no link to '%s'", odd_names[i]);
    assert_int_equal(count, ODD - 1); /* "..." is hidden like all dot-files */
}

TEST(json_is_for_who_asks_for_it)
{
    static const struct {
        const char *accept;
        const char *type;
    } cases[] = {
        {"", "text/html; charset=utf-8"},
        {"Accept: */*\r\n", "text/html; charset=utf-8"},
        {"Accept: application/json\r\n", "application/json"},
        {"Accept: text/html;q=0.5, application/json\r\n", "application/json"},
        {"Accept: text/html, application/json;q=0.5\r\n",
         "text/html; charset=utf-8"},
        {"Accept: text/html,application/xhtml+xml,*/*;q=0.8\r\n",
         "text/html; charset=utf-8"},
    };
    struct reply *reply;

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        reply = ask(server, "GET", "/odd/", cases[i].accept);
        going_on("%s", cases[i].accept);
        expect_status(reply, 200);
        expect_field(reply, "Content-Type", cases[i].type);
        assert_true(reply_lists(reply, "Vary", "Accept"));
    }
    reply = ask(server, "GET", "/odd/", "Accept: application/json\r\n");
    expect_json(reply->body, reply->body_len);
    for (size_t i = 0; i < 6; i++)
        if (!strpbrk(odd_names[i], "\"<&"))
            assert_non_null(memmem(reply->body, reply->body_len, odd_names[i],
                                   strlen(odd_names[i])));
    reply = ask(server, "GET", "/empty/", "Accept: application/json\r\n");
    expect_json(reply->body, reply->body_len);
}

/* A listing has no ETag and no date: only "*" fits it (RFC 9110 13.2.1). */
TEST(a_listing_answers_conditions)
{
    static const struct {
        const char *fields;
        unsigned status;
    } cases[] = {
        {"If-Match: \"a\"\r\n", 412},
        {"If-Match: *\r\n", 200},
        {"If-None-Match: \"a\"\r\n", 200},
        {"If-Modified-Since: Sun, 06 Nov 2094 08:49:37 GMT\r\n", 200},
        {"Range: bytes=0-3\r\n", 200},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        for (unsigned head = 0; head < 2; head++) {
            going_on("%s", cases[i].fields);
            expect_status(ask(server, head ? "HEAD" : "GET", "/odd/",
                              cases[i].fields),
                          cases[i].status);
        }
    /* What is no success is answered as it is. */
    expect_status(ask(server, "GET", "/odd", "If-Match: \"a\"\r\n"), 301);
    expect_status(ask(plain, "GET", "/odd/", "If-Match: \"a\"\r\n"), 403);
}

TEST(http_1_0_gets_no_chunks_and_head_no_body)
{
    struct client *client = client_open(server);
    struct reply *reply;

    client_say(client, "GET /bare/ HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    reply = client_reply(client);
    expect_status(reply, 200);
    assert_true(reply->framing == REPLY_BY_CLOSE ||
                reply->framing == REPLY_BY_LENGTH);
    assert_non_null(memmem(reply->body, reply->body_len, "file.txt", 8));

    client = client_open(server);
    reply = client_ask(client, "HEAD", "/bare/", NULL);
    expect_status(reply, 200);
    client_expect_usable(client);
    /* Listings have no ranges; conditions may or may not be known. */
    reply = client_ask(client, "GET", "/bare/", "Range: bytes=0-3\r\n");
    assert_true(reply->status == 200 || reply->status == 206);
    client_expect_usable(client);
}

TEST(an_index_may_come_later)
{
    struct server *one = START("--workers=1", "--autoindex");

    site_text("late/file", "file\n");
    expect_status(get(one, "/late/"), 200);
    site_text("late/index.html", "an index\n");
    assert_true(eventually(get(one, "/late/")->body_len == 9, 1500));
    site_remove("late/index.html");
    assert_true(eventually(get(one, "/late/")->body_len != 9, 1500));
}

E2E_SUITE(start);
