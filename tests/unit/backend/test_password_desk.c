/* link: -Wl,--wrap=htpasswd_check,--wrap=calloc,--wrap=pthread_create */
#include "backend/password_desk.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <ev.h>

#include <cmocka.h>

#include "backend/password_cache.h"

enum { THREADS = 2, DESKS = 2, WAITS = PASSWORD_JOBS + 40 };

#define START_MS UINT64_C(1000000)

/* --- Checks take as long as the test wants -------------------------------- */

static pthread_mutex_t gate_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t gate_changed = PTHREAD_COND_INITIALIZER;
static bool gate_is_open; /* all guarded by gate_mutex */
static unsigned begun;    /* checks */
static unsigned begun_before;
static char last_user[HTPASSWD_NAME_BYTES_MAX + 1];
static char begun_users[256]; /* their first letters */

bool __wrap_htpasswd_check(struct htpasswd *htpasswd, struct bytes user,
                           struct bytes password);
bool __wrap_htpasswd_check(struct htpasswd *htpasswd, struct bytes user,
                           struct bytes password)
{
    (void)htpasswd;
    pthread_mutex_lock(&gate_mutex);
    if (begun < sizeof(begun_users) - 1)
        begun_users[begun] = user.data[0];
    begun++;
    memcpy(last_user, user.data, user.len);
    last_user[user.len] = '\0';
    pthread_cond_broadcast(&gate_changed);
    while (!gate_is_open)
        pthread_cond_wait(&gate_changed, &gate_mutex);
    pthread_mutex_unlock(&gate_mutex);
    return bytes_eq(password, BYTES("right"));
}

static void set_gate(bool is_open)
{
    pthread_mutex_lock(&gate_mutex);
    gate_is_open = is_open;
    pthread_cond_broadcast(&gate_changed);
    pthread_mutex_unlock(&gate_mutex);
}

static unsigned count_begun(void)
{
    unsigned count;

    pthread_mutex_lock(&gate_mutex);
    count = begun;
    pthread_mutex_unlock(&gate_mutex);
    return count;
}

static void wait_until_begun(unsigned count)
{
    pthread_mutex_lock(&gate_mutex);
    while (begun < count)
        pthread_cond_wait(&gate_changed, &gate_mutex);
    pthread_mutex_unlock(&gate_mutex);
}

static bool has_memory = true;
static int threads_left = -1; /* that can be made; -1: all */

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size)
{
    return has_memory ? __real_calloc(count, size) : NULL;
}

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attr,
                          void *(*run)(void *), void *context);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr,
                          void *(*run)(void *), void *context);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr,
                          void *(*run)(void *), void *context)
{
    if (threads_left == 0)
        return EAGAIN;
    if (threads_left > 0)
        threads_left--;
    return __real_pthread_create(thread, attr, run, context);
}

/* --- Two workers in one thread -------------------------------------------- */

static struct ev_loop *loop;
static struct mailbox *mailboxes[DESKS];
static struct password_check *check;
static struct password_desk *desks[DESKS];
static struct htpasswd *htpasswd;
static char path[] = "/tmp/password-desk-XXXXXX";
static uint64_t now_ms;

struct asking {
    struct password_wait wait;
    unsigned told;
    enum password_verdict verdict;
    void (*then)(struct asking *asking);
};

static struct asking askings[WAITS];

