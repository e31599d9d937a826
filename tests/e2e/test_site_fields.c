/*
 * The fields that locations set: header edits, Cache-Control, CORS, and with
 * all of them Server-Timing.
 */
#include "configured.h"

static struct server *server;

static const char fields_conf[] =
    "site fields {\n"
    "    hosts = {fields.example}\n"
    "    root = www/fields\n"
    "    autoindex = yes\n"
    "    redirect = \"/old /f.txt 301\"\n"
    "    error-page = \"404 /404.html\"\n"
    "    header-set = {\"X-Set: one\", \"x-set: two\"}\n"
    "    header-add = {\"Vary: X-One\", \"Vary: X-Two\"}\n"
    "    header-remove = {Server, Last-Modified}\n"
    "    location /typed { header-set = \"Content-Type: text/x-own\" }\n"
    "    location /plain { header-set = {} header-add = {}\n"
    "        header-remove = {} }\n"
    "}\n"
    "site rules {\n"
    "    hosts = {rules.example}\n"
    "    root = www/rules\n"
    "    cache-control = \"max-age=1\"\n"
    "    cache-control-for = {\"*.css max-age=2\",\n"
    "        \"/keep/* max-age=3, immutable\", \"text/html no-cache\",\n"
    "        \"image/* max-age=4\"}\n"
    "    location /own { cache-control-for = {} cache-control = no-store }\n"
    "    type = {\"*.ts text/x-typescript\", \"index.html text/x-page\"}\n"
    "    error-page = \"404 /lost.zzz\"\n"
    "    location /types { type = {\"*.rss text/xml; charset=latin1\",\n"
    "        \"/lost.zzz text/x-lost\"} }\n"
    "    location /plain { type = {} error-page = {} }\n"
    "}\n"
    "site cors {\n"
    "    hosts = {cors.example}\n"
    "    root = www/cors\n"
    "    location /one {\n"
    "        cors-origin = {\"https://app.example\",\n"
    "            \"https://*.dev.example:8443\"}\n"
    "        cors-method = {GET, PUT}\n"
    "        cors-header = {X-Token}\n"
    "        cors-expose = {X-Total}\n"
    "        cors-max-age = 10m\n"
    "        cors-credentials = yes\n"
    "    }\n"
    "    location /any { cors-origin = \"*\" }\n"
    "    location /closed { cors-origin = \"*\" deny = \"0.0.0.0/0\" }\n"
    "}\n";

E2E_BEGIN(start)
{
    site_text("../www/fields/f.txt", "0123456789");
    site_text("../www/fields/404.html", "<p>not here");
    site_text("../www/fields/typed/f.txt", "typed");
    site_text("../www/fields/plain/f.txt", "plain");
    site_text("../www/rules/a.css", "css");
    site_text("../www/rules/a.html", "html");
    site_text("../www/rules/a.png", "png");
    site_text("../www/rules/a.txt", "txt");
    site_text("../www/rules/keep/a.html", "kept");
    site_text("../www/rules/own/a.css", "own");
    site_text("../www/rules/a.ts", "ts");
    site_text("../www/rules/a.rss", "rss");
    site_text("../www/rules/index.html", "index");
    site_text("../www/rules/lost.zzz", "lost");
    site_text("../www/rules/types/a.ts", "ts");
    site_text("../www/rules/types/a.rss", "rss");
    site_text("../www/rules/types/a.rss.gz", "gz");
    site_text("../www/rules/plain/a.ts", "ts");
    site_text("../www/cors/one/f", "one");
    site_text("../www/cors/any/f", "any");
    site_text("../www/cors/closed/f", "closed");
    server = start_configured(fields_conf);
}

/* --- Edits ---------------------------------------------------------------- */

/* Answers of every kind: each has a head made in another place. */
static const struct {
    const char *method;
    const char *target;
    const char *fields;
    unsigned status;
} kinds[] = {
    {"GET", "/f.txt", NULL, 200},
    {"HEAD", "/f.txt", NULL, 200},
    {"GET", "/f.txt", "Connection: close\r\n", 200},
    {"GET", "/f.txt", "Range: bytes=2-4\r\n", 206},
    {"GET", "/f.txt", "Range: bytes=0-1,4-5\r\n", 206},
    {"GET", "/f.txt", "Range: bytes=99-\r\n", 416},
    {"GET", "/f.txt", "If-None-Match: *\r\n", 304},
    {"GET", "/f.txt", "If-Match: \"other\"\r\n", 412},
    {"GET", "/", NULL, 200}, /* a listing */
    {"GET", "/", "Accept: application/json\r\n", 200},
    {"HEAD", "/", NULL, 200},
    {"GET", "/typed?q", NULL, 301},
    {"GET", "/old", NULL, 301},
    {"GET", "/lost", NULL, 404}, /* with a page */
    {"HEAD", "/lost", NULL, 404},
    {"DELETE", "/f.txt", NULL, 405},
    {"OPTIONS", "/f.txt", NULL, 204},
};

