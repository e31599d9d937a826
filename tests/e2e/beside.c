#include "beside.h"

#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>

#include "child.h"

pid_t kill_after_us(pid_t pid, unsigned us)
{
    pid_t killer = fork();

    if (killer == 0) {
        usleep(us);
        kill(pid, SIGKILL);
        _exit(0);
    }
    assert_true(killer > 0);
    return killer;
}

pid_t serve_beside(unsigned *port_out, void (*answer)(int fd))
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(address);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    pid_t pid;

    assert_int_equal(bind(listener, (struct sockaddr *)&address, len), 0);
    assert_int_equal(listen(listener, 100), 0);
    getsockname(listener, (struct sockaddr *)&address, &len);
    *port_out = ntohs(address.sin_port);
    pid = child_fork();
    if (pid == 0) {
        for (;;) {
            int fd = accept(listener, NULL, NULL);

            answer(fd);
            close(fd);
        }
    }
    close(listener);
    return pid;
}
