/* link: -Wl,--wrap=pages_open,--wrap=getrandom */
#include "handler/address_count.h"

#include <limits.h>
#include <pthread.h>

#include "suite.h"
#include "unit/memory.h"
#include "unit/random.h"

static struct address_count *make(uint32_t most, size_t entries)
{
    struct address_count *count = NULL;

    assert_int_equal(address_count_create(&count, most, false, entries), 0);
    return count;
}

static struct address ipv4_of(uint32_t number)
{
    struct address address = {.family = ADDRESS_IPV4};

    memcpy(address.octets, &number, sizeof(number));
    return address;
}

/* How many of most an address has: one that has less may have the rest. */
static uint32_t count_open(struct address_count *count,
                           const struct address *address, uint32_t most)
{
    uint32_t tickets[8];
    uint32_t more = 0;
    uint32_t open;

    while (more < most &&
           (tickets[more] = address_count_take(count, address)) != 0)
        more++;
    assert_int_equal(address_count_take(count, address), 0);
    open = most - more;
    while (more > 0)
        address_count_give(count, &tickets[--more]);
    return open;
}

TEST(an_address_has_so_many_and_no_more)
{
    struct address_count *count = make(2, 16);
    struct address a = ipv4_of(1), b = ipv4_of(2);
    uint32_t first = address_count_take(count, &a);
    uint32_t second = address_count_take(count, &a);
    uint32_t third = address_count_take(count, &a);
    uint32_t other = address_count_take(count, &b);

    assert_int_not_equal(first, 0);
    assert_int_not_equal(second, 0);
    assert_int_equal(third, 0);
    assert_int_not_equal(other, 0);
    assert_int_equal(count_open(count, &a, 2), 2);
    address_count_give(count, &third); /* nobody's */
    assert_int_equal(count_open(count, &a, 2), 2);
    address_count_give(count, &first);
    assert_int_equal(first, 0);
    third = address_count_take(count, &a);
    assert_int_not_equal(third, 0);
    address_count_give(count, &second);
    address_count_give(count, &third);
    address_count_give(count, &other);
    assert_int_equal(count_open(count, &a, 2), 0);
    assert_int_equal(count_open(count, &b, 2), 0);
    address_count_destroy(count);
}

TEST(who_is_alone_may_have_more)
{
    struct address_count *count;
    struct address a = ipv4_of(1), b = ipv4_of(2);
    uint32_t tickets[4];
    uint32_t other;

    assert_int_equal(address_count_create(&count, 2, true, 16), 0);
    for (size_t i = 0; i < 3; i++)
        assert_int_not_equal(tickets[i] = address_count_take(count, &a), 0);
    other = address_count_take(count, &b);
    assert_int_not_equal(other, 0);
    assert_int_equal(address_count_take(count, &a), 0);
    address_count_give(count, &other);
    tickets[3] = address_count_take(count, &a);
    assert_int_not_equal(tickets[3], 0);
    other = address_count_take(count, &b);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(address_count_take(count, &a), 0);
        address_count_give(count, &tickets[i]);
    }
    tickets[0] = address_count_take(count, &a);
    assert_int_not_equal(tickets[0], 0);
    assert_int_equal(count_open(count, &a, 2), 2);
    address_count_destroy(count);
}

TEST(who_has_more_than_its_share_gives_way)
{
    struct address_count *count;
    struct address a = ipv4_of(1), b = ipv4_of(2), c = ipv4_of(3);
    uint32_t first, second, third, others[2];

    assert_int_equal(address_count_create(&count, 2, true, 16), 0);
    assert_false(address_count_gives_way(count, &b));
    assert_int_not_equal(first = address_count_take(count, &a), 0);
    assert_int_not_equal(second = address_count_take(count, &a), 0);
    assert_false(address_count_is_above(count, first));
    assert_false(address_count_gives_way(count, &b));
    assert_int_not_equal(third = address_count_take(count, &a), 0);
    assert_true(address_count_is_above(count, first));
    assert_false(address_count_is_above(count, 0));
    assert_true(address_count_gives_way(count, &b));
    assert_false(address_count_gives_way(count, &a));
    for (size_t i = 0; i < 2; i++) {
        assert_true(address_count_gives_way(count, &b));
        assert_int_not_equal(others[i] = address_count_take(count, &b), 0);
    }
    assert_false(address_count_is_above(count, others[0]));
    assert_false(address_count_gives_way(count, &b)); /* it has its share */
    assert_true(address_count_gives_way(count, &c));
    address_count_give(count, &third);
    assert_false(address_count_is_above(count, first));
    assert_false(address_count_gives_way(count, &c));
    address_count_destroy(count);
}

