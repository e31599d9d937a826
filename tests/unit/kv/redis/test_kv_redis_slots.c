#include "kv/redis/kv_redis_priv.h"

#include <hiredis/hiredis.h>
#include "suite.h"

static struct kv_partitions partitions;
static struct kv_slot_map map;
static struct address asked;

static int set_up(void **state)
{
    (void)state;
    kv_partitions_init(&partitions);
    assert_true(address_parse(&asked, BYTES("192.0.2.9")));
    asked.port = 7000;
    return 0;
}

/* Reads text as if an engine had said it; `map` then has what it means. */
static bool read_map(const char *text, size_t len)
{
    redisReader *reader = redisReaderCreate();
    void *reply = NULL;
    bool is_read = false;

    assert_int_equal(redisReaderFeed(reader, text, len), REDIS_OK);
    if (redisReaderGetReply(reader, &reply) == REDIS_OK && reply) {
        is_read = kv_slot_map_read(&map, &partitions, reply, &asked);
        freeReplyObject(reply);
    }
    redisReaderFree(reader);
    return is_read;
}

#define READ_MAP(literal) read_map((literal), sizeof(literal) - 1)

static unsigned count_known(void)
{
    unsigned count = 0;

    for (size_t i = 0; i < KV_REDIS_PARTITIONS; i++)
        count += map.has[i];
    return count;
}

/* --- Partitions ---------------------------------------------------------- */

