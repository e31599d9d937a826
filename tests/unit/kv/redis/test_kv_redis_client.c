#include "kv/redis/kv_redis_priv.h"

#include "fake_redis.h"
#include "suite.h"

enum { TIMEOUT_MS = 400, PATIENCE_TURNS = 60000 };

/* Its length is not what it says. */
#define VALUE                                              \
    "*6\r\n$1\r\n7\r\n$3\r\n100\r\n$1\r\n0\r\n$1\r\nt\r\n" \
    "$1\r\n2\r\n$1\r\na\r\n"
#define NO_REVISION \
    "*6\r\n$1\r\nx\r\n$1\r\n1\r\n$1\r\n0\r\n$0\r\n\r\n$1\r\n0\r\n$0\r\n\r\n"
/* Sent as it is, the type would end its line of a head. */
#define TYPE_OF_TWO_LINES                       \
    "*6\r\n$1\r\n7\r\n$3\r\n100\r\n$1\r\n0\r\n" \
    "$11\r\nx/y\r\nX: yes\r\n$1\r\n2\r\n$2\r\nab\r\n"
#define FOUND                                              \
    "*6\r\n$1\r\n7\r\n$3\r\n100\r\n$1\r\n0\r\n$1\r\nt\r\n" \
    "$1\r\n2\r\n$2\r\nab\r\n"
#define CREATED                                                  \
    "*6\r\n:1\r\n$1\r\nC\r\n$1\r\n9\r\n$3\r\n100\r\n$1\r\n0\r\n" \
    "$0\r\n\r\n"

static struct ev_loop *loop;
static ev_check check;
static struct now now;
static struct fake one, two;
static struct kv_redis_options options;
static struct kv_redis *store;
static struct kv_client *client;
static unsigned answered;

static void on_woken(struct ev_loop *at, ev_check *watcher, int events)
{
    (void)at;
    (void)watcher;
    (void)events;
    now_refresh(&now);
}

static void on_tick(struct ev_loop *at, ev_timer *timer, int events)
{
    (void)at;
    (void)timer;
    (void)events;
}

static void open_client(const char *url)
{
    options.url = url;
    assert_int_equal(kv_redis_open(&store, &options), 0);
    client = kv_redis_client_create(store, loop, &now);
    assert_non_null(client);
}

static void close_client(void)
{
    kv_client_destroy(client);
    kv_redis_close(store);
    client = NULL;
    store = NULL;
}

static const char *url_of(const struct fake *fake)
{
    static char url[64];

    snprintf(url, sizeof(url), "redis://127.0.0.1:%u", fake->port);
    return url;
}

/* Until so many questions are answered; the loop wakes up by itself. */
static void wait_for(unsigned count)
{
    ev_timer tick;

    ev_timer_init(&tick, on_tick, 0.005, 0.005);
    ev_timer_start(loop, &tick);
    for (unsigned turn = 0; answered < count; turn++) {
        assert_true(turn < PATIENCE_TURNS);
        ev_run(loop, EVRUN_ONCE);
    }
    ev_timer_stop(loop, &tick);
}

static void on_get(struct kv_get *get)
{
    (void)get;
    answered++;
}

static void on_write(struct kv_write *write)
{
    (void)write;
    answered++;
}

static void on_page(struct kv_page *page)
{
    (void)page;
    answered++;
}

static enum kv_outcome get(const char *key)
{
    struct kv_get question = {.key = bytes_of(key), .on_done = on_get};

    answered = 0;
    if (!kv_client_get(client, &question))
        wait_for(1);
    if (question.value)
        kv_value_release(&question.value);
    return question.outcome;
}

static struct kv_op op;

static enum kv_outcome put(const char *key)
{
    struct kv_write question = {.ops = &op, .count = 1, .on_done = on_write};

    op = (struct kv_op){.kind = KV_PUT, .key = bytes_of(key)};
    answered = 0;
    if (!kv_client_write(client, &question))
        wait_for(1);
    return op.outcome;
}

