/*
 * Sites that ask clients for certificates: whatever host a request names, it
 * does not get there over a connection that was made for another name.
 */
#include "certified.h"
#include "configured.h"
#include "secure.h"
#include "upstream.h"

static struct made authority, clients;

static const char text[] =
    "listen = {https://127.0.0.1:0, http://127.0.0.1:0}\n"
    "certificate = main\n"
    "site open { hosts = {open.example} respond = open }\n"
    "site closed {\n"
    "  hosts = {\"*.closed.example\", closed.example, \"[2001:db8::1]\"}\n"
    "  certificate = closed client-ca = clients respond = secret\n"
    "}\n";

static const char *certify_for(const char *name, const char *names,
                               const struct made *issuer)
{
    return certify(name, &(struct making){.subject = name,
                                          .names = names,
                                          .issuer = issuer});
}

static struct server *serve_guarded(void)
{
    char *of_clients = made_text(&clients);

    certify_for("main", "DNS:open.example", &authority);
    certify_for("closed", "DNS:closed.example,DNS:*.closed.example",
                &authority);
    site_text("../clients", of_clients);
    free(of_clients);
    return serve_certified(text, NULL);
}

/* Every way to write a host that sites take for that of the closed one. */
static const char *const closed_hosts[] = {
    "closed.example",     "CLOSED.example.:443", "a.closed.example",
    "a.b.closed.example", "a..closed.example",   "*.closed.example",
    "*.*.closed.example", "a.*.closed.example",  "%61.closed.example",
    "-.closed.example.",  "[2001:db8::1]",       "[2001:db8::1]:443",
    "[2001:DB8:0:0::1]"};

TEST(no_spelling_of_a_host_leads_where_clients_are_asked)
{
    struct server *server = serve_guarded();
    struct server *clear = next_listener(server);

    for (size_t i = 0; i < sizeof(closed_hosts) / sizeof(*closed_hosts); i++) {
        const char *host = closed_hosts[i];
        struct reply *reply = ask_as(server, "open.example", host, "/");

        if (reply->status != 421)
            flunk("%s: %u", host, reply->status);
        reply = ask_as(server, "", host, "/");
        if (reply->status != 421)
            flunk("%s, of nobody: %u", host, reply->status);
        reply = ask_as(server, "open.example", "open.example",
                       printed("http://%s/", host));
        if (reply->status != 421)
            flunk("%s, as a target: %u", host, reply->status);
        reply = get_host(clear, host, "/");
        if (reply->status != 421)
            flunk("%s, in clear: %u", host, reply->status);
    }
}

/* Such a host is nobody's, and so this site's. */
TEST(what_no_site_has_leads_there_no_more)
{
    static const char *const hosts[] = {"nobody.example", ".open.example",
                                        "[::1]", "192.0.2.1"};
    char *of_clients = made_text(&clients);
    struct server *server;

    certify_for("main", "DNS:open.example", &authority);
    certify_for("closed", "DNS:closed.example", &authority);
    site_text("../clients", of_clients);
    free(of_clients);
    server = serve_certified(
        "listen = https://127.0.0.1:0\ncertificate = main\n"
        "site open { hosts = {open.example, \"*.open.example\"}\n"
        "  respond = open }\n"
        "site closed { certificate = closed client-ca = clients\n"
        "  respond = secret }\n",
        NULL);
    for (size_t i = 0; i < sizeof(hosts) / sizeof(*hosts); i++) {
        struct reply *reply = ask_as(server, "open.example", hosts[i], "/");

        if (reply->status != 421)
            flunk("%s: %u", hosts[i], reply->status);
    }
    expect_body(ask_as(server, "open.example", "a.open.example", "/"), "open");
}

TEST(who_shows_a_certificate_gets_there)
{
    struct server *server = serve_guarded();
    const char *own = certify_for("own", NULL, &clients);
    struct reply *reply;

    secure_show(own);
    reply = ask_as(server, "a.closed.example", "a.closed.example", "/");
    expect_body(reply, "secret");
    reply = ask_as(server, "closed.example", "[2001:db8::1]", "/");
    expect_body(reply, "secret");
    secure_show(NULL);
    expect_body(ask_as(server, "open.example", "open.example", "/"), "open");
    expect_body(ask_as(server, "open.example", "unknown.example", "/"), "open");
}

/* A client that has shown a certificate of one site's authority does not reach
 * a site of another authority, even if the first site's certificate has the
 * host's name. */
TEST(no_name_of_a_certificate_leads_to_a_site_of_another_authority)
{
    char *of_clients = made_text(&clients);
    char *of_members = made_text(&authority);
    struct server *server;

    certify_for("main", "DNS:a.closed.example,DNS:*.b.closed.example",
                &authority);
    certify_for("closed", "DNS:*.closed.example", &authority);
    site_text("../clients", of_clients);
    site_text("../members", of_members);
    free(of_clients);
    free(of_members);
    server = serve_certified(
        "listen = https://127.0.0.1:0\n"
        "site open { certificate = main client-ca = clients respond = open }\n"
        "site closed { hosts = {\"*.closed.example\"} certificate = closed\n"
        "  client-ca = members respond = secret }\n",
        NULL);
    secure_show(certify_for("own", NULL, &clients));
    expect_body(ask_as(server, "open.example", "open.example", "/"), "open");
    expect_status(ask_as(server, "x.b.closed.example", "x.b.closed.example",
                         "/"),
                  421);
    secure_show(certify_for("member", NULL, &authority));
    expect_body(ask_as(server, "a.closed.example", "a.closed.example", "/"),
                "secret");
    secure_show(NULL);
}