static void write_file(const char *text)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static int set_up(void **state)
{
    struct htpasswd_fault fault;
    int fd;

    (void)state;
    memcpy(path + sizeof(path) - 7, "XXXXXX", 6);
    fd = mkstemp(path);
    assert_true(fd != -1);
    close(fd);
    write_file("");
    begun = begun_before = 0;
    memset(begun_users, 0, sizeof(begun_users));
    now_ms = START_MS;
    set_gate(true);
    memset(askings, 0, sizeof(askings));
    loop = ev_loop_new(EVBACKEND_EPOLL | EVFLAG_NOENV);
    assert_non_null(loop);
    assert_int_equal(htpasswd_open(&htpasswd, path, &fault), 0);
    assert_int_equal(password_check_create(&check, THREADS), 0);
    for (size_t i = 0; i < DESKS; i++) {
        mailboxes[i] = mailbox_create(loop, 2, (struct mailbox_receiver){0});
        assert_non_null(mailboxes[i]);
        assert_int_equal(password_desk_create(&desks[i], check, mailboxes[i]),
                         0);
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    set_gate(true);
    for (size_t i = 0; i < WAITS; i++)
        password_desk_cancel(desks[0], &askings[i].wait);
    password_check_stop(check);
    for (size_t i = 0; i < DESKS; i++) {
        password_desk_destroy(desks[i]);
        mailbox_destroy(mailboxes[i]);
    }
    password_check_destroy(check);
    htpasswd_release(&htpasswd);
    ev_loop_destroy(loop);
    return unlink(path);
}

static void on_done(struct password_wait *wait, enum password_verdict verdict)
{
    struct asking *asking = (struct asking *)(void *)wait;

    asking->told++;
    asking->verdict = verdict;
    if (asking->then)
        asking->then(asking);
}

static enum password_verdict ask_as(size_t desk, size_t number,
                                    const char *user, const char *password,
                                    const struct address *asker)
{
    struct password_question question = {htpasswd, bytes_of(user),
                                         bytes_of(password), asker, now_ms};

    assert_true(number < WAITS);
    askings[number].wait.on_done = on_done;
    return password_desk_ask(desks[desk], &question, &askings[number].wait);
}

static enum password_verdict ask_from(size_t desk, size_t number,
                                      const char *user, const char *password,
                                      uint8_t host)
{
    struct address asker = {.family = ADDRESS_IPV4,
                            .octets = {192, 0, 2, host}};

    return ask_as(desk, number, user, password, &asker);
}

/* From 2001:db8:SITE:SUBNET::1. */
static enum password_verdict ask_from_site(size_t number, const char *user,
                                           const char *password, uint8_t site,
                                           uint8_t subnet)
{
    struct address asker = {.family = ADDRESS_IPV6,
                            .octets = {0x20, 0x01, 0x0d, 0xb8, 0, site, 0,
                                       subnet, [15] = 1}};

    return ask_as(0, number, user, password, &asker);
}

static enum password_verdict ask(size_t number, const char *user,
                                 const char *password)
{
    return ask_from(0, number, user, password, 1);
}

/* Runs the loop until that one has been told. */
static enum password_verdict wait_for(size_t number)
{
    while (askings[number].told == 0)
        ev_run(loop, EVRUN_ONCE);
    assert_int_equal(askings[number].told, 1);
    return askings[number].verdict;
}

/* --- Answers -------------------------------------------------------------- */

static void the_answer_comes_by_the_loop(void **state)
{
    (void)state;
    assert_int_equal(ask(0, "a", "right"), PASSWORD_LATER);
    assert_int_equal(ask(1, "a", "wrong"), PASSWORD_LATER);
    assert_int_equal(askings[0].told, 0);
    assert_int_equal(wait_for(0), PASSWORD_RIGHT);
    assert_int_equal(wait_for(1), PASSWORD_WRONG);
    assert_int_equal(count_begun(), 2);
}

static void what_was_right_is_answered_at_once_for_a_minute(void **state)
{
    (void)state;
    assert_int_equal(ask(0, "a", "right"), PASSWORD_LATER);
    assert_int_equal(wait_for(0), PASSWORD_RIGHT);
    now_ms += PASSWORD_CACHE_LIFE_MS - 1;
    assert_int_equal(ask(1, "a", "right"), PASSWORD_RIGHT);
    assert_int_equal(ask_from(0, 1, "a", "right", 77), PASSWORD_RIGHT);
    assert_int_equal(count_begun(), 1);
    now_ms++;
    assert_int_equal(ask(1, "a", "right"), PASSWORD_LATER);
    assert_int_equal(wait_for(1), PASSWORD_RIGHT);
    assert_int_equal(count_begun(), 2);
}

static void what_was_wrong_is_asked_each_time(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(ask(i, "a", "wrong"), PASSWORD_LATER);
        assert_int_equal(wait_for(i), PASSWORD_WRONG);
        assert_int_equal(count_begun(), i + 1);
    }
}

