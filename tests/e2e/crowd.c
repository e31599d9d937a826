#include "crowd.h"

#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "child.h"

enum { INPUT_MAX = 65536, REQUEST_MAX = 256, TURN_MS = 20, SILENCE_MS = 15000 };

struct member {
    int fd;              /* -1: none */
    unsigned waits;      /* for so many answers */
    size_t request_left; /* of what is to be sent */
    bool ends;           /* an answer said so */
    uint64_t heard_ms;
    size_t len;
    char input[INPUT_MAX];
};

struct shared {
    struct crowd_counts counts;
    atomic_bool is_over;
};

static struct {
    struct crowd_options options;
    struct sockaddr_in address;
    struct member members[CROWD_CLIENTS_MAX];
    char request[REQUEST_MAX];
    size_t request_len;
    struct shared *shared;
    pid_t pid;
} crowd;

/* --- In the crowd's process ---------------------------------------------- */

static void note_failure(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

static void note_failure(const char *format, ...)
{
    struct crowd_counts *counts = &crowd.shared->counts;

    if (atomic_fetch_add(&counts->failed, 1) == 0) {
        va_list list;

        va_start(list, format);
        vsnprintf(counts->why, sizeof(counts->why), format, list);
        va_end(list);
    }
}

static void part(struct member *member)
{
    close(member->fd);
    member->fd = -1;
}

static void join(struct member *member)
{
    const struct sockaddr *to = (const struct sockaddr *)&crowd.address;

    member->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    member->waits = 0;
    member->request_left = member->len = 0;
    member->ends = false;
    member->heard_ms = now_ms();
    if (connect(member->fd, to, sizeof(crowd.address)) == -1) {
        note_failure("connect: %s", strerror(errno));
        part(member);
        pause_ms(10);
        return;
    }
    atomic_fetch_add(&crowd.shared->counts.connected, 1);
}

/* As many as may be under way; a request that is begun is sent whole. */
static void ask_on(struct member *member)
{
    while (!member->ends && member->fd != -1 &&
           (member->request_left > 0 || member->waits < crowd.options.depth)) {
        size_t left = member->request_left ? member->request_left
                                           : crowd.request_len;
        ssize_t sent = send(member->fd,
                            crowd.request + crowd.request_len - left, left,
                            MSG_NOSIGNAL | MSG_DONTWAIT);

        if (sent == -1 && errno == EAGAIN)
            return;
        if (sent == -1) {
            if (member->waits > 0)
                note_failure("send with %u unanswered: %s", member->waits,
                             strerror(errno));
            part(member); /* else it was just ended: not asked yet */
            return;
        }
        if (!member->request_left)
            member->waits++;
        member->request_left = left - (size_t)sent;
    }
}

/* The length of the answer at text, 0: not all there yet. */
static size_t check_answer(struct member *member, const char *text, size_t len)
{
    const char *end = memmem(text, len, "\r\n\r\n", 4);
    size_t body_len = strlen(crowd.options.body);
    size_t head_len;

    if (!end)
        return 0;
    head_len = (size_t)(end + 4 - text);
    if (len - head_len < body_len)
        return 0;
    if (len < 12 || memcmp(text, "HTTP/1.1 200", 12) != 0 ||
        memcmp(end + 4, crowd.options.body, body_len) != 0)
        note_failure("a wrong answer: %.80s", text);
    if (memmem(text, head_len, "Connection: close", 17))
        member->ends = true;
    return head_len + body_len;
}

static void take_answers(struct member *member)
{
    size_t at = 0;
    size_t len = 1;

    while (member->waits > 0 && (len = check_answer(member, member->input + at,
                                                    member->len - at)) > 0) {
        at += len;
        member->waits--;
        atomic_fetch_add(&crowd.shared->counts.answered, 1);
        if (member->ends)
            member->waits = 0; /* those behind it are asked again */
    }
    memmove(member->input, member->input + at, member->len - at);
    member->len -= at;
}

static void hear(struct member *member)
{
    ssize_t got = recv(member->fd, member->input + member->len,
                       sizeof(member->input) - 1 - member->len, MSG_DONTWAIT);

    if (got == -1 && errno == EAGAIN)
        return;
    if (got <= 0) {
        if (member->waits > 0)
            note_failure("%s with %u unanswered, %zu bytes there",
                         got == 0 ? "an end" : strerror(errno), member->waits,
                         member->len);
        part(member);
        return;
    }
    member->heard_ms = now_ms();
    member->len += (size_t)got;
    member->input[member->len] = '\0';
    take_answers(member);
    if (member->ends && member->waits == 0)
        part(member);
}

static void look_at(struct member *member, short events)
{
    if (events)
        hear(member);
    else if (member->waits > 0 &&
             now_ms() - member->heard_ms > patience(SILENCE_MS)) {
        note_failure("no answer to %u", member->waits);
        part(member);
    }
}

static _Noreturn void live(void)
{
    struct pollfd fds[CROWD_CLIENTS_MAX];
    unsigned count = crowd.options.clients;

    for (unsigned i = 0; i < count; i++)
        crowd.members[i].fd = -1;
    while (!atomic_load(&crowd.shared->is_over)) {
        for (unsigned i = 0; i < count; i++) {
            struct member *member = &crowd.members[i];

            if (member->fd == -1)
                join(member);
            ask_on(member);
            fds[i] = (struct pollfd){.fd = member->fd, .events = POLLIN};
        }
        poll(fds, count, TURN_MS);
        for (unsigned i = 0; i < count; i++)
            if (crowd.members[i].fd != -1)
                look_at(&crowd.members[i], fds[i].revents);
    }
    _exit(0);
}

/* --- In the test's ------------------------------------------------------- */

const struct crowd_counts *crowd_begin(const struct server *server,
                                       const struct crowd_options *options)
{
    int len = snprintf(crowd.request, sizeof(crowd.request),
                       "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n",
                       options->target);

    assert_in_range(len, 1, sizeof(crowd.request) - 1);
    assert_in_range(options->clients, 1, CROWD_CLIENTS_MAX);
    assert_in_range(options->depth, 1, CROWD_DEPTH_MAX);
    if (!crowd.shared)
        crowd.shared = mmap(NULL, sizeof(*crowd.shared), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(crowd.shared != MAP_FAILED);
    memset(crowd.shared, 0, sizeof(*crowd.shared));
    crowd.options = *options;
    crowd.request_len = (size_t)len;
    crowd.address = (struct sockaddr_in){
        .sin_family = AF_INET,
        .sin_port = htons((uint16_t)server->port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    crowd.pid = child_fork();
    if (crowd.pid == 0)
        live();
    return &crowd.shared->counts;
}

void crowd_end(unsigned long answered)
{
    crowd_end_despite(answered, 0);
}

void crowd_end_despite(unsigned long answered, unsigned long failed_max)
{
    struct crowd_counts *counts = &crowd.shared->counts;
    bool is_enough = eventually(atomic_load(&counts->answered) >= answered ||
                                    atomic_load(&counts->failed) > failed_max,
                                30000);

    atomic_store(&crowd.shared->is_over, true);
    waitpid(crowd.pid, NULL, 0);
    if (atomic_load(&counts->failed) > failed_max)
        flunk("%lu failures beside %lu answers; the first: %s",
              atomic_load(&counts->failed), atomic_load(&counts->answered),
              counts->why);
    if (!is_enough)
        flunk("only %lu answers", atomic_load(&counts->answered));
}
