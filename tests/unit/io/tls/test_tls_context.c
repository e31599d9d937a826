#include "io/tls/tls_context.h"
#include "suite.h"

#include <openssl/ssl.h>
#include <time.h>

#include "io/tls/tls_context_priv.h"
#include "io/tls/tls_tickets.h"
#include "make_certificate.h"

enum { A, A_RSA, B, WILD, PRIVATE, MADE };

static struct made authority;
static struct made made[MADE];
static struct made client;
static struct tls_certificate *certificates[MADE];
static struct tls_tickets *tickets;
static struct tls_table *table;
static struct tls_context *context;

/* --- The table that most of them use ------------------------------------- */

static void add_set(const char *name, size_t first, size_t count,
                    const char *client_ca)
{
    struct tls_set_options options = {
        .name = name,
        .certificates = &certificates[first],
        .certificate_count = count,
        .client = client_ca ? TLS_CLIENT_REQUIRE : TLS_CLIENT_NONE,
        .client_ca = bytes_of(client_ca ? client_ca : "")};
    char fault[TLS_FAULT_MAX];
    size_t number;

    if (tls_table_add(table, &options, &number, fault) != 0)
        fail_msg("%s", fault);
}

static void name_set(size_t set, const char *name)
{
    assert_true(tls_table_name(table, set, bytes_of(name)));
}

enum { SET_A, SET_B, SET_WILD, SET_PRIVATE };

static void fill_table(void)
{
    char *text = made_text(&authority);

    add_set("a", A, 2, NULL);
    add_set("b", B, 1, NULL);
    add_set("wild", WILD, 1, NULL);
    add_set("private", PRIVATE, 1, text);
    free(text);
    name_set(SET_A, "a.example");
    name_set(SET_B, "b.example");
    name_set(SET_WILD, "*.wild.example");
    name_set(SET_B, "b.wild.example");
    name_set(SET_PRIVATE, "private.example");
    name_set(SET_PRIVATE, "*.deep.example");
    name_set(SET_PRIVATE, "[2001:db8::1]"); /* as a site's hosts have it */
    name_set(SET_WILD, "b.example");        /* too late */
}

static void open_context(enum tls_profile profile)
{
    char fault[TLS_FAULT_MAX];

    table = tls_table_create(profile, tickets);
    fill_table();
    context = tls_context_create(table, fault);
    if (!context)
        fail_msg("%s", fault);
}

static void close_context(void)
{
    tls_context_destroy(context);
    context = NULL;
    tls_table_release(&table);
}

static int make_all(void **state)
{
    static const char *const names[] = {
        [A] = "DNS:a.example,DNS:both.example",
        [A_RSA] = "DNS:a.example",
        [B] = "DNS:b.example,DNS:b.wild.example",
        [WILD] = "DNS:*.wild.example",
        [PRIVATE] = "DNS:private.example,DNS:*.deep.example"};

    (void)state;
    authority = make_certificate(&(struct making){.subject = "Authority",
                                                  .is_authority = true});
    client = make_certificate(&(struct making){.subject = "client",
                                               .issuer = &authority});
    for (size_t i = 0; i < MADE; i++) {
        char fault[TLS_FAULT_MAX];
        char *chain;
        char *key;

        made[i] = make_certificate(&(struct making){
            .subject = "server", .names = names[i], .is_rsa = i == A_RSA});
        chain = made_text(&made[i]);
        key = made_key(&made[i], NULL);
        if (tls_certificate_create(&certificates[i], bytes_of(chain),
                                   bytes_of(key), fault) != 0)
            fail_msg("%s", fault);
        free(chain);
        free(key);
    }
    return 0;
}

static int free_all(void **state)
{
    (void)state;
    for (size_t i = 0; i < MADE; i++) {
        made_free(&made[i]);
        tls_certificate_release(&certificates[i]);
    }
    made_free(&authority);
    made_free(&client);
    return 0;
}

static int set_up(void **state)
{
    (void)state;
    tickets = tls_tickets_create((uint64_t)time(NULL));
    open_context(TLS_PROFILE_INTERMEDIATE);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    close_context();
    tls_tickets_release(&tickets);
    return 0;
}

/* --- Clients ------------------------------------------------------------- */