TEST(a_connection_ends_with_its_clients_certificate)
{
    struct server *server = serve_guarded();
    long s = (long)patience(3000) / 1000;
    struct client *client;
    struct reply *reply;

    secure_show(certify("brief", &(struct making){.subject = "brief",
                                                  .issuer = &clients,
                                                  .begins_s = -60,
                                                  .ends_s = s}));
    client = come_as(server, "closed.example");
    secure_show(NULL);
    assert_non_null(client);
    client_say(client, "GET / HTTP/1.1\r\nHost: closed.example\r\n\r\n");
    expect_body(client_reply(client), "secret");
    pause_ms((unsigned)s * 1000 + 1000);
    client_say(client, "GET / HTTP/1.1\r\nHost: closed.example\r\n\r\n");
    reply = client_reply(client);
    expect_status(reply, 403);
    expect_field(reply, "Connection", "close");
    assert_non_null(strstr(reply->body, "client-expired"));
}

/* --- What servers behind are told ---------------------------------------- */

#define SUBJECT "X-Forwarded-Tls-Client-Subject: "

static const char *head_of(struct client *client, const struct upstream *behind)
{
    struct client *peer;

    client_say(client, "GET / HTTP/1.1\r\nHost: closed.example\r\n" SUBJECT
                       "CN=mallory\r\n\r\n");
    peer = upstream_accept(behind);
    return hear_head(peer);
}

TEST(servers_behind_are_told_who_it_is_and_by_nobody_else)
{
    struct upstream *behind = upstream_open();
    char *of_clients = made_text(&clients);
    const char *own = certify_for("own", NULL, &clients);
    struct server *server;
    struct client *client;
    const char *head;

    certify_for("main", "DNS:closed.example", &authority);
    site_text("../clients", of_clients);
    free(of_clients);
    server = serve_certified(
        printed("listen = https://127.0.0.1:0\ncertificate = main\n"
                "client-ca = clients\nclient-certificate = request\n"
                "proxy = \"/=%s\"\nproxy-tls-client = on\n",
                behind->at),
        NULL);
    secure_show(own);
    client = come_as(server, "closed.example");
    secure_show(NULL);
    assert_non_null(client);
    head = head_of(client, behind);
    assert_non_null(strstr(head, SUBJECT "CN=own\r\n"));
    assert_non_null(strstr(head, "X-Forwarded-Tls-Client-Fingerprint: "));
    assert_null(strstr(head, "mallory"));
    client = come_as(server, "closed.example"); /* who shows none */
    assert_non_null(client);
    assert_null(strstr(head_of(client, behind), SUBJECT));
}

/* --- What is compressed for them ----------------------------------------- */

static struct reply *ask_coded(struct client *client,
                               const struct upstream *behind)
{
    struct client *peer;
    char body[2001];

    memset(body, 'a', 2000);
    body[2000] = '\0';
    client_say(client, "GET / HTTP/1.1\r\nHost: closed.example\r\n"
                       "Accept-Encoding: gzip\r\n\r\n");
    peer = upstream_accept(behind);
    hear_head(peer);
    client_say(peer,
               "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
               "Connection: close\r\nContent-Length: 2000\r\n\r\n%s",
               body);
    return client_reply(client);
}

/* A certificate is shown with whatever any page has the browser ask for, as
 * cookies are: lengths would tell who has it asked what the answers have. */
TEST(answers_to_whom_a_certificate_tells_are_not_compressed)
{
    struct upstream *behind = upstream_open();
    char *of_clients = made_text(&clients);
    const char *own = certify_for("own", NULL, &clients);

    certify_for("main", "DNS:closed.example", &authority);
    site_text("../clients", of_clients);
    free(of_clients);
    for (int tells = 0; tells < 2; tells++) {
        struct server *server = serve_certified(
            printed("listen = https://127.0.0.1:0\ncertificate = main\n"
                    "client-ca = clients\nclient-certificate = request\n"
                    "proxy = \"/=%s\"\ncompress-proxied = yes\n"
                    "compress-private = %s\n",
                    behind->at, tells ? "yes" : "no"),
            NULL);
        struct client *client = come_as(server, "closed.example");
        struct reply *reply;

        assert_non_null(client);
        expect_field(ask_coded(client, behind), "Content-Encoding", "gzip");
        secure_show(own);
        client = come_as(server, "closed.example");
        secure_show(NULL);
        assert_non_null(client);
        reply = ask_coded(client, behind);
        expect_status(reply, 200);
        assert_true((reply_field(reply, "Content-Encoding") != NULL) == tells);
    }
}

static int start(void **state)
{
    authority = make_certificate(&(struct making){.subject = "authority",
                                                  .is_authority = true});
    clients = make_certificate(&(struct making){.subject = "clients",
                                                .is_authority = true});
    return harness_begin(state);
}

static int end(void **state)
{
    made_free(&authority);
    made_free(&clients);
    return harness_end(state);
}

SUITE(.begin = start, .end = end);
