/* link: -Wl,--wrap=ev_timer_again,--wrap=malloc,--wrap=calloc,--wrap=realloc */
#include "io/resolver.h"

#include "base/log.h"
#include "unit/io/resolver_fixture.h"
#include "unit/memory.h"

TEST(without_memory_nothing_is_made)
{
    struct resolver *other;

    for (int i = 0; i < 2; i++) {
        allocations_left = i;
        assert_int_equal(resolver_create(&other, &options), -ENOMEM);
        allocations_left = i;
        assert_int_equal(resolver_name_open(&name, resolver, BYTES("www.test"),
                                            PORT, on_change, &zone),
                         -ENOMEM);
    }
    allocations_left = -1;
    find_name("www.test");
    assert_int_equal(resolver_name_state(name), RESOLVER_KNOWN);
}

/* --- Wrong words ---------------------------------------------------------- */

TEST(servers_are_addresses)
{
    static const char *const wrong[] = {"ns.example", "127.0.0.1;127.0.0.2",
                                        ","};
    struct resolver *other;

    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        options.servers = wrong[i];
        if (resolver_create(&other, &options) != -EINVAL)
            fail_msg("'%s' is accepted", wrong[i]);
    }
    options.servers = "192.0.2.1,[2001:db8::1]:5353";
    assert_int_equal(resolver_create(&other, &options), 0);
    resolver_destroy(other);
}

TEST(a_resolv_conf_that_cannot_be_read_is_an_error)
{
    struct resolver *other;

    assert_int_equal(unlinkat(place.fd, "resolv.conf", 0), 0);
    assert_int_equal(resolver_create(&other, &options), 0); /* none is none */
    resolver_destroy(other);
    assert_int_equal(symlinkat("resolv.conf", place.fd, "resolv.conf"), 0);
    assert_int_equal(resolver_create(&other, &options), -ELOOP);
}

TEST(what_cannot_be_a_name_is_refused)
{
    static const char *const wrong[] = {"",      ".",        "a b", "[::1]",
                                        "1.2.3", "a:80",     "::g", "a..b",
                                        "a/",    "1.2.3.4.5"};
    char longest[256];

    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
        assert_int_equal(resolver_name_open(&name, resolver, bytes_of(wrong[i]),
                                            PORT, on_change, &zone),
                         -EINVAL);
    for (size_t i = 0; i < sizeof(longest); i++)
        longest[i] = i % 50 == 49 ? '.' : 'a';
    assert_int_equal(resolver_name_open(&name, resolver,
                                        (struct bytes){longest, 254}, PORT,
                                        on_change, &zone),
                     -EINVAL);
    assert_int_equal(resolver_name_open(&name, resolver,
                                        (struct bytes){longest, 253}, PORT,
                                        on_change, &zone),
                     0);
    AWAIT(told == 1);
    longest[253] = '\0';
    assert_string_equal(zone.last_name, longest);
}

/* --- Look-ups that fail --------------------------------------------------- */

TEST(a_first_failure_is_told_once)
{
    zone.rcode = DNS_NXDOMAIN;
    zone.ipv4_count = 0;
    find_name("nowhere.test");
    assert_int_equal(resolver_name_state(name), RESOLVER_FAILED);
    assert_int_equal(count_of(name), 0);
    assert_non_null(resolver_name_why(name));
    assert_int_equal(told, 1);
    for (int i = 0; i < 3; i++)
        find_again();
    assert_int_equal(told, 1);
    zone = (struct zone){.ipv4_count = 1, .first = 5, .ttl = 60};
    find_again();
    assert_int_equal(told, 2);
    assert_int_equal(resolver_name_state(name), RESOLVER_KNOWN);
    assert_null(resolver_name_why(name));
    assert_string_equal(texts_of(name), "10.0.0.5");
}