struct talk {
    SSL_CTX *ctx; /* the client's */
    SSL *client;
    SSL *server;
    bool is_done;
};

struct wish {
    const char *name; /* NULL: it names nobody */
    int version;      /* 0: any */
    const char *algorithms;
    const char *ciphers;
    const char *groups;
    const char *then_name; /* in the second ClientHello, if there is one */
    const struct made *certificate;
    SSL_SESSION *session;
};

/* Changes the client's name when the server has asked for another group. */
static void on_message(int is_written, int version, int type, const void *data,
                       size_t len, SSL *ssl, void *object)
{
    const char *name = object;

    (void)version;
    if (!is_written && type == SSL3_RT_HANDSHAKE && len > 0 &&
        *(const unsigned char *)data == SSL3_MT_SERVER_HELLO)
        SSL_set_tlsext_host_name(ssl, name);
}

static bool step(struct talk *talk)
{
    int theirs = SSL_do_handshake(talk->client);
    int ours = SSL_do_handshake(talk->server);
    char nothing[1];

    if (theirs == 1 && ours == 1) {
        /* Tickets come behind the handshake of 1.3. */
        assert_int_equal(SSL_read(talk->client, nothing, 1), -1);
        return talk->is_done = true;
    }
    return (theirs != 1 &&
            SSL_get_error(talk->client, theirs) != SSL_ERROR_WANT_READ) ||
           (ours != 1 &&
            SSL_get_error(talk->server, ours) != SSL_ERROR_WANT_READ);
}

static struct talk talk_to(const struct wish *wish)
{
    struct talk talk = {.ctx = SSL_CTX_new(TLS_client_method())};
    BIO *near, *far;

    if (wish->version != 0) {
        SSL_CTX_set_min_proto_version(talk.ctx, wish->version);
        SSL_CTX_set_max_proto_version(talk.ctx, wish->version);
    }
    if (wish->algorithms)
        assert_int_equal(SSL_CTX_set1_sigalgs_list(talk.ctx, wish->algorithms),
                         1);
    if (wish->ciphers)
        assert_int_equal(SSL_CTX_set_cipher_list(talk.ctx, wish->ciphers), 1);
    if (wish->groups)
        assert_int_equal(SSL_CTX_set1_groups_list(talk.ctx, wish->groups), 1);
    if (wish->certificate) {
        SSL_CTX_use_certificate(talk.ctx, wish->certificate->x509);
        SSL_CTX_use_PrivateKey(talk.ctx, wish->certificate->key);
    }
    talk.client = SSL_new(talk.ctx);
    talk.server = SSL_new(tls_context_ssl(context));
    if (wish->name)
        SSL_set_tlsext_host_name(talk.client, wish->name);
    if (wish->then_name) {
        SSL_set_msg_callback(talk.client, on_message);
        SSL_set_msg_callback_arg(talk.client,
                                 (void *)(uintptr_t)wish->then_name);
    }
    if (wish->session)
        SSL_set_session(talk.client, wish->session);
    BIO_new_bio_pair(&near, 0, &far, 0);
    SSL_set_bio(talk.client, near, near);
    SSL_set_bio(talk.server, far, far);
    SSL_set_connect_state(talk.client);
    SSL_set_accept_state(talk.server);
    for (size_t i = 0; i < 10 && !step(&talk); i++)
        ;
    return talk;
}

static void hang_up(struct talk *talk)
{
    SSL_shutdown(talk->client);
    SSL_free(talk->client);
    SSL_free(talk->server);
    SSL_CTX_free(talk->ctx);
}

static bool shows(const struct talk *talk, size_t number)
{
    X509 *shown = SSL_get1_peer_certificate(talk->client);
    bool is_that = shown && X509_cmp(shown, made[number].x509) == 0;

    X509_free(shown);
    return is_that;
}

static void expect(const struct wish *wish, size_t certificate, size_t set)
{
    struct talk talk = talk_to(wish);

    if (!talk.is_done || !shows(&talk, certificate))
        fail_msg("%s: not certificate %zu", wish->name ? wish->name : "-",
                 certificate);
    assert_int_equal(tls_set_number(tls_context_chosen(talk.server)), set);
    hang_up(&talk);
}

