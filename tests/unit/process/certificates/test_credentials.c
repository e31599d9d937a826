/*
 * credentials: what a generation takes over of the one before, and a process of
 * the one whose place it takes.
 */
#include "process/certificates/credentials.h"

#include <sysexits.h>

#include "config/configuration.h"
#include "make_certificate.h"
#include "suite.h"
#include "unit/place.h"

static struct place place;
static struct options options;
static struct credentials credentials, next;
static char said[1024];
static FILE *errors;
static unsigned fds_before;

static void make(const char *name, const char *subject)
{
    struct made made = make_certificate(&(struct making){
        .subject = subject, .names = "DNS:a.example"});
    char *text = made_text_and_key(&made, &made);

    assert_int_equal(place_write(&place, name, text), 0);
    free(text);
    made_free(&made);
}

static int set_up(void **state)
{
    char path[PLACE_NAME_MAX + 20];
    char *arguments[] = {(char[]){"sprintd"}, path, NULL};

    (void)state;
    fds_before = place_count_fds();
    errors = fmemopen(said, sizeof(said), "w");
    if (!errors || place_open(&place) != 0 ||
        place_write(&place, "conf", "certificate = a\nrespond = x\n") != 0)
        return -1;
    snprintf(path, sizeof(path), "--config=%s/conf", place.name);
    make("a", "first");
    return configuration_read(&options, 2, arguments, stderr);
}

static int tear_down(void **state)
{
    (void)state;
    credentials_close(&next);
    credentials_close(&credentials);
    options_fini(&options);
    options = (struct options){0};
    fclose(errors);
    return place_close(&place) == 0 && place_count_fds() == fds_before ? 0 : -1;
}

static void open_after(struct credentials *opened,
                       const struct credentials *before)
{
    assert_int_equal(credentials_open(opened, &options, before, errors), EX_OK);
}

/* Whether the two have the same keys. */
static bool has_same_tickets(const struct credentials *one,
                             const struct credentials *other)
{
    char texts[2][TLS_TICKETS_STATE_MAX];
    size_t len = tls_tickets_save(one->tickets, texts[0]);

    return tls_tickets_save(other->tickets, texts[1]) == len &&
           memcmp(texts[0], texts[1], len) == 0;
}

/* As the process that takes over finds it. */
static void hand(int fd)
{
    char number[16];

    snprintf(number, sizeof(number), "%d", fd);
    assert_int_equal(setenv(CREDENTIALS_TICKETS_VARIABLE, number, 1), 0);
}

TEST(a_generation_has_the_keys_of_the_one_before)
{
    open_after(&credentials, NULL);
    open_after(&next, &credentials);
    assert_ptr_equal(next.tickets, credentials.tickets);
}

TEST(a_process_has_the_keys_that_it_is_handed)
{
    int fd;

    open_after(&credentials, NULL);
    fd = credentials_hand_on(&credentials);
    assert_true(fd >= 0);
    hand(fd);
    open_after(&next, NULL); /* it closes fd */
    assert_true(next.tickets != credentials.tickets);
    assert_true(has_same_tickets(&next, &credentials));
    assert_null(getenv(CREDENTIALS_TICKETS_VARIABLE));
}

TEST(whatever_else_it_is_handed_it_makes_its_own)
{
    static const char *const numbers[] = {"",  "x", "3x",         "-1",
                                          "0", "2", "99999999999"};
    int ends[2];

    open_after(&credentials, NULL);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
        setenv(CREDENTIALS_TICKETS_VARIABLE, numbers[i], 1);
        open_after(&next, NULL);
        assert_false(has_same_tickets(&next, &credentials));
        credentials_close(&next);
    }
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "\001\003no keys", 9), 9);
    close(ends[1]);
    hand(ends[0]);
    open_after(&next, NULL);
    assert_false(has_same_tickets(&next, &credentials));
}

TEST(others_are_in_their_place_when_they_are_sound)
{
    struct certificates *read = NULL;
    struct stats_certificate told;
    struct certificates *first;

    open_after(&credentials, NULL);
    first = credentials.certificates;
    assert_int_equal(credentials.stats.count, 1);
    stats_certificates_get(&credentials.stats, 0, 0, &told);
    assert_string_equal(told.site, "*");
    assert_string_equal(told.names, "a.example");
    assert_string_equal(told.issuer, "first");
    assert_true(told.left_ms > 0);
    assert_int_equal(told.next_ns, 0);
    assert_int_equal(place_write(&place, "a", "nothing"), 0);
    assert_int_equal(credentials_read(&credentials, &read, errors), EX_CONFIG);
    assert_null(read);
    assert_ptr_equal(credentials.certificates, first);
    make("a", "second");
    assert_int_equal(credentials_read(&credentials, &read, errors), EX_OK);
    assert_ptr_equal(credentials_replace(&credentials, read), first);
    assert_ptr_equal(credentials_table(&credentials), certificates_table(read));
    stats_certificates_get(&credentials.stats, 0, 0, &told);
    assert_string_equal(told.issuer, "second");
    certificates_destroy(first);
}

SUITE(.each_begin = set_up, .each_end = tear_down);