static void user_and_password_do_not_run_into_each_other(void **state)
{
    (void)state;
    assert_int_equal(ask(0, "a", "right"), PASSWORD_LATER);
    assert_int_equal(wait_for(0), PASSWORD_RIGHT);
    assert_int_equal(ask(1, "ar", "ight"), PASSWORD_LATER);
    assert_int_equal(wait_for(1), PASSWORD_WRONG);
    assert_int_equal(ask(2, "", "aright"), PASSWORD_LATER);
    assert_int_equal(wait_for(2), PASSWORD_WRONG);
}

static void overlong_ones_are_wrong_without_a_check(void **state)
{
    char text[300];

    (void)state;
    memset(text, 'x', 256);
    text[256] = '\0';
    assert_int_equal(ask(0, text, "right"), PASSWORD_WRONG);
    assert_int_equal(ask(0, "a", text), PASSWORD_WRONG);
    assert_int_equal(count_begun(), 0);
    text[255] = '\0';
    assert_int_equal(ask(0, text, text), PASSWORD_LATER);
    assert_int_equal(wait_for(0), PASSWORD_WRONG);
}

/* --- The same question ---------------------------------------------------- */

static void the_same_question_is_checked_once(void **state)
{
    (void)state;
    set_gate(false);
    for (size_t i = 0; i < 20; i++)
        assert_int_equal(ask(i, "a", "right"), PASSWORD_LATER);
    wait_until_begun(1);
    set_gate(true);
    for (size_t i = 0; i < 20; i++)
        assert_int_equal(wait_for(i), PASSWORD_RIGHT);
    assert_int_equal(count_begun(), 1);
}

static void the_same_question_of_two_workers_is_checked_once(void **state)
{
    (void)state;
    set_gate(false);
    assert_int_equal(ask_from(0, 0, "a", "right", 1), PASSWORD_LATER);
    wait_until_begun(1);
    assert_int_equal(ask_from(1, 1, "a", "right", 2), PASSWORD_LATER);
    /* Another passes it by. */
    assert_int_equal(ask_from(1, 2, "b", "right", 2), PASSWORD_LATER);
    wait_until_begun(2);
    assert_string_equal(last_user, "b");
    set_gate(true);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(wait_for(i), PASSWORD_RIGHT);
    assert_int_equal(count_begun(), 2);
    assert_int_equal(ask_from(1, 3, "a", "right", 3), PASSWORD_RIGHT);
}

/* --- Floods --------------------------------------------------------------- */

/* A look at the file may have a job for a moment, which the last of many misses
 * then. */
#define INSIST(asked)                                              \
    do {                                                           \
        enum password_verdict got;                                 \
        int patience = 2000;                                       \
        while ((got = (asked)) == PASSWORD_BUSY && --patience > 0) \
            usleep(1000);                                          \
        assert_int_equal(got, PASSWORD_LATER);                     \
    } while (0)

/* Fills all jobs with different questions, from as many addresses as it takes;
 * returns how many there were. */
static size_t flood(size_t first)
{
    size_t count;

    for (count = 0; count < PASSWORD_JOBS; count++) {
        char user[16];

        snprintf(user, sizeof(user), "u%zu", first + count);
        INSIST(ask_from(0, first + count, user, "wrong",
                        (uint8_t)(100 + count / PASSWORD_JOBS_EACH)));
    }
    return count;
}

