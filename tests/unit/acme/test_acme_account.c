/* link: -Wl,--wrap=acme_client_post -lcurl */
#include "acme/acme_account.h"

#include "suite.h"
#include "unit/place.h"
#include "wrap.h"

enum { THUMBPRINT_MAX = 64 };

static struct acme_state kept;
static const struct acme_settings settings = {.key = ACME_KEY_P256};
static struct acme_client client;
static struct acme_account account;
static char id[ACME_ID_MAX + 1]; /* of its folder */
static struct acme_problem problem;

/* --- The authority ------------------------------------------------------- */

static char known[THUMBPRINT_MAX]; /* of the account's key */
static bool is_busy;
static const char *stranger;    /* what a key is that it does not know */
static bool loses_answer;       /* of a change, once that is done */
static void (*meanwhile)(void); /* another process, before the change */
static char payload_seen[4096]; /* of the last account that was asked for */

static void put_thumbprint(const struct acme_key *key, char to[THUMBPRINT_MAX])
{
    struct buf text;

    buf_init(&text, to, THUMBPRINT_MAX - 1, THUMBPRINT_MAX - 1);
    assert_true(acme_key_put_thumbprint(key, &text));
    to[text.len] = '\0';
}

/* What lies in a file of the account; NULL: no key. */
static struct acme_key *key_in(const char *name)
{
    struct acme_key *key = NULL;
    struct small_file file;

    if (acme_state_read_account(&kept, id, name, &file) == 0) {
        key = acme_key_load((struct bytes){file.text, file.len});
        small_file_fini(&file);
    }
    return key;
}

static bool is_known(const struct acme_key *key)
{
    char thumbprint[THUMBPRINT_MAX];

    put_thumbprint(key, thumbprint);
    return strcmp(thumbprint, known) == 0;
}

static bool is_known_in(const char *name)
{
    struct acme_key *key = key_in(name);
    bool is_it = key && is_known(key);

    acme_key_destroy(key);
    return is_it;
}

static bool is_there(const char *name)
{
    struct acme_key *key = key_in(name);

    acme_key_destroy(key);
    return key;
}

static enum acme_result refuse(const char *type)
{
    snprintf(problem.type, sizeof(problem.type), "%s", type);
    snprintf(problem.text, sizeof(problem.text), "%s", type);
    return ACME_REFUSED;
}

static enum acme_result change(void)
{
    struct acme_key *next = key_in("next.pem");

    assert_non_null(next); /* it is kept before the authority is told */
    if (meanwhile)
        meanwhile();
    put_thumbprint(next, known);
    acme_key_destroy(next);
    return loses_answer ? ACME_FAILED : ACME_DONE;
}

WRAP(enum acme_result, acme_client_post, struct acme_client *asker,
     const char *url, const char *payload, bool as_key,
     struct acme_reply *reply, struct acme_problem *why)
{
    assert_ptr_equal(why, &problem);
    *reply = (struct acme_reply){.json = {0}};
    problem = (struct acme_problem){.wait_s = -1};
    if (is_busy)
        return refuse("rateLimited");
    if (strcmp(url, "change") == 0)
        return is_known(asker->key) ? change() : refuse("unauthorized");
    assert_string_equal(url, "account");
    assert_true(as_key);
    snprintf(payload_seen, sizeof(payload_seen), "%s", payload);
    if (!strstr(payload, "onlyReturnExisting"))
        put_thumbprint(asker->key, known);
    else if (!is_known(asker->key))
        return refuse(stranger);
    snprintf(reply->answer.location, sizeof(reply->answer.location),
             "https://authority.example/1");
    return ACME_DONE;
}

/* --- Around each test ---------------------------------------------------- */

static enum acme_result open_account(void)
{
    enum acme_result result = acme_account_open(&account, &client, &kept,
                                                &settings, &problem);

    memcpy(id, account.id, sizeof(id));
    return result;
}

static enum acme_result roll(void)
{
    enum acme_result result = open_account();

    if (result == ACME_DONE)
        result = acme_account_roll(&account, &client, &kept, &problem);
    acme_account_close(&account);
    return result;
}

/* What a process does that comes later. */
static enum acme_result come_again(void)
{
    enum acme_result result = open_account();

    if (result == ACME_DONE)
        assert_true(is_known(client.key));
    acme_account_close(&account);
    return result;
}

static int begin(void **state)
{
    char fault[ACME_STATE_FAULT_MAX];

    if (place_begin(state) != 0 ||
        acme_state_open(&kept, place_path(&test_place, "acme"), fault) != 0)
        return -1;
    client = (struct acme_client){
        .directory = "https://authority.example/directory",
        .places = {
            [ACME_NEW_ACCOUNT] = "account", [ACME_KEY_CHANGE] = "change"}};
    is_busy = loses_answer = false;
    meanwhile = NULL;
    stranger = "accountDoesNotExist";
    known[0] = '\0';
    return come_again() == ACME_DONE ? 0 : -1;
}