TEST(an_ipv6_network_of_64_bits_is_one_address)
{
    struct address_count *count = make(1, 16);
    struct address first, same, other;
    uint32_t ticket;

    assert_true(address_parse(&first, BYTES("2001:db8::1")));
    assert_true(address_parse(&same, BYTES("2001:db8::ffff:0:0:1")));
    assert_true(address_parse(&other, BYTES("2001:db8:0:1::1")));
    ticket = address_count_take(count, &first);
    assert_int_not_equal(ticket, 0);
    assert_int_equal(address_count_take(count, &same), 0);
    assert_int_not_equal(address_count_take(count, &other), 0);
    address_count_give(count, &ticket);
    assert_int_not_equal(address_count_take(count, &same), 0);
    address_count_destroy(count);
}

TEST(as_many_addresses_as_entries_fit_whoever_they_are)
{
    enum { ENTRIES = 1000 };
    struct address_count *count = make(1, ENTRIES);
    uint32_t tickets[ENTRIES];
    struct address more = ipv4_of(UINT32_MAX);

    for (uint32_t round = 0; round < 3; round++) {
        for (uint32_t i = 0; i < ENTRIES; i++) {
            struct address a = ipv4_of(round * ENTRIES + i);

            tickets[i] = address_count_take(count, &a);
            assert_int_not_equal(tickets[i], 0);
        }
        assert_int_equal(address_count_take(count, &more), 0);
        for (uint32_t i = 0; i < ENTRIES; i++)
            address_count_give(count, &tickets[i]);
    }
    address_count_destroy(count);
}

/* --- Against plain counting ----------------------------------------------- */

enum { ADDRESSES = 40, HELD_MAX = 64, MOST = 4, STEPS = 100000 };

TEST(it_counts_as_a_naive_table_would)
{
    struct address_count *count = make(MOST, HELD_MAX);
    uint32_t open[ADDRESSES] = {0};
    struct held {
        uint32_t ticket;
        uint32_t address;
    } held[HELD_MAX];
    size_t held_count = 0;
    uint64_t random = 88172645463325252u;

    for (int i = 0; i < STEPS; i++) {
        uint32_t number;
        struct address a;

        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        number = (uint32_t)(random >> 8) % ADDRESSES;
        a = ipv4_of(number);
        if (random % 2 && held_count < HELD_MAX) {
            uint32_t ticket = address_count_take(count, &a);

            assert_int_equal(ticket != 0, open[number] < MOST);
            if (ticket == 0)
                continue;
            open[number]++;
            held[held_count++] = (struct held){ticket, number};
        } else if (held_count > 0) {
            size_t at = (size_t)(random >> 40) % held_count;

            open[held[at].address]--;
            address_count_give(count, &held[at].ticket);
            held[at] = held[--held_count];
        }
        assert_int_equal(count_open(count, &a, MOST), open[number]);
    }
    address_count_destroy(count);
}

/* --- Many threads --------------------------------------------------------- */

enum { THREADS = 4, ROUNDS = 20000, TAKEN = 3 };

static _Atomic int taken[TAKEN]; /* of each address */

static void *take_and_give(void *context)
{
    struct address_count *count = context;

    for (uint32_t i = 0; i < ROUNDS; i++) {
        struct address a = ipv4_of(i % TAKEN);
        uint32_t ticket = address_count_take(count, &a);

        if (ticket == 0)
            continue;
        if (++taken[i % TAKEN] > 2)
            return count; /* a fault */
        taken[i % TAKEN]--;
        address_count_give(count, &ticket);
    }
    return NULL;
}

TEST(many_threads_leave_nothing_behind)
{
    struct address_count *count = make(2, 16);
    pthread_t threads[THREADS];

    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, take_and_give,
                                        count),
                         0);
    for (size_t i = 0; i < THREADS; i++) {
        void *fault;

        pthread_join(threads[i], &fault);
        assert_null(fault);
    }
    for (uint32_t i = 0; i < TAKEN; i++) {
        struct address a = ipv4_of(i);

        assert_int_equal(count_open(count, &a, 2), 0);
    }
    address_count_destroy(count);
}

TEST(without_memory_or_chance_there_is_no_table)
{
    struct address_count *count = NULL;

    for (int i = 0; i < 2; i++) {
        allocations_left = i;
        assert_int_equal(address_count_create(&count, 1, false, 1), -ENOMEM);
    }
    allocations_left = -1;
    random_failures_left = UINT_MAX;
    assert_int_equal(address_count_create(&count, 1, false, 1), -ENOSYS);
    random_failures_left = 0;
    assert_null(count);
    address_count_destroy(NULL);
}
