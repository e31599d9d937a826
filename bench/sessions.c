/*
 * sessions - clients that ask one request after the other, and how long each
 * of them took.
 *
 *     sessions ADDRESS:PORT REQUESTS RESULTS
 *
 * A line of REQUESTS is one request: whose it is (a session's number, from 0),
 * method, path, how many bytes its body has, and the reply's status and body's
 * bytes as they ought to be. Each session has a connection that it keeps, and
 * sends its next request when the last one is answered: nobody pipelines, and
 * nobody thinks in between. All begin when all are connected.
 *
 * A line of RESULTS (CSV, in the order of REQUESTS) tells the session's port
 * and the request's number on its connection, by which the server's log finds
 * it; when it began, in µs from the start of all; and in ns: how long the
 * send() took; how long the reply's last bytes lay in our socket, by the
 * kernel's time stamp (-1: there was none); how long all took. And the outcome:
 * "ok", or what went wrong. A connection that fails is not opened again: what
 * its session had still to ask is "unasked". All that takes longer than
 * RUN_S_MAX is a timeout.
 *
 * One thread has all sessions, so a reply may wait for its turn here as well;
 * that is in the time in our socket.
 */
#include "link/program.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define SESSIONS_MAX 256
#define REQUESTS_MAX 1000000
#define PATH_BYTES 64
#define METHOD_BYTES 8
#define BODY_MAX 16384
#define HEAD_MAX 4096
#define RUN_S_MAX 60

enum outcome {
    OUTCOME_UNASKED,
    OUTCOME_OK,
    OUTCOME_STATUS,
    OUTCOME_LENGTH,
    OUTCOME_RESET,
    OUTCOME_TIMEOUT,
};

static const char *const outcome_names[] = {
    [OUTCOME_UNASKED] = "unasked", [OUTCOME_OK] = "ok",
    [OUTCOME_STATUS] = "status",   [OUTCOME_LENGTH] = "length",
    [OUTCOME_RESET] = "reset",     [OUTCOME_TIMEOUT] = "timeout",
};

struct request {
    unsigned session;
    char method[METHOD_BYTES];
    char path[PATH_BYTES];
    size_t body_bytes;
    long status;
    size_t reply_bytes;
    unsigned number; /* on its connection, from 1 */
    int64_t begun_ns;
    int64_t sent_ns; /* these three as in RESULTS */
    int64_t lay_ns;
    int64_t took_ns;
    enum outcome outcome;
    struct request *next; /* of the same session */
};

struct session {
    int fd;
    in_port_t port;
    unsigned asked;
    struct request *request; /* under way, or NULL: no more */
    struct request *last;    /* while they are read */
    size_t bytes;            /* of the reply, so far */
    char reply[HEAD_MAX + BODY_MAX + 1];
};

struct client {
    int epoll_fd;
    struct request *requests;
    size_t count;
    unsigned running; /* sessions with a request under way */
    struct session sessions[SESSIONS_MAX];
};

static void load(struct client *client, const char *path)
{
    FILE *file = fopen(path, "r");
    int found;

    client->requests = calloc(REQUESTS_MAX, sizeof(*client->requests));
    if (!file || !client->requests)
        die(path);
    errno = EINVAL; /* what is wrong with a line */
    for (;;) {
        struct request *request = &client->requests[client->count];
        struct session *session;

        if (client->count == REQUESTS_MAX)
            die(path);
        found = fscanf(file, "%u %7s %63s %zu %ld %zu", &request->session,
                       request->method, request->path, &request->body_bytes,
                       &request->status, &request->reply_bytes);
        if (found == EOF)
            break;
        if (found != 6 || request->session >= SESSIONS_MAX ||
            request->body_bytes > BODY_MAX || request->reply_bytes > BODY_MAX)
            die(path);
        session = &client->sessions[request->session];
        if (session->last)
            session->last->next = request;
        else
            session->request = request;
        session->last = request;
        client->count++;
    }
    fclose(file);
}

static void save(const struct client *client, int64_t zero_ns, const char *path)
{
    FILE *file = fopen(path, "w");

    if (!file)
        die(path);
    fprintf(file, "port,number,begun_us,sent_ns,lay_ns,took_ns,outcome\n");
    for (size_t i = 0; i < client->count; i++) {
        const struct request *request = &client->requests[i];

        fprintf(file,
                "%u,%u,%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%s\n",
                client->sessions[request->session].port, request->number,
                (request->begun_ns - zero_ns) / NS_PER_US, request->sent_ns,
                request->lay_ns, request->took_ns,
                outcome_names[request->outcome]);
    }
    if (fclose(file) == EOF)
        die(path);
}

/* The session's connection is no good any more. */
static void end_session(struct client *client, struct session *session,
                        enum outcome outcome)
{
    session->request->outcome = outcome;
    session->request = NULL;
    close(session->fd);
    client->running--;
}

/* Sends the session's request. It always fits: the socket is empty. */
static void ask(struct client *client, struct session *session)
{
    static char text[HEAD_MAX + BODY_MAX];
    struct request *request = session->request;
    ssize_t sent;
    int head_bytes;
    size_t bytes;

    head_bytes = snprintf(text, HEAD_MAX,
                          "%s %s HTTP/1.1\r\nHost: localhost\r\n"
                          "Content-Length: %zu\r\n\r\n",
                          request->method, request->path, request->body_bytes);
    bytes = (size_t)head_bytes + request->body_bytes;
    memset(text + head_bytes, 'v', request->body_bytes);
    session->bytes = 0;
    request->number = ++session->asked;
    request->begun_ns = now_ns();
    sent = send(session->fd, text, bytes, MSG_NOSIGNAL);
    request->sent_ns = now_ns() - request->begun_ns;
    if (sent != (ssize_t)bytes)
        end_session(client, session, OUTCOME_RESET);
}