static int end(void **state)
{
    acme_state_close(&kept);
    return place_end(state);
}

/* --- Tests --------------------------------------------------------------- */

TEST(another_key_counts_from_then_on)
{
    char before[THUMBPRINT_MAX];

    memcpy(before, known, sizeof(before));
    assert_int_equal(roll(), ACME_DONE);
    assert_string_not_equal(known, before);
    assert_true(is_known_in("key.pem"));
    assert_false(is_there("next.pem"));
    assert_int_equal(come_again(), ACME_DONE);
}

TEST(a_change_without_an_answer_is_finished)
{
    loses_answer = true;
    assert_int_equal(roll(), ACME_FAILED);
    assert_false(is_known_in("key.pem"));
    assert_int_equal(come_again(), ACME_DONE);
    assert_true(is_known_in("key.pem"));
    assert_false(is_there("next.pem"));
}

/* The authority has the other key, and no time to say so. */
TEST(a_change_is_not_given_up_because_the_authority_is_busy)
{
    loses_answer = true;
    assert_int_equal(roll(), ACME_FAILED);
    is_busy = true;
    assert_int_equal(come_again(), ACME_REFUSED);
    assert_true(is_known_in("next.pem"));
    is_busy = false;
    assert_int_equal(come_again(), ACME_DONE);
    assert_true(is_known_in("key.pem"));
}

static void expect_set_aside(void)
{
    is_busy = true;
    assert_int_equal(roll(), ACME_REFUSED);
    assert_true(is_there("next.pem"));
    is_busy = false;
    assert_int_equal(come_again(), ACME_DONE);
    assert_false(is_there("next.pem"));
    assert_true(is_known_in("key.pem"));
}

TEST(a_key_that_nobody_knows_is_set_aside)
{
    expect_set_aside();
}

/* Some want a binding of whom they do not know, before they look. */
TEST(a_key_is_set_aside_where_the_one_before_counts)
{
    stranger = "externalAccountRequired";
    expect_set_aside();
}

/* sprintd-acme at work, beside an operator's rollover: it finds a key that the
 * authority does not know yet. */
static void set_aside(void)
{
    acme_state_set_aside(&kept, id, "next.pem");
}

TEST(a_key_that_was_set_aside_too_soon_is_not_lost)
{
    meanwhile = set_aside;
    assert_int_equal(roll(), ACME_DONE);
    assert_true(is_known_in("key.pem"));
    assert_int_equal(come_again(), ACME_DONE);
}

/* As by a backup without the key, or when the machine stopped while a damaged
 * key was set aside. */
TEST(an_account_without_its_key_is_replaced)
{
    acme_state_set_aside(&kept, id, "key.pem");
    assert_int_equal(come_again(), ACME_DONE);
    assert_true(is_known_in("key.pem"));
}

/* --- Accounts bound to another ------------------------------------------- */

/* Asks for an account that is bound by a key in such a file. */
static enum acme_result bind_by(const char *text)
{
    const struct acme_settings bound = {.key = ACME_KEY_P256,
                                        .eab_id = "kid-1",
                                        .eab_key = place_path(&test_place,
                                                              "secret")};
    enum acme_result result;

    assert_int_equal(place_write(&test_place, "secret", text), 0);
    acme_state_set_aside(&kept, id, "url");
    payload_seen[0] = '\0';
    result = acme_account_open(&account, &client, &kept, &bound, &problem);
    acme_account_close(&account);
    return result;
}

TEST(white_space_around_a_binding_key_is_none_of_it)
{
    static const char *const texts[] = {
        "c2VjcmV0LWtleQ\n", "c2VjcmV0LWtleQ\r\n", "\nc2VjcmV0LWtleQ\n",
        " \tc2VjcmV0LWtleQ \n\n", "\r\nc2VjcmV0LWtleQ==\r\n"};
    char expected[sizeof(payload_seen)];

    assert_int_equal(bind_by("c2VjcmV0LWtleQ"), ACME_DONE);
    memcpy(expected, payload_seen, sizeof(expected));
    assert_non_null(strstr(expected, "externalAccountBinding"));
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        assert_int_equal(bind_by(texts[i]), ACME_DONE);
        assert_string_equal(payload_seen, expected);
    }
}

TEST(a_file_without_one_binding_key_is_refused)
{
    static const char *const texts[] = {"",    "\n",          " \r\n",
                                        "=\n", "c2Vj cmV0\n", "c2Vj\ncmV0\n"};

    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        assert_int_equal(bind_by(texts[i]), ACME_FAILED);
        assert_non_null(strstr(problem.text, "acme-eab-key"));
        assert_string_equal(payload_seen, "");
    }
}

SUITE(.each_begin = begin, .each_end = end);
