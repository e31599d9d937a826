#include "io/tls/tls_tickets.h"
#include "suite.h"

#include "base/base64.h"
#include "io/tls/tls_tickets_priv.h"

static struct tls_tickets *tickets;

static int set_up(void **state)
{
    (void)state;
    tickets = tls_tickets_create(1000);
    return tickets ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    tls_tickets_release(&tickets);
    return 0;
}

static struct tls_ticket_key newest(void)
{
    struct tls_ticket_key key;

    assert_true(tls_tickets_take_newest(tickets, &key));
    return key;
}

static enum tls_ticket_age age_of(const struct tls_ticket_key *key)
{
    struct tls_ticket_key found;
    enum tls_ticket_age age = tls_tickets_find(tickets, key->name, &found);

    if (age != TLS_TICKET_UNKNOWN)
        assert_memory_equal(&found, key, sizeof(found));
    return age;
}

TEST(until_somebody_asks_there_is_no_key_and_none_to_replace)
{
    struct tls_ticket_key none = {.name = {0}};
    struct tls_ticket_key first;
    uint64_t now_s = 1000 + TLS_TICKETS_ROTATE_S;

    assert_int_equal(age_of(&none), TLS_TICKET_UNKNOWN);
    assert_int_equal(tls_tickets_tick(tickets, now_s), TLS_TICKETS_ROTATE_S);
    assert_int_equal(age_of(&none), TLS_TICKET_UNKNOWN);
    first = newest();
    assert_memory_not_equal(&first, &none, sizeof(first));
    assert_int_equal(age_of(&first), TLS_TICKET_NEWEST);
    assert_int_equal(tls_tickets_tick(tickets, now_s + 1),
                     TLS_TICKETS_ROTATE_S - 1);
    assert_int_equal(age_of(&first), TLS_TICKET_NEWEST);
}

TEST(another_process_gets_a_key_that_nobody_has_asked_for_yet)
{
    char saved[TLS_TICKETS_STATE_MAX];
    size_t len = tls_tickets_save(tickets, saved);
    struct tls_ticket_key first = newest();

    assert_true(len > sizeof(first));
    assert_memory_equal(saved + len - sizeof(first), &first, sizeof(first));
}

TEST(a_key_makes_tickets_for_twelve_hours)
{
    struct tls_ticket_key first = newest();

    assert_int_equal(tls_tickets_tick(tickets, 1001), TLS_TICKETS_ROTATE_S - 1);
    assert_int_equal(tls_tickets_tick(tickets, 1000 + TLS_TICKETS_ROTATE_S - 1),
                     1);
    assert_int_equal(age_of(&first), TLS_TICKET_NEWEST);
    assert_int_equal(tls_tickets_tick(tickets, 1000 + TLS_TICKETS_ROTATE_S),
                     TLS_TICKETS_ROTATE_S);
    assert_int_equal(age_of(&first), TLS_TICKET_OLD);
}

TEST(a_clock_that_is_set_back_keeps_no_key)
{
    struct tls_ticket_key first = newest();

    assert_int_equal(tls_tickets_tick(tickets, 999), TLS_TICKETS_ROTATE_S);
    assert_int_equal(age_of(&first), TLS_TICKET_OLD);
    assert_int_equal(tls_tickets_tick(tickets, 1000), TLS_TICKETS_ROTATE_S - 1);
}

TEST(the_last_three_open_tickets)
{
    struct tls_ticket_key first = newest();
    uint64_t now_s = 1000;

    for (size_t i = 0; i < TLS_TICKETS_KEPT - 1; i++) {
        now_s += TLS_TICKETS_ROTATE_S;
        tls_tickets_tick(tickets, now_s);
        assert_int_equal(age_of(&first), TLS_TICKET_OLD);
    }
    tls_tickets_tick(tickets, now_s + TLS_TICKETS_ROTATE_S);
    assert_int_equal(age_of(&first), TLS_TICKET_UNKNOWN);
}