TEST(every_kind_of_refusal_is_a_failure)
{
    static const int rcodes[] = {DNS_OK, DNS_SERVFAIL, DNS_NXDOMAIN,
                                 DNS_REFUSED};

    zone.ipv4_count = 0;
    for (size_t i = 0; i < sizeof(rcodes) / sizeof(*rcodes); i++) {
        zone.rcode = rcodes[i];
        find_name("www.test");
        assert_int_equal(resolver_name_state(name), RESOLVER_FAILED);
    }
}

TEST(retries_grow_rarer_from_1_to_30_s)
{
    uint64_t least_ms = RESOLVER_RETRY_MIN_MS;
    unsigned full = 0; /* waits of whole seconds: few when there is jitter */

    zone.rcode = DNS_NXDOMAIN;
    find_name("nowhere.test");
    for (int i = 0; i < 20; i++) {
        uint64_t wait_ms = resolver_name_ends_ms(name) - now.mono_ms;

        assert_in_range(wait_ms, least_ms, RESOLVER_RETRY_MAX_MS);
        assert_true(wait_ms <= least_ms + least_ms / 2);
        full += wait_ms % 1000 == 0;
        least_ms = least_ms < 16000 ? 2 * least_ms : 20000;
        find_again();
    }
    assert_true(full < 10);
}

TEST(a_failure_leaves_the_old_addresses)
{
    find_name("www.test");
    zone.rcode = DNS_SERVFAIL;
    find_again();
    assert_int_equal(resolver_name_state(name), RESOLVER_KNOWN);
    assert_string_equal(texts_of(name), "10.0.0.1");
    assert_non_null(resolver_name_why(name));
    assert_true(resolver_name_ends_ms(name) - now.mono_ms < 2000);
    zone.rcode = DNS_OK;
    find_again();
    assert_null(resolver_name_why(name));
    assert_int_equal(told, 1);
}

static void find_in_vain(void)
{
    options.try_ms = SHORT_TRY_MS;
    create_anew();
    find_name("www.test");
    assert_int_equal(resolver_name_state(name), RESOLVER_FAILED);
}

TEST(a_server_that_never_answers_is_given_up)
{
    zone.is_silent = true;
    find_in_vain();
    AWAIT(server.asked == 2 * RESOLVER_TRIES);
    assert_int_equal(told, 1);
    assert_int_equal(place_count_fds(), fds_before);
}

TEST(where_no_server_is_it_fails)
{
    dns_close(&server);
    find_name("www.test");
    assert_int_equal(resolver_name_state(name), RESOLVER_FAILED);
}

static void answer_late(const struct dns_question *question,
                        struct dns_message *message)
{
    if (server.asked > 2)
        answer_by_zone(question, message);
}

TEST(a_lost_question_is_asked_again)
{
    options.try_ms = 300;
    create_anew();
    server.answer = answer_late;
    find_name("www.test");
    assert_int_equal(resolver_name_state(name), RESOLVER_KNOWN);
}

/* --- Answers that are none ------------------------------------------------ */

/* Before the right answer comes what a stranger, or a broken server, sends. */
static void answer_after_garbage(const struct dns_question *question,
                                 struct dns_message *message)
{
    static struct dns_message wrong;
    uint8_t octets[4] = {6, 6, 6, 6};
    uint8_t noise[600];

    for (size_t i = 0; i < sizeof(noise); i++)
        noise[i] = (uint8_t)(i * 37 + question->type);
    for (size_t len = 1; len < sizeof(noise); len += 23)
        dns_send(&server, noise, len);
    dns_begin(&wrong, question, DNS_OK);
    dns_put_record(&wrong, DNS_HEAD_BYTES, DNS_A, 60, octets, 4);
    wrong.bytes[0] ^= 1; /* another id */
    dns_send(&server, wrong.bytes, wrong.len);
    wrong.bytes[0] ^= 1;
    wrong.bytes[DNS_HEAD_BYTES + 1] ^= 1; /* another name */
    dns_send(&server, wrong.bytes, wrong.len);
    wrong.bytes[DNS_HEAD_BYTES + 1] ^= 1;
    for (size_t len = 1; len < question->len; len++) /* cut off */
        dns_send(&server, wrong.bytes, len);
    answer_by_zone(question, message);
}