static void an_address_cannot_take_all_jobs(void **state)
{
    (void)state;
    set_gate(false);
    for (size_t i = 0; i < PASSWORD_JOBS_EACH; i++) {
        char user[16];

        snprintf(user, sizeof(user), "u%zu", i);
        assert_int_equal(ask(i, user, "wrong"), PASSWORD_LATER);
    }
    assert_int_equal(ask(20, "more", "wrong"), PASSWORD_BUSY);
    assert_int_equal(ask_from(1, 21, "more", "wrong", 1), PASSWORD_BUSY);
    assert_int_equal(ask_from(0, 20, "more", "right", 2), PASSWORD_LATER);
    set_gate(true);
    assert_int_equal(wait_for(20), PASSWORD_RIGHT);
    assert_int_equal(wait_for(0), PASSWORD_WRONG);
    assert_int_equal(ask(22, "more", "wrong"), PASSWORD_LATER);
}

static void a_flood_does_not_touch_who_was_right_before(void **state)
{
    (void)state;
    assert_int_equal(ask(0, "a", "right"), PASSWORD_LATER);
    assert_int_equal(wait_for(0), PASSWORD_RIGHT);
    set_gate(false);
    assert_int_equal(flood(1), PASSWORD_JOBS);
    assert_int_equal(ask_from(0, 0, "new", "right", 100), PASSWORD_BUSY);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(ask(0, "a", "right"), PASSWORD_RIGHT);
    set_gate(true);
    for (size_t i = 1; i <= PASSWORD_JOBS; i++)
        assert_int_equal(wait_for(i), PASSWORD_WRONG);
    askings[0] = (struct asking){0};
    assert_int_equal(ask(0, "new", "right"), PASSWORD_LATER);
    assert_int_equal(wait_for(0), PASSWORD_RIGHT);
}

/* How many of the first so many have been told that, and no others anything. */
static size_t count_told(size_t count, enum password_verdict verdict)
{
    size_t told = 0;

    ev_run(loop, EVRUN_NOWAIT);
    for (size_t i = 0; i < count; i++) {
        assert_true(askings[i].told == 0 || askings[i].verdict == verdict);
        told += askings[i].told;
    }
    return told;
}

static void the_busiest_address_makes_room_for_a_newcomer(void **state)
{
    (void)state;
    set_gate(false);
    assert_int_equal(flood(0), PASSWORD_JOBS);
    wait_until_begun(THREADS);
    /* Another worker's. */
    assert_int_equal(ask_from(1, 70, "new", "right", 1), PASSWORD_LATER);
    assert_int_equal(count_told(PASSWORD_JOBS, PASSWORD_BUSY), 1);
    assert_int_equal(askings[PASSWORD_JOBS - 1].told, 1); /* the last */
    set_gate(true);
    assert_int_equal(wait_for(70), PASSWORD_RIGHT);
    for (size_t i = 0; i < PASSWORD_JOBS - 1; i++)
        assert_int_equal(wait_for(i), PASSWORD_WRONG);
    assert_int_equal(count_begun(), PASSWORD_JOBS);
}

static void a_network_is_as_busy_as_all_its_addresses(void **state)
{
    (void)state;
    set_gate(false);
    for (size_t i = 0; i < PASSWORD_JOBS; i++) {
        char user[16];

        snprintf(user, sizeof(user), "u%zu", i);
        INSIST(ask_from_site(i, user, "wrong", i == 9 ? 2 : 1, (uint8_t)i));
    }
    wait_until_begun(THREADS);
    assert_int_equal(ask_from_site(71, "new", "right", 3, 1), PASSWORD_LATER);
    assert_int_equal(count_told(PASSWORD_JOBS, PASSWORD_BUSY), 1);
    /* One of theirs has no more than any of them, but not less. */
    assert_int_equal(ask_from_site(70, "their", "right", 1, 200),
                     PASSWORD_LATER);
    assert_int_equal(count_told(PASSWORD_JOBS, PASSWORD_BUSY), 2);
    assert_int_equal(askings[9].told, 0);
    set_gate(true);
    assert_int_equal(wait_for(71), PASSWORD_RIGHT);
    assert_int_equal(wait_for(9), PASSWORD_WRONG);
}

