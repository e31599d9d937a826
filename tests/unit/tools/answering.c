#include "unit/tools/answering.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>

#include "child.h"

static void answering_serve(int client, int requests, enum answering_way way,
                            const char *answer)
{
    char text[4096];
    size_t len = 0;

    while (len < sizeof(text) - 1) {
        ssize_t got = read(client, text + len, sizeof(text) - 1 - len);

        if (got <= 0)
            return;
        len += (size_t)got;
        text[len] = '\0';
        if (strstr(text, "\r\n\r\n"))
            break;
    }
    if (write(requests, text, len) != (ssize_t)len)
        _exit(EXIT_FAILURE);
    while (way == ANSWERING_MUTE)
        pause();
    if (write(client, answer, strlen(answer)) == -1)
        return;
    memset(text, 'a', sizeof(text));
    while (way == ANSWERING_ENDLESS && write(client, text, sizeof(text)) > 0)
        ;
}

struct answering answering_open_at(int listener, enum answering_way way,
                                   const char *answer)
{
    struct answering answering = {0};
    int ends[2];

    assert_int_equal(listen(listener, 16), 0);
    assert_int_equal(pipe(ends), 0);
    answering.process = child_fork();
    if (answering.process == 0) {
        sigaction(SIGPIPE, &(struct sigaction){.sa_handler = SIG_IGN}, NULL);
        for (;;) {
            int client = accept(listener, NULL, NULL);

            if (client == -1)
                _exit(EXIT_FAILURE);
            answering_serve(client, ends[1], way, answer);
            close(client);
            if (way == ANSWERING_FIRST)
                way = ANSWERING_MUTE;
        }
    }
    close(ends[1]);
    close(listener);
    answering.requests = ends[0];
    return answering;
}

int answering_bind(int *port_out)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, len), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
    *port_out = ntohs(address.sin_port);
    return fd;
}

struct answering answering_open(enum answering_way way, const char *answer)
{
    int port;
    int listener = answering_bind(&port);
    struct answering answering = answering_open_at(listener, way, answer);

    answering.port = port;
    return answering;
}

void answering_close(struct answering *answering)
{
    kill(answering->process, SIGKILL);
    assert_int_equal(waitpid(answering->process, NULL, 0), answering->process);
    close(answering->requests);
}

const char *answering_url(int port, const char *path)
{
    static char url[256];

    snprintf(url, sizeof(url), "http://127.0.0.1:%d%s", port, path);
    return url;
}
