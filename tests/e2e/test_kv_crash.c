/*
 * A store whose server is killed at any moment, again and again: whatever was
 * acknowledged is there, nothing is torn, and revisions only rise.
 *
 * Each client writes keys of its own, several at once. A value says which write
 * of its key it is, so what is found must be one of those between the last that
 * was acknowledged and the last that was sent. One client writes pairs, each in
 * a batch.
 */
#include "beside.h"
#include "store.h"

#include <signal.h>
#include <sys/wait.h>

enum {
    CLIENTS = 6,
    KEYS = 8, /* of each client */
    DEPTH = 4,
    OPEN_MAX = 64, /* of a key, sent and not answered: more than there are */
    VALUE_MAX = 9000,
    KILL_MS_MAX = 100,
    KILLS = 200,
    KILLS_SANITIZED = 20,
    SEED = 77
};

struct key {
    unsigned sent;          /* the number of the last write that was sent */
    unsigned acked;         /* and of the last that was answered */
    bool deletes[OPEN_MAX]; /* by number, modulo that */
};

static struct key keys[CLIENTS][KEYS];
static unsigned pairs_sent, pairs_acked;
static uint64_t revision_max; /* of all that was ever seen */
static unsigned long acked_in_all;

static uint64_t draw(uint64_t below)
{
    static uint64_t count;
    uint64_t word;

    seeded_fill(SEED, 8 * count++, (char *)&word, sizeof(word));
    return word % below;
}

/* "number length " and so many bytes more. */
static const char *value_of(unsigned client, unsigned key, unsigned number,
                            char out[VALUE_MAX + 64])
{
    unsigned len = (number * 7919 + key * 104729 + client) % VALUE_MAX;
    int head = snprintf(out, 64, "%u %u ", number, len);

    memset(out + head, 'a' + (int)(number % 26), len);
    out[(unsigned)head + len] = '\0';
    return out;
}

/* --- Writing ------------------------------------------------------------- */

static bool send_write(struct client *client, unsigned i, unsigned k)
{
    struct key *key = &keys[i][k];
    char value[VALUE_MAX + 64];

    key->sent++;
    key->deletes[key->sent % OPEN_MAX] = draw(6) == 0;
    if (key->deletes[key->sent % OPEN_MAX])
        return client_say(
            client, "DELETE /kv/%u/%u HTTP/1.1\r\nHost: localhost\r\n\r\n", i,
            k);
    value_of(i, k, key->sent, value);
    return client_say(client,
                      "PUT /kv/%u/%u HTTP/1.1\r\nHost: localhost\r\n"
                      "Content-Length: %zu\r\n\r\n%s",
                      i, k, strlen(value), value);
}

static bool send_pair(struct client *client)
{
    char lines[256];

    pairs_sent++;
    snprintf(lines, sizeof(lines),
             "{\"op\":\"put\",\"key\":\"pair/a\",\"value\":\"%u\"}\n"
             "{\"op\":\"put\",\"key\":\"pair/b\",\"value\":\"%u\"}\n",
             pairs_sent, pairs_sent);
    return client_say(client,
                      "POST /kv/-/batch HTTP/1.1\r\nHost: localhost\r\n"
                      "Content-Type: application/x-ndjson\r\n"
                      "Content-Length: %zu\r\n\r\n%s",
                      strlen(lines), lines);
}

/* One answer of a key; false: the server is gone. */
static bool take_answer(struct client *client, struct key *key, unsigned number,
                        uint64_t begun_at)
{
    struct reply *reply;

    if (client_try(client, false, &reply) != CLIENT_REPLY)
        return false;
    if (reply->status != 201 && reply->status != 204 &&
        !(reply->status == 404 && key->deletes[number % OPEN_MAX]))
        flunk("a write got %u", reply->status);
    if (!key->deletes[number % OPEN_MAX]) {
        uint64_t revision = reply_revision(reply);

        if (revision <= begun_at)
            flunk("revision %llu is not above %llu",
                  (unsigned long long)revision, (unsigned long long)begun_at);
        if (revision > revision_max)
            revision_max = revision;
    }
    key->acked = number;
    acked_in_all++;
    return true;
}