/* One question each from as many addresses as there are jobs. */
static void ask_from_many(const char *password)
{
    for (size_t i = 0; i < PASSWORD_JOBS; i++) {
        char user[16];

        snprintf(user, sizeof(user), "u%zu", i);
        INSIST(ask_from(0, i, user, password, (uint8_t)i));
    }
}

static void among_equals_the_lot_decides(void **state)
{
    bool was_drawn[PASSWORD_JOBS] = {false};
    size_t drawn = 0;

    (void)state;
    for (int round = 0; round < 8; round++) {
        set_gate(false);
        memset(askings, 0, sizeof(askings));
        ask_from_many("right");
        wait_until_begun(begun_before + THREADS);
        assert_int_equal(ask_from(0, 70, "new", "right", 200), PASSWORD_LATER);
        assert_int_equal(count_told(PASSWORD_JOBS, PASSWORD_BUSY), 1);
        for (size_t i = 0; i < PASSWORD_JOBS; i++)
            was_drawn[i] |= askings[i].told > 0;
        set_gate(true);
        assert_int_equal(wait_for(70), PASSWORD_RIGHT);
        for (size_t i = 0; i < PASSWORD_JOBS; i++)
            if (askings[i].told == 0)
                wait_for(i);
        begun_before = count_begun();
        now_ms += PASSWORD_CACHE_LIFE_MS;
    }
    for (size_t i = 0; i < PASSWORD_JOBS; i++)
        drawn += was_drawn[i];
    assert_in_range(drawn, 3, 8); /* once in millions of runs not */
}

static void among_equals_who_was_wrong_makes_room(void **state)
{
    (void)state;
    ask_from_many("wrong");
    for (size_t i = 0; i < PASSWORD_JOBS; i++)
        wait_for(i);
    memset(askings, 0, sizeof(askings));
    set_gate(false);
    begun_before = count_begun();
    for (size_t i = 0; i < PASSWORD_JOBS; i++) {
        char user[16];

        /* From 128 on they are new, and have not been wrong. */
        snprintf(user, sizeof(user), "v%zu", i);
        INSIST(ask_from(0, i, user, "right",
                        (uint8_t)(i < THREADS + 1 ? i : 128 + i)));
    }
    wait_until_begun(begun_before + THREADS);
    assert_int_equal(ask_from(0, 70, "n0", "right", 100), PASSWORD_LATER);
    assert_int_equal(count_told(PASSWORD_JOBS, PASSWORD_BUSY), 1);
    assert_int_equal(askings[THREADS].told, 1); /* the one that waited */
    /* None of those is left, and one who was wrong moves nobody else. */
    assert_int_equal(ask_from(0, 71, "n1", "right", 50), PASSWORD_BUSY);
    assert_int_equal(ask_from(0, 71, "n1", "right", 101), PASSWORD_LATER);
    assert_int_equal(count_told(PASSWORD_JOBS, PASSWORD_BUSY) +
                         askings[70].told,
                     2);
}

/* Whoever was right is not one of those who were wrong any more. */
static void to_be_right_makes_good(void **state)
{
    (void)state;
    assert_int_equal(ask_from(0, 0, "a", "wrong", 200), PASSWORD_LATER);
    assert_int_equal(wait_for(0), PASSWORD_WRONG);
    memset(askings, 0, sizeof(askings));
    assert_int_equal(ask_from(0, 0, "a", "right", 200), PASSWORD_LATER);
    assert_int_equal(wait_for(0), PASSWORD_RIGHT);
    memset(askings, 0, sizeof(askings));
    set_gate(false);
    begun_before = count_begun();
    ask_from_many("right");
    wait_until_begun(begun_before + THREADS);
    assert_int_equal(ask_from(0, 70, "new", "right", 200), PASSWORD_LATER);
}

