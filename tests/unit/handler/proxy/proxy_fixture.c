#include "unit/handler/proxy/proxy_fixture.h"

#include <arpa/inet.h>
#include <netinet/in.h>

enum { PIPES = 4 };

int listener = -1;
int served = -1;
char seen[1 << 20];
size_t seen_len;
static struct proxy *proxy;
struct proxy_options options;
struct upstream_endpoint server_place;
static struct balance_server server_weight;
struct balance_server_shared server_shared;
struct upstream_counts server_counts;
static struct upstream_shared shared;
static struct resolver *resolver;
struct pipes pipes;
static struct forwarded_trust trust;
static char authority[32];

static int open_listener(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(at);

    listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (listener == -1 || bind(listener, (void *)&at, len) != 0 ||
        listen(listener, 16) != 0 ||
        getsockname(listener, (void *)&at, &len) != 0)
        return -1;
    server_place.port = ntohs(at.sin_port);
    snprintf(authority, sizeof(authority), "127.0.0.1:%u", server_place.port);
    return 0;
}

int start_proxy(void)
{
    struct upstream_loop here = {.loop = loop, .now = &now};
    struct resolver_options names = {.loop = loop, .now = &now};

    if (resolver_create(&resolver, &names) != 0)
        return -1;
    here.resolver = resolver;
    proxy = proxy_create(&options);
    if (!proxy || proxy_start(proxy, &here) != 0)
        return -1;
    sites_options.mounts[0] = (struct mount){
        .prefix = BYTES("/p"), .handler = proxy_handler(proxy), .is_raw = true};
    sites_options.mount_count = 1;
    conn_fixture_fini();
    return conn_fixture_init(SCHED_POLICY_SRPT);
}

void stop_proxy(void)
{
    proxy_destroy(proxy);
    resolver_destroy(resolver);
}

int set_up_proxy(void **state)
{
    seen_len = 0;
    served = -1;
    pipes_init(&pipes, PIPES);
    if (set_up(state) != 0 || open_listener() != 0)
        return -1;
    server_place.unix_path = NULL;
    server_place.host = BYTES("127.0.0.1");
    server_place.authority = bytes_of(authority);
    server_weight = (struct balance_server){.weight = 1};
    memset(&server_shared, 0, sizeof(server_shared));
    memset(&server_counts, 0, sizeof(server_counts));
    shared = (struct upstream_shared){.balance = &server_shared,
                                      .counts = &server_counts};
    options = (struct proxy_options){.upstream = {.endpoints = &server_place,
                                                  .servers = &server_weight,
                                                  .shared = &shared,
                                                  .server_count = 1,
                                                  .connect_ms = 5000,
                                                  .idle_max = 8,
                                                  .idle_ms = 50000,
                                                  .retries_max = 1},
                                     .relay = {.pseudonym = BYTES("sprintd"),
                                               .keeps_host = true,
                                               .upgrade = BYTES("websocket"),
                                               .trust = &trust},
                                     .buffer_bytes = 65536,
                                     .pipes = &pipes,
                                     .reply_ms = 10000,
                                     .idle_ms = 10000,
                                     .tunnel_ms = 100000,
                                     .defaults = &sites_options.cache.defaults};
    return start_proxy();
}

int tear_down_proxy(void **state)
{
    int result;

    conn_set_close_all(&set);
    stop_proxy();
    pipes_fini(&pipes);
    if (served != -1)
        close(served);
    close(listener);
    result = tear_down(state);
    return server_shared.active == 0 ? result : -1;
}

/* --- The server behind --------------------------------------------------- */

const char *hear(void)
{
    size_t before = seen_len;

    for (int i = 0; i < 200 && seen_len == before; i++) {
        int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

        if (fd != -1) {
            if (served != -1)
                close(served);
            served = fd;
        }
        for (ssize_t n = 1; served != -1 && n > 0;) {
            n = recv(served, seen + seen_len, sizeof(seen) - 1 - seen_len, 0);
            if (n > 0)
                seen_len += (size_t)n;
        }
        seen[seen_len] = '\0';
        turn();
        if (seen_len == before)
            usleep(500);
    }
    return seen;
}

void say_bytes(const char *text, size_t len)
{
    while (len > 0) {
        ssize_t n = send(served, text, len, MSG_NOSIGNAL);

        if (n > 0) {
            text += n;
            len -= (size_t)n;
        } else {
            turn();
        }
    }
}

void say(const char *text)
{
    seen_len = 0;
    say_bytes(text, strlen(text));
}

void hang_up(void)
{
    close(served);
    served = -1;
}

const char *await(struct client *client)
{
    for (int i = 0; i < 20; i++) {
        settle(client);
        usleep(500);
    }
    return client->text;
}

void reset(void)
{
    struct linger at_once = {.l_onoff = 1};

    assert_int_equal(setsockopt(served, SOL_SOCKET, SO_LINGER, &at_once,
                                sizeof(at_once)),
                     0);
    hang_up();
}

void pass_there(uint64_t ms)
{
    now.mono_ms += ms + DEADLINE_TICK_MS;
    if (ev_is_active(&proxy->deadlines.timer))
        ev_invoke(loop, &proxy->deadlines.timer, EV_TIMER);
}

void forget(struct client *client)
{
    client->len = 0;
    client->text[0] = '\0';
}