enum { KINDS = sizeof(kinds) / sizeof(*kinds) };

static struct reply *ask_kind(const struct server *one, size_t kind)
{
    struct reply *reply;

    going_on("%s %s %s", kinds[kind].method, kinds[kind].target,
             kinds[kind].fields ? kinds[kind].fields : "");
    reply = ask_host(one, kinds[kind].method, "fields.example",
                     kinds[kind].target, kinds[kind].fields);
    expect_status(reply, kinds[kind].status);
    return reply;
}

TEST(edits_are_in_answers_of_every_kind)
{
    for (size_t i = 0; i < KINDS; i++) {
        struct reply *reply = ask_kind(server, i);

        if (strncmp(kinds[i].target, "/typed", 6) != 0) {
            expect_field(reply, "X-Set", "two");
        }
        assert_true(reply_says(reply, "Vary", "X-One"));
        assert_true(reply_says(reply, "Vary", "X-Two"));
        expect_no_field(reply, "Server");
        expect_no_field(reply, "Last-Modified");
        assert_string_equal(reply->fields[0].name, "Date");
    }
}

TEST(a_type_is_set_where_there_is_one)
{
    struct reply *reply = get_host(server, "fields.example", "/typed/f.txt");

    expect_field(reply, "Content-Type", "text/x-own");
    expect_body(reply, "typed");
    reply = ask_host(server, "GET", "fields.example", "/typed/f.txt",
                     "If-None-Match: *\r\n");
    expect_status(reply, 304);
    expect_no_field(reply, "Content-Type");
    reply = ask_host(server, "GET", "fields.example", "/typed/f.txt",
                     "Range: bytes=0-0,2-2\r\n");
    expect_status(reply, 206);
    assert_int_equal(strncmp(reply_field(reply, "Content-Type"),
                             "multipart/byteranges; ", 22),
                     0);
    assert_non_null(memmem(reply->body, reply->body_len, "text/x-own", 10));
    reply = get_host(server, "fields.example", "/typed/lost");
    expect_field(reply, "Content-Type", "text/html; charset=utf-8");
}

TEST(an_empty_list_forgets_what_is_above)
{
    struct reply *reply = get_host(server, "fields.example", "/plain/f.txt");

    expect_body(reply, "plain");
    expect_no_field(reply, "X-Set");
    expect_no_field(reply, "Vary");
    expect_field(reply, "Server", "sprintd");
    assert_non_null(reply_field(reply, "Last-Modified"));
}

/* --- Cache-Control -------------------------------------------------------- */