static const char *say_nothing(struct fake *fake, const char *command,
                               const char *last)
{
    (void)fake;
    (void)command;
    (void)last;
    return NULL;
}

static const char *say_found(struct fake *fake, const char *command,
                             const char *last)
{
    (void)fake;
    (void)last;
    return strcmp(command, "HMGET") == 0 ? FOUND : CREATED;
}

static const char *hang_up(struct fake *fake, const char *command,
                           const char *last)
{
    (void)fake;
    (void)command;
    (void)last;
    return FAKE_HANGS_UP;
}

static int set_up(void **state)
{
    (void)state;
    loop = ev_loop_new(EVBACKEND_EPOLL | EVFLAG_NOENV);
    assert_non_null(loop);
    ev_check_init(&check, on_woken);
    ev_set_priority(&check, EV_MAXPRI);
    ev_check_start(loop, &check);
    now_refresh(&now);
    options = (struct kv_redis_options){.timeout_ms = 20000};
    assert_int_equal(fake_open(&one, loop, say_found), 0);
    assert_int_equal(fake_open(&two, loop, say_found), 0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    close_client();
    fake_close(&one);
    fake_close(&two);
    ev_loop_destroy(loop);
    return 0;
}

/* --- One engine ---------------------------------------------------------- */

TEST(what_is_asked_before_it_is_connected_waits_for_that)
{
    open_client(url_of(&one));
    assert_int_equal(get("a"), KV_FOUND);
    assert_int_equal(put("a"), KV_CREATED);
    assert_int_equal(op.meta.revision, 9);
    assert_int_equal(one.accepted, 1);
}

TEST(a_password_opens_the_door)
{
    char url[64];

    snprintf(url, sizeof(url), "redis://:secret@127.0.0.1:%u/3", one.port);
    open_client(url);
    assert_int_equal(get("a"), KV_FOUND);
}

TEST(a_wrong_password_leaves_it_unreachable)
{
    char url[64];

    snprintf(url, sizeof(url), "redis://:wrong@127.0.0.1:%u", one.port);
    open_client(url);
    assert_int_equal(get("a"), KV_UNREACHABLE);
    assert_int_equal(one.commands, 0);
}

TEST(nobody_there_is_unreachable_at_once)
{
    char url[64];

    snprintf(url, sizeof(url), "%s", url_of(&one));
    fake_close(&one);
    open_client(url);
    assert_int_equal(get("a"), KV_UNREACHABLE);
    assert_int_equal(put("a"), KV_UNREACHABLE);
}

TEST(no_answer_is_a_timeout)
{
    struct kv_redis_counts counts;

    options.timeout_ms = TIMEOUT_MS;
    one.answer = say_nothing;
    open_client(url_of(&one));
    assert_int_equal(put("a"), KV_TIMEOUT);
    assert_int_equal(one.commands, 1);
    kv_redis_count(store, &counts);
    assert_int_equal(counts.timeouts, 1);
}

TEST(a_write_on_a_lost_connection_is_never_sent_again)
{
    one.answer = hang_up;
    open_client(url_of(&one));
    assert_int_equal(put("a"), KV_TIMEOUT);
    assert_int_equal(one.commands, 1);
}

TEST(a_read_on_a_lost_connection_is_tried_once_more)
{
    one.answer = hang_up;
    open_client(url_of(&one));
    assert_int_equal(get("a"), KV_UNREACHABLE);
    assert_int_equal(one.commands, 2);
}

static const char *forget_script(struct fake *fake, const char *command,
                                 const char *last)
{
    (void)fake;
    (void)last;
    return strcmp(command, "EVAL") == 0 ? CREATED
                                        : "-NOSCRIPT No matching script.\r\n";
}

TEST(a_forgotten_script_is_sent_whole)
{
    one.answer = forget_script;
    open_client(url_of(&one));
    assert_int_equal(put("a"), KV_CREATED);
    assert_int_equal(one.commands, 2);
}

static const char *try_again(struct fake *fake, const char *command,
                             const char *last)
{
    (void)command;
    (void)last;
    return fake->commands < 3 ? "-TRYAGAIN not now\r\n" : CREATED;
}

TEST(what_is_refused_for_now_is_tried_again)
{
    one.answer = try_again;
    open_client(url_of(&one));
    assert_int_equal(put("a"), KV_CREATED);
    assert_int_equal(one.commands, 3);
}

static const char *fault;

static const char *say_fault(struct fake *fake, const char *command,
                             const char *last)
{
    (void)fake;
    (void)command;
    (void)last;
    return fault;
}

TEST(what_it_refuses_has_an_outcome)
{
    static const struct {
        const char *fault;
        enum kv_outcome outcome;
    } cases[] = {
        {"-LOADING Redis is loading\r\n", KV_UNREACHABLE},
        {"-READONLY You can't write\r\n", KV_UNREACHABLE},
        {"-MISCONF Redis is configured\r\n", KV_UNREACHABLE},
        {"-OOM command not allowed\r\n", KV_FULL},
        {"-ERR Error running script (call to f_1): @user_script:9: "
         "@user_script: 9: -OOM command not allowed\r\n",
         KV_FULL},
        {"-WRONGTYPE Operation\r\n", KV_ERROR},
        {"+OK\r\n", KV_ERROR},
        {"*0\r\n", KV_ERROR},
        {"*6\r\n:1\r\n$1\r\nX\r\n$1\r\n9\r\n$1\r\n1\r\n$1\r\n0\r\n$0\r\n\r\n",
         KV_ERROR},
        {"*5\r\n:0\r\n:2\r\n$1\r\n9\r\n$1\r\n1\r\n$1\r\n0\r\n", KV_ERROR},
        {"*5\r\n:0\r\n:1\r\n$1\r\n9\r\n$1\r\n1\r\n$1\r\n0\r\n",
         KV_PRECONDITION},
    };

    one.answer = say_fault;
    open_client(url_of(&one));
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        fault = cases[i].fault;
        assert_int_equal(put("a"), cases[i].outcome);
    }
    assert_int_equal(op.meta.revision, 9);
}

