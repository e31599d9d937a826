
#include "suite.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "io/transport.h"
#include "unit/place.h"

/* A connection over TCP: ours, and the client's end of it. */
struct pair {
    struct transport transport;
    int client;
};

static int set_up(void **state)
{
    static struct pair pair;
    struct sockaddr_in any = {.sin_family = AF_INET,
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(any);
    int listening = socket(AF_INET, SOCK_STREAM, 0);

    assert_int_equal(bind(listening, (struct sockaddr *)&any, len), 0);
    assert_int_equal(listen(listening, 1), 0);
    assert_int_equal(getsockname(listening, (struct sockaddr *)&any, &len), 0);
    pair.client = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(pair.client, (struct sockaddr *)&any, len), 0);
    transport_open(&pair.transport,
                   accept4(listening, NULL, NULL, SOCK_NONBLOCK));
    assert_true(pair.transport.fd >= 0);
    close(listening);
    *state = &pair;
    return 0;
}

static int tear_down(void **state)
{
    struct pair *pair = *state;

    if (pair->transport.fd != -1)
        transport_close(&pair->transport, false);
    if (pair->client != -1)
        close(pair->client);
    return 0;
}

static void say(const struct pair *pair, const char *text)
{
    assert_int_equal(send(pair->client, text, strlen(text), 0), strlen(text));
}

static void expect(const struct pair *pair, const char *text)
{
    char heard[64] = "";

    assert_int_equal(recv(pair->client, heard, strlen(text), MSG_WAITALL),
                     strlen(text));
    assert_string_equal(heard, text);
}

/* Packets on the loopback are there a moment after they were sent. */
static enum transport_peer look_until(const struct pair *pair,
                                      enum transport_peer wanted)
{
    enum transport_peer seen = transport_look(&pair->transport);

    for (unsigned i = 0; i < 1000 && seen != wanted; i++) {
        usleep(1000);
        seen = transport_look(&pair->transport);
    }
    return seen;
}

TEST(bytes_are_received_as_they_come)
{
    const struct pair *pair = *state;
    char data[16];
    size_t len;

    assert_int_equal(transport_receive(&pair->transport, data, sizeof(data),
                                       &len),
                     IO_AGAIN_READ);
    assert_int_equal(len, 0);
    say(pair, "hello");
    assert_int_equal(look_until(pair, TRANSPORT_PEER_SPEAKS),
                     TRANSPORT_PEER_SPEAKS);
    assert_true(transport_has_bytes(&pair->transport));
    assert_int_equal(transport_receive(&pair->transport, data, sizeof(data),
                                       &len),
                     IO_DONE);
    assert_int_equal(len, 5);
    assert_memory_equal(data, "hello", 5);
    assert_false(transport_has_bytes(&pair->transport));
}

TEST(parts_leave_in_order_and_a_full_socket_says_so)
{
    const struct pair *pair = *state;
    static char much[1 << 20];
    struct iovec parts[] = {{(void *)(uintptr_t) "head ", 5},
                            {(void *)(uintptr_t) "body", 4}};
    struct iovec one = {much, sizeof(much)};
    enum io_result result;
    size_t len;

    assert_int_equal(transport_send(&pair->transport, parts, 2, false, &len),
                     IO_DONE);
    assert_int_equal(len, 9);
    expect(pair, "head body");
    assert_int_equal(transport_send(&pair->transport, parts, 1, false, &len),
                     IO_DONE);
    expect(pair, "head ");
    do
        result = transport_send(&pair->transport, &one, 1, true, &len);
    while (result == IO_DONE);
    assert_int_equal(result, IO_AGAIN_WRITE);
    assert_int_equal(len, 0);
}

/* Short ones are copied before they are sent, long ones are not. */
TEST(parts_leave_whole_however_long_they_are)
{
    enum { PARTS = 5, MOST = 3000 };
    const struct pair *pair = *state;
    static char text[PARTS * MOST], heard[PARTS * MOST];
    static const size_t lengths[][PARTS] = {
        {1, 1, 1, 1, 1},       {0, 1, 0, 2, 0},    {2044, 1, 1, 1, 1},
        {2044, 1, 1, 1, 2},    {1, 2047, 0, 0, 0}, {1, 2047, 1, 0, 0},
        {2048, 0, 0, 0, 1},    {1, 0, 2048, 1, 3}, {3000, 1, 1, 1, 1},
        {300, 300, 300, 3, 3},
    };

    for (size_t i = 0; i < sizeof(text); i++)
        text[i] = (char)(i * 7919 >> 4);
    for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
        struct iovec parts[PARTS];
        size_t bytes = 0, len;

        for (size_t at = 0; at < PARTS; at++) {
            parts[at] = (struct iovec){text + bytes, lengths[i][at]};
            bytes += lengths[i][at];
        }
        assert_int_equal(transport_send(&pair->transport, parts, PARTS,
                                        i % 2 == 0, &len),
                         IO_DONE);
        assert_int_equal(len, bytes);
        assert_int_equal(recv(pair->client, heard, bytes, MSG_WAITALL), bytes);
        assert_memory_equal(heard, text, bytes);
    }
}

