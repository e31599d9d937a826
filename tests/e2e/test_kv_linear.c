/*
 * Many clients at a few keys: what they are told fits one order of all that
 * they did, each key's for itself; and the judge of that knows what does not.
 */
#include "linear.h"
#include "redis.h"
#include "store.h"

#include <poll.h>

enum {
    CLIENTS = LINEAR_CLIENTS_MAX,
    KEYS = 8,
    OPS = 100000,
    OPS_SANITIZED = 20000,
    SEED = 46
};

/* --- The judge ----------------------------------------------------------- */

#define GET(who, from, to, said, etag, got)                          \
    {                                                                \
        .client = who, .begin = from, .end = to, .kind = LINEAR_GET, \
        .status = said, .revision = etag, .value = got               \
    }
#define PUT(who, from, to, said, etag, put)                          \
    {                                                                \
        .client = who, .begin = from, .end = to, .kind = LINEAR_PUT, \
        .status = said, .revision = etag, .value = put               \
    }
#define CREATE(who, from, to, said, etag, put)                            \
    {                                                                     \
        .client = who, .begin = from, .end = to, .kind = LINEAR_PUT,      \
        .condition = LINEAR_IF_MISSING, .status = said, .revision = etag, \
        .value = put                                                      \
    }
#define SWAP(who, from, to, match, said, etag, put)                            \
    {                                                                          \
        .client = who, .begin = from, .end = to, .kind = LINEAR_PUT,           \
        .condition = LINEAR_IF_REVISION, .if_revision = match, .status = said, \
        .revision = etag, .value = put                                         \
    }
#define DELETE(who, from, to, said)                                     \
    {                                                                   \
        .client = who, .begin = from, .end = to, .kind = LINEAR_DELETE, \
        .status = said                                                  \
    }

enum { ALL = 6 };

static const struct {
    const char *name;
    struct linear_op ops[ALL];
    size_t count;
    size_t fault; /* ALL: none */
} histories[] = {
    {"nothing", {GET(0, 1, 2, 404, 0, 0)}, 1, ALL},
    {"one after the other",
     {PUT(0, 1, 2, 201, 1, 7), GET(1, 3, 4, 200, 1, 7), DELETE(0, 5, 6, 204),
      GET(1, 7, 8, 404, 0, 0), DELETE(0, 9, 10, 404)},
     5,
     ALL},
    {"a read beside a write may see either",
     {PUT(0, 1, 2, 201, 1, 7), PUT(0, 3, 10, 204, 2, 8),
      GET(1, 4, 5, 200, 1, 7), GET(2, 6, 7, 200, 2, 8)},
     4,
     ALL},
    {"once seen it does not go away",
     {PUT(0, 1, 2, 201, 1, 7), PUT(0, 3, 10, 204, 2, 8),
      GET(1, 4, 5, 200, 2, 8), GET(2, 6, 7, 200, 1, 7)},
     4,
     3},
    {"a stale read",
     {PUT(0, 1, 2, 201, 1, 7), PUT(0, 3, 4, 204, 2, 8),
      GET(1, 5, 6, 200, 1, 7)},
     3,
     2},
    {"a read too early",
     {GET(1, 1, 2, 200, 1, 7), PUT(0, 3, 4, 201, 1, 7)},
     2,
     0},
    {"a value nobody has put",
     {PUT(0, 1, 2, 201, 1, 7), GET(1, 3, 4, 200, 1, 8)},
     2,
     1},
    {"a value under another's revision",
     {PUT(0, 1, 10, 201, 1, 7), PUT(1, 2, 9, 204, 2, 8),
      GET(2, 11, 12, 200, 1, 8)},
     3,
     2},
    {"revisions that fall",
     {PUT(0, 1, 2, 201, 2, 7), PUT(0, 3, 4, 204, 1, 8)},
     2,
     1},
    {"revisions that fall over a delete",
     {PUT(0, 1, 2, 201, 2, 7), DELETE(0, 3, 4, 204), PUT(0, 5, 6, 201, 2, 8)},
     3,
     2},
    {"a delete that did nothing",
     {PUT(0, 1, 2, 201, 1, 7), DELETE(0, 3, 4, 204), GET(1, 5, 6, 200, 1, 7)},
     3,
     2},
    {"a key gone by itself",
     {PUT(0, 1, 2, 201, 1, 7), GET(1, 3, 4, 404, 0, 0)},
     2,
     1},
    {"two creators, one of them told",
     {CREATE(0, 1, 4, 201, 1, 7), CREATE(1, 2, 3, 412, 1, 8)},
     2,
     ALL},
    {"two creators",
     {CREATE(0, 1, 4, 201, 1, 7), CREATE(1, 2, 3, 201, 2, 8)},
     2,
     0},
    {"a creator refused for nothing",
     {CREATE(0, 1, 2, 412, 1, 7), GET(0, 3, 4, 404, 0, 0)},
     2,
     0},
    {"a swap",
     {PUT(0, 1, 2, 201, 1, 7), SWAP(0, 3, 6, 1, 204, 2, 8),
      SWAP(1, 4, 5, 1, 412, 2, 9), SWAP(1, 7, 8, 3, 412, 2, 9)},
     4,
     ALL},
    {"an update that is lost",
     {PUT(0, 1, 2, 201, 1, 7), SWAP(0, 3, 6, 1, 204, 2, 8),
      SWAP(1, 4, 5, 1, 204, 3, 9)},
     3,
     1},
    {"a swap of what is gone",
     {PUT(0, 1, 2, 201, 1, 7), DELETE(0, 3, 4, 204),
      SWAP(0, 5, 6, 1, 412, 0, 8), SWAP(0, 7, 8, 1, 204, 3, 8)},
     4,
     3},
    {"a swap refused for nothing",
     {PUT(0, 1, 2, 201, 1, 7), SWAP(0, 3, 4, 1, 412, 1, 8)},
     2,
     1},
    {"deletes in between",
     {PUT(0, 1, 20, 201, 2, 7), DELETE(1, 2, 19, 204), PUT(2, 3, 18, 201, 1, 8),
      GET(3, 21, 22, 200, 2, 7)},
     4,
     ALL},
    {"one delete, two creations in any case",
     {PUT(0, 1, 20, 201, 2, 7), DELETE(1, 2, 19, 404),
      PUT(2, 3, 18, 201, 1, 8)},
     3,
     0},
};

