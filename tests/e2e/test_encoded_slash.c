/*
 * "%2F" in a path that is passed on: as it is, where nothing that is told here
 * could take it for something else, or where the operator says so; else 400.
 */
#include "configured.h"
#include "upstream.h"

static struct upstream *upstream;

E2E_BEGIN(start)
{
    site_text("../www/f", "f\n");
}

/* A server whose configuration is text, with the upstream's place for each
 * '@'. */
static struct server *start_before(const char *text)
{
    const char *conf = "workers = 1\nroot = www\nproxy-keepalive = 0\n";

    upstream = upstream_open();
    for (const char *at; (at = strchr(text, '@')); text = at + 1)
        conf = printed("%s%.*s%s", conf, (int)(at - text), text, upstream->at);
    return start_configured(printed("%s%s", conf, text));
}

/* The upstream is asked for exactly that. */
static void expect_passed_as(const struct server *one, const char *target,
                             const char *heard)
{
    struct client *client = client_open(one);
    struct client *peer;

    going_on("%s", target);
    client_say(client, "GET %s HTTP/1.1\r\nHost: a\r\n\r\n", target);
    peer = upstream_accept(upstream);
    expect_hears(peer, printed("GET %s HTTP/1.1\r\n", heard));
    hear_head(peer);
    client_say(peer, OK "Content-Length: 2\r\n\r\nhi");
    expect_body(client_reply(client), "hi");
    client_close(client);
    client_close(peer);
}

static void expect_passed(const struct server *one, const char *target)
{
    expect_passed_as(one, target, target);
}

static void expect_refused(const struct server *one, const char *target,
                           const char *word)
{
    struct reply *reply = get(one, target);

    going_on("%s", target);
    expect_status(reply, 400);
    if (!strstr(reply->body, printed("(%s)\n", word)))
        flunk("'%s' does not say %s", reply->body, word);
    assert_false(upstream_hears(upstream, 0));
}

/* --- Tests ---------------------------------------------------------------- */

TEST(where_all_goes_to_one_server_it_passes)
{
    struct server *one = start_before("proxy = {\"/=@\"}\n");

    expect_passed(one, "/@scope%2fname");
    expect_passed(one, "/api/v4/projects/a%2Fb%2Fc?x=%2F");
    expect_passed(one, "/api/queues/%2F/name");
    expect_passed(one, "/a%2f%2fb/");
    expect_passed(one, "/a%2Fb%20c%252F");
    expect_refused(one, "/a%2f../b", "path-unclear");
    expect_refused(one, "/a%2F%2e%2E%2fb", "path-unclear");
    expect_refused(one, "/..%2fa", "above-root");
    expect_refused(one, "/a%2F%00", "encoded-nul");
}

/* Both readings have to lead to the same place. */
TEST(no_rule_is_gone_around)
{
    struct server *one =
        start_before("proxy = {\"/=@\", \"/other=http://127.0.0.1:1\"}\n"
                     "status = /_s\n"
                     "site all {\n"
                     "    redirect = {\"/moved/* /new/$1\", \"/x*y /new\"}\n"
                     "    location /admin { deny = \"0.0.0.0/0\" }\n"
                     "    location /open { max-body = 9 }\n"
                     "    location \"= /one/two\" { deny = \"0.0.0.0/0\" }\n"
                     "    location /files { root = www }\n"
                     "    location /said { respond = said }\n"
                     "}\n");

    expect_passed(one, "/a%2fb");
    expect_passed(one, "/open/a%2fb");
    expect_refused(one, "/admin%2fusers", "encoded-slash");
    expect_refused(one, "/%2Fadmin", "encoded-slash");
    expect_refused(one, "/%2fadmin%2f", "encoded-slash");
    expect_refused(one, "/a%2f..%2fadmin", "encoded-slash");
    expect_refused(one, "/open%2fa", "encoded-slash");
    expect_refused(one, "/one%2Ftwo", "encoded-slash");
    expect_refused(one, "/other%2fa", "encoded-slash");
    expect_refused(one, "/_s%2fstatus.json", "encoded-slash");
    expect_refused(one, "/moved%2Fa", "encoded-slash");
    expect_refused(one, "/moved/a%2Fb", "encoded-slash");
    expect_refused(one, "/xa%2Fby", "encoded-slash");
    /* These are not passed on at all. */
    expect_refused(one, "/files/a%2Fb", "encoded-slash");
    expect_refused(one, "/said/a%2Fb", "encoded-slash");
    expect_status(get(one, "/admin/a%2fb"), 403);
}

TEST(keys_are_not_reached_by_it)
{
    struct server *one = start_before("proxy = {\"/=@\"}\n"
                                      "kv = {\"/kv=store\"}\n");

    expect_refused(one, "/kv%2fa", "encoded-slash");
    expect_refused(one, "/%2Fkv/a", "encoded-slash");
    expect_status(get(one, "/kv/a%2Fb"), 404); /* no such key */
}

TEST(where_a_prefix_is_replaced_it_does_not_pass)
{
    struct server *one = start_before("proxy = {\"/app=@/v1\", \"/raw=@\"}\n");

    expect_refused(one, "/app/a%2Fb", "encoded-slash");
    expect_passed(one, "/raw/a%2Fb");
}

TEST(the_operator_may_know_better)
{
    struct server *one =
        start_before("proxy-encoded-slash = pass\n"
                     "proxy = {\"/=@\", \"/app=@/v1\"}\n"
                     "site all { location /admin { deny = \"0.0.0.0/0\" }\n"
                     "    location /open { max-body = 9 } }\n");

    expect_passed(one, "/a%2fb");
    expect_passed(one, "/open%2fa");
    expect_passed_as(one, "/app/a%2Fb", "/v1/a%2Fb");
    /* A slash it is for the rules, as with other servers. */
    expect_status(get(one, "/admin%2fusers"), 403);
    expect_refused(one, "/a%2f..%2fb", "path-unclear");
    expect_refused(one, "/app%2Fa", "path-unclear");
}

E2E_SUITE(start);