TEST(a_range_of_a_file_is_sent_and_its_end_is_told)
{
    const struct pair *pair = *state;
    struct place place;
    size_t len;
    int file;

    assert_int_equal(place_open(&place), 0);
    file = openat(place.fd, "file", O_RDWR | O_CREAT, 0600);
    assert_int_equal(write(file, "0123456789", 10), 10);
    assert_int_equal(transport_send_file(&pair->transport, file, 3, 4, &len),
                     IO_DONE);
    assert_int_equal(len, 4);
    expect(pair, "3456");
    assert_int_equal(transport_send_file(&pair->transport, file, 10, 4, &len),
                     IO_EOF);
    assert_int_equal(len, 0);
    close(file);
    place_close(&place);
}

TEST(a_pipe_is_emptied_into_it)
{
    const struct pair *pair = *state;
    int ends[2];
    size_t len;

    assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
    assert_int_equal(write(ends[1], "piped", 5), 5);
    assert_int_equal(transport_splice(&pair->transport, ends[0], 5, false,
                                      &len),
                     IO_DONE);
    assert_int_equal(len, 5);
    expect(pair, "piped");
    close(ends[0]);
    close(ends[1]);
}

TEST(an_end_behind_unread_bytes_is_seen)
{
    struct pair *pair = *state;
    char data[8];
    size_t len;

    assert_int_equal(transport_look(&pair->transport), TRANSPORT_PEER_SILENT);
    say(pair, "x");
    assert_int_equal(shutdown(pair->client, SHUT_WR), 0);
    assert_int_equal(look_until(pair, TRANSPORT_PEER_ENDED),
                     TRANSPORT_PEER_ENDED);
    assert_int_equal(transport_receive(&pair->transport, data, sizeof(data),
                                       &len),
                     IO_DONE);
    assert_int_equal(transport_receive(&pair->transport, data, sizeof(data),
                                       &len),
                     IO_EOF);
}

TEST(a_reset_behind_unread_bytes_is_seen)
{
    struct pair *pair = *state;
    struct transport client = {.fd = pair->client};
    struct iovec word = {(void *)(uintptr_t) "late", 4};
    size_t len;

    say(pair, "x");
    transport_close(&client, true);
    pair->client = client.fd;
    assert_int_equal(look_until(pair, TRANSPORT_PEER_BROKEN),
                     TRANSPORT_PEER_BROKEN);
    assert_int_equal(transport_send(&pair->transport, &word, 1, false, &len),
                     IO_FAILED);
    assert_int_equal(transport_shut_down(&pair->transport), IO_FAILED);
}

TEST(shutting_down_leaves_the_other_way_open)
{
    const struct pair *pair = *state;
    char data[8];
    size_t len;

    assert_int_equal(transport_shut_down(&pair->transport), IO_DONE);
    assert_int_equal(recv(pair->client, data, sizeof(data), 0), 0);
    say(pair, "still");
    while (!transport_has_bytes(&pair->transport))
        usleep(100);
    assert_int_equal(transport_receive(&pair->transport, data, sizeof(data),
                                       &len),
                     IO_DONE);
    assert_int_equal(len, 5);
}

/* The last, as it is never taken back. */
TEST(what_is_mapped_is_looked_at_by_the_kernel_alone)
{
    struct pair *pair = *state;
    int file = memfd_create("x", MFD_CLOEXEC);
    struct iovec parts[2] = {{(void *)(uintptr_t) "head", 4}, {NULL, 100}};
    size_t len;

    assert_int_equal(ftruncate(file, 100), 0);
    parts[1].iov_base = mmap(NULL, 100, PROT_READ, MAP_SHARED, file, 0);
    assert_true(parts[1].iov_base != MAP_FAILED);
    transport_expect_mappings();
    assert_int_equal(ftruncate(file, 0), 0);
    /* No SIGBUS. What stands before it may be sent. */
    if (transport_send(&pair->transport, parts, 2, false, &len) == IO_DONE)
        assert_in_range(len, 1, 4);
    munmap(parts[1].iov_base, 100);
    close(file);
}

SUITE(.each_begin = set_up, .each_end = tear_down);
