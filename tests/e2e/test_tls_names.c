/*
 * Certificates by the names of sites: which one a client is shown, and what may
 * be asked over its connection.
 */
#include "certified.h"
#include "configured.h"
#include "secure.h"

#define LISTEN "listen = https://127.0.0.1:0\n"
#define BOTH "listen = {https://127.0.0.1:0, http://127.0.0.1:0}\n"

static struct made authority, clients;

static const char *make(const char *name, const char *names)
{
    return certify(name, &(struct making){.subject = name,
                                          .names = names,
                                          .issuer = &authority});
}

/* --- Which one ----------------------------------------------------------- */

static const char three_sites[] = LISTEN
    "certificate = main\n"
    "site a { hosts = {a.example, \"*.wild.example\"}\n"
    "  certificate = a respond = a }\n"
    "site b { hosts = {b.example} certificate = b respond = b }\n"
    "site plain { hosts = {plain.example} respond = plain }\n"
    "site main { respond = main }\n";

static void make_three(void)
{
    make("main", "DNS:main.example,DNS:plain.example");
    make("a", "DNS:a.example,DNS:*.wild.example");
    make("b", "DNS:b.example");
}

TEST(the_name_chooses_the_certificate)
{
    static const struct {
        const char *name, *shown;
    } cases[] = {{"a.example", "a"},        {"A.EXAMPLE", "a"},
                 {"a.example.", "a"},       {"x.wild.example", "a"},
                 {"X.Wild.Example", "a"},   {"x.y.wild.example", "main"},
                 {"wild.example", "main"},  {"b.example", "b"},
                 {"main.example", "main"},  {"plain.example", "main"},
                 {"other.example", "main"}, {"", "main"}};
    struct server *server;

    make_three();
    server = serve_certified(three_sites, NULL);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        going_on("asking for '%s'", cases[i].name);
        assert_string_equal(shown_to(server, cases[i].name), cases[i].shown);
    }
}

TEST(requests_of_other_sites_are_misdirected)
{
    static const struct {
        const char *name, *host;
        unsigned status;
    } cases[] = {{"a.example", "a.example", 200},
                 {"a.example", "A.example.", 200},
                 {"a.example", "a.example:8443", 200},
                 {"a.example", "x.wild.example", 200},
                 {"a.example", "b.example", 421},
                 {"b.example", "a.example", 421},
                 {"b.example", "x.wild.example", 421},
                 {"", "b.example", 421},
                 {"a.example", "plain.example", 421},
                 {"plain.example", "main.example", 200},
                 {"main.example", "other.example", 200}};
    struct server *server;

    make_three();
    server = serve_certified(three_sites, NULL);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        going_on("asking '%s' for '%s'", cases[i].name, cases[i].host);
        expect_status(ask_as(server, cases[i].name, cases[i].host, "/"),
                      cases[i].status);
    }
}

TEST(the_client_chooses_the_kind_of_key)
{
    struct server *server;

    make("ec", "DNS:a.example");
    certify("rsa", &(struct making){.subject = "rsa",
                                    .names = "DNS:a.example",
                                    .issuer = &authority,
                                    .is_rsa = true});
    server = serve_certified(LISTEN "certificate = {ec, rsa}\n"
                                    "respond = x\n",
                             NULL);
    assert_string_equal(shown_to(server, "a.example"), "ec");
    secure_accept("RSA-PSS+SHA256");
    assert_string_equal(shown_to(server, "a.example"), "rsa");
    secure_accept("ECDSA+SHA256");
    assert_string_equal(shown_to(server, "a.example"), "ec");
    secure_accept(NULL);
}

TEST(keys_may_lie_in_files_of_their_own)
{
    const char *path = make("both", "DNS:a.example");
    const char *text = read_text(path, NULL);
    const char *key = strstr(text, "-----BEGIN PRIVATE");
    struct server *server;

    assert_non_null(key);
    site_write("../only.crt", text, (size_t)(key - text));
    site_text("../only.key", key);
    server = serve_certified(LISTEN "certificate = only.crt\n"
                                    "certificate-key = only.key\n"
                                    "respond = x\n",
                             NULL);
    assert_string_equal(shown_to(server, "a.example"), "both");
}

/* --- http and https ------------------------------------------------------ */