TEST(what_nobody_of_us_wrote_is_an_error)
{
    static const char *const cases[] = {
        "+OK\r\n", "*0\r\n", ":1\r\n", VALUE, NO_REVISION, TYPE_OF_TWO_LINES};

    one.answer = say_fault;
    open_client(url_of(&one));
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        fault = cases[i];
        assert_int_equal(get("a"), KV_ERROR);
    }
    fault = "*6\r\n$-1\r\n$-1\r\n$-1\r\n$-1\r\n$-1\r\n$-1\r\n";
    assert_int_equal(get("a"), KV_MISSING);
}

TEST(too_much_at_once_is_busy)
{
    struct kv_get gets[4];
    unsigned taken = 0;

    options.calls_max = 3;
    open_client(url_of(&one));
    assert_int_equal(get("a"), KV_FOUND);
    one.answer = say_nothing;
    answered = 0;
    for (size_t i = 0; i < 4; i++) {
        gets[i] = (struct kv_get){.key = BYTES("a"), .on_done = on_get};
        taken += !kv_client_get(client, &gets[i]);
    }
    assert_int_equal(taken, 3);
    assert_int_equal(gets[3].outcome, KV_BUSY);
}

static const char *say_empty(struct fake *fake, const char *command,
                             const char *last)
{
    (void)fake;
    (void)command;
    (void)last;
    return "*0\r\n";
}

/* As where others have written to the index, with another score. */
static const char *say_strays(struct fake *fake, const char *command,
                              const char *last)
{
    (void)fake;
    (void)last;
    return strcmp(command, "HMGET") == 0
               ? FOUND
               : "*3\r\n$1\r\na\r\n$6\r\nmany/b\r\n$4\r\nmanz\r\n";
}

