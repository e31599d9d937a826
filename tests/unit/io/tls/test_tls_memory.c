#include "unit/tls_pair.h"

/*
 * Allocations that fail, one after the other, in all that the server's end
 * does: it may end the connection, and nothing else.
 */

static long countdown = -1; /* until one fails; below 0: none does */

static void *allocate(size_t len, const char *file, int line)
{
    (void)file;
    (void)line;
    return countdown >= 0 && countdown-- == 0 ? NULL : malloc(len);
}

static void *reallocate(void *old, size_t len, const char *file, int line)
{
    (void)file;
    (void)line;
    return countdown >= 0 && countdown-- == 0 ? NULL : realloc(old, len);
}

static void release(void *old, const char *file, int line)
{
    (void)file;
    (void)line;
    free(old);
}

/* What the server does while its allocations may fail. */
#define FAILING(left, what) \
    do {                    \
        countdown = left;   \
        what;               \
        left = countdown;   \
        countdown = -1;     \
    } while (0)

static bool may_go_on(enum io_result result)
{
    return result != IO_EOF && result != IO_FAILED;
}

/* A whole connection, of which the allocation number at fails. True: it was
 * over before. */
static bool try_failing(long at)
{
    static char data[40000];
    struct iovec part = {data, sizeof(data)};
    enum io_result result = IO_AGAIN_READ;
    struct pair pair;
    size_t len;

    pair_begin(&pair);
    tls_destroy(pair.tls);
    FAILING(at, pair.tls = tls_accept(pair_buffers, pair_context, pair.fd));
    for (int i = 0; i < 10 && pair.tls && result == IO_AGAIN_READ; i++) {
        (void)SSL_do_handshake(pair.client);
        (void)pair_push(&pair, SIZE_MAX);
        FAILING(at, result = tls_handshake(pair.tls));
        (void)pair_pull(&pair, SIZE_MAX);
    }
    if (pair.tls && result == IO_DONE && SSL_do_handshake(pair.client) == 1) {
        assert_int_equal(SSL_write(pair.client, "hello", 5), 5);
        (void)pair_push(&pair, SIZE_MAX);
        FAILING(at, result = tls_receive(pair.tls, data, 100, &len));
        if (may_go_on(result))
            FAILING(at, result = tls_send(pair.tls, &part, 1, false, &len));
        if (may_go_on(result))
            FAILING(at, result = tls_shut_down(pair.tls));
    }
    tls_destroy(pair.tls);
    pair.tls = NULL;
    pair_end(&pair);
    return at >= 0;
}

TEST(a_connection_survives_or_ends_whichever_allocation_fails)
{
    long at = 0;
    struct pair pair;

    pair_open(&pair); /* what is made once is there */
    pair_end(&pair);
    while (!try_failing(at))
        at++;
    assert_true(at > 100);
    pair_open(&pair); /* others are as well as before */
    pair_end(&pair);
}

static int begin(void **state)
{
    return CRYPTO_set_mem_functions(allocate, reallocate, release) == 1
               ? pair_set_up(state)
               : -1;
}

SUITE(.begin = begin, .end = pair_tear_down);
