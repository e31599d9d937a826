/*
 * A store over a cluster of Redis: keys on all its machines, batches on one, a
 * machine that dies, a part of the store that moves to another.
 */
#include "crowd.h"
#include "redis.h"
#include "store.h"

#include "json.h"

#define NDJSON "Content-Type: application/x-ndjson\r\n"

enum { SOON_MS = 20000, FAIL_OVER_MS = 60000 };

static struct redis *nodes[REDIS_NODES];
static struct server *server;

/* Each test has a cluster of its own: they break it. */
static struct client *begin(void)
{
    struct client *client;

    redis_make_cluster(nodes);
    server = START_STORE(printed("redis://127.0.0.1:%u,127.0.0.1:%u",
                                 nodes[0]->port, nodes[1]->port),
                         "--workers=2");
    client = client_open(server);
    if (!eventually(store_ask(client, "GET", "a", NULL, NULL)->status == 404,
                    SOON_MS))
        flunk("the store is not there");
    return client;
}

/* The master that has the key; its name in the engine ends as ours does. */
static struct redis *master_of(const char *key)
{
    for (size_t i = 0; i < REDIS_NODES; i++)
        if (nodes[i]->pid != 0 &&
            strstr(redis_ask(nodes[i], "INFO replication"), "role:master") &&
            strstr(redis_ask(nodes[i], "KEYS *%s", key), key))
            return nodes[i];
    flunk("no master has '%s'", key);
}

/* --- Spread -------------------------------------------------------------- */

TEST(keys_are_spread_over_all_machines)
{
    enum { KEYS = 100 };
    struct client *client = begin();
    struct reply *reply;
    const char *page, *at;

    for (int i = 0; i < KEYS; i++)
        store_put(client, printed("spread/%03d", i), printed("value %d", i));
    for (int i = 0; i < REDIS_MASTERS; i++)
        assert_true(strtol(redis_ask(nodes[i], "DBSIZE"), NULL, 10) > KEYS / 9);
    for (int i = 0; i < KEYS; i++)
        store_holds(client, printed("spread/%03d", i), printed("value %d", i));
    reply = store_ask(client, "GET", "?prefix=spread/", NULL, NULL);
    expect_status(reply, 200);
    expect_json(reply->body, reply->body_len);
    at = page = printed("%.*s", (int)reply->body_len, reply->body);
    for (int i = 0; i < KEYS; i++) {
        at = strstr(at, printed("{\"key\":\"spread/%03d\",", i));
        if (!at)
            flunk("key %d is not in its place: %s", i, page);
    }
}

TEST(a_batch_keeps_to_one_machine)
{
    struct client *client = begin();
    const char *lines = "";
    struct reply *reply;

    for (int i = 0; i < 20; i++)
        lines =
            printed("%s{\"op\":\"put\",\"key\":\"apart/%d\",\"value\":\"x\"}\n",
                    lines, i);
    expect_problem(store_ask(client, "POST", "-/batch", NDJSON, lines), 422,
                   "tag");
    for (int i = 0; i < 20; i++)
        expect_status(store_ask(client, "GET", printed("apart/%d", i), NULL,
                                NULL),
                      404);
    lines = "";
    for (int i = 0; i < 20; i++)
        lines =
            printed("%s{\"op\":\"put\",\"key\":\"{t}/%d\",\"value\":\"x\"}\n",
                    lines, i);
    reply = store_ask(client, "POST", "-/batch", NDJSON, lines);
    expect_status(reply, 200);
    for (int i = 0; i < 20; i++)
        store_holds(client, printed("%%7Bt%%7D/%d", i), "x");
    lines = printed("%s{\"op\":\"check\",\"key\":\"{t}/none\",\"if\":\"*\"}\n",
                    "{\"op\":\"delete\",\"key\":\"{t}/1\"}\n");
    expect_problem(store_ask(client, "POST", "-/batch", NDJSON, lines), 412,
                   "\"line\":2");
    store_holds(client, "%7Bt%7D/1", "x");
}

/* --- A machine dies ------------------------------------------------------ */

/*
 * What an engine acknowledges it may lose, if it dies before its replica has
 * got it. What can be known: nothing is lost that the replica had got, nothing
 * on other machines, nothing after the fail-over; and what we refused has not
 * been done. So some keys are left alone before the death, some are written
 * until then, some all the time.
 */
enum { WRITERS = 6, EACH = 9, KEYS = WRITERS * EACH, NUMBERS_MAX = 20000 };
enum habit { CALM, UNTIL_DEATH, ALWAYS };

enum fate { UNSENT, DONE, REFUSED, UNKNOWN };

static struct key {
    unsigned sent, acked; /* numbers of writes */
    unsigned safe;        /* what the replica had got for sure */
    uint64_t revision;    /* of the last that was acknowledged */
    bool is_orphan;       /* its machine died */
    bool is_back;         /* and a write was done since */
    unsigned char fates[NUMBERS_MAX];
} keys[KEYS];

static enum habit habit_of(unsigned k)
{
    return (enum habit)(k % 3);
}

