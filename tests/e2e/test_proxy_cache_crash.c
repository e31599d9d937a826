/*
 * A cache on disk whose server is killed at any moment, again and again:
 * whatever is served is what its address stands for, and what was kept serves
 * on.
 *
 * Behind it is a server that has, at /N, a body by N's own seed and of its own
 * length. CACHE_KILLS says how often it is killed; 40 times, if nothing does.
 */
#include "beside.h"
#include "client.h"

#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

enum {
    OBJECTS = 60,
    CLIENTS = 4,
    KILLS = 40,
    KILLS_SANITIZED = 8,
    KILL_MS_MAX = 120,
    LENGTH_MAX = 700000,
    SEED = 99
};

static uint64_t draw(uint64_t below)
{
    static uint64_t count;
    uint64_t word;

    seeded_fill(SEED, 8 * count++, (char *)&word, sizeof(word));
    return word % below;
}

/* Most are short, and some are spooled. */
static size_t length_of(unsigned object)
{
    size_t len = (size_t)object * 7919 % LENGTH_MAX;

    return object % 4 == 0 ? len : len % 9000;
}

/* --- The server behind --------------------------------------------------- */

static void answer_one(int fd)
{
    static char body[LENGTH_MAX];
    char head[4096];
    ssize_t n = recv(fd, head, sizeof(head) - 1, 0);
    unsigned object;
    size_t len;
    int head_len;

    if (n <= 0)
        return;
    head[n] = '\0';
    if (sscanf(head, "%*s /%u", &object) != 1 || object >= OBJECTS)
        return;
    len = length_of(object);
    seeded_fill(object, 0, body, len);
    head_len = snprintf(head, sizeof(head),
                        "HTTP/1.1 200 OK\r\nConnection: close\r\n"
                        "Cache-Control: max-age=100000\r\n");
    head_len += object % 3 == 0 ? snprintf(head + head_len, 100, "\r\n")
                                : snprintf(head + head_len, 100,
                                           "Content-Length: %zu\r\n\r\n", len);
    if (send(fd, head, (size_t)head_len, MSG_NOSIGNAL) == -1)
        return;
    for (size_t at = 0; at < len; at += (size_t)n)
        if ((n = send(fd, body + at, len - at, MSG_NOSIGNAL)) <= 0)
            return;
}

/* --- Killing ------------------------------------------------------------- */

static unsigned long served, hits;

/* False: the server is gone. */
static bool take_answer(struct client *client, unsigned object)
{
    struct reply *reply;
    const char *note;

    if (client_try(client, false, &reply) != CLIENT_REPLY)
        return false;
    going_on("object %u of %zu", object, length_of(object));
    expect_status(reply, 200);
    expect_seeded(reply, object, 0, length_of(object));
    note = reply_field(reply, "Cache-Status");
    hits += note && strstr(note, "hit");
    served++;
    return true;
}

static bool ask_all(struct client *clients[CLIENTS])
{
    unsigned objects[CLIENTS];
    bool is_there = true;

    for (unsigned i = 0; i < CLIENTS; i++) {
        objects[i] = (unsigned)draw(OBJECTS);
        is_there &=
            client_say(clients[i], "GET /%u HTTP/1.1\r\nHost: a\r\n%s\r\n",
                       objects[i],
                       draw(8) == 0 ? "Cache-Control: no-cache\r\n" : "");
    }
    for (unsigned i = 0; i < CLIENTS; i++)
        is_there &= take_answer(clients[i], objects[i]);
    return is_there;
}

static void live_and_die(const char *path, unsigned port)
{
    struct server *one = START("--workers=2",
                               printed("--proxy=/=http://127.0.0.1:%u", port),
                               printed("--proxy-cache=%s", path),
                               "--proxy-cache-size=3M");
    struct client *clients[CLIENTS];
    pid_t killer;

    for (unsigned i = 0; i < CLIENTS; i++)
        clients[i] = client_open(one);
    killer = kill_after_us(one->pid,
                           (unsigned)draw(KILL_MS_MAX * 1000) * slowness());
    while (ask_all(clients))
        ;
    assert_int_equal(waitpid(killer, NULL, 0), killer);
    assert_int_equal(server_wait(one, patience(10000)), 128 + SIGKILL);
    clients_close();
}

TEST(nothing_wrong_is_served_after_any_kill)
{
    const char *wished = getenv("CACHE_KILLS");
    unsigned kills = wished           ? (unsigned)strtoul(wished, NULL, 10)
                     : is_sanitized() ? KILLS_SANITIZED
                                      : KILLS;
    const char *path = printed("%s/kept", folder());
    unsigned port;
    pid_t origin = serve_beside(&port, answer_one);

    for (unsigned i = 0; i < kills; i++)
        live_and_die(path, port);
    kill(origin, SIGKILL);
    waitpid(origin, NULL, 0);
    print_message("%u kills, %lu answers, %lu of them hits\n", kills, served,
                  hits);
    assert_true(hits > served / 10);
}

E2E_SUITE(harness_begin);