TEST(the_judge_knows_what_cannot_be)
{
    for (size_t i = 0; i < sizeof(histories) / sizeof(*histories); i++) {
        size_t count = histories[i].count;
        size_t fault = linear_fault(histories[i].ops, count);

        if (fault != (histories[i].fault == ALL ? count : histories[i].fault))
            flunk("%s: at fault is %zu of %zu", histories[i].name, fault,
                  count);
    }
}

/* --- The clients --------------------------------------------------------- */

static struct {
    struct client *clients[CLIENTS];
    size_t under_way[CLIENTS]; /* 1 + number of the operation; 0 is none */
    struct linear_op ops[OPS];
    unsigned char keys[OPS];
    size_t begun, ended, count;
    uint64_t moment;
    uint64_t seen[KEYS]; /* the revision that was seen last */
} run;

static uint64_t draw(uint64_t below)
{
    static uint64_t count;
    uint64_t word;

    seeded_fill(SEED, 8 * count++, (char *)&word, sizeof(word));
    return word % below;
}

static struct linear_op choose(unsigned client, unsigned key)
{
    struct linear_op op = {.client = client, .begin = ++run.moment};
    uint64_t dice = draw(100);

    op.kind = dice < 45 ? LINEAR_GET : dice < 85 ? LINEAR_PUT : LINEAR_DELETE;
    if (op.kind == LINEAR_GET)
        return op;
    if (op.kind == LINEAR_PUT)
        op.value = run.begun + 1;
    dice = draw(4);
    if (dice == 0 && run.seen[key] != 0) {
        op.condition = LINEAR_IF_REVISION;
        op.if_revision = run.seen[key];
    } else if (dice == 1 && op.kind == LINEAR_PUT) {
        op.condition = LINEAR_IF_MISSING;
    }
    return op;
}

static void begin_op(unsigned client)
{
    static const char *const methods[] = {"GET", "PUT", "DELETE"};
    size_t number = run.begun;
    unsigned key = (unsigned)draw(KEYS);
    struct linear_op op = choose(client, key);
    char fields[64] = "", path[8], value[24];

    run.ops[number] = op;
    run.keys[number] = (unsigned char)key;
    run.begun++;
    if (op.condition == LINEAR_IF_MISSING)
        snprintf(fields, sizeof(fields), "If-None-Match: *\r\n");
    else if (op.condition == LINEAR_IF_REVISION)
        snprintf(fields, sizeof(fields), "If-Match: \"%llu\"\r\n",
                 (unsigned long long)op.if_revision);
    snprintf(path, sizeof(path), "k%u", key);
    snprintf(value, sizeof(value), "%llu", (unsigned long long)op.value);
    run.under_way[client] = number + 1;
    if (!store_say(run.clients[client], methods[op.kind], path, fields,
                   op.kind == LINEAR_PUT ? value : NULL))
        flunk("the server takes no more");
}

