#include "process/companion/broker.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

#include "io/listener.h"
#include "process/companion/companion.h"
#include "process/pid_file.h"

struct broker_request {
    uint32_t need;
    char path[PATH_MAX];
};

struct broker_answer {
    int32_t result; /* 0, perhaps together with a descriptor; or -errno */
};

union rights {
    struct cmsghdr header; /* aligns the member `room` */
    char room[CMSG_SPACE(sizeof(int))];
};

enum { SOCKETS_MAX = 16, SOCKET_PATH_MAX = 108 };

/* The data of the broker's process. */
struct table {
    const struct broker *broker; /* has the list of paths */
    struct broker_options options;
    pid_t server;
    /* The sockets that the broker has made, and so may remove. */
    char made[SOCKETS_MAX][SOCKET_PATH_MAX];
};

/* --- What is on the list ------------------------------------------------- */

/* Whether both paths name files in the same directory; compares the texts. */
static bool is_beside(const char *one, const char *other)
{
    const char *slash = strrchr(one, '/');
    size_t len = slash ? (size_t)(slash - one) + 1 : 0;

    return strncmp(one, other, len) == 0 && !strchr(other + len, '/') &&
           other[len] != '\0' && strcmp(other + len, ".") != 0 &&
           strcmp(other + len, "..") != 0;
}

static bool permits(const struct broker_path *listed, enum file_need need,
                    const char *path)
{
    switch (need) {
    case FILE_READ:
    case FILE_APPEND:
        return listed->need == need && strcmp(listed->path, path) == 0;
    case FILE_LISTEN:
        return listed->need == FILE_LISTEN && is_beside(listed->path, path);
    case FILE_NUMBER:
        return listed->need == FILE_PID && strcmp(listed->path, path) == 0;
    case FILE_REMOVE:
        return listed->need == FILE_PID ? strcmp(listed->path, path) == 0
                                        : listed->need == FILE_LISTEN &&
                                              is_beside(listed->path, path);
    case FILE_PID: /* only the server itself may do this, at its start */
    case FILE_PRIVATE:
    case FILE_LISTEN_PRIVATE:
        break;
    }
    return false;
}

static bool is_listed(const struct broker *broker, enum file_need need,
                      const char *path)
{
    for (size_t i = 0; i < broker->count; i++)
        if (broker->paths[i].need == need &&
            strcmp(broker->paths[i].path, path) == 0)
            return true;
    return false;
}

bool broker_serves(const struct broker *broker, enum file_need need,
                   const char *path)
{
    for (size_t i = 0; i < broker->count; i++)
        if (permits(&broker->paths[i], need, path))
            return true;
    return false;
}

/* --- The broker ---------------------------------------------------------- */

static int open_file(const char *path, int flags)
{
    int fd = open(path, flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0640);

    return fd == -1 ? -errno : fd;
}

/* Finds the entry of the socket that the broker has made at `path`, or a free
 * entry if `path` is "". Returns NULL if there is no such entry. */
static char *find_made(struct table *table, const char *path)
{
    for (size_t i = 0; i < SOCKETS_MAX; i++)
        if (strcmp(table->made[i], path) == 0)
            return table->made[i];
    return NULL;
}

/* Whether a socket at `path` is listed or configured. The server's request
 * alone is no reason to make the socket, since an attacker may have taken the
 * server over. */
static bool is_wanted(const struct table *table, const char *path)
{
    const struct broker_options *options = &table->options;

    return is_listed(table->broker, FILE_LISTEN, path) ||
           (options->is_configured &&
            options->is_configured(options->context, path));
}

/* Whether the socket at `path` belongs to another user. Such a socket must stay
 * even if nobody listens there now, since its service may come back. */
static bool is_of_others(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0 && S_ISSOCK(st.st_mode) &&
           st.st_uid != geteuid();
}

static int open_socket(struct table *table, const char *path)
{
    struct listener listener;
    char *remembered = find_made(table, path);
    int err;

    if (!is_wanted(table, path) || is_of_others(path))
        return -EACCES;
    if (!remembered)
        remembered = find_made(table, "");
    if (!remembered)
        return -ENOSPC;
    err = listener_open_unix(&listener, path);
    if (err != 0)
        return err;
    /* the path fits: listener_open_unix() has checked its length */
    memcpy(remembered, path, strlen(path) + 1);
    return listener.fd;
}

/* Writes the server's number into the pid file. Returns 0 or -errno. */
static int write_number(const struct table *table)
{
    return table->options.number_fd == -1
               ? -EACCES
               : pid_file_put(table->options.number_fd, table->server);
}

/* Removes a socket that is listed or that the broker has made, or the listed
 * pid file. Returns 0 or -errno. */
static int remove_file(struct table *table, const char *path)
{
    const struct broker *broker = table->broker;
    char *remembered = find_made(table, path);
    bool is_socket = (remembered || is_listed(broker, FILE_LISTEN, path)) &&
                     !is_of_others(path);
    bool is_pid_file = is_listed(broker, FILE_PID, path);
    struct stat st;
    int err;

    if (lstat(path, &st) == -1)
        return -errno;
    if (!(is_socket && S_ISSOCK(st.st_mode)) &&
        !(is_pid_file && S_ISREG(st.st_mode)))
        return -EACCES;
    if (unlink(path) == -1) {
        err = -errno;
        if (is_pid_file && table->options.number_fd != -1)
            pid_file_empty(table->options.number_fd, table->server);
        return err;
    }
    if (remembered)
        *remembered = '\0';
    return 0;
}