/* --- Turns ---------------------------------------------------------------- */

/* Asks so many questions, of users whose names begin with that. */
static void ask_many(size_t first, size_t count, char name, uint8_t site,
                     uint8_t subnet)
{
    for (size_t i = 0; i < count; i++) {
        char user[24];

        snprintf(user, sizeof(user), "%c%zu", name, i);
        INSIST(ask_from_site(first + i, user, "wrong", site, subnet));
    }
}

/* Lets all be answered, so many of which have begun; the order by the names'
 * first letters. */
static const char *let_answer(size_t count)
{
    set_gate(true);
    for (size_t i = 0; i < count; i++)
        wait_for(i);
    return begun_users + THREADS; /* these began before the others came */
}

/* Two threads begin two at a time, and either is the faster. */
static void assert_orders(const char *expected, const char *found)
{
    assert_int_equal(strlen(found), strlen(expected));
    for (size_t i = 0; expected[i]; i++) {
        bool is_near = expected[i] == found[i] ||
                       (i > 0 && expected[i - 1] == found[i]) ||
                       (expected[i + 1] && expected[i + 1] == found[i]);

        if (!is_near)
            fail_msg("'%s' is not '%s'", found, expected);
    }
}

static void begin_with_others(void)
{
    set_gate(false);
    ask_many(0, THREADS, '.', 99, 1);
    wait_until_begun(THREADS);
}

static void addresses_are_answered_in_turns(void **state)
{
    (void)state;
    begin_with_others();
    ask_many(THREADS, 4, 'a', 1, 1);
    ask_many(THREADS + 4, 2, 'b', 2, 1);
    ask_many(THREADS + 6, 1, 'c', 3, 1);
    assert_orders("abcabaa", let_answer(THREADS + 7));
}

static void networks_are_answered_in_turns_and_their_addresses(void **state)
{
    (void)state;
    begin_with_others();
    ask_many(THREADS, 3, 'a', 1, 1);     /* of one network, */
    ask_many(THREADS + 3, 2, 'b', 1, 2); /* which this is in, too */
    ask_many(THREADS + 5, 3, 'c', 2, 1);
    assert_orders("acbcacba", let_answer(THREADS + 8));
}

/* --- Room as it is needed -------------------------------------------------- */

/* Whoever is given up has no load any more, and so is not given up twice; and
 * jobs come to an end when nobody hears of it. */
static void room_is_made_as_long_as_it_is_fair(void **state)
{
    size_t newcomers = 0;

    (void)state;
    set_gate(false);
    assert_int_equal(flood(0), PASSWORD_JOBS);
    wait_until_begun(THREADS);
    while (newcomers < 40) {
        char user[16];

        snprintf(user, sizeof(user), "n%zu", newcomers);
        if (ask_from(0, PASSWORD_JOBS + newcomers, user, "right",
                     (uint8_t)(1 + newcomers)) == PASSWORD_BUSY)
            break;
        newcomers++;
    }
    assert_in_range(newcomers, 8, 39);
    assert_int_equal(count_told(PASSWORD_JOBS, PASSWORD_BUSY), newcomers);
    set_gate(true);
    for (size_t i = 0; i < newcomers; i++)
        assert_int_equal(wait_for(PASSWORD_JOBS + i), PASSWORD_RIGHT);
}

static void a_flood_does_not_keep_a_changed_file_away(void **state)
{
    uint64_t generation = htpasswd_generation(htpasswd);
    size_t count;

    (void)state;
    assert_int_equal(ask(0, "a", "right"), PASSWORD_LATER);
    assert_int_equal(wait_for(0), PASSWORD_RIGHT);
    set_gate(false);
    count = flood(1);
    write_file("# changed\n");
    now_ms += HTPASSWD_LOOK_MS;
    assert_int_equal(ask(0, "a", "right"), PASSWORD_RIGHT); /* the last time */
    set_gate(true);
    while (htpasswd_generation(htpasswd) == generation)
        usleep(1000);
    for (size_t i = 1; i <= count; i++)
        wait_for(i);
    askings[0] = (struct asking){0};
    assert_int_equal(ask(0, "a", "right"), PASSWORD_LATER);
    assert_int_equal(wait_for(0), PASSWORD_RIGHT);
}