TEST(http_is_sent_to_https)
{
    struct server *secure, *clear;
    struct reply *reply;

    make("main", "DNS:a.example");
    secure = serve_certified(BOTH
                             "certificate = main\nhttps-redirect = yes\n"
                             "hsts = \"max-age=600; includeSubDomains\"\n"
                             "site a { hosts = {a.example} respond = x\n"
                             "  location /open { https-redirect = no }\n"
                             "  location /secret { auth-file = users } }\n",
                             NULL);
    clear = next_listener(secure);
    reply = get_host(clear, "a.example:80", "/x%20y/z?q=1&r=%2F");
    expect_status(reply, 308);
    expect_field(reply, "Location",
                 printed("https://a.example:%u/x%%20y/z?q=1&r=%%2F",
                         secure->port));
    expect_no_field(reply, "Strict-Transport-Security");
    expect_status(get_host(clear, "a.example", "/secret"), 308);
    expect_status(ask_host(clear, "POST", "a.example", "/",
                           "Content-Length: 0\r\n"),
                  308);
    expect_status(get_host(clear, "a.example", "/open"), 200);
    expect_status(get_host(clear, "a.example",
                           "/.well-known/acme-challenge/abc"),
                  200);
    reply = ask_as(secure, "a.example", "a.example", "/");
    expect_status(reply, 200);
    expect_field(reply, "Strict-Transport-Security",
                 "max-age=600; includeSubDomains");
    expect_status(ask_as(secure, "a.example", "a.example", "/secret"), 401);
}

/* Where a request for host is sent that comes to the listener in clear. */
static const char *led_to(const char *text, const char *host,
                          const char *fields)
{
    struct server *secure = serve_certified(text, NULL);
    struct reply *reply = ask_host(next_listener(secure), "GET", host, "/",
                                   fields);

    expect_status(reply, 308);
    return printed("%s", reply_field(reply, "Location"));
}

TEST(it_leads_to_the_one_port_that_speaks_tls_or_the_one_that_is_said)
{
    const char *some = BOTH "certificate = main\nrespond = x\n"
                            "https-redirect = yes\n";

    make("main", "DNS:a.example");
    assert_string_equal(led_to(printed("%shttps-redirect-port = 8443\n", some),
                               "a.example", ""),
                        "https://a.example:8443/");
    assert_string_equal(led_to(printed("%shttps-redirect-port = 443\n", some),
                               "a.example:8080", ""),
                        "https://a.example/");
    assert_string_equal(led_to(printed("%shttps = 0\n", some), "a.example", ""),
                        "https://a.example/");
    assert_string_equal(led_to(printed("%shttps-redirect-port = 8443\n", some),
                               "[::1]:80", ""),
                        "https://[::1]:8443/");
}

TEST(whoever_has_come_by_https_to_a_proxy_is_led_nowhere)
{
    struct server *secure;
    struct reply *reply;

    make("main", "DNS:a.example");
    secure = serve_certified(BOTH "certificate = main\nrespond = x\n"
                                  "trusted-proxies = 127.0.0.1\n"
                                  "https-redirect = yes\n",
                             NULL);
    reply = ask_host(next_listener(secure), "GET", "a.example", "/",
                     "X-Forwarded-Proto: https\r\n");
    expect_status(reply, 200);
}

/* --- Whom it asks -------------------------------------------------------- */

static const char guarded[] = BOTH
    "certificate = main\n"
    "site open { hosts = {open.example} respond = open }\n"
    "site closed { hosts = {closed.example} client-ca = clients\n"
    "  respond = closed }\n"
    "site asking { hosts = {asking.example} client-ca = clients\n"
    "  client-certificate = request respond = asking }\n";

static struct server *guard(const char **own_out, const char **strange_out,
                            const char *argument)
{
    char *text = made_text(&clients);

    make("main", "DNS:*.example");
    site_text("../clients", text);
    free(text);
    *own_out = certify("own", &(struct making){.subject = "alice",
                                               .issuer = &clients});
    *strange_out = certify("strange", &(struct making){.subject = "mallory"});
    return serve_certified(guarded, argument);
}

/* TLS 1.3 ends a client's part of the handshake before it has been looked
 * at. */
static bool is_let_in(const struct server *server, const char *name,
                      const char *certificate)
{
    struct client *client;
    struct reply *reply;

    secure_show(certificate);
    client = come_as(server, name);
    secure_show(NULL);
    if (!client)
        return false;
    client_say(client, "GET / HTTP/1.1\r\nHost: %s\r\n\r\n", name);
    if (client_try(client, false, &reply) != CLIENT_REPLY)
        return false;
    expect_status(reply, 200);
    return true;
}

TEST(clients_show_who_they_are_where_that_is_asked)
{
    const char *own, *strange;
    struct server *server = guard(&own, &strange, NULL);

    assert_true(is_let_in(server, "open.example", NULL));
    assert_true(is_let_in(server, "closed.example", own));
    assert_false(is_let_in(server, "closed.example", NULL));
    assert_false(is_let_in(server, "closed.example", strange));
    assert_true(is_let_in(server, "asking.example", NULL));
    assert_true(is_let_in(server, "asking.example", own));
    assert_false(is_let_in(server, "asking.example", strange));
}

TEST(no_other_name_leads_where_clients_are_asked)
{
    const char *own, *strange;
    struct server *server = guard(&own, &strange, NULL);
    struct server *clear = next_listener(server);

    expect_status(ask_as(server, "open.example", "closed.example", "/"), 421);
    expect_status(ask_as(server, "open.example", "asking.example", "/"), 421);
    expect_status(ask_as(server, "", "closed.example", "/"), 421);
    expect_status(ask_as(server, "open.example", "CLOSED.example.", "/"), 421);
    secure_show(own);
    expect_status(ask_as(server, "asking.example", "closed.example", "/"), 421);
    secure_show(NULL);
    expect_status(get_host(clear, "closed.example", "/"), 421);
    expect_status(get_host(clear, "open.example", "/"), 200);
}

