#include "unit/engine/sender_fixture.h"

#include <sys/sendfile.h>
#include <sys/socket.h>

#include "wrap.h"

/* --- System calls that do less, or fail ---------------------------------- */

size_t room = ENDLESS;
int failure;
int last_flags;
size_t last_bytes;
unsigned calls;

size_t admit(size_t bytes)
{
    size_t admitted = bytes < room ? bytes : room;

    calls++;
    last_bytes = bytes;
    errno = failure != 0 ? failure : EAGAIN;
    if (failure != 0)
        return 0;
    room -= admitted;
    return admitted;
}

WRAP(ssize_t, sendmsg, int fd, const struct msghdr *message, int flags)
{
    struct iovec parts[GATHERED_MAX];
    struct msghdr less = {.msg_iov = parts, .msg_iovlen = message->msg_iovlen};
    size_t bytes = 0;

    assert_in_range(message->msg_iovlen, 1, GATHERED_MAX);
    last_flags = flags;
    for (size_t i = 0; i < message->msg_iovlen; i++)
        bytes += message->msg_iov[i].iov_len;
    bytes = admit(bytes);
    if (bytes == 0)
        return -1;
    for (size_t i = 0, left = bytes; i < less.msg_iovlen; i++) {
        parts[i] = message->msg_iov[i];
        if (parts[i].iov_len > left)
            parts[i].iov_len = left;
        left -= parts[i].iov_len;
    }
    return __real_sendmsg(fd, &less, flags & ~MSG_MORE);
}

WRAP(ssize_t, sendfile, int to, int from, off_t *offset, size_t count)
{
    count = admit(count);
    return count > 0 ? __real_sendfile(to, from, offset, count) : -1;
}

WRAP(ssize_t, send, int fd, const void *data, size_t len, int flags)
{
    last_flags = flags;
    len = admit(len);
    return len > 0 ? __real_send(fd, data, len, flags) : -1;
}

/* --- A row of responses, and who receives them --------------------------- */

struct place place;
struct sender sender;
static int fds[2]; /* sends, receives */
int file;
struct list row;
struct exchange exchanges[ROW_MAX];
char got[RECEIVED_MAX];
size_t got_len;
bool is_intact = true;
unsigned intact_calls;

static bool ask_intact(void *object)
{
    (void)object;
    intact_calls++;
    return is_intact;
}

static void release_nothing(void *object)
{
    (void)object;
}

const struct origin origin = {ask_intact, release_nothing, &row};

int set_up(void **state)
{
    (void)state;
    room = ENDLESS;
    failure = 0;
    calls = 0;
    got_len = 0;
    is_intact = true;
    intact_calls = 0;
    list_init(&row);
    for (int i = 0; i < ROW_MAX; i++) {
        list_init(&exchanges[i].list_node);
        response_init(&exchanges[i].response, &exchanges[i].room.response);
        exchanges[i].response.persists = true;
        exchanges[i].pending = NULL;
        exchanges[i].is_tunnel = false;
        exchanges[i].sink = NULL;
    }
    sender_init(&sender, QUANTUM);
    if (place_open(&place) != 0 ||
        place_write(&place, "file", "0123456789abcdefghijklmnopqrst") != 0 ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds) != 0)
        return -1;
    file = openat(place.fd, "file", O_RDONLY);
    return file == -1 ? -1 : 0;
}

int tear_down(void **state)
{
    (void)state;
    for (int i = 0; i < ROW_MAX; i++)
        response_fini(&exchanges[i].response);
    sender_fini(&sender);
    close(file);
    close(fds[0]);
    close(fds[1]);
    return place_close(&place);
}

struct response *add(int number)
{
    list_put_last(&row, &exchanges[number].list_node);
    return &exchanges[number].response;
}

void add_text(int number, const char *text)
{
    response_add_memory(add(number), bytes_of(text));
}

uint64_t sent;

enum sender_result step(uint64_t budget)
{
    const struct transport way = {.fd = fds[0]};
    enum sender_result result = sender_step(&sender, &way, &row, budget, &sent);

    assert_true(sent <= budget);
    while (!list_is_empty(&row)) {
        struct exchange *first = OWNER_OF(row.next, struct exchange, list_node);

        if (!exchange_is_done(first))
            break;
        list_drop(&first->list_node);
    }
    return result;
}

void receive(void)
{
    ssize_t n;

    while ((n = recv(fds[1], got + got_len, sizeof(got) - got_len - 1, 0)) > 0)
        got_len += (size_t)n;
    got[got_len] = '\0';
}