/* How long ago the kernel got the bytes that were just read; -1: unknown. */
static int64_t lay_ns(struct msghdr *message)
{
    struct cmsghdr *control = CMSG_FIRSTHDR(message);
    struct timespec now;
    struct timespec then;

    clock_gettime(CLOCK_REALTIME, &now); /* which the stamps are by */
    for (; control; control = CMSG_NXTHDR(message, control)) {
        if (control->cmsg_level == SOL_SOCKET &&
            control->cmsg_type == SCM_TIMESTAMPNS) {
            memcpy(&then, CMSG_DATA(control), sizeof(then));
            return (now.tv_sec - then.tv_sec) * NS_PER_S + now.tv_nsec -
                   then.tv_nsec;
        }
    }
    return -1;
}

/* Whether all of the reply is there; and if so, whether it is right. */
static bool is_whole(const struct session *session, enum outcome *outcome_out)
{
    const char *end = strstr(session->reply, "\r\n\r\n");
    const char *field = strstr(session->reply, "\r\nContent-Length: ");
    size_t body_bytes;

    if (!end)
        return false;
    body_bytes = field && field < end
                     ? strtoul(strchr(field, ':') + 1, NULL, 10)
                     : 0;
    if (session->bytes < (size_t)(end + 4 - session->reply) + body_bytes)
        return false;
    *outcome_out = OUTCOME_OK;
    if (body_bytes != session->request->reply_bytes)
        *outcome_out = OUTCOME_LENGTH;
    if (strtol(session->reply + strcspn(session->reply, " "), NULL, 10) !=
        session->request->status)
        *outcome_out = OUTCOME_STATUS;
    return true;
}

static void on_readable(struct client *client, struct session *session)
{
    char control[128];
    struct iovec room = {
        .iov_base = session->reply + session->bytes,
        .iov_len = sizeof(session->reply) - 1 - session->bytes,
    };
    struct msghdr message = {.msg_iov = &room,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof(control)};
    struct request *request = session->request;
    ssize_t n = recvmsg(session->fd, &message, MSG_DONTWAIT);
    int64_t now = now_ns();

    if (n == -1 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) { /* it has ended, or the reply is too long */
        end_session(client, session, OUTCOME_RESET);
        return;
    }
    session->bytes += (size_t)n;
    session->reply[session->bytes] = '\0';
    if (!is_whole(session, &request->outcome))
        return;
    request->lay_ns = lay_ns(&message);
    request->took_ns = now - request->begun_ns;
    session->request = request->next;
    if (session->request)
        ask(client, session);
    else
        client->running--;
}

static void open_session(struct client *client, struct session *session,
                         const struct sockaddr_in *server)
{
    const int on = 1;
    struct sockaddr_in local;
    socklen_t local_bytes = sizeof(local);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = session};

    session->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (session->fd == -1 ||
        connect(session->fd, (const struct sockaddr *)server,
                sizeof(*server)) == -1 ||
        getsockname(session->fd, (struct sockaddr *)&local, &local_bytes) ==
            -1 ||
        setsockopt(session->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) ==
            -1 ||
        setsockopt(session->fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on)) ==
            -1 ||
        epoll_ctl(client->epoll_fd, EPOLL_CTL_ADD, session->fd, &event) == -1)
        die("connect");
    session->port = ntohs(local.sin_port);
    client->running++;
}

/* Returns when it began. */
static int64_t run(struct client *client)
{
    struct epoll_event events[SESSIONS_MAX];
    int64_t zero_ns = now_ns();
    int64_t end_ns = zero_ns + (int64_t)RUN_S_MAX * NS_PER_S;

    for (size_t i = 0; i < SESSIONS_MAX; i++) {
        if (client->sessions[i].request)
            ask(client, &client->sessions[i]);
    }
    while (client->running > 0 && now_ns() < end_ns) {
        int count = epoll_wait(client->epoll_fd, events, SESSIONS_MAX, 1000);

        if (count == -1 && errno != EINTR)
            die("epoll_wait");
        for (int i = 0; i < count; i++) {
            struct session *session = events[i].data.ptr;

            if (session->request)
                on_readable(client, session);
        }
    }
    for (size_t i = 0; i < SESSIONS_MAX; i++) {
        if (client->sessions[i].request)
            client->sessions[i].request->outcome = OUTCOME_TIMEOUT;
    }
    return zero_ns;
}

/* The port is cut off from where. */
static struct sockaddr_in read_address(char *where)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    char *colon = strchr(where, ':');

    errno = EINVAL;
    if (!colon)
        die(where);
    address.sin_port = htons((uint16_t)strtoul(colon + 1, NULL, 10));
    *colon = '\0';
    if (inet_pton(AF_INET, where, &address.sin_addr) != 1)
        die(where);
    return address;
}

int main(int argc, char **argv)
{
    static struct client client;
    struct sockaddr_in server;

    if (argc != 4) {
        fprintf(stderr, "usage: sessions ADDRESS:PORT REQUESTS RESULTS\n");
        return EXIT_FAILURE;
    }
    server = read_address(argv[1]);
    load(&client, argv[2]);
    client.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (client.epoll_fd == -1)
        die("epoll_create1");
    for (size_t i = 0; i < SESSIONS_MAX; i++) {
        if (client.sessions[i].request)
            open_session(&client, &client.sessions[i], &server);
    }
    save(&client, run(&client), argv[3]);
    return EXIT_SUCCESS;
}
