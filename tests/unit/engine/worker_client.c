#include "unit/engine/worker_client.h"

#include <sys/socket.h>

#include "suite.h"

int worker_client_connect(struct worker *worker)
{
    struct mail mail = {.peer = {.family = ADDRESS_UNIX}};
    int fds[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds),
                     0);
    assert_int_equal(fcntl(fds[0], F_SETFL, O_NONBLOCK), 0);
    mail.fd = fds[0];
    assert_true(worker_give(worker, &mail));
    worker_wake(worker);
    return fds[1];
}