static int obey(struct table *table, const struct broker_request *request)
{
    enum file_need need = (enum file_need)request->need;

    if (!broker_serves(table->broker, need, request->path))
        return -EACCES;
    switch (need) {
    case FILE_READ:
        return open_file(request->path, O_RDONLY);
    case FILE_APPEND:
        return open_file(request->path, O_WRONLY | O_APPEND | O_CREAT);
    case FILE_LISTEN:
        return open_socket(table, request->path);
    case FILE_REMOVE:
        return remove_file(table, request->path);
    case FILE_NUMBER:
        return write_number(table);
    case FILE_PID:
    case FILE_PRIVATE:
    case FILE_LISTEN_PRIVATE:
        break;
    }
    return -EACCES;
}

/* Sends an answer, with the descriptor `fd` unless it is -1. Returns false if
 * the answer could not be sent. */
static bool send_answer(int to, int result, int fd)
{
    struct broker_answer answer = {.result = result};
    union rights rights = {.room = {0}};
    struct iovec data = {.iov_base = &answer, .iov_len = sizeof(answer)};
    struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1};

    if (fd != -1) {
        rights.header.cmsg_level = SOL_SOCKET;
        rights.header.cmsg_type = SCM_RIGHTS;
        rights.header.cmsg_len = CMSG_LEN(sizeof(fd));
        memcpy(CMSG_DATA(&rights.header), &fd, sizeof(fd));
        message.msg_control = rights.room;
        message.msg_controllen = sizeof(rights.room);
    }
    return sendmsg(to, &message, MSG_NOSIGNAL) == sizeof(answer);
}

static bool gives_file(uint32_t need)
{
    return need != FILE_REMOVE && need != FILE_NUMBER;
}

static _Noreturn void run(struct table *table, int end)
{
    struct broker_request request;
    ssize_t len;

    companion_settle(end, table->options.number_fd, "sprintd-broker",
                     table->server);
    while ((len = recv(end, &request, sizeof(request), 0)) > 0) {
        bool is_whole = (size_t)len > offsetof(struct broker_request, path) &&
                        ((char *)&request)[len - 1] == '\0';
        int result = is_whole ? obey(table, &request) : -EPROTO;
        int fd = result >= 0 && gives_file(request.need) ? result : -1;

        if (!send_answer(end, result < 0 ? result : 0, fd))
            break;
        if (fd != -1)
            close(fd);
    }
    _exit(EX_OK);
}

/* --- The server's side --------------------------------------------------- */

/* Reads the broker's answer. Returns the descriptor that came with the answer,
 * 0 for success without a descriptor, or -errno. */
static int receive_answer(int from)
{
    struct broker_answer answer;
    union rights rights;
    struct iovec data = {.iov_base = &answer, .iov_len = sizeof(answer)};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = rights.room,
                             .msg_controllen = sizeof(rights.room)};
    const struct cmsghdr *header;
    ssize_t got;
    int fd;

    do
        got = recvmsg(from, &message, MSG_CMSG_CLOEXEC);
    while (got == -1 && errno == EINTR);
    if (got != sizeof(answer))
        return got == -1 ? -errno : -EPIPE;
    if (message.msg_flags & MSG_CTRUNC)
        return -EMFILE; /* this process had no room for the descriptor */
    header = CMSG_FIRSTHDR(&message);
    if (!header)
        return answer.result;
    memcpy(&fd, CMSG_DATA(header), sizeof(fd));
    return fd;
}

static int ask(void *context, enum file_need need, const char *path)
{
    struct broker *broker = context;
    struct broker_request request = {.need = need};
    size_t size = strlen(path) + 1;
    int result;

    if (!broker_serves(broker, need, path))
        return -EACCES;
    if (size > sizeof(request.path))
        return -ENAMETOOLONG;
    memcpy(request.path, path, size);
    size += offsetof(struct broker_request, path);
    pthread_mutex_lock(&broker->mutex);
    result = send(broker->fd, &request, size, MSG_NOSIGNAL) == -1
                 ? -errno
                 : receive_answer(broker->fd);
    pthread_mutex_unlock(&broker->mutex);
    return result;
}

int broker_open(struct broker *broker, const struct broker_options *options)
{
    struct file_broker asked = {.open = ask, .context = broker};
    struct table table = {
        .broker = broker, .options = *options, .server = getpid()};
    size_t size = options->count * sizeof(*options->paths);
    int ends[2];
    int err;

    *broker = (struct broker){.fd = -1};
    if (options->count == 0)
        return 0;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == -1)
        return -errno;
    broker->paths = malloc(size);
    if (!broker->paths) {
        err = -ENOMEM;
        goto close_ends;
    }
    memcpy(broker->paths, options->paths, size);
    broker->count = options->count;
    fflush(NULL);
    broker->pid = fork();
    if (broker->pid == 0)
        run(&table, ends[1]);
    if (broker->pid == -1) {
        err = -errno;
        goto free_paths;
    }
    close(ends[1]);
    pthread_mutex_init(&broker->mutex, NULL);
    broker->fd = ends[0];
    file_broker_set(&asked);
    return 0;

free_paths:
    free(broker->paths);
close_ends:
    close(ends[0]);
    close(ends[1]);
    *broker = (struct broker){.fd = -1};
    return err;
}

void broker_close(struct broker *broker)
{
    if (broker->pid <= 0)
        return;
    file_broker_set(NULL);
    close(broker->fd);
    while (waitpid(broker->pid, NULL, 0) == -1 && errno == EINTR)
        ;
    pthread_mutex_destroy(&broker->mutex);
    free(broker->paths);
    *broker = (struct broker){.fd = -1};
}
