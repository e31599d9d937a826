/*
 * A store whose server is upgraded: the new process takes it over, and nothing
 * that was acknowledged by either is lost.
 */
#include "operator.h"
#include "store.h"

#include <sys/wait.h>

enum { UPGRADES = 8, CLIENTS = 8, KEYS = 40, QUICK_MS = 5000, MORE = 20 };

struct written {
    unsigned sent;
    unsigned acked;
};

static struct written keys[CLIENTS][KEYS];
static struct client *clients[CLIENTS];
static unsigned long acked, refused;

/* What runs there after an upgrade is another process. */
static const struct server *place_of(const struct server *server)
{
    struct server *place = scratch(sizeof(*place));

    *place = *server;
    return place;
}

/* --- The load ------------------------------------------------------------ */

static void renew(const struct server *place, unsigned at)
{
    if (clients[at])
        client_close(clients[at]);
    clients[at] = client_open(place);
}

/* Its connection may end between two requests, never with one unanswered. */
static struct reply *say(const struct server *place, unsigned at,
                         const char *method, const char *key, const char *body)
{
    struct reply *reply;

    if (!clients[at] || client_hears(clients[at], 0))
        renew(place, at);
    reply = store_ask(clients[at], method, key, NULL, body);
    if (reply_field(reply, "Connection"))
        renew(place, at);
    return reply;
}

/* False: it was refused. */
static bool write_one(const struct server *place, unsigned at, unsigned key)
{
    struct written *written = &keys[at][key];
    unsigned status;
    struct reply *reply = say(place, at, "PUT", printed("%u/%u", at, key),
                              printed("%u", ++written->sent));

    status = reply->status;
    going_on("client %u, key %u, status %u", at, key, status);
    if (status == 503) {
        refused++;
        return false;
    }
    assert_true(status == (written->acked == 0 ? 201 : 204));
    written->acked = written->sent;
    acked++;
    return true;
}

/* The old process may accept a connection yet: then not on this one. */
static bool write_anew(const struct server *place, unsigned at)
{
    renew(place, at);
    return write_one(place, at, 0);
}

static void expect_one(const struct server *place, unsigned at, unsigned key)
{
    const struct written *written = &keys[at][key];
    struct reply *reply = say(place, at, "GET", printed("%u/%u", at, key),
                              NULL);

    if (written->acked == 0) {
        expect_status(reply, 404);
        return;
    }
    expect_status(reply, 200);
    expect_body(reply, printed("%u", written->acked));
}

static void work(const struct server *place, unsigned round)
{
    for (unsigned at = 0; at < CLIENTS; at++) {
        write_one(place, at, (round + at) % KEYS);
        expect_one(place, at, (round * 7 + at) % KEYS);
    }
}

/* `ctl upgrade`, in a process of its own. */
static pid_t begin_upgrade(void)
{
    struct outcome outcome;
    pid_t pid = fork();

    if (pid == 0)
        _exit(ctl("upgrade", &outcome));
    assert_true(pid > 0);
    return pid;
}

static bool has_ended(pid_t pid)
{
    int status;

    if (waitpid(pid, &status, WNOHANG) != pid)
        return false;
    assert_int_equal(status, 0);
    return true;
}

/* --- Tests --------------------------------------------------------------- */

TEST(nothing_is_lost_under_upgrades)
{
    struct server *one = START_STORE(store_folder(), "--control",
                                     control_path(), "--pid-file", pid_path());
    unsigned upgrades = slowness() > 1 ? UPGRADES / 4 : UPGRADES;
    const struct server *place = place_of(one);
    unsigned round = 0;
    pid_t pid;

    memset(keys, 0, sizeof(keys));
    memset(clients, 0, sizeof(clients));
    acked = refused = 0;
    for (unsigned i = 0; i < upgrades; i++) {
        pid_t upgrade;

        for (unsigned more = 0; more < MORE; more++)
            work(place, round++);
        upgrade = begin_upgrade();
        while (!has_ended(upgrade))
            work(place, round++);
        for (unsigned at = 0; at < CLIENTS; at++)
            assert_true(eventually(write_anew(place, at), QUICK_MS));
    }
    for (unsigned at = 0; at < CLIENTS; at++)
        for (unsigned key = 0; key < KEYS; key++)
            expect_one(place, at, key);
    print_message("%lu acknowledged, %lu refused\n", acked, refused);
    pid = pid_in_file();
    assert_int_equal(server_wait(one, patience(QUICK_MS)), 0);
    clients_close();
    ctl_ok("stop");
    assert_true(process_ends(pid));
}