static void expect_refusal(const struct wish *wish)
{
    struct talk talk = talk_to(wish);

    assert_false(talk.is_done);
    hang_up(&talk);
}

/* --- Tests --------------------------------------------------------------- */

TEST(the_name_asked_for_chooses_the_certificate)
{
    static const struct {
        const char *name;
        size_t certificate;
        size_t set;
    } cases[] = {
        {"a.example", A, SET_A},
        {"b.example", B, SET_B},
        {"B.EXAMPLE", B, SET_B},
        {"b.example.", B, SET_B},
        {"x.wild.example", WILD, SET_WILD},
        {"X.Wild.Example", WILD, SET_WILD},
        {"b.wild.example", B, SET_B}, /* exact first */
        {"x.y.wild.example", A, SET_A},
        {"wild.example", A, SET_A},
        {"unknown.example", A, SET_A},
        {NULL, A, SET_A},
    };
    static const int versions[] = {TLS1_2_VERSION, TLS1_3_VERSION};

    for (size_t v = 0; v < 2; v++)
        for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
            expect(&(struct wish){.name = cases[i].name,
                                  .version = versions[v]},
                   cases[i].certificate, cases[i].set);
}

TEST(the_clients_algorithms_choose_between_kinds_of_keys)
{
    expect(&(struct wish){.name = "a.example",
                          .algorithms = "ECDSA+SHA256:RSA-PSS+SHA256"},
           A, SET_A);
    expect(&(struct wish){.name = "a.example", .algorithms = "RSA-PSS+SHA256"},
           A_RSA, SET_A);
    expect(&(struct wish){.name = "a.example",
                          .version = TLS1_2_VERSION,
                          .algorithms = "RSA+SHA256:RSA-PSS+SHA256"},
           A_RSA, SET_A);
}

TEST(old_versions_and_ciphers_are_refused)
{
    expect_refusal(&(struct wish){.version = TLS1_1_VERSION,
                                  .ciphers = "ALL:@SECLEVEL=0"});
    expect_refusal(&(struct wish){.version = TLS1_2_VERSION,
                                  .ciphers = "ECDHE-ECDSA-AES128-SHA256"});
    expect_refusal(&(struct wish){.version = TLS1_2_VERSION,
                                  .ciphers = "DHE-RSA-AES128-GCM-SHA256"});
    expect_refusal(&(struct wish){.version = TLS1_2_VERSION,
                                  .ciphers = "AES128-GCM-SHA256"});
    expect_refusal(&(struct wish){.groups = "P-521"});
    expect(&(struct wish){.groups = "P-256"}, A, SET_A);
    expect(&(struct wish){.version = TLS1_2_VERSION,
                          .ciphers = "ECDHE-ECDSA-CHACHA20-POLY1305"},
           A, SET_A);
}

TEST(modern_is_one_version_alone)
{
    close_context();
    open_context(TLS_PROFILE_MODERN);
    expect_refusal(&(struct wish){.version = TLS1_2_VERSION});
    expect(&(struct wish){.version = TLS1_3_VERSION}, A, SET_A);
}

/* The client's order: its first choice of two that the server has. */
TEST(the_clients_order_counts)
{
    static const char *const orders[] = {
        "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-ECDSA-AES128-GCM-SHA256",
        "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384"};

    for (size_t i = 0; i < 2; i++) {
        struct talk talk = talk_to(&(struct wish){.name = "a.example",
                                                  .version = TLS1_2_VERSION,
                                                  .ciphers = orders[i]});

        assert_true(talk.is_done);
        assert_memory_equal(SSL_get_cipher_name(talk.client), orders[i], 29);
        hang_up(&talk);
    }
}

TEST(clients_show_certificates_where_they_are_asked)
{
    struct making stranger = {.subject = "stranger"};
    struct made strange = make_certificate(&stranger);

    expect(&(struct wish){.name = "private.example",
                          .version = TLS1_2_VERSION,
                          .certificate = &client},
           PRIVATE, SET_PRIVATE);
    expect(&(struct wish){.name = "private.example", .certificate = &client},
           PRIVATE, SET_PRIVATE);
    expect_refusal(&(struct wish){.name = "private.example",
                                  .version = TLS1_2_VERSION});
    expect_refusal(&(struct wish){.name = "private.example",
                                  .version = TLS1_2_VERSION,
                                  .certificate = &strange});
    made_free(&strange);
}

