#include "unit/kv/store_fixture.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include "unit/draw.h"

enum {
    ROUNDS = 60,
    PAIRS = 24,
    UNDER_WAY = 12,
    VALUE_BYTES_MAX = 9000,
    ALIVE_US_MAX = 12000, /* after its first word */
    FIRST_WORD_MS = 60000
};

/* --- Who writes, and is killed -------------------------------------------- */

/* What was acknowledged. Both keys of a pair hold the same number, always. */
struct word {
    uint32_t pair;
    uint32_t number;
    uint64_t revision;
};

struct pair {
    struct kv_write write;
    struct kv_op ops[2];
    struct word word;
    char keys[2][16];
    char value[VALUE_BYTES_MAX];
};

static int words_fd;
static uint32_t first_number; /* of this round */

static void name_key(char key[16], unsigned pair, unsigned half)
{
    snprintf(key, 16, "pair-%u-%c", pair % PAIRS, half ? 'b' : 'a');
}

/* The number, and noise that depends on it. */
static size_t make_value(char *value, uint32_t number)
{
    size_t bytes = 4 + number * 7919 % (VALUE_BYTES_MAX - 4);

    memcpy(value, &number, 4);
    for (size_t i = 4; i < bytes; i++)
        value[i] = (char)(number * 31 + i);
    return bytes;
}

static void write_pair(struct pair *pair)
{
    size_t bytes = make_value(pair->value, pair->word.number);

    for (unsigned half = 0; half < 2; half++) {
        name_key(pair->keys[half], pair->word.pair, half);
        pair->ops[half] = put_op(pair->keys[half], "");
        pair->ops[half].value = (struct bytes){pair->value, bytes};
    }
    pair->write.ops = pair->ops;
    pair->write.count = 2;
    if (kv_client_write(client, &pair->write))
        _exit(1);
}

static void on_written(struct kv_write *written)
{
    struct pair *pair = OWNER_OF(written, struct pair, write);

    pair->word.revision = pair->ops[1].meta.revision;
    if (!written->is_done ||
        write(words_fd, &pair->word, sizeof(pair->word)) != sizeof(pair->word))
        _exit(1);
    pair->word.number += UNDER_WAY;
    pair->word.pair = draw(PAIRS / UNDER_WAY) * UNDER_WAY +
                      pair->word.pair % UNDER_WAY; /* nobody else's */
    write_pair(pair);
}

static void write_until_killed(unsigned round)
{
    static struct pair pairs[UNDER_WAY];

    ev_loop_fork(loop);
    draw_seed = round;
    options.sync = round % 2 ? KV_SYNC_FULL : KV_SYNC_OFF;
    options.sweep_ms = 1;
    if (kv_lmdb_open(&store, &options) != 0)
        _exit(1);
    client = kv_lmdb_client_create(store, mailbox, &now);
    if (!client)
        _exit(1);
    for (unsigned i = 0; i < UNDER_WAY; i++) {
        pairs[i].write.on_done = on_written;
        pairs[i].word = (struct word){.pair = i, .number = first_number + i};
        write_pair(&pairs[i]);
    }
    ev_run(loop, 0);
    _exit(1);
}

/* --- Who kills, and looks ------------------------------------------------- */

static struct word acknowledged[PAIRS]; /* the last of each */
static uint32_t largest_number;
static uint64_t revisions_seen[PAIRS];
static uint64_t largest_revision;
static unsigned words_heard;

static void hear(int fd)
{
    struct word word;

    while (read(fd, &word, sizeof(word)) == sizeof(word)) {
        assert_true(word.pair < PAIRS);
        assert_true(word.revision > acknowledged[word.pair].revision);
        acknowledged[word.pair] = word;
        if (word.number > largest_number)
            largest_number = word.number;
        if (word.revision > largest_revision)
            largest_revision = word.revision;
        words_heard++;
    }
}

/* Hears what it says for a while from its first word on, then kills it. */
static void run_and_kill(unsigned round)
{
    int ends[2];
    struct pollfd readable;
    pid_t child;
    int status;
    uint64_t until_ns;

    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    first_number = largest_number + 2 * UNDER_WAY;
    child = fork();
    assert_true(child != -1);
    if (child == 0) {
        words_fd = ends[1];
        write_until_killed(round);
    }
    close(ends[1]);
    assert_int_equal(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
    readable = (struct pollfd){.fd = ends[0], .events = POLLIN};
    assert_int_equal(poll(&readable, 1, FIRST_WORD_MS), 1);
    until_ns = now_read_ns() + draw(ALIVE_US_MAX) * UINT64_C(1000);
    while (now_read_ns() < until_ns) {
        hear(ends[0]);
        usleep(100);
    }
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    hear(ends[0]);
    close(ends[0]);
}

static void check_pair(unsigned pair)
{
    static char expected[VALUE_BYTES_MAX];
    struct kv_value *values[2];
    uint32_t number;
    char key[16];

    for (unsigned half = 0; half < 2; half++) {
        name_key(key, pair, half);
        values[half] = get_bytes(bytes_of(key));
    }
    assert_int_equal(values[0] != NULL, values[1] != NULL);
    if (!values[0]) {
        assert_int_equal(acknowledged[pair].revision, 0);
        return;
    }
    assert_true(values[0]->bytes >= 4);
    memcpy(&number, values[0]->data.data, 4);
    for (unsigned half = 0; half < 2; half++) { /* whole, and the same */
        assert_int_equal(values[half]->bytes, make_value(expected, number));
        assert_memory_equal(values[half]->data.data, expected,
                            values[half]->bytes);
    }
    assert_int_equal(values[0]->meta.revision + 1, values[1]->meta.revision);
    assert_true(values[1]->meta.revision >= acknowledged[pair].revision);
    assert_true(values[1]->meta.revision >= revisions_seen[pair]);
    if (values[1]->meta.revision == acknowledged[pair].revision)
        assert_int_equal(number, acknowledged[pair].number);
    revisions_seen[pair] = values[1]->meta.revision;
    if (number > largest_number)
        largest_number = number;
    kv_value_release(&values[0]);
    kv_value_release(&values[1]);
}

TEST(what_was_acknowledged_survives_every_kill)
{
    uint64_t revision;

    close_store();
    draw_seed = 11;
    for (unsigned round = 0; round < ROUNDS; round++) {
        run_and_kill(round);
        open_store();
        revision = count().revision;
        assert_true(revision >= largest_revision);
        for (unsigned pair = 0; pair < PAIRS; pair++)
            check_pair(pair);
        assert_true(put("after", "value") > revision);
        largest_revision = revision + 1;
        close_store();
    }
    assert_true(words_heard >= ROUNDS);
    open_store();
}

SUITE(.each_begin = set_up, .each_end = tear_down);
