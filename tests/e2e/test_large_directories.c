/*
 * A directory of 100,000 entries: listed whole, while others get their
 * answers.
 */
#include <sys/stat.h>

#include "client.h"
#include "json.h"

enum { MANY = 100000 };

static struct server *server;

static int start(void **state)
{
    int many;

    if (harness_begin_in_memory(state) != 0)
        return -1;
    site_text("canary", "canary\n");
    site_folder("many");
    many = openat(site_open(), "many", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (unsigned i = 0; i < MANY; i++) {
        char name[32];

        snprintf(name, sizeof(name), "entry-%06u", i);
        if (mknodat(many, name, S_IFREG | 0644, 0) == -1)
            return -1;
    }
    close(many);
    server = START("--autoindex", "--workers=1");
    harness_keep();
    return 0;
}

/* That every entry is named, and in a way that can be told from all others. */
static void expect_all(const struct reply *reply)
{
    bool *seen = scratch(MANY);
    const char *end = reply->body + reply->body_len;
    unsigned count = 0;

    memset(seen, 0, MANY);
    /* No memmem(): with a sanitizer each call costs as much as all that is
     * left of the text. */
    for (const char *at = reply->body; end - at > 12; at++) {
        unsigned long number;

        if (*at != 'e' || memcmp(at, "entry-", 6) != 0)
            continue;
        number = strtoul(at + 6, NULL, 10);
        assert_in_range(number, 0, MANY - 1);
        count += !seen[number];
        seen[number] = true;
    }
    assert_int_equal(count, MANY);
}

TEST(all_of_100000_entries_are_listed)
{
    struct client *client = client_open(server);
    struct reply *reply = client_ask(client, "GET", "/many/", NULL);

    expect_status(reply, 200);
    expect_all(reply);
    reply = client_ask(client, "GET", "/many/", "Accept: application/json\r\n");
    expect_status(reply, 200);
    expect_all(reply);
    expect_json(reply->body, reply->body_len);
    client_expect_usable(client);
}

TEST(others_do_not_wait_for_a_listing)
{
    struct client *lister = client_open(server);
    struct client *other = client_open(server);
    uint64_t first = now_ms();
    uint64_t longest = 0;
    unsigned asked = 0;

    client_expect_usable(other);
    client_say(lister, "GET /many/ HTTP/1.1\r\nHost: a\r\n\r\n");
    for (size_t len = 0, before = 1; len != before; asked++) {
        uint64_t begin = now_ms();

        client_expect_usable(other);
        if (now_ms() - begin > longest)
            longest = now_ms() - begin;
        before = len;
        len = client_take(lister, len + 65536);
        if (memmem(client_raw(lister) + len - 5, 5, "0\r\n\r\n", 5))
            break;
    }
    expect_all(client_reply(lister));
    assert_in_range(asked, 10, MANY);
    /* Were it made in one go, somebody would wait for all of it. */
    assert_true(longest <= 50 || longest < (now_ms() - first) / 3);
}

TEST(who_does_not_read_a_listing_costs_little)
{
    uint64_t before = server_memory(server);

    for (size_t i = 0; i < 50; i++)
        client_say(client_open_narrow(server, 4096),
                   "GET /many/ HTTP/1.1\r\nHost: a\r\n\r\n");
    client_expect_usable(client_open(server));
    pause_ms(50);
    client_expect_usable(client_open(server));
    if (!is_sanitized())
        assert_in_range(server_memory(server) - before, 0, 50 * 524288);
}

E2E_SUITE(start);