/* A client of 1.3 is done before the server looks at its certificate. */
TEST(servers_of_1_3_refuse_strangers_too)
{
    struct talk talk = talk_to(&(struct wish){.name = "private.example",
                                              .version = TLS1_3_VERSION});

    assert_false(SSL_is_init_finished(talk.server));
    hang_up(&talk);
}

TEST(sessions_go_on_with_a_ticket)
{
    static const int versions[] = {TLS1_2_VERSION, TLS1_3_VERSION};

    for (size_t i = 0; i < 2; i++) {
        struct wish wish = {.name = "b.example", .version = versions[i]};
        struct talk talk = talk_to(&wish);

        assert_true(talk.is_done);
        wish.session = SSL_get1_session(talk.client);
        hang_up(&talk);
        /* As another worker, after a reload. */
        close_context();
        open_context(TLS_PROFILE_INTERMEDIATE);
        talk = talk_to(&wish);
        assert_true(talk.is_done);
        assert_true(SSL_session_reused(talk.client));
        assert_int_equal(tls_set_number(tls_context_chosen(talk.server)),
                         SET_B);
        hang_up(&talk);
        SSL_SESSION_free(wish.session);
    }
}

TEST(old_keys_open_tickets_until_they_are_gone)
{
    struct wish wish = {.name = "a.example", .version = TLS1_3_VERSION};
    struct talk talk = talk_to(&wish);
    uint64_t now_s = (uint64_t)time(NULL);

    wish.session = SSL_get1_session(talk.client);
    hang_up(&talk);
    for (size_t i = 1; i <= TLS_TICKETS_KEPT; i++) {
        now_s += TLS_TICKETS_ROTATE_S;
        tls_tickets_tick(tickets, now_s);
        talk = talk_to(&wish);
        assert_true(talk.is_done);
        assert_int_equal(SSL_session_reused(talk.client), i < TLS_TICKETS_KEPT);
        hang_up(&talk);
    }
    SSL_SESSION_free(wish.session);
}

/* Else who was let in without a certificate goes on where one is wanted. */
TEST(no_session_goes_on_under_another_name)
{
    static const int versions[] = {TLS1_2_VERSION, TLS1_3_VERSION};

    for (size_t i = 0; i < 2; i++) {
        struct wish wish = {.name = "a.example",
                            .version = versions[i],
                            .certificate = &client};
        struct talk talk = talk_to(&wish);

        wish.session = SSL_get1_session(talk.client);
        hang_up(&talk);
        wish.name = "private.example";
        talk = talk_to(&wish);
        assert_false(SSL_session_reused(talk.server));
        hang_up(&talk);
        wish.certificate = NULL;
        talk = talk_to(&wish);
        assert_false(SSL_is_init_finished(talk.server));
        hang_up(&talk);
        SSL_SESSION_free(wish.session);
    }
}

/* By a second ClientHello, which may have another name than the first one. */
TEST(no_session_goes_on_under_a_name_told_later)
{
    static const char *const firsts[] = {"a.example", "b.example",
                                         "private.example"};
    static const char *const seconds[] = {"private.example", "a.example",
                                          "b.example"};

    for (size_t i = 0; i < 9; i++) {
        struct wish wish = {.name = firsts[i / 3], .version = TLS1_3_VERSION};
        struct wish again = {.name = firsts[i / 3],
                             .version = TLS1_3_VERSION,
                             .groups = "P-384:P-256",
                             .then_name = seconds[i % 3]};
        struct talk talk;
        const struct tls_set *set;

        wish.name = i / 3 < 2 ? firsts[i / 3] : "a.example";
        talk = talk_to(&wish);
        again.session = SSL_get1_session(talk.client);
        hang_up(&talk);
        talk = talk_to(&again);
        set = tls_context_chosen(talk.server);
        if (SSL_is_init_finished(talk.server) && tls_set_asks(set))
            fail_msg("%s, then %s: no certificate was asked for", again.name,
                     again.then_name);
        if (SSL_is_init_finished(talk.server) &&
            SSL_session_reused(talk.server) &&
            set != tls_table_find(table, bytes_of(wish.name)))
            fail_msg("%s, then %s: goes on elsewhere", again.name,
                     again.then_name);
        hang_up(&talk);
        SSL_SESSION_free(again.session);
    }
}