TEST(another_process_goes_on_with_them)
{
    struct tls_ticket_key first = newest();
    struct tls_ticket_key second;
    char saved[TLS_TICKETS_STATE_MAX];
    size_t len;

    tls_tickets_tick(tickets, 1000 + TLS_TICKETS_ROTATE_S);
    second = newest();
    len = tls_tickets_save(tickets, saved);
    tls_tickets_release(&tickets);
    tickets = tls_tickets_create(0);
    assert_true(tls_tickets_restore(tickets, (struct bytes){saved, len}));
    assert_int_equal(age_of(&second), TLS_TICKET_NEWEST);
    assert_int_equal(age_of(&first), TLS_TICKET_OLD);
    assert_int_equal(tls_tickets_tick(tickets, 1000 + TLS_TICKETS_ROTATE_S),
                     TLS_TICKETS_ROTATE_S);
}

TEST(a_state_that_is_none_changes_nothing)
{
    struct tls_ticket_key first = newest();
    char saved[TLS_TICKETS_STATE_MAX];
    size_t len = tls_tickets_save(tickets, saved);

    for (size_t i = 0; i < len; i++)
        assert_false(tls_tickets_restore(tickets, (struct bytes){saved, i}));
    saved[0]++;
    assert_false(tls_tickets_restore(tickets, (struct bytes){saved, len}));
    saved[0]--;
    saved[1] = TLS_TICKETS_KEPT + 1;
    assert_false(tls_tickets_restore(tickets, (struct bytes){saved, len}));
    assert_int_equal(age_of(&first), TLS_TICKET_NEWEST);
}

static void put_key(struct buf *text, char seed)
{
    char key[TLS_TICKET_KEY_BYTES];

    memset(key, seed, sizeof(key));
    base64_put(text, (struct bytes){key, sizeof(key)});
    buf_put_literal(text, "\n");
}

TEST(keys_of_a_file_stay_until_it_says_others)
{
    struct tls_ticket_key own = newest();
    struct tls_ticket_key key;
    struct buf text;

    buf_init(&text, NULL, 0, 4096);
    buf_put_literal(&text, "# of two machines\n\n");
    put_key(&text, 'a');
    put_key(&text, 'b');
    assert_null(tls_tickets_read(tickets, buf_bytes(&text)));
    key = newest();
    assert_int_equal(key.name[0], 'a');
    assert_int_equal(key.cipher[31], 'a');
    assert_int_equal(age_of(&own), TLS_TICKET_UNKNOWN);
    memset(&key, 'b', sizeof(key));
    assert_int_equal(age_of(&key), TLS_TICKET_OLD);
    tls_tickets_tick(tickets, 1000 + 2 * TLS_TICKETS_ROTATE_S);
    assert_int_equal(newest().name[0], 'a');
    buf_fini(&text);
}

TEST(a_faulty_file_changes_nothing)
{
    struct tls_ticket_key own = newest();
    struct buf text;

    buf_init(&text, NULL, 0, 4096);
    assert_non_null(tls_tickets_read(tickets, BYTES("")));
    assert_non_null(tls_tickets_read(tickets, BYTES("# nothing\n")));
    assert_non_null(tls_tickets_read(tickets, BYTES("YWJj\n")));
    put_key(&text, 'a');
    buf_put_literal(&text, "not base64\n");
    assert_non_null(tls_tickets_read(tickets, buf_bytes(&text)));
    buf_fini(&text);
    buf_init(&text, NULL, 0, 4096);
    put_key(&text, 'a');
    put_key(&text, 'a');
    assert_non_null(tls_tickets_read(tickets, buf_bytes(&text)));
    buf_fini(&text);
    buf_init(&text, NULL, 0, 4096);
    for (char i = 0; i <= TLS_TICKETS_MAX; i++)
        put_key(&text, (char)('a' + i));
    assert_non_null(tls_tickets_read(tickets, buf_bytes(&text)));
    assert_int_equal(age_of(&own), TLS_TICKET_NEWEST);
    buf_fini(&text);
}

SUITE(.each_begin = set_up, .each_end = tear_down);
