#include "unit/engine/link/link_kernel.h"

#include <linux/sock_diag.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <time.h>

#include "wrap.h"

uint32_t in_kernel[FLOWS];
uint32_t in_socket[FLOWS];
struct tcp_info info[FLOWS];
int unsent_max[FLOWS];
uint64_t clock_ns;
unsigned calls;
unsigned looks_local, looks_remote;

WRAP(int, getsockopt, int fd, int level, int name, void *value, socklen_t *len)
{
    uint32_t *memory = value;

    calls++;
    assert_in_range(fd, FD_BASE, FD_BASE + FLOWS - 1);
    if (level == IPPROTO_TCP) {
        assert_int_equal(name, TCP_INFO);
        assert_int_equal(*len, sizeof(info[0]));
        memcpy(value, &info[fd - FD_BASE], sizeof(info[0]));
        looks_remote++;
        return 0;
    }
    assert_int_equal(level, SOL_SOCKET);
    assert_int_equal(name, SO_MEMINFO);
    assert_true(*len >= SK_MEMINFO_VARS * sizeof(*memory));
    memory[SK_MEMINFO_WMEM_ALLOC] = in_kernel[fd - FD_BASE];
    looks_local++;
    return 0;
}

WRAP(int, setsockopt, int fd, int level, int name, const void *value,
     socklen_t len)
{
    calls++;
    assert_in_range(fd, FD_BASE, FD_BASE + FLOWS - 1);
    assert_int_equal(level, IPPROTO_TCP);
    assert_int_equal(name, TCP_NOTSENT_LOWAT);
    assert_int_equal(len, sizeof(unsent_max[0]));
    memcpy(&unsent_max[fd - FD_BASE], value, sizeof(unsent_max[0]));
    return 0;
}

WRAP(int, ioctl, int fd, unsigned long request, ...)
{
    va_list list;
    int *value;

    va_start(list, request);
    value = va_arg(list, int *);
    va_end(list);
    calls++;
    assert_in_range(fd, FD_BASE, FD_BASE + FLOWS - 1);
    assert_int_equal(request, SIOCOUTQNSD);
    *value = (int)in_socket[fd - FD_BASE];
    return 0;
}

/* cmocka measures with it too, on the real clock before the first test. */
WRAP(int, clock_gettime, clockid_t id, struct timespec *time)
{
    if (clock_ns == 0)
        return __real_clock_gettime(id, time);
    calls++;
    time->tv_sec = (time_t)(clock_ns / S_NS);
    time->tv_nsec = (long)(clock_ns % S_NS);
    return 0;
}

/* --- What is tested ------------------------------------------------------ */

struct link_shared shared;
struct link links[WORKERS];
struct link_flow flows[FLOWS];

void open_flow(struct link *link, int number)
{
    struct address peer = {.family = ADDRESS_IPV4,
                           .octets = {192, 0, 2, (uint8_t)number}};

    link_open(link, &flows[number], FD_BASE + number, &peer);
}

void end(void)
{
    for (int i = 0; i < WORKERS; i++)
        link_fini(&links[i]);
    link_shared_fini(&shared);
}

void begin(enum link_mode mode, uint64_t rate, size_t workers)
{
    end();
    assert_int_equal(link_shared_init(&shared, mode, rate, workers), 0);
    for (size_t i = 0; i < workers; i++)
        assert_int_equal(link_init(&links[i], &shared, i), 0);
    memset(info, 0, sizeof(info));
    for (size_t i = 0; i < FLOWS; i++) {
        open_flow(&links[i % workers], (int)i);
        in_kernel[i] = in_socket[i] = 0;
        unsent_max[i] = 0;
    }
    calls = looks_local = looks_remote = 0;
}

int set_up(void **state)
{
    (void)state;
    clock_ns = 5000 * S_NS;
    draw_seed = 1;
    begin(LINK_AUTO, 0, 2);
    return 0;
}

int tear_down(void **state)
{
    (void)state;
    end();
    clock_ns = 0;
    return 0;
}

void pass_ns(uint64_t ns)
{
    clock_ns += ns;
}

uint64_t limit(void)
{
    return atomic_load(&shared.limit);
}

uint64_t allow(int number, uint64_t key, uint64_t want)
{
    return link_allow(&links[0], &flows[number], key, want);
}

void hand(int number, uint64_t bytes, uint64_t key)
{
    in_kernel[number] += (uint32_t)bytes;
    link_handed(&links[0], &flows[number], bytes, key, clock_ns / MS_NS);
}

void tick_with(uint32_t queued)
{
    hand(0, 2 * limit(), 5);
    in_kernel[0] = (uint32_t)(2 * limit());
    assert_int_equal(allow(1, 6, 1), 0);
    in_kernel[0] = queued;
    pass_ns(LINK_TICK_NS);
    link_tick(&links[0]);
}

void become_fast(struct link *link, int number)
{
    for (int i = 0; link->is_local; i++) {
        assert_in_range(i, 0, 100000);
        in_kernel[number] = 2 * LINK_LIMIT_MAX;
        link_handed(link, &flows[number], 2 * LINK_LIMIT_MAX, 5,
                    clock_ns / MS_NS);
        while (link_allow(link, &flows[number], 6, 1) > 0)
            pass_ns(LINK_TICK_NS);
        in_kernel[number] = 0;
        pass_ns(LINK_TICK_NS);
        link_tick(link);
    }
}