static void end_op(unsigned client)
{
    struct linear_op *op = &run.ops[run.under_way[client] - 1];
    unsigned key = run.keys[op - run.ops];
    struct reply *reply = client_reply(run.clients[client]);

    op->end = ++run.moment;
    op->status = reply->status;
    if (op->status != 200 && op->status != 201 && op->status != 204 &&
        op->status != 404 && op->status != 412)
        flunk("a request got %u", op->status);
    if (reply_field(reply, "ETag"))
        op->revision = run.seen[key] = reply_revision(reply);
    if (op->kind == LINEAR_GET && op->status == 200)
        op->value = strtoull(printed("%.*s", (int)reply->body_len, reply->body),
                             NULL, 10);
    run.under_way[client] = 0;
    run.ended++;
}

/* All have one request under way, always. */
static void run_clients(struct server *one)
{
    struct pollfd fds[CLIENTS];

    memset(&run, 0, sizeof(run));
    run.count = is_sanitized() ? OPS_SANITIZED : OPS;
    for (unsigned i = 0; i < CLIENTS; i++) {
        run.clients[i] = client_open(one);
        fds[i] = (struct pollfd){.fd = client_socket(run.clients[i]),
                                 .events = POLLIN};
        begin_op(i);
    }
    while (run.ended < run.count) {
        if (poll(fds, CLIENTS, (int)patience(10000)) <= 0)
            flunk("no answers any more");
        for (unsigned i = 0; i < CLIENTS; i++)
            if (fds[i].revents) {
                end_op(i);
                if (run.begun < run.count)
                    begin_op(i);
                else
                    fds[i].fd = -1;
            }
    }
}

/* --- What they saw ------------------------------------------------------- */

/* Those of one key; how many. */
static size_t pick(unsigned key, struct linear_op *out)
{
    size_t count = 0;

    for (size_t i = 0; i < run.count; i++)
        if (run.keys[i] == key)
            out[count++] = run.ops[i];
    return count;
}

/* The same, but that somebody, late, got what was put first. */
static void spoil(struct linear_op *ops, size_t count)
{
    size_t first = 0, last = count - 1;

    while (ops[first].kind != LINEAR_PUT || ops[first].status != 201)
        first++;
    while (ops[last].kind != LINEAR_GET || ops[last].status != 200)
        last--;
    assert_true(first + 100 < last);
    ops[last].value = ops[first].value;
    ops[last].revision = ops[first].revision;
}

static void expect_one_order(const char *option)
{
    struct linear_op *ops = scratch(OPS * sizeof(*ops));
    unsigned statuses[600] = {0};

    run_clients(START_STORE(store_place(), "--workers=4", option, NULL));
    for (unsigned key = 0; key < KEYS; key++) {
        size_t count = pick(key, ops);
        size_t fault = linear_fault(ops, count);

        if (fault < count)
            flunk("key %u: the %u of client %u, from %llu to %llu, cannot be",
                  key, ops[fault].status, ops[fault].client,
                  (unsigned long long)ops[fault].begin,
                  (unsigned long long)ops[fault].end);
        spoil(ops, count);
        assert_true(linear_fault(ops, count) < count);
    }
    for (size_t i = 0; i < run.count; i++)
        statuses[run.ops[i].status]++;
    assert_true(statuses[200] > 0 && statuses[201] > 0 && statuses[204] > 0 &&
                statuses[404] > 0 && statuses[412] > 0);
}

TEST(many_clients_see_one_order)
{
    expect_one_order(NULL);
}

/* Small, so that values go all the time. */
TEST(values_in_memory_change_nothing_of_that)
{
    expect_one_order("--kv-cache-size=64K");
}

/* Of the tests in their order, each its group. */
static int run_engines(const struct CMUnitTest *tests, size_t count)
{
    assert_int_equal(count, 3);
    return _cmocka_run_group_tests("the judge", tests, 1, harness_begin,
                                   harness_end) +
           store_run(tests + 1, 1, harness_begin_in_memory,
                     STORE_IN_FOLDER | STORE_IN_REDIS) +
           store_run(tests + 2, 1, harness_begin_in_memory, STORE_IN_FOLDER);
}

SUITE(.each_end = harness_after_test, .run = run_engines);