/* DEPTH writes of each client and their answers; false: the server is gone. */
static bool write_turn(struct client *clients[CLIENTS], struct client *pairs)
{
    unsigned chosen[CLIENTS][DEPTH], numbers[CLIENTS][DEPTH], sent[CLIENTS];
    uint64_t begun_at = revision_max;
    struct reply *reply;
    bool is_there = send_pair(pairs);

    for (unsigned i = 0; i < CLIENTS; i++)
        for (sent[i] = 0; sent[i] < DEPTH; sent[i]++) {
            unsigned k = chosen[i][sent[i]] = (unsigned)draw(KEYS);

            is_there = send_write(clients[i], i, k) && is_there;
            numbers[i][sent[i]] = keys[i][k].sent;
        }
    for (unsigned i = 0; i < CLIENTS; i++)
        for (unsigned at = 0; at < sent[i]; at++)
            if (!take_answer(clients[i], &keys[i][chosen[i][at]],
                             numbers[i][at], begun_at)) {
                is_there = false;
                break;
            }
    if (client_try(pairs, false, &reply) != CLIENT_REPLY)
        return false;
    expect_status(reply, 200);
    pairs_acked = pairs_sent;
    return is_there;
}

/* --- What is there ------------------------------------------------------- */

static void check_key(struct client *client, unsigned i, unsigned k)
{
    struct key *key = &keys[i][k];
    struct reply *reply = store_ask(client, "GET", printed("%u/%u", i, k), NULL,
                                    NULL);
    char value[VALUE_MAX + 64];
    unsigned number = key->acked;

    going_on("key %u/%u, acknowledged %u, sent %u", i, k, key->acked,
             key->sent);
    if (reply->status == 404) {
        while (number <= key->sent && number > 0 &&
               !key->deletes[number % OPEN_MAX])
            number++;
        if (number > key->sent)
            flunk("it is lost");
    } else {
        expect_status(reply, 200);
        number = (unsigned)strtoul(reply->body, NULL, 10);
        if (number < key->acked || number > key->sent || number == 0 ||
            key->deletes[number % OPEN_MAX])
            flunk("it holds write %u", number);
        expect_body(reply, value_of(i, k, number, value));
        if (reply_revision(reply) > revision_max)
            revision_max = reply_revision(reply);
    }
    /* What was not done now never will be. */
    key->acked = key->sent = number;
}

static void check_pairs(struct client *client)
{
    struct reply *reply = store_ask(client, "GET", "pair/a", NULL, NULL);
    unsigned long number;

    going_on("pair, acknowledged %u, sent %u", pairs_acked, pairs_sent);
    if (reply->status == 404) {
        assert_int_equal(pairs_acked, 0);
        expect_status(store_ask(client, "GET", "pair/b", NULL, NULL), 404);
        return;
    }
    number = strtoul(reply->body, NULL, 10);
    assert_in_range(number, pairs_acked, pairs_sent);
    store_holds(client, "pair/b", printed("%lu", number));
}

static void check_all(struct client *client)
{
    for (unsigned i = 0; i < CLIENTS; i++)
        for (unsigned k = 0; k < KEYS; k++)
            check_key(client, i, k);
    check_pairs(client);
    going_on("%s", "");
}

/* --- Killing ------------------------------------------------------------- */

static void live_and_die(const char *path)
{
    struct server *one = START_STORE(path, "--workers=2");
    struct client *clients[CLIENTS];
    struct client *pairs = client_open(one);
    pid_t killer;

    check_all(pairs);
    for (unsigned i = 0; i < CLIENTS; i++)
        clients[i] = client_open(one);
    killer = kill_after_us(one->pid,
                           (unsigned)draw(KILL_MS_MAX * 1000) * slowness());
    while (write_turn(clients, pairs))
        ;
    assert_int_equal(waitpid(killer, NULL, 0), killer);
    assert_int_equal(server_wait(one, patience(10000)), 128 + SIGKILL);
    clients_close();
}

TEST(what_was_acknowledged_outlives_any_kill)
{
    const char *path = store_folder();
    unsigned kills = is_sanitized() ? KILLS_SANITIZED : KILLS;
    struct server *last;

    for (unsigned i = 0; i < kills; i++)
        live_and_die(path);
    last = START_STORE(path, NULL);
    check_all(client_open(last));
    assert_true(acked_in_all > kills);
    print_message("%u kills, %lu acknowledged writes\n", kills, acked_in_all);
}

E2E_SUITE(harness_begin);