static const char *name_of(unsigned k)
{
    return printed("life/%03u", k);
}

static void take_fate(struct key *key, const struct reply *reply)
{
    unsigned char *fate = &key->fates[key->sent];

    if (reply->status == 503 || reply->status == 504) {
        *fate = reply->status == 503 ? REFUSED : UNKNOWN;
        return;
    }
    if (reply->status != 201 && reply->status != 204)
        flunk("a write got %u", reply->status);
    *fate = DONE;
    key->acked = key->sent;
    if (!key->is_orphan || key->is_back)
        assert_true(reply_revision(reply) > key->revision);
    key->is_back = key->is_orphan;
    key->revision = reply_revision(reply);
}

/* One write of each client, all under way at once, to keys of at least that
 * habit. Whether all were done. */
static bool write_turn(struct client *const clients[WRITERS], enum habit habit,
                       struct redis *to_kill)
{
    static unsigned turn;
    struct key *chosen[WRITERS];
    bool is_good = true;

    turn++;
    for (unsigned i = 0; i < WRITERS; i++) {
        unsigned k = turn % EACH;

        while (habit_of(i * EACH + k) < habit)
            k = (k + 1) % EACH;
        k += i * EACH;
        chosen[i] = &keys[k];
        if (++chosen[i]->sent == NUMBERS_MAX)
            flunk("it takes too long");
        store_say(clients[i], "PUT", name_of(k), NULL,
                  printed("%u", chosen[i]->sent));
    }
    if (to_kill)
        redis_kill(to_kill);
    for (unsigned i = 0; i < WRITERS; i++) {
        take_fate(chosen[i], client_reply(clients[i]));
        is_good = is_good && chosen[i]->fates[chosen[i]->sent] == DONE;
    }
    return is_good;
}

/* Until replicas have all that has been written by now. */
static void await_replicas(void)
{
    for (size_t i = 0; i < REDIS_MASTERS; i++) {
        const char *info = redis_ask(nodes[i], "INFO replication");
        uint64_t offset = strtoull(redis_find(info, "master_repl_offset"), NULL,
                                   10);
        const char *at;

        if (!eventually((at = strstr(redis_ask(nodes[i], "INFO replication"),
                                     ",offset=")) &&
                            strtoull(at + 8, NULL, 10) >= offset,
                        SOON_MS))
            flunk("replica %zu does not follow", i);
    }
}

static bool all_are_back(void)
{
    for (unsigned k = 0; k < KEYS; k++)
        if (habit_of(k) == ALWAYS && keys[k].is_orphan && !keys[k].is_back)
            return false;
    return true;
}

static bool may_lose(unsigned k)
{
    return keys[k].is_orphan && habit_of(k) == UNTIL_DEATH;
}

/* What is there of one key, at the end; true: the engine has lost a write. */
static bool check_key(struct client *client, unsigned k)
{
    const struct key *key = &keys[k];
    struct reply *reply = store_ask(client, "GET", name_of(k), NULL, NULL);
    unsigned number;

    going_on("key %u, acknowledged %u, sent %u", k, key->acked, key->sent);
    expect_status(reply, 200);
    number = (unsigned)strtoul(printed("%.*s", (int)reply->body_len,
                                       reply->body),
                               NULL, 10);
    if (number == 0 || number > key->sent ||
        (key->fates[number] != DONE && key->fates[number] != UNKNOWN))
        flunk("it holds write %u, which was never done", number);
    if (number == key->acked)
        assert_true(reply_revision(reply) == key->revision);
    if (number < key->safe || (number < key->acked && !may_lose(k)))
        flunk("write %u is there", number);
    going_on("%s", "");
    return number < key->acked;
}

TEST(a_machine_that_dies_is_replaced)
{
    enum { TURNS = 40 };
    struct client *client = begin(), *clients[WRITERS];
    struct redis *victim;
    unsigned lost = 0, orphans = 0, fates[UNKNOWN + 1] = {0};
    uint64_t until;

    memset(keys, 0, sizeof(keys));
    for (unsigned i = 0; i < WRITERS; i++)
        clients[i] = client_open(server);
    for (int turn = 0; turn < TURNS; turn++)
        assert_true(write_turn(clients, CALM, NULL));
    await_replicas();
    victim = master_of(name_of(0));
    for (unsigned k = 0; k < KEYS; k++) {
        keys[k].safe = keys[k].acked;
        keys[k].is_orphan = master_of(name_of(k)) == victim;
        orphans += keys[k].is_orphan;
    }
    assert_in_range(orphans, 1, KEYS - 1);
    for (int turn = 0; turn < TURNS; turn++)
        assert_true(write_turn(clients, UNTIL_DEATH, NULL));
    write_turn(clients, UNTIL_DEATH, victim);
    for (unsigned k = 0; k < KEYS; k++) /* the dead could have said it, too */
        keys[k].is_back = false;

    until = now_ms() + patience(FAIL_OVER_MS);
    while (!write_turn(clients, ALWAYS, NULL) || !all_are_back()) {
        if (now_ms() > until)
            flunk("service does not resume");
        pause_ms(20);
    }
    for (int turn = 0; turn < TURNS; turn++)
        assert_true(write_turn(clients, ALWAYS, NULL));
    for (unsigned k = 0; k < KEYS; k++) {
        lost += check_key(client, k);
        for (unsigned i = 1; i <= keys[k].sent; i++)
            fates[keys[k].fates[i]]++;
    }
    assert_true(fates[REFUSED] + fates[UNKNOWN] > 0);
    print_message("%u writes done, %u refused, %u unknown; %u of %d keys were "
                  "on it, of %u of which the engine lost a write\n",
                  fates[DONE], fates[REFUSED], fates[UNKNOWN], orphans, KEYS,
                  lost);
}

