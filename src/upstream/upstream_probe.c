#include "upstream/upstream_probe.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "upstream/balance_priv.h"
#include "upstream/upstream_probe_priv.h"

#define REQUEST                           \
    "GET %.*s HTTP/1.1\r\nHost: %.*s\r\n" \
    "User-Agent: sprintd\r\nConnection: close\r\n\r\n"

/* --- Rounds --------------------------------------------------------------- */

static void set_timer(struct upstream_prober *prober, uint64_t ms)
{
    struct ev_loop *loop = prober->probe->loop.loop;

    ev_timer_stop(loop, &prober->timer);
    ev_timer_set(&prober->timer, (double)ms / 1000, 0.);
    ev_timer_start(loop, &prober->timer);
}

/* Ends this probe. The next probe begins interval_ms (plus or minus 10 %) after
 * this one began, or at once if that time has passed. */
static void wait_for_next(struct upstream_prober *prober)
{
    const struct upstream_probe *probe = prober->probe;
    uint64_t per_mille = 900 + balance_draw(probe->balance) % 201;
    uint64_t interval_ms = probe->options.interval_ms * per_mille / 1000;
    uint64_t taken_ms = probe->loop.now->mono_ms - prober->begun_ms;

    upstream_prober_close(prober);
    set_timer(prober, interval_ms > taken_ms ? interval_ms - taken_ms : 0);
}

static void judge(struct upstream_prober *prober, bool is_well, const char *why)
{
    const struct upstream_probe *probe = prober->probe;
    struct bytes authority = upstream_prober_place(prober)->authority;

    if (balance_note_probe(probe->balance, prober->server, is_well,
                           probe->loop.now->mono_ms)) {
        if (is_well)
            log_notice("upstream '%.*s' is up: its probes succeed",
                       (int)authority.len, authority.data);
        else
            log_warning("upstream '%.*s' is down: probe: %s",
                        (int)authority.len, authority.data, why);
    }
    wait_for_next(prober);
}

static void begin(struct upstream_prober *prober)
{
    prober->begun_ms = prober->probe->loop.now->mono_ms;
    if (prober->name && resolver_name_state(prober->name) == RESOLVER_ASKING) {
        wait_for_next(prober);
        return;
    }
    set_timer(prober, prober->probe->options.timeout_ms);
    upstream_prober_ask(prober);
}

static void on_timer(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct upstream_prober *prober = timer->data;

    (void)loop;
    (void)events;
    if (prober->transport.fd == -1)
        begin(prober);
    else
        judge(prober, false, "no reply in time");
}

/* Nothing is to be done here: each probe reads the addresses itself. */
static void on_change(void *context, struct resolver_name *name)
{
    (void)context;
    (void)name;
}

/* --- Coming and going ----------------------------------------------------- */

bool upstream_probe_takes_path(struct bytes path)
{
    if (path.len == 0 || path.len > UPSTREAM_PROBE_PATH_MAX ||
        *path.data != '/')
        return false;
    for (size_t i = 0; i < path.len; i++)
        if (path.data[i] <= ' ' || path.data[i] > '~' || path.data[i] == '#')
            return false;
    return true;
}

static bool make_request(struct upstream_prober *prober)
{
    const struct upstream_probe_options *options = &prober->probe->options;
    struct bytes host = options->host;
    size_t size;

    if (host.len == 0)
        host = upstream_prober_place(prober)->authority;
    size = sizeof(REQUEST) + options->path.len + host.len;
    prober->request = malloc(size);
    if (!prober->request)
        return false;
    prober->request_len = (size_t)snprintf(prober->request, size, REQUEST,
                                           (int)options->path.len,
                                           options->path.data, (int)host.len,
                                           host.data);
    return true;
}

static bool make_target(struct upstream_prober *prober,
                        struct tls_connector *tls)
{
    struct bytes name = upstream_prober_place(prober)->tls_name;

    if (name.len > 0)
        prober->tls = tls_target_create(tls, name);
    return prober->tls || name.len == 0;
}

struct upstream_probe *upstream_probe_create(
    const struct upstream_probe_options *options,
    const struct upstream_endpoint *endpoints, size_t count,
    struct balance *balance, struct tls_connector *tls)
{
    struct upstream_probe *probe =
        calloc(1, sizeof(*probe) + count * sizeof(*probe->probers));

    assert(upstream_probe_takes_path(options->path));
    assert(options->interval_ms > 0 && options->timeout_ms > 0);
    if (!probe)
        return NULL;
    probe->options = *options;
    probe->endpoints = endpoints;
    probe->balance = balance;
    probe->count = count;
    for (size_t i = 0; i < count; i++) {
        struct upstream_prober *prober = &probe->probers[i];

        prober->probe = probe;
        prober->server = (int)i;
        transport_open(&prober->transport, -1);
        prober->on_judged = judge;
        prober->on_nothing = wait_for_next;
        ev_init(&prober->timer, on_timer);
        ev_init(&prober->watcher, upstream_prober_on_event);
        prober->timer.data = prober;
        prober->watcher.data = prober;
        if (!make_request(prober) || !make_target(prober, tls)) {
            upstream_probe_destroy(probe);
            return NULL;
        }
    }
    return probe;
}

int upstream_probe_start(struct upstream_probe *probe,
                         const struct upstream_loop *loop)
{
    probe->loop = *loop;
    for (size_t i = 0; i < probe->count; i++) {
        struct upstream_prober *prober = &probe->probers[i];
        const struct upstream_endpoint *endpoint = &probe->endpoints[i];
        int err;

        if (endpoint->unix_path)
            continue;
        err = resolver_name_open(&prober->name, loop->resolver, endpoint->host,
                                 endpoint->port, on_change, NULL);
        if (err != 0)
            return err;
    }
    /* The first probes come soon, because a server may be down already. A
     * random delay keeps them from coming all at once. */
    for (size_t i = 0; i < probe->count; i++)
        set_timer(&probe->probers[i],
                  balance_draw(probe->balance) %
                      (probe->options.interval_ms / 10 + 1));
    return 0;
}

void upstream_probe_destroy(struct upstream_probe *probe)
{
    if (!probe)
        return;
    for (size_t i = 0; i < probe->count; i++) {
        struct upstream_prober *prober = &probe->probers[i];

        if (probe->loop.loop)
            ev_timer_stop(probe->loop.loop, &prober->timer);
        upstream_prober_close(prober);
        if (prober->name)
            resolver_name_close(prober->name);
        tls_target_destroy(prober->tls);
        free(prober->request);
    }
    free(probe);
}
