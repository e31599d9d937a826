#include "engine/refusal.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

/* What the client has sent is read first, so that closing does not reset the
 * connection before the answer is seen. */
void refusal_send(int fd)
{
    static const char busy[] = "HTTP/1.1 503 Service Unavailable\r\n"
                               "Retry-After: 1\r\n"
                               "Content-Length: 0\r\n"
                               "Connection: close\r\n\r\n";
    char discard[16384];

    if (recv(fd, discard, sizeof(discard), MSG_DONTWAIT) != -1 ||
        errno == EAGAIN)
        send(fd, busy, sizeof(busy) - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    shutdown(fd, SHUT_WR);
    close(fd);
}
