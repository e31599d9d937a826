#include "process/companion/companion.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sysexits.h>

#include "suite.h"
#include "unit/confine/enclosed.h"
#include "unit/place.h"

static int settled(void)
{
    char name[16] = "";
    int leftover = open("/dev/null", O_RDONLY);
    int kept = open("/dev/null", O_RDONLY);
    int number = 0;

    companion_settle(kept, -1, "sprintd-test", getppid());
    if (fcntl(leftover, F_GETFD) != -1 || fcntl(kept, F_GETFD) == -1)
        return 1;
    for (int fd = 0; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) == -1)
            return 2;
    prctl(PR_GET_NAME, name);
    if (strcmp(name, "sprintd-test") != 0)
        return 3;
    prctl(PR_GET_PDEATHSIG, &number);
    if (number != SIGKILL)
        return 4;
    raise(SIGTERM);
    raise(SIGUSR2);
    return 0;
}

TEST(it_has_one_descriptor_and_heeds_no_signal)
{
    assert_int_equal(enclosed(settled), 0);
}

static int orphaned(void)
{
    companion_settle(0, -1, "sprintd-test", getpid());
    return 1;
}

TEST(without_its_server_it_ends)
{
    assert_int_equal(enclosed(orphaned), EX_OK);
}