TEST(keys_that_do_not_begin_as_asked_are_not_listed)
{
    struct kv_page page = {.prefix = BYTES("many"),
                           .delimiter = BYTES("/"),
                           .limit = 64, /* so all comes at once */
                           .on_done = on_page};

    one.answer = say_strays;
    open_client(url_of(&one));
    answered = 0;
    if (!kv_client_list(client, &page))
        wait_for(1);
    assert_int_equal(page.outcome, KV_FOUND);
    assert_int_equal(page.count, 1);
    assert_true(page.entries[0].is_prefix);
    assert_true(bytes_eq(page.entries[0].key, BYTES("many/")));
    arena_fini(&page.arena);
}

TEST(a_listing_asks_every_partition)
{
    struct kv_page page = {.limit = 10, .on_done = on_page};

    one.answer = say_empty;
    open_client(url_of(&one));
    answered = 0;
    if (!kv_client_list(client, &page))
        wait_for(1);
    assert_int_equal(page.outcome, KV_FOUND);
    assert_int_equal(page.count, 0);
    assert_int_equal(page.next.len, 0);
    assert_int_equal(one.commands, KV_REDIS_PARTITIONS);
    arena_fini(&page.arena);
}

TEST(what_is_under_way_at_the_end_is_forgotten)
{
    static struct kv_get question;
    static struct kv_page page = {.limit = 10, .on_done = on_page};
    static struct kv_op put_op;
    static struct kv_write write;

    one.answer = say_nothing;
    open_client(url_of(&one));
    answered = 0;
    question = (struct kv_get){.key = BYTES("a"), .on_done = on_get};
    put_op = (struct kv_op){.kind = KV_PUT_NAMED};
    write = (struct kv_write){.ops = &put_op, .count = 1, .on_done = on_write};
    assert_false(kv_client_get(client, &question));
    assert_false(kv_client_list(client, &page));
    assert_false(kv_client_write(client, &write));
    while (one.commands < 3)
        ev_run(loop, EVRUN_ONCE);
    kv_client_destroy(client);
    client = NULL;
    assert_int_equal(answered, 0);
}

/* --- What nobody has asked for ------------------------------------------- */

TEST(an_answer_too_many_ends_the_connection)
{
    static const char *const cases[] = {
        FOUND "+OK\r\n", FOUND ":1\r\n", FOUND "$-1\r\n",
        FOUND "*-1\r\n", FOUND "*0\r\n", FOUND "*3\r\n:1\r\n:2\r\n:3\r\n"};

    one.answer = say_fault;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        unsigned accepted = one.accepted;

        fault = cases[i];
        open_client(url_of(&one));
        assert_int_equal(get("a"), KV_FOUND);
        assert_int_equal(get("a"), KV_FOUND);
        assert_int_equal(one.accepted, accepted + 2);
        close_client();
    }
}

static const char *event; /* what a listener hears */

static const char *let_listen(struct fake *fake, const char *command,
                              const char *last)
{
    static char reply[256];

    (void)fake;
    if (strcmp(command, "CONFIG") == 0)
        return "*2\r\n$22\r\nnotify-keyspace-events\r\n$2\r\nKA\r\n";
    snprintf(reply, sizeof(reply),
             "*3\r\n$10\r\npsubscribe\r\n$%zu\r\n%s\r\n:1\r\n%s", strlen(last),
             last, event);
    return reply;
}

static void on_watch(struct kv_watch *watch)
{
    (void)watch;
    answered++;
}

static void wait_for_accepted(unsigned count)
{
    for (unsigned turn = 0; one.accepted < count; turn++) {
        assert_true(turn < PATIENCE_TURNS);
        ev_run(loop, EVRUN_ONCE);
    }
}

