#include "unit/tls_pair.h"

struct tls_buffers *pair_buffers;
struct tls_table *pair_table;
static struct tls_tickets *pair_tickets;
struct tls_context *pair_context;
SSL_CTX *pair_client;

struct pair_secret pair_client_secret;
struct pair_secret pair_server_secret;

static void note_secret(const char *line, const char *label,
                        struct pair_secret *secret)
{
    const char *at = strrchr(line, ' ') + 1;

    if (strncmp(line, label, strlen(label)) != 0)
        return;
    secret->len = strlen(at) / 2;
    for (size_t i = 0; i < secret->len; i++) {
        unsigned byte;

        assert_int_equal(sscanf(at + 2 * i, "%2x", &byte), 1);
        secret->bytes[i] = (unsigned char)byte;
    }
}

static void on_line(const SSL *ssl, const char *line)
{
    (void)ssl;
    note_secret(line, "CLIENT_TRAFFIC_SECRET_0", &pair_client_secret);
    note_secret(line, "SERVER_TRAFFIC_SECRET_0", &pair_server_secret);
}

/* One certificate, for every name. 0 or -1. */
static int pair_make_context(void)
{
    struct made made = make_certificate(&(struct making){
        .subject = "localhost", .names = "DNS:localhost"});
    char *chain = made_text(&made);
    char *key = made_key(&made, NULL);
    char fault[TLS_FAULT_MAX];
    struct tls_certificate *certificate = NULL;
    size_t number;

    pair_tickets = tls_tickets_create(1700000000);
    pair_table = tls_table_create(TLS_PROFILE_INTERMEDIATE, pair_tickets);
    if (!pair_tickets || !pair_table ||
        tls_certificate_create(&certificate,
                               (struct bytes){chain, strlen(chain)},
                               (struct bytes){key, strlen(key)}, fault) != 0 ||
        tls_table_add(pair_table,
                      &(struct tls_set_options){.name = "test",
                                                .certificates = &certificate,
                                                .certificate_count = 1},
                      &number, fault) != 0)
        return -1;
    pair_context = tls_context_create(pair_table, fault);
    tls_certificate_release(&certificate);
    made_free(&made);
    free(chain);
    free(key);
    return pair_context ? 0 : -1;
}

int pair_set_up(void **state)
{
    (void)state;
    pair_buffers = tls_buffers_create();
    pair_client = SSL_CTX_new(TLS_client_method());
    if (!pair_buffers || !pair_client)
        return -1;
    SSL_CTX_set_keylog_callback(pair_client, on_line);
    return pair_make_context();
}

int pair_tear_down(void **state)
{
    (void)state;
    SSL_CTX_free(pair_client);
    tls_context_destroy(pair_context);
    tls_table_release(&pair_table);
    tls_tickets_release(&pair_tickets);
    tls_buffers_destroy(pair_buffers);
    return 0;
}

void pair_begin(struct pair *pair)
{
    int fds[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds),
                     0);
    pair_begin_on(pair, fds[0], fds[1]);
}

void pair_begin_on(struct pair *pair, int fd, int far_fd)
{
    *pair = (struct pair){.fd = fd, .far_fd = far_fd};
    pair->tls = tls_accept(pair_buffers, pair_context, pair->fd);
    assert_non_null(pair->tls);
    pair->client = SSL_new(pair_client);
    pair->in = BIO_new(BIO_s_mem());
    pair->out = BIO_new(BIO_s_mem());
    BIO_set_mem_eof_return(pair->in, -1);
    SSL_set_bio(pair->client, pair->in, pair->out);
    SSL_set_tlsext_host_name(pair->client, "localhost");
    SSL_set_connect_state(pair->client);
}

void pair_end(struct pair *pair)
{
    tls_destroy(pair->tls);
    SSL_free(pair->client);
    close(pair->fd);
    if (pair->far_fd != -1)
        close(pair->far_fd);
}

size_t pair_push(struct pair *pair, size_t most)
{
    static char bytes[65536];
    int n = BIO_read(pair->out, bytes,
                     (int)(most < sizeof(bytes) ? most : sizeof(bytes)));

    if (n <= 0)
        return 0;
    assert_int_equal(send(pair->far_fd, bytes, (size_t)n, MSG_NOSIGNAL), n);
    pair->pushed += (size_t)n;
    return (size_t)n;
}

size_t pair_pull(struct pair *pair, size_t most)
{
    static char bytes[65536];
    size_t pulled = 0;

    while (pulled < most) {
        size_t len = most - pulled < sizeof(bytes) ? most - pulled
                                                   : sizeof(bytes);
        ssize_t n = recv(pair->far_fd, bytes, len, 0);

        if (n <= 0)
            break;
        assert_int_equal(BIO_write(pair->in, bytes, (int)n), n);
        pulled += (size_t)n;
    }
    pair->pulled += pulled;
    return pulled;
}

void pair_shake(struct pair *pair, size_t piece)
{
    enum io_result result = IO_AGAIN_READ;

    for (int i = 0; i < 10000 && result != IO_DONE; i++) {
        (void)SSL_do_handshake(pair->client);
        (void)pair_push(pair, piece);
        result = tls_handshake(pair->tls);
        if (result != IO_DONE)
            assert_int_equal(result, IO_AGAIN_READ);
        (void)pair_pull(pair, SIZE_MAX);
    }
    assert_int_equal(result, IO_DONE);
    assert_int_equal(tls_flush(pair->tls), IO_DONE); /* tickets */
    (void)pair_pull(pair, SIZE_MAX);
    assert_int_equal(SSL_do_handshake(pair->client), 1);
}

void pair_open(struct pair *pair)
{
    pair_begin(pair);
    pair_shake(pair, SIZE_MAX);
}

void pair_read(struct pair *pair, char *data, size_t *len)
{
    size_t most = *len;
    size_t n;

    (void)pair_pull(pair, SIZE_MAX);
    *len = 0;
    while (*len < most &&
           SSL_read_ex(pair->client, data + *len, most - *len, &n) == 1)
        *len += n;
}

void pair_limit_version(int least, int most)
{
    SSL_CTX_set_min_proto_version(pair_client, least);
    SSL_CTX_set_max_proto_version(pair_client, most);
}

SSL_SESSION *pair_make_session(void)
{
    char text[8];
    size_t len = sizeof(text);
    SSL_SESSION *session;
    struct pair pair;

    pair_open(&pair);
    pair_read(&pair, text, &len); /* tickets come as if they were data */
    session = SSL_get1_session(pair.client);
    (void)SSL_shutdown(pair.client); /* else the session counts as broken */
    pair_end(&pair);
    return session;
}

void pair_begin_again(struct pair *pair, SSL_SESSION *session)
{
    pair_begin(pair);
    assert_int_equal(SSL_set_session(pair->client, session), 1);
    SSL_SESSION_free(session);
}

void pair_begin_direction(struct tls_direction *direction, struct pair *pair,
                          const struct pair_secret *secret, bool seals)
{
    assert_true(tls_direction_init(direction, pair->tls->taken->out.suite,
                                   (struct bytes){(const char *)secret->bytes,
                                                  secret->len},
                                   seals));
}

void pair_say(struct pair *pair, const char *text)
{
    assert_int_equal(SSL_write(pair->client, text, (int)strlen(text)),
                     strlen(text));
    while (pair_push(pair, SIZE_MAX) > 0)
        ;
}
