#include "download.h"

#include <poll.h>
#include <sys/socket.h>
#include <time.h>

#include "secure.h"

enum {
    PATIENCE_MS = 10000,
    DOWNLOADS_MAX = 256,
    SEED = 17,
    READ_BYTES = 1 << 18,
    END_BYTES = 4 /* an empty line */
};

static uint64_t now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

void download_file(size_t size)
{
    site_seeded(printed("%zu", size), SEED, size);
}

void download_files(const size_t *sizes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        download_file(sizes[i]);
}

void download_again(struct download *download, size_t size)
{
    download->size = size;
    download->got = 0;
    download->head_left = END_BYTES;
    download->ended_us = 0;
    download->asked_us = now_us();
    if (!client_say(download->client, "GET /%zu HTTP/1.1\r\nHost: a\r\n\r\n",
                    size))
        flunk("it takes no request for %zu bytes", size);
}

void download_begin(struct download *download, struct client *client,
                    size_t size)
{
    *download = (struct download){.client = client};
    download_again(download, size);
}

/* How many of the bytes belong to the head. */
static size_t skip_head(struct download *download, const char *data, size_t len)
{
    static const char end[] = "\n\r\n\r"; /* from the last to the first */
    size_t at = 0;

    while (at < len && download->head_left > 0) {
        char c = data[at++];

        if (c == end[download->head_left - 1])
            download->head_left--;
        else
            download->head_left = c == '\r' ? END_BYTES - 1 : END_BYTES;
    }
    return at;
}

/* What is thrown away is not copied either, where nobody has to decrypt it. */
static ssize_t receive(const struct download *download, char *data, size_t len)
{
    bool is_thrown_away = download->is_unchecked && download->head_left == 0;
    struct secure *secure = client_secured(download->client);

    return secure ? secure_receive(secure, data, len)
                  : recv(client_socket(download->client), data, len,
                         is_thrown_away ? MSG_TRUNC : 0);
}

/* How much came of its body; 0: nothing more for now. */
static size_t take_in(struct download *download)
{
    static char data[READ_BYTES];
    ssize_t n = receive(download, data, sizeof(data));
    size_t head;
    size_t len;

    if (n == -1 && (errno == EAGAIN || errno == EINTR))
        return 0;
    if (n <= 0)
        flunk("the end, after %zu of %zu bytes", download->got, download->size);
    head = skip_head(download, data, (size_t)n);
    len = (size_t)n - head;
    if (len > download->size - download->got ||
        (!download->is_unchecked &&
         !seeded_is(SEED, download->got, data + head, len)))
        flunk("not the bytes that come after %zu of %zu", download->got,
              download->size);
    download->got += len;
    if (download->head_left == 0 && download->got == download->size)
        download->ended_us = now_us();
    return len;
}

/* Bytes that have left the socket, and were not asked for. */
static bool is_unread(const struct download *download)
{
    const struct secure *secure = client_secured(download->client);

    return !download_has_ended(download) && secure && secure_has_more(secure);
}

static bool has_unread(const struct download *downloads, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (is_unread(&downloads[i]))
            return true;
    return false;
}

size_t downloads_turn(struct download *downloads, size_t count)
{
    struct pollfd ready[DOWNLOADS_MAX];
    size_t bytes = 0;

    assert_in_range(count, 1, DOWNLOADS_MAX);
    for (size_t i = 0; i < count; i++) {
        ready[i].fd = download_has_ended(&downloads[i])
                          ? -1
                          : client_socket(downloads[i].client);
        ready[i].events = POLLIN;
    }
    if (poll(ready, count,
             has_unread(downloads, count) ? 0 : (int)patience(PATIENCE_MS)) <
            1 &&
        !has_unread(downloads, count))
        flunk("nothing comes");
    for (size_t i = 0; i < count; i++)
        if (ready[i].fd != -1 && (ready[i].revents || is_unread(&downloads[i])))
            bytes += take_in(&downloads[i]);
    return bytes;
}

static bool have_ended(const struct download *downloads, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!download_has_ended(&downloads[i]))
            return false;
    return true;
}

size_t downloads_finish(struct download *downloads, size_t count)
{
    size_t bytes = 0;

    while (!have_ended(downloads, count))
        bytes += downloads_turn(downloads, count);
    return bytes;
}