/* --- A part of the store moves ------------------------------------------- */

enum { MOVED_KEYS = 12, STEP_MS = 5 };

struct writer {
    struct client *client;
    unsigned sent;
    bool is_waiting;
};

/* Keeps one write under way; all must be done, however long it takes. */
static void write_on(struct writer *writer, bool is_last)
{
    if (writer->is_waiting && (is_last || client_hears(writer->client, 0))) {
        struct reply *reply = client_reply(writer->client);

        going_on("write %u", writer->sent);
        expect_status(reply, writer->sent == 1 ? 201 : 204);
        going_on("%s", "");
        writer->is_waiting = false;
    }
    if (writer->is_waiting || is_last)
        return;
    store_say(writer->client, "PUT", "%7Bm%7D/written", NULL,
              printed("%u", ++writer->sent));
    writer->is_waiting = true;
}

/* Of the first line. */
static const char *line_of(const char *text)
{
    return printed("%.*s", (int)strcspn(text, "\n"), text);
}

__attribute__((format(printf, 2, 3))) static void order(
    const struct redis *redis, const char *format, ...)
{
    char command[1024];
    const char *answer;
    va_list list;

    va_start(list, format);
    vsnprintf(command, sizeof(command), format, list);
    va_end(list);
    answer = redis_ask(redis, "%s", command);
    if (strcmp(answer, "OK\n") != 0)
        flunk("%s: %s", command, answer);
}

/* Key by key, with requests under way all the time. */
static void move_slot(const char *slot, const struct redis *from,
                      const struct redis *to, struct writer *writer)
{
    const char *from_id = line_of(redis_ask(from, "CLUSTER MYID"));
    const char *to_id = line_of(redis_ask(to, "CLUSTER MYID"));
    const char *key;

    order(to, "CLUSTER SETSLOT %s IMPORTING %s", slot, from_id);
    order(from, "CLUSTER SETSLOT %s MIGRATING %s", slot, to_id);
    while (*(key = line_of(redis_ask(from, "CLUSTER GETKEYSINSLOT %s 1",
                                     slot)))) {
        order(from, "MIGRATE 127.0.0.1 %u \"%s\" 0 5000", to->port, key);
        write_on(writer, false);
        pause_ms(STEP_MS);
    }
    order(to, "CLUSTER SETSLOT %s NODE %s", slot, to_id);
    order(from, "CLUSTER SETSLOT %s NODE %s", slot, to_id);
}

/* Whether any node has sent somebody elsewhere in that way. */
static bool has_said(const char *error)
{
    for (size_t i = 0; i < REDIS_NODES; i++)
        if (strstr(redis_ask(nodes[i], "INFO errorstats"),
                   printed("errorstat_%s:", error)))
            return true;
    return false;
}

TEST(a_part_of_the_store_moves_unnoticed)
{
    struct writer writer = {.client = begin()};
    struct client *client = client_open(server);
    const struct crowd_counts *counts;
    const char *slot;

    for (int i = 0; i < MOVED_KEYS; i++)
        store_put(client, printed("%%7Bm%%7D/%03d", i), printed("value %d", i));
    counts = crowd_begin(server,
                         &(struct crowd_options){.target = "/kv/%7Bm%7D/000",
                                                 .body = "value 0",
                                                 .clients = 8,
                                                 .depth = 2});
    for (int turn = 0; turn < 4; turn++) {
        const struct redis *from = master_of("{m}/000");
        const struct redis *to =
            nodes[from == nodes[turn % 3] ? (turn + 1) % 3 : turn % 3];
        unsigned long answered = counts->answered;

        slot = line_of(redis_ask(from, "CLUSTER KEYSLOT \"%s\"",
                                 line_of(redis_ask(from, "KEYS *{m}/000"))));
        move_slot(slot, from, to, &writer);
        for (int i = 0; i < MOVED_KEYS; i++)
            store_holds(client, printed("%%7Bm%%7D/%03d", i),
                        printed("value %d", i));
        write_on(&writer, true);
        store_holds(client, "%7Bm%7D/written", printed("%u", writer.sent));
        assert_true(master_of("{m}/000") == to);
        assert_true(eventually(counts->answered > answered, SOON_MS));
    }
    crowd_end(100);
    assert_true(has_said("ASK"));
    assert_true(has_said("MOVED"));
}

SUITE(.begin = harness_begin, .end = redis_end, .each_end = redis_after_test);