TEST(slots_are_what_redis_says)
{
    static const struct {
        const char *text;
        unsigned slot;
    } cases[] = {{"123456789", 0x31C3}, /* the specification's own */
                 {"", 0},
                 {"foo", 12182},
                 {"bar", 5061},
                 {"user1000", 3443}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        assert_int_equal(kv_redis_slot(bytes_of(cases[i].text)), cases[i].slot);
}

TEST(tags_lead_to_all_parts_of_a_cluster)
{
    for (unsigned i = 0; i < KV_REDIS_PARTITIONS; i++) {
        unsigned slot = kv_redis_slot(bytes_of(partitions.tags[i]));

        assert_int_equal(slot, partitions.slots[i]);
        assert_in_range(slot, 256 * i, 256 * i + 255);
    }
}

TEST(keys_of_one_tag_are_together)
{
    assert_int_equal(kv_redis_partition(BYTES("{x}a")),
                     kv_redis_partition(BYTES("b{x}")));
    assert_int_equal(kv_redis_partition(BYTES("{x}a")),
                     kv_redis_partition(BYTES("x")));
    assert_int_equal(kv_redis_partition(BYTES("{x}{y}")),
                     kv_redis_partition(BYTES("x")));
    assert_int_equal(kv_redis_partition(BYTES("{{x}}")),
                     kv_redis_slot(BYTES("{x")) % KV_REDIS_PARTITIONS);
}

TEST(a_tag_that_is_none_is_part_of_the_key)
{
    static const char *const cases[] = {"{}x", "{}{x}", "{x", "x}", "}{", "{"};

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        assert_int_equal(kv_redis_partition(bytes_of(cases[i])),
                         kv_redis_slot(bytes_of(cases[i])) %
                             KV_REDIS_PARTITIONS);
}

/* --- The map ------------------------------------------------------------- */

#define HALVES                                                               \
    "*2\r\n*3\r\n:0\r\n:8191\r\n*3\r\n$9\r\n192.0.2.1\r\n:7001\r\n$1\r\na\r" \
    "\n*4\r\n:8192\r\n:16383\r\n*4\r\n$4\r\nname\r\n:7002\r\n$1\r\nb\r\n"    \
    "*2\r\n$2\r\nip\r\n$11\r\n2001:db8::2\r\n"                               \
    "*3\r\n$9\r\n192.0.2.3\r\n:7003\r\n$1\r\nc\r\n"

TEST(each_partition_gets_its_master)
{
    char text[ADDRESS_TEXT_MAX + 1];

    assert_true(READ_MAP(HALVES));
    assert_int_equal(count_known(), KV_REDIS_PARTITIONS);
    text[address_format(&map.nodes[0], text)] = '\0';
    assert_string_equal(text, "192.0.2.1");
    assert_int_equal(map.nodes[31].port, 7001);
    text[address_format(&map.nodes[32], text)] = '\0';
    assert_string_equal(text, "2001:db8::2");
    assert_int_equal(map.nodes[63].port, 7002);
}

TEST(a_host_left_out_is_the_one_that_was_asked)
{
    assert_true(READ_MAP("*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n$0\r\n\r\n:7\r\n"));
    assert_memory_equal(map.nodes[5].octets, asked.octets, 4);
    assert_int_equal(map.nodes[5].port, 7);
    assert_true(READ_MAP("*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n$-1\r\n:7\r\n"));
    assert_int_equal(count_known(), KV_REDIS_PARTITIONS);
}

TEST(what_makes_no_sense_is_passed_over)
{
    assert_true(READ_MAP("*0\r\n"));
    assert_int_equal(count_known(), 0);
    assert_true(READ_MAP("*4\r\n:1\r\n*0\r\n*3\r\n:0\r\n:9\r\n:1\r\n"
                         "*3\r\n:-1\r\n:16383\r\n*2\r\n$1\r\n?\r\n:1\r\n"));
    assert_int_equal(count_known(), 0);
    assert_true(READ_MAP(
        "*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n$9\r\n192.0.2.1\r\n:65536\r\n"));
    assert_int_equal(count_known(), 0);
    assert_true(READ_MAP(
        "*1\r\n*3\r\n:0\r\n:99999\r\n*2\r\n$9\r\n192.0.2.1\r\n:1\r\n"));
    assert_int_equal(count_known(), KV_REDIS_PARTITIONS);
    assert_false(READ_MAP("+OK\r\n"));
    assert_false(READ_MAP("-ERR no\r\n"));
    assert_false(READ_MAP("$-1\r\n"));
}

TEST(an_answer_of_any_bytes_does_no_harm)
{
    char text[] = HALVES;
    unsigned seed = 1;

    for (int i = 0; i < 20000; i++) {
        seed = seed * 1103515245 + 12345;
        memcpy(text, HALVES, sizeof(text));
        text[(seed >> 8) % (sizeof(text) - 1)] = (char)(seed >> 20);
        (void)read_map(text, sizeof(text) - 1);
        assert_in_range(count_known(), 0, KV_REDIS_PARTITIONS);
    }
}

/* --- Redirections -------------------------------------------------------- */

TEST(a_redirection_says_where_to)
{
    struct address node;
    char text[ADDRESS_TEXT_MAX + 1];

    assert_true(kv_redis_read_redirect(BYTES("MOVED 3999 192.0.2.1:6381"),
                                       &asked, &node));
    text[address_format(&node, text)] = '\0';
    assert_string_equal(text, "192.0.2.1");
    assert_int_equal(node.port, 6381);
    assert_true(kv_redis_read_redirect(BYTES("ASK 1 2001:db8::1:6381"), &asked,
                                       &node));
    text[address_format(&node, text)] = '\0';
    assert_string_equal(text, "2001:db8::1");
    assert_true(kv_redis_read_redirect(BYTES("MOVED 1 :6381"), &asked, &node));
    assert_memory_equal(node.octets, asked.octets, 4);
}

TEST(a_redirection_to_nowhere_is_refused)
{
    static const char *const cases[] = {
        "MOVED ",
        "MOVED 1",
        "MOVED 1 h",
        "MOVED 1 h:1",
        "MOVED 1 1.2.3.4:",
        "MOVED 1 1.2.3.4:0",
        "MOVED 1 1.2.3.4:x",
        "MOVED 1 1.2.3.4:65536",
        "MOVED 1:1 1.2.3.4",
    };
    struct address node;

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        assert_false(kv_redis_read_redirect(bytes_of(cases[i]), &asked, &node));
}

SUITE(.begin = set_up);