static uint64_t try_put(const struct server *place, const char *body)
{
    struct reply *reply = store_ask_alone(place, "PUT", "a", NULL, body);

    return reply->status == 503 ? 0 : reply_revision(reply);
}

/* The revision that it has got. */
static uint64_t put_at_last(const struct server *place, const char *body)
{
    uint64_t revision = 0;

    assert_true(eventually((revision = try_put(place, body)) > 0, QUICK_MS));
    return revision;
}

TEST(revisions_rise_from_one_process_to_the_next)
{
    struct server *one = START_STORE(store_folder(), "--control",
                                     control_path(), "--pid-file", pid_path());
    const struct server *place = place_of(one);
    uint64_t last = 0;
    pid_t pid;

    for (unsigned i = 0; i < 3; i++) {
        uint64_t revision = put_at_last(place, "x");

        assert_true(i == 0 || revision == last + 1);
        last = revision;
        ctl_ok("upgrade");
    }
    pid = pid_in_file();
    clients_close();
    assert_int_equal(server_wait(one, patience(QUICK_MS)), 0);
    ctl_ok("stop");
    assert_true(process_ends(pid));
}

/* The old process has it until its last answer, and does not write. */
TEST(the_old_process_refuses_to_write_and_reads_what_is_new)
{
    struct server *one = START_STORE(store_folder(), "--control",
                                     control_path(), "--pid-file", pid_path());
    const struct server *place = place_of(one);
    struct client *writer = client_open(one), *reader = client_open(one);
    struct reply *reply;
    pid_t pid;

    store_put(writer, "a", "old");
    store_holds(reader, "a", "old");
    ctl_ok("upgrade");
    put_at_last(place, "new");
    reply = store_ask(writer, "PUT", "a", NULL, "late");
    expect_problem(reply, 503, "busy");
    expect_field(reply, "Retry-After", "1");
    store_holds(reader, "a", "new");
    pid = pid_in_file();
    clients_close();
    assert_int_equal(server_wait(one, patience(QUICK_MS)), 0);
    ctl_ok("stop");
    assert_true(process_ends(pid));
}

/* Each worker has a place in the store's table of readers, and those of both
 * processes have one for a while. */
TEST(a_store_has_room_for_a_large_machine)
{
    struct server *one = START_STORE(store_folder(), "--workers=150",
                                     "--control", control_path(), "--pid-file",
                                     pid_path());
    const struct server *place = place_of(one);
    pid_t pid;

    store_put(client_open(one), "a", "value");
    ctl_ok("upgrade");
    store_holds(client_open(place), "a", "value");
    pid = pid_in_file();
    clients_close();
    assert_int_equal(server_wait(one, patience(QUICK_MS)), 0);
    ctl_ok("stop");
    assert_true(process_ends(pid));
}

static void write_config(const char *text)
{
    site_text("../sprintd.conf", text);
}

TEST(after_an_upgrade_that_failed_it_writes_again)
{
    struct launch launch = {.is_bare = true, .root = ""};
    const char *const arguments[] = {"--config",
                                     printed("%s/sprintd.conf", folder()),
                                     "--control", control_path(), NULL};
    const char *good = printed("listen = {\"127.0.0.1:0\"}\nroot = \"%s\"\n"
                               "kv = {\"/kv=%s\"}\n",
                               site(), store_folder());
    struct outcome outcome;
    struct client *client;
    struct server *one;

    write_config(good);
    one = server_start(&launch, arguments);
    client = client_open(one);
    for (int i = 0; i < 3; i++) {
        uint64_t before = store_put(client, "a", "before");

        write_config("wrokers = 2\n");
        assert_int_equal(ctl("upgrade", &outcome), EXIT_FAILURE);
        assert_true(eventually(
            store_ask(client, "PUT", "b", NULL, "x")->status != 503, QUICK_MS));
        assert_true(store_put(client, "a", "after") > before);
        write_config(good);
    }
}

SUITE(.begin = operator_begin, .end = harness_end,
      .each_end = operator_after_test);