/* --- Giving up ------------------------------------------------------------ */

static void who_gives_up_is_not_told(void **state)
{
    (void)state;
    set_gate(false);
    assert_int_equal(ask(0, "a", "right"), PASSWORD_LATER);
    assert_int_equal(ask(1, "a", "right"), PASSWORD_LATER);
    assert_int_equal(ask(2, "b", "right"), PASSWORD_LATER);
    wait_until_begun(2);
    password_desk_cancel(desks[0], &askings[0].wait);
    password_desk_cancel(desks[0], &askings[0].wait);
    password_desk_cancel(desks[0], &askings[2].wait);
    set_gate(true);
    assert_int_equal(wait_for(1), PASSWORD_RIGHT);
    /* What has been found out is known all the same. */
    while (ask(3, "b", "right") == PASSWORD_LATER) {
        wait_for(3);
        askings[3] = (struct asking){0};
    }
    assert_int_equal(askings[0].told, 0);
    assert_int_equal(askings[2].told, 0);
    assert_int_equal(count_begun(), 2);
}

static void what_nobody_waits_for_is_not_checked(void **state)
{
    unsigned round;

    (void)state;
    set_gate(false);
    assert_int_equal(ask_from(0, 0, "a", "wrong", 1), PASSWORD_LATER);
    assert_int_equal(ask_from(0, 1, "b", "wrong", 1), PASSWORD_LATER);
    wait_until_begun(THREADS);
    for (round = 0; round < 100; round++) {
        assert_int_equal(ask_from(0, 2, "c", "wrong", 2), PASSWORD_LATER);
        password_desk_cancel(desks[0], &askings[2].wait);
    }
    set_gate(true);
    assert_int_equal(wait_for(0), PASSWORD_WRONG);
    assert_int_equal(wait_for(1), PASSWORD_WRONG);
    assert_int_equal(count_begun(), THREADS);
}

static void ask_again(struct asking *asking)
{
    asking->then = NULL;
    asking->told = 0;
    assert_int_equal(ask(0, "a", "wrong"), PASSWORD_LATER);
}

static void who_is_told_may_ask_again(void **state)
{
    (void)state;
    askings[0].then = ask_again;
    assert_int_equal(ask(0, "a", "wrong"), PASSWORD_LATER);
    while (count_begun() < 2 || askings[0].told == 0)
        ev_run(loop, EVRUN_ONCE);
    assert_int_equal(askings[0].verdict, PASSWORD_WRONG);
}

static void cancel_the_next(struct asking *asking)
{
    password_desk_cancel(desks[0], &asking[1].wait);
}

static void who_is_told_may_make_others_give_up(void **state)
{
    (void)state;
    set_gate(false);
    askings[0].then = cancel_the_next;
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(ask(i, "a", "wrong"), PASSWORD_LATER);
    set_gate(true);
    assert_int_equal(wait_for(2), PASSWORD_WRONG);
    assert_int_equal(askings[0].told, 1);
    assert_int_equal(askings[1].told, 0);
}

/* --- Coming and going ----------------------------------------------------- */

static void after_the_stop_nothing_is_taken(void **state)
{
    (void)state;
    set_gate(false);
    assert_int_equal(ask(0, "a", "right"), PASSWORD_LATER);
    wait_until_begun(1);
    set_gate(true);
    password_check_stop(check);
    password_check_stop(check);
    assert_int_equal(ask(1, "b", "right"), PASSWORD_BUSY);
    /* The one under way had its end. */
    assert_int_equal(wait_for(0), PASSWORD_RIGHT);
}