TEST(rules_go_by_name_path_and_type)
{
    static const struct {
        const char *target;
        const char *value;
    } cases[] = {
        {"/a.css", "max-age=2"},    {"/keep/a.html", "max-age=3, immutable"},
        {"/a.html", "no-cache"},    {"/a.png", "max-age=4"},
        {"/a.txt", "max-age=1"},    {"/x/../a.css", "max-age=2"},
        {"/own/a.css", "no-store"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct reply *reply;

        going_on("%s", cases[i].target);
        reply = get_host(server, "rules.example", cases[i].target);
        expect_status(reply, 200);
        expect_field(reply, "Cache-Control", cases[i].value);
        reply = ask_host(server, "GET", "rules.example", cases[i].target,
                         "If-None-Match: *\r\n");
        expect_status(reply, 304);
        expect_field(reply, "Cache-Control", cases[i].value);
    }
    expect_no_field(get_host(server, "rules.example", "/lost.css"),
                    "Cache-Control");
}

/* --- Types ---------------------------------------------------------------- */

/* With /etc/mime.types, which knows some of them worse, and without. */
TEST(types_are_those_of_the_web_but_where_others_are_set)
{
    static const struct {
        const char *target;
        unsigned status;
        const char *type;
    } cases[] = {
        {"/plain/a.ts", 200, "video/mp2t"},
        {"/a.rss", 200, "application/rss+xml; charset=utf-8"},
        {"/a.ts", 200, "text/x-typescript; charset=utf-8"},
        {"/", 200, "text/x-page; charset=utf-8"},
        {"/lost", 404, "application/octet-stream"},
        {"/plain/lost", 404, "text/html; charset=utf-8"},
        {"/types/a.ts", 200, "video/mp2t"},
        {"/types/a.rss", 200, "text/xml; charset=latin1"},
        {"/types/lost", 404, "text/x-lost; charset=utf-8"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct reply *reply = ask_host(server, "GET", "rules.example",
                                       cases[i].target,
                                       "Accept-Encoding: gzip\r\n");

        going_on("%s", cases[i].target);
        expect_status(reply, cases[i].status);
        expect_field(reply, "Content-Type", cases[i].type);
    }
}

/* --- CORS ----------------------------------------------------------------- */

static struct reply *ask_cors(const char *method, const char *target,
                              const char *fields)
{
    return ask_host(server, method, "cors.example", target, fields);
}

TEST(pages_of_allowed_origins_may_read)
{
    static const struct {
        const char *origin;
        bool is_allowed;
    } cases[] = {
        {"https://app.example", true},
        {"https://x.dev.example:8443", true},
        {"https://x.y.dev.example:8443", true},
        {"https://dev.example:8443", false},
        {"https://x.dev.example", false},
        {"http://app.example", false},
        {"https://app.example.evil.example", false},
        {"https://evil.example/https://app.example", false},
        {"null", false},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct reply *reply;

        going_on("origin %s", cases[i].origin);
        reply = ask_cors("GET", "/one/f",
                         printed("Origin: %s\r\n", cases[i].origin));
        expect_body(reply, "one");
        assert_true(reply_lists(reply, "Vary", "Origin"));
        if (!cases[i].is_allowed) {
            expect_no_field(reply, "Access-Control-Allow-Origin");
            continue;
        }
        expect_field(reply, "Access-Control-Allow-Origin", cases[i].origin);
        expect_field(reply, "Access-Control-Allow-Credentials", "true");
        expect_field(reply, "Access-Control-Expose-Headers", "X-Total");
    }
    expect_no_field(ask_cors("GET", "/one/f", NULL),
                    "Access-Control-Allow-Origin");
}

TEST(errors_may_be_read_as_well)
{
    struct reply *reply = ask_cors("GET", "/one/lost",
                                   "Origin: https://app.example\r\n");

    expect_status(reply, 404);
    expect_field(reply, "Access-Control-Allow-Origin", "https://app.example");
    reply = ask_cors("GET", "/any/f", "Origin: https://whoever.example\r\n");
    expect_field(reply, "Access-Control-Allow-Origin", "*");
    reply = ask_cors("GET", "/any/f",
                     "Origin: https://a.example\r\nRange: bytes=0-0\r\n");
    expect_status(reply, 206);
    expect_field(reply, "Access-Control-Allow-Origin", "*");
    reply = ask_cors("GET", "/closed/f", "Origin: https://a.example\r\n");
    expect_status(reply, 403);
    expect_field(reply, "Access-Control-Allow-Origin", "*");
}

TEST(a_preflight_is_told_what_is_allowed)
{
    static const char *const targets[] = {"/one/f", "/one/lost"};
    struct reply *reply;

    for (size_t i = 0; i < 2; i++) {
        reply = ask_cors("OPTIONS", targets[i],
                         "Origin: https://app.example\r\n"
                         "Access-Control-Request-Method: PUT\r\n"
                         "Access-Control-Request-Headers: x-token\r\n");
        expect_status(reply, 204);
        expect_field(reply, "Access-Control-Allow-Origin",
                     "https://app.example");
        assert_true(reply_lists(reply, "Access-Control-Allow-Methods", "PUT"));
        assert_true(reply_lists(reply, "Access-Control-Allow-Headers",
                                "x-token"));
        expect_field(reply, "Access-Control-Max-Age", "600");
        expect_field(reply, "Access-Control-Allow-Credentials", "true");
        assert_true(reply_lists(reply, "Vary", "Origin"));
    }
    reply = ask_cors("OPTIONS", "/one/f",
                     "Origin: https://evil.example\r\n"
                     "Access-Control-Request-Method: GET\r\n");
    expect_status(reply, 204);
    expect_no_field(reply, "Access-Control-Allow-Origin");
    /* Without Origin it is OPTIONS, as ever. */
    reply = ask_cors("OPTIONS", "/one/f", NULL);
    expect_status(reply, 204);
    expect_field(reply, "Allow", "GET, HEAD, OPTIONS");
}

/* --- Server-Timing -------------------------------------------------------- */

TEST(times_are_in_answers_of_every_kind)
{
    struct server *one = start_configured_at(NULL, fields_conf,
                                             "--server-timing");

    for (size_t i = 0; i < KINDS; i++) {
        const char *timing = reply_field(ask_kind(one, i), "Server-Timing");

        if (!timing || strncmp(timing, "queue;dur=", 10) != 0)
            flunk("Server-Timing is '%s'", timing ? timing : "not there");
    }
}

E2E_SUITE(start);