/* The third connection is the listener's second one. */
TEST(what_is_no_event_ends_the_connection)
{
    static const char *const cases[] = {
        "*0\r\n", "*1\r\n$8\r\npmessage\r\n", "*3\r\n:1\r\n:2\r\n:3\r\n",
        "*3\r\n$8\r\npmessage\r\n:1\r\n:1\r\n",
        "*3\r\n$8\r\npmessage\r\n$-1\r\n:1\r\n"};

    one.answer = let_listen;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct kv_watch watch = {
            .prefix = BYTES(""), .on_done = on_watch, .on_change = on_watch};
        unsigned accepted = one.accepted;

        event = cases[i];
        answered = 0;
        open_client(url_of(&one));
        if (!kv_client_watch(client, &watch))
            wait_for(1);
        assert_int_equal(watch.outcome, KV_FOUND);
        wait_for_accepted(accepted + 3);
        kv_client_unwatch(client, &watch);
        close_client();
    }
}

/* --- A cluster ----------------------------------------------------------- */

/* Both say that fake has it all. */
static void set_slots(const struct fake *fake)
{
    one.is_cluster = two.is_cluster = true;
    snprintf(one.slots, sizeof(one.slots),
             "*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n$9\r\n127.0.0.1\r\n:%u\r\n",
             fake->port);
    memcpy(two.slots, one.slots, sizeof(two.slots));
}

TEST(the_map_leads_to_other_nodes)
{
    set_slots(&two);
    open_client(url_of(&one));
    assert_int_equal(get("a"), KV_FOUND);
    assert_int_equal(one.commands, 0);
    assert_int_equal(two.commands, 1);
}

static char moved[64];

static const char *say_moved(struct fake *fake, const char *command,
                             const char *last)
{
    (void)fake;
    (void)command;
    (void)last;
    return moved;
}

TEST(what_has_moved_is_followed_and_remembered)
{
    set_slots(&one);
    snprintf(moved, sizeof(moved), "-MOVED 1 127.0.0.1:%u\r\n", two.port);
    one.answer = say_moved;
    open_client(url_of(&one));
    assert_int_equal(put("a"), KV_CREATED);
    set_slots(&two);
    assert_int_equal(get("a"), KV_FOUND);
    assert_int_equal(one.commands, 1);
    assert_int_equal(two.commands, 2);
}

TEST(a_single_question_is_asked_elsewhere_and_not_remembered)
{
    set_slots(&one);
    snprintf(moved, sizeof(moved), "-ASK 1 127.0.0.1:%u\r\n", two.port);
    one.answer = say_moved;
    open_client(url_of(&one));
    assert_int_equal(put("a"), KV_CREATED);
    assert_int_equal(put("a"), KV_CREATED);
    assert_int_equal(one.commands, 2);
    assert_int_equal(two.commands, 2);
}

TEST(nodes_that_send_in_a_circle_are_left)
{
    set_slots(&one);
    snprintf(moved, sizeof(moved), "-ASK 1 127.0.0.1:%u\r\n", one.port);
    one.answer = say_moved;
    open_client(url_of(&one));
    assert_int_equal(put("a"), KV_UNREACHABLE);
    assert_in_range(one.commands, 2, 20);
}

TEST(keys_that_are_apart_are_not_written_together)
{
    struct kv_op ops[2] = {{.kind = KV_PUT, .key = BYTES("a")},
                           {.kind = KV_PUT, .key = BYTES("b")}};
    struct kv_write write = {.ops = ops, .count = 2, .on_done = on_write};

    set_slots(&one);
    open_client(url_of(&one));
    answered = 0;
    if (!kv_client_write(client, &write))
        wait_for(1);
    assert_false(write.is_done);
    assert_int_equal(ops[0].outcome, KV_CROSSED);
    assert_int_equal(ops[1].outcome, KV_CROSSED);
    assert_int_equal(one.commands, 0);
}

SUITE(.each_begin = set_up, .each_end = tear_down);