TEST(requests_of_other_sites_are_misdirected)
{
    static const struct {
        size_t set;
        const char *host;
        bool serves;
    } cases[] = {
        {SET_A, "a.example", true},
        {SET_A, "A.example.:443", true},
        {SET_A, "b.example", false},
        {SET_A, "both.example", true},
        {SET_A, "unknown.example", true}, /* nobody has another for it */
        {SET_A, "x.wild.example", false},
        {SET_A, "private.example", false},
        {SET_A, "x.deep.example", false},
        {SET_A, "x.y.deep.example", false}, /* a request would get there */
        {SET_A, "x..deep.example", false},
        {SET_A, "*.deep.example", false}, /* a Host field may say so */
        {SET_A, "*.*.deep.example", false},
        {SET_A, "[2001:db8::1]", false},
        {SET_A, "[2001:DB8:0::1]:443", false},
        {SET_WILD, ".wild.example", true}, /* no site has such a host */
        {SET_A, "x.y.wild.example", true},
        {SET_WILD, "b.wild.example", true}, /* its certificate covers it */
        {SET_B, "x.wild.example", false},
        {SET_PRIVATE, "private.example", true},
        {SET_PRIVATE, "a.example", false},
        {SET_B, "", true},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        static const char *const names[] = {[SET_A] = "a.example",
                                            [SET_B] = "b.example",
                                            [SET_WILD] = "q.wild.example",
                                            [SET_PRIVATE] = "private.example"};
        const struct tls_set *set =
            tls_table_find(table, bytes_of(names[cases[i].set]));

        assert_int_equal(tls_set_number(set), cases[i].set);
        if (tls_table_serves(table, set, bytes_of(cases[i].host)) !=
            cases[i].serves)
            fail_msg("set %zu, host %s", cases[i].set, cases[i].host);
    }
}

/* It came by another configuration. */
TEST(rules_in_force_count_for_older_connections)
{
    struct talk talk = talk_to(&(struct wish){.name = "a.example"});
    const struct tls_set *set = tls_context_chosen(talk.server);
    struct tls_table *older = tls_table_acquire(table);

    close_context();
    open_context(TLS_PROFILE_INTERMEDIATE);
    assert_true(tls_table_serves(table, set, BYTES("a.example")));
    assert_false(tls_table_serves(table, set, BYTES("b.example")));
    assert_false(tls_table_serves(table, set, BYTES("private.example")));
    tls_table_release(&older);
    hang_up(&talk);
}

TEST(what_asks_for_certificates_is_not_served_in_clear)
{
    assert_true(tls_table_serves(table, NULL, BYTES("a.example")));
    assert_true(tls_table_serves(table, NULL, BYTES("b.example")));
    assert_false(tls_table_serves(table, NULL, BYTES("private.example")));
    assert_false(tls_table_serves(table, NULL, BYTES("x.y.deep.example")));
}

TEST(connections_outlive_their_context)
{
    struct talk talk = talk_to(&(struct wish){.name = "b.example"});
    char text[3];

    assert_true(talk.is_done);
    close_context();
    assert_int_equal(tls_set_number(tls_context_chosen(talk.server)), SET_B);
    assert_string_equal(SSL_get_servername(talk.server, 0), "b.example");
    assert_int_equal(SSL_write(talk.server, "abc", 3), 3);
    assert_int_equal(SSL_read(talk.client, text, 3), 3);
    hang_up(&talk);
}

TEST(faulty_sets_are_refused_with_a_reason)
{
    struct tls_set_options options = {
        .name = "x", .certificates = certificates, .certificate_count = 0};
    char fault[TLS_FAULT_MAX];
    size_t number;

    assert_int_equal(tls_table_add(table, &options, &number, fault), -EINVAL);
    options.certificate_count = 1;
    options.client = TLS_CLIENT_REQUEST;
    options.client_ca = BYTES("nothing");
    assert_int_equal(tls_table_add(table, &options, &number, fault), -EINVAL);
    assert_non_null(strstr(fault, "no certificate of an authority"));
}

SUITE(.begin = make_all, .end = free_all, .each_begin = set_up,
      .each_end = tear_down);