static void without_memory_or_threads_there_are_no_checks(void **state)
{
    struct password_check *other = NULL;
    struct password_desk *desk = NULL;

    (void)state;
    has_memory = false;
    assert_int_equal(password_check_create(&other, 1), -ENOMEM);
    assert_int_equal(password_desk_create(&desk, check, mailboxes[0]), -ENOMEM);
    has_memory = true;
    for (threads_left = 0; threads_left < 2; threads_left++) {
        int left = threads_left;

        assert_int_equal(password_check_create(&other, 2), -EAGAIN);
        threads_left = left;
    }
    threads_left = -1;
    assert_null(other);
    password_check_destroy(NULL);
    password_desk_destroy(NULL);
}

/* --- Many questions ------------------------------------------------------- */

static void many_questions_all_get_their_own_answer(void **state)
{
    uint64_t random = 88172645463325252u;
    bool expects_right[WAITS] = {false};
    bool is_waiting[WAITS] = {false};

    (void)state;
    for (int i = 0; i < 20000; i++) {
        size_t number;
        char user[16];

        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        number = (size_t)(random >> 8) % 16;
        snprintf(user, sizeof(user), "u%u", (unsigned)(random >> 20) % 50);
        if (is_waiting[number] && random % 4 == 0) {
            password_desk_cancel(desks[number % DESKS], &askings[number].wait);
            is_waiting[number] = false;
        } else if (is_waiting[number] && askings[number].told > 0) {
            assert_int_equal(askings[number].told, 1);
            /* Where the threads get no CPU, looks at the file pile up. */
            if (askings[number].verdict != PASSWORD_BUSY)
                assert_int_equal(askings[number].verdict == PASSWORD_RIGHT,
                                 expects_right[number]);
            is_waiting[number] = false;
        } else if (!is_waiting[number]) {
            bool is_right = random >> 40 & 1;

            askings[number] = (struct asking){0};
            expects_right[number] = is_right;
            is_waiting[number] = ask_from(number % DESKS, number, user,
                                          is_right ? "right" : "wrong",
                                          (uint8_t)number) == PASSWORD_LATER;
        }
        now_ms += random % 64;
        ev_run(loop, EVRUN_NOWAIT);
    }
    for (size_t number = 0; number < 16; number++)
        if (is_waiting[number])
            password_desk_cancel(desks[number % DESKS], &askings[number].wait);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_answer_comes_by_the_loop),
        TEST(what_was_right_is_answered_at_once_for_a_minute),
        TEST(what_was_wrong_is_asked_each_time),
        TEST(user_and_password_do_not_run_into_each_other),
        TEST(overlong_ones_are_wrong_without_a_check),
        TEST(the_same_question_is_checked_once),
        TEST(the_same_question_of_two_workers_is_checked_once),
        TEST(an_address_cannot_take_all_jobs),
        TEST(a_flood_does_not_touch_who_was_right_before),
        TEST(the_busiest_address_makes_room_for_a_newcomer),
        TEST(a_network_is_as_busy_as_all_its_addresses),
        TEST(among_equals_the_lot_decides),
        TEST(among_equals_who_was_wrong_makes_room),
        TEST(to_be_right_makes_good),
        TEST(addresses_are_answered_in_turns),
        TEST(networks_are_answered_in_turns_and_their_addresses),
        TEST(room_is_made_as_long_as_it_is_fair),
        TEST(a_flood_does_not_keep_a_changed_file_away),
        TEST(who_gives_up_is_not_told),
        TEST(what_nobody_waits_for_is_not_checked),
        TEST(who_is_told_may_ask_again),
        TEST(who_is_told_may_make_others_give_up),
        TEST(after_the_stop_nothing_is_taken),
        TEST(without_memory_or_threads_there_are_no_checks),
        TEST(many_questions_all_get_their_own_answer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
