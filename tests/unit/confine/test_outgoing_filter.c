#include "confine/outgoing_filter.h"

#include <sys/socket.h>

#include "confine/sandbox.h"
#include "suite.h"
#include "unit/confine/enclosed.h"

static bool is_refused(long result)
{
    return result == -1 && errno == EPERM;
}

static int connect_only(void)
{
    int ends[2];

    if (outgoing_filter_enter() != 0)
        return 1;
    if (!is_refused(execl("/bin/true", "true", (char *)NULL)) ||
        !is_refused(listen(0, 1)))
        return 2;
    return socket(AF_INET, SOCK_STREAM, 0) != -1 &&
                   socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0
               ? 0
               : 3;
}

TEST(a_process_that_connects_does_nothing_else)
{
    if (!sandbox_is_built_in())
        skip();
    assert_int_equal(enclosed(connect_only), 0);
}

static int open_unix_socket(void)
{
    if (outgoing_filter_enter() != 0)
        return 1;
    return is_refused(socket(AF_UNIX, SOCK_STREAM, 0)) == (geteuid() == 0) ? 0
                                                                           : 2;
}

TEST(services_at_unix_sockets_are_out_of_roots_reach)
{
    if (!sandbox_is_built_in())
        skip();
    assert_int_equal(enclosed(open_unix_socket), 0);
}