TEST(garbage_before_the_answer_is_passed_over)
{
    server.answer = answer_after_garbage;
    find_name("www.test");
    assert_string_equal(texts_of(name), "10.0.0.1");
}

/* The question is right, but the records are cut off at every byte. */
static size_t cut;

static void answer_cut(const struct dns_question *question,
                       struct dns_message *message)
{
    answer_by_zone(question, message);
    if (message->len > cut)
        message->len = cut;
}

TEST(a_broken_answer_is_a_failure)
{
    struct dns_message whole;
    struct dns_question question = {.type = DNS_A};
    size_t head = DNS_HEAD_BYTES + sizeof("\003www\004test") + 4;

    zone.ipv6_count = 1;
    question.bytes = whole.bytes;
    question.len = head;
    answer_by_zone(&question, &whole);
    server.answer = answer_cut;
    for (cut = head; cut < whole.len; cut++) {
        find_name("www.test");
        assert_int_equal(resolver_name_state(name), RESOLVER_FAILED);
        resolver_name_close(name);
    }
}

static void answer_elsewhere(const struct dns_question *question,
                             struct dns_message *message)
{
    static const uint8_t zeros[16];
    bool is_ipv6 = question->type == DNS_AAAA;

    dns_begin(message, question, DNS_OK);
    dns_put_record(message, DNS_HEAD_BYTES, question->type, 60, zeros,
                   is_ipv6 ? 16 : 4);
}

/* A name must not lead to this machine by the back door. */
TEST(the_unspecified_address_is_none)
{
    server.answer = answer_elsewhere;
    find_name("www.test");
    assert_int_equal(resolver_name_state(name), RESOLVER_FAILED);
}

static void hang_up(const struct dns_question *question,
                    struct dns_message *message)
{
    if (question->is_tcp) {
        dns_close_conn(&server);
        return;
    }
    dns_begin(message, question, DNS_OK);
    dns_truncate(message);
}

TEST(a_server_that_hangs_up_is_a_failure)
{
    server.answer = hang_up;
    find_in_vain();
    assert_int_equal(place_count_fds(), fds_before);
}

/* --- What the operator hears ---------------------------------------------- */

TEST(a_row_of_failures_is_one_line)
{
    char said[1024];
    int saved = dup(STDERR_FILENO);
    int fd = openat(place.fd, "said", O_RDWR | O_CREAT | O_TRUNC, 0600);
    ssize_t len;

    find_name("www.test");
    log_set_lightest(LOG_LEVEL_NOTICE);
    dup2(fd, STDERR_FILENO);
    zone.rcode = DNS_NXDOMAIN;
    zone.ipv4_count = 0;
    for (int i = 0; i < 3; i++)
        find_again();
    zone = (struct zone){.ipv4_count = 1, .first = 1, .ttl = 60};
    for (int i = 0; i < 2; i++)
        find_again();
    dup2(saved, STDERR_FILENO);
    log_set_lightest(LOG_LEVEL_ERROR);
    len = pread(fd, said, sizeof(said) - 1, 0);
    said[len > 0 ? len : 0] = '\0';
    close(fd);
    close(saved);
    assert_string_equal(said,
                        "sprintd: warning: resolve 'www.test': Domain name not "
                        "found; its old addresses stay\n"
                        "sprintd: notice: resolve 'www.test': found again\n");
}

static int quieten(void **state)
{
    (void)state;
    log_set_lightest(LOG_LEVEL_ERROR);
    return 0;
}

SUITE(.begin = quieten, .each_begin = set_up, .each_end = tear_down);