TEST(the_log_tells_whom_clients_have_shown)
{
    struct made alice = make_certificate(&(struct making){.subject = "alice",
                                                          .issuer = &clients});
    char *path = printed("%s/log", folder());
    unsigned char digest[32];
    char *text = made_text(&clients);
    char line[128] = "";
    size_t len;
    struct server *server;

    make("main", "DNS:*.example");
    site_text("../clients", text);
    free(text);
    certificate_write("own", (const struct made *const[]){&alice, NULL},
                      &alice);
    X509_digest(alice.x509, EVP_sha256(), digest, NULL);
    made_free(&alice);
    len = (size_t)snprintf(line, sizeof(line), "%s", "CN=alice ");
    for (size_t i = 0; i < sizeof(digest); i++)
        len += (size_t)snprintf(line + len, sizeof(line) - len, "%02x",
                                digest[i]);
    server = serve_certified(
        printed("access-log = \"%s\"\n"
                "log-format = \"%%{tls_client} %%{tls_client_fingerprint}\"\n"
                "%s",
                path, guarded),
        NULL);
    assert_true(is_let_in(server, "asking.example",
                          printed("%s/own", folder())));
    assert_true(is_let_in(server, "asking.example", NULL));
    assert_true(eventually(strstr(read_text(path, NULL), "- -\n"), 5000));
    assert_non_null(strstr(read_text(path, NULL), printed("%s\n", line)));
}

/* --- What -t tells ------------------------------------------------------- */

static void expect_test(const char *text, int status, const char *words)
{
    struct outcome outcome;

    RUN(&outcome, "-t", "-c", configuration(text));
    if (!strstr(outcome.err, words))
        flunk("no '%s' in '%s'", words, outcome.err);
    assert_int_equal(outcome.status, status);
}

TEST(a_test_tells_what_is_wrong)
{
    struct made other = make_certificate(&(struct making){.subject = "other"});
    struct made leaf = make_certificate(&(struct making){
        .subject = "leaf", .names = "DNS:a.example", .issuer = &authority});
    const struct made *const alone[] = {&leaf, NULL};
    const struct made *const whole[] = {&leaf, &authority, NULL};
    const struct made *const mixed[] = {&leaf, &other, &authority, NULL};

    certificate_write("wrong", alone, &other);
    certificate_write("alone", alone, &leaf);
    certificate_write("whole", whole, &leaf);
    certificate_write("mixed", mixed, &leaf);
    certify("old", &(struct making){.subject = "old",
                                    .begins_s = -2 * 86400,
                                    .ends_s = -86400});
    certify("soon", &(struct making){.subject = "soon",
                                     .begins_s = -86400,
                                     .ends_s = 3 * 86400 + 600});
    expect_test(LISTEN "certificate = wrong\nrespond = x\n", 78,
                "test.conf:2:");
    expect_test(LISTEN "certificate = wrong\nrespond = x\n", 78, "key");
    expect_test(LISTEN "certificate = none\nrespond = x\n", 78, "No such file");
    expect_test(LISTEN "respond = x\n", 78, "needs a certificate");
    expect_test(LISTEN "certificate = alone\nrespond = x\n", 0,
                "chain is incomplete");
    expect_test(LISTEN "certificate = mixed\nrespond = x\n", 0, "wrong order");
    expect_test(LISTEN "certificate = old\nrespond = x\n", 0, "has expired on");
    expect_test(LISTEN "certificate = soon\nrespond = x\n", 0, "in 3 days");
    expect_test(LISTEN
                "certificate = whole\n"
                "site a { hosts = {a.example, b.example} respond = x }\n",
                0, "'b.example' is not among the names");
    expect_test(LISTEN "certificate = whole\ncertificate-key = {whole, old}\n"
                       "respond = x\n",
                78, "2 keys for 1 certificates");
    expect_test(LISTEN "certificate = whole\nhsts = \"max-age=x\"\n"
                       "respond = x\n",
                78, "max-age");
    made_free(&other);
    made_free(&leaf);
}

static int start(void **state)
{
    authority = make_certificate(&(struct making){.subject = "authority",
                                                  .is_authority = true});
    clients = make_certificate(&(struct making){.subject = "clients",
                                                .is_authority = true});
    if (harness_begin(state) != 0)
        return -1;
    site_text(
        "../users",
        "alice:$2y$05$abcdefghijklmnopqrstuuABCDEFGHIJKLMNOPQRSTUVWXYZ01234\n");
    return 0;
}

static int end(void **state)
{
    made_free(&authority);
    made_free(&clients);
    return harness_end(state);
}

SUITE(.begin = start, .end = end, .each_end = harness_after_test);
