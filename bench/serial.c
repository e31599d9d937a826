/*
 * serial - a server that serves a session to its end before it takes the next:
 *          what the serial version of one of the originals did.
 *
 *     serial PORT FILE [CALLS]
 *
 * One thread accepts a connection on 127.0.0.1:PORT, answers each request on it
 * with FILE until the client closes, or after CALLS of them, and then accepts
 * the next. A request ends at its empty line; nothing of it is looked at.
 *
 * A measuring stick, not a server: HTTP/1.1 only, no limits, no timeouts: one
 * client that stays stops all others, which is what it is there to show.
 * SIGTERM ends it.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "link/program.h"

#define BACKLOG 4096
#define READ_BYTES (16 * 1024)

static const char empty_line[] = "\r\n\r\n";

static int listen_on(const char *port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET,
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
        .sin_port = htons((uint16_t)strtoul(port, NULL, 10)),
    };
    int on = 1;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 ||
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0 ||
        bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0 ||
        listen(fd, BACKLOG) != 0)
        die("listening");
    return fd;
}

/* False: the client is gone. */
static bool send_file(int fd, int file_fd, off_t bytes, bool is_last)
{
    char head[128];
    int head_bytes =
        snprintf(head, sizeof(head),
                 "HTTP/1.1 200 OK\r\nContent-Length: %lld\r\n%s\r\n",
                 (long long)bytes, is_last ? "Connection: close\r\n" : "");

    if (send(fd, head, (size_t)head_bytes, MSG_MORE) != head_bytes)
        return false;
    for (off_t at = 0; at < bytes;)
        if (sendfile(fd, file_fd, &at, (size_t)(bytes - at)) <= 0)
            return false;
    return true;
}

/* Answers until the client closes, or has asked so often. */
static void serve(int fd, int file_fd, off_t bytes, unsigned long calls)
{
    char read_bytes[READ_BYTES];
    size_t matched = 0; /* of the empty line */
    ssize_t n;

    while ((n = recv(fd, read_bytes, sizeof(read_bytes), 0)) > 0)
        for (ssize_t i = 0; i < n; i++) {
            matched = read_bytes[i] == empty_line[matched] ? matched + 1
                      : read_bytes[i] == '\r'              ? 1
                                                           : 0;
            if (matched < sizeof(empty_line) - 1)
                continue;
            matched = 0;
            calls--;
            if (!send_file(fd, file_fd, bytes, calls == 0) || calls == 0)
                return;
        }
}

int main(int argc, char **argv)
{
    struct stat status;
    int on = 1;
    unsigned long calls = argc == 4 ? strtoul(argv[3], NULL, 10) : ULONG_MAX;
    int file_fd = argc == 3 || argc == 4 ? open(argv[2], O_RDONLY | O_CLOEXEC)
                                         : -1;

    if (file_fd < 0 || fstat(file_fd, &status) != 0)
        die("serial PORT FILE [CALLS]");
    sigaction(SIGPIPE, &(struct sigaction){.sa_handler = SIG_IGN}, NULL);
    for (int listener = listen_on(argv[1]);;) {
        int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

        if (fd < 0)
            die("accept4");
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
        serve(fd, file_fd, status.st_size, calls);
        close(fd);
    }
}
