/* link: -Wl,--wrap=send */
#include "unit/tls_pair.h"
#include "wrap.h"

enum { PIECE_BYTES = 100 };

static int narrow_fd = -1; /* takes no more at a time */

WRAP(ssize_t, send, int fd, const void *data, size_t len, int flags)
{
    if (fd == narrow_fd && len > PIECE_BYTES)
        len = PIECE_BYTES;
    return __real_send(fd, data, len, flags);
}

/* A client says nothing before it has heard all: who waited for it would wait
 * until the time is over. */
TEST(a_handshake_of_which_the_socket_takes_little_goes_on)
{
    enum io_result result = IO_AGAIN_READ;
    unsigned waits = 0;
    struct pair pair;

    pair_begin(&pair);
    narrow_fd = pair.fd;
    for (int i = 0; i < 1000 && result != IO_DONE; i++) {
        (void)SSL_do_handshake(pair.client);
        if (pair_push(&pair, SIZE_MAX) == 0)
            assert_int_equal(result, IO_AGAIN_WRITE);
        result = tls_handshake(pair.tls);
        waits += result == IO_AGAIN_WRITE;
        (void)pair_pull(&pair, SIZE_MAX);
    }
    assert_int_equal(result, IO_DONE);
    assert_true(waits > 3);
    narrow_fd = -1;
    pair_end(&pair);
}

SUITE(.begin = pair_set_up, .end = pair_tear_down);
