/* link: -Wl,--wrap=password_client_ask,--wrap=password_client_cancel */
/* link: -Wl,--wrap=malloc */
#include "handler/guard.h"

#include "unit/handler/asked.h"
#include "unit/memory.h"
#include "wrap.h"

/* --- A client that says what a test wants -------------------------------- */

static enum password_verdict verdict; /* at once */
static struct password_wait *waiting;
static char asked_user[100];
static char asked_password[100];
static unsigned asked;
static unsigned cancelled;

static void copy(char to[100], struct bytes text)
{
    assert_in_range(text.len, 0, 99);
    memcpy(to, text.data, text.len);
    to[text.len] = '\0';
}

WRAP(enum password_verdict, password_client_ask, struct password_client *client,
     const struct password_question *question, struct password_wait *wait)
{
    assert_null(client);
    assert_ptr_equal(question->asker, exchange.peer);
    asked++;
    copy(asked_user, question->user);
    copy(asked_password, question->password);
    waiting = verdict == PASSWORD_LATER ? wait : NULL;
    return verdict;
}

WRAP(void, password_client_cancel, struct password_client *client,
     struct password_wait *wait)
{
    assert_null(client);
    assert_ptr_equal(wait, waiting);
    cancelled++;
}

/* --- What it guards ------------------------------------------------------- */

static struct address peer;
static struct guard guard;
/* Nobody looks into it. */
static struct htpasswd *const htpasswd = (struct htpasswd *)&guard;
static unsigned woken;
static unsigned admitted;
static unsigned refused;
static struct pending *next_pending; /* what is admitted waits for; or NULL */

static void resume(void *context, struct exchange *resumed,
                   const struct htpasswd *waited_for,
                   enum password_verdict told)
{
    assert_ptr_equal(waited_for, htpasswd);
    assert_ptr_equal(context, &guard);
    assert_ptr_equal(resumed, &exchange);
    if (told == PASSWORD_RIGHT) {
        admitted++;
        resumed->pending = next_pending;
        if (next_pending)
            return;
        response_make_error(&resumed->response, 404, BYTES(""), &defaults);
    } else {
        refused++;
        guard_refuse(&guard, resumed, told, BYTES("late"));
    }
}

static void on_wake(struct exchange *waked)
{
    assert_ptr_equal(waked, &exchange);
    woken++;
}

static int set_up(void **state)
{
    verdict = PASSWORD_LATER;
    waiting = NULL;
    next_pending = NULL;
    allocations_left = -1;
    asked = cancelled = woken = admitted = refused = 0;
    exchange.peer = &peer;
    guard = (struct guard){
        .defaults = &defaults, .resume = resume, .context = &guard};
    exchange.on_wake = on_wake;
    return begin_asking(state);
}

/* "joe:secret" */
#define CREDENTIALS "Authorization: Basic am9lOnNlY3JldA==\r\n"

static bool admits(const char *fields)
{
    ask("GET /", fields);
    return guard_admits(&guard, &exchange, htpasswd, BYTES("a \"b\""));
}

static void tell(enum password_verdict told)
{
    struct password_wait *wait = waiting;

    wait->on_done(wait, told);
}

/* --- Tests ---------------------------------------------------------------- */

TEST(who_says_nothing_is_asked_for_a_password)
{
    static const char *const fields[] = {"", "Authorization: Basic !\r\n",
                                         "Authorization: Bearer x\r\n"};

    for (size_t i = 0; i < 3; i++) {
        assert_false(admits(fields[i]));
        assert_has("HTTP/1.1 401 Unauthorized\r\n");
        assert_has("\r\nWWW-Authenticate: Basic realm=\"a \\\"b\\\"\", "
                   "charset=\"UTF-8\"\r\n");
    }
    assert_int_equal(asked, 0);
}

TEST(what_is_known_needs_no_waiting)
{
    verdict = PASSWORD_RIGHT;
    assert_true(admits(CREDENTIALS));
    assert_string_equal(asked_user, "joe");
    assert_string_equal(asked_password, "secret");
    assert_null(exchange.pending);
    assert_null(exchange.response.source);
    verdict = PASSWORD_WRONG;
    assert_false(admits(CREDENTIALS));
    assert_has("HTTP/1.1 401 ");
}

TEST(when_too_many_wait_it_is_busy)
{
    verdict = PASSWORD_BUSY;
    assert_false(admits(CREDENTIALS));
    assert_has("HTTP/1.1 503 ");
    assert_has("\r\nRetry-After: 5\r\n");
    assert_has("\r\nCache-Control: no-store\r\n");
    ask("GET /", CREDENTIALS);
    allocations_left = 0;
    assert_false(guard_admits(&guard, &exchange, htpasswd, BYTES("a")));
    allocations_left = -1;
    assert_has("HTTP/1.1 503 ");
}

TEST(until_there_is_a_verdict_nothing_is_sent)
{
    struct response *response = &exchange.response;

    assert_false(admits(CREDENTIALS));
    assert_non_null(exchange.pending);
    assert_int_equal(response->bytes_left, 0);
    for (int i = 0; i < 3; i++) {
        assert_false(sent_look(&exchange, &now));
        assert_int_equal(response->bytes_left, 0);
    }
    tell(PASSWORD_RIGHT);
    assert_int_equal(woken, 1);
    assert_int_equal(admitted, 0); /* not before it is asked */
    assert_true(sent_look(&exchange, &now));
    assert_int_equal(admitted, 1);
    assert_null(exchange.pending);
    assert_null(response->source);
    assert_has("HTTP/1.1 404 ");
    assert_int_equal(cancelled, 0);
}

static struct answer look_at_next(struct pending *pending)
{
    assert_ptr_equal(pending, next_pending);
    return (struct answer){.state = ANSWER_LATER};
}

static void drop_next(struct pending *pending)
{
    assert_ptr_equal(pending, next_pending);
    next_pending = NULL;
}

TEST(who_is_admitted_may_have_to_wait_again)
{
    static struct pending next = {.look = look_at_next, .destroy = drop_next};

    assert_false(admits(CREDENTIALS));
    next_pending = &next;
    tell(PASSWORD_RIGHT);
    assert_false(sent_look(&exchange, &now));
    assert_int_equal(admitted, 1);
    assert_ptr_equal(exchange.pending, &next);
    assert_false(sent_look(&exchange, &now));
    assert_int_equal(admitted, 1);
    leave();
    assert_null(next_pending);
    assert_int_equal(cancelled, 0);
}

TEST(a_late_refusal_is_one)
{
    assert_false(admits(CREDENTIALS));
    tell(PASSWORD_WRONG);
    assert_true(sent_look(&exchange, &now));
    assert_int_equal(refused, 1);
    assert_int_equal(admitted, 0);
    assert_has("HTTP/1.1 401 ");
    assert_has("realm=\"late\"");
}

TEST(who_had_to_make_room_is_told_to_come_again)
{
    assert_false(admits(CREDENTIALS));
    tell(PASSWORD_BUSY);
    assert_true(sent_look(&exchange, &now));
    assert_int_equal(refused, 1);
    assert_has("HTTP/1.1 503 ");
    assert_has("\r\nRetry-After: 5\r\n");
}

TEST(who_goes_away_waits_no_more)
{
    assert_false(admits(CREDENTIALS));
    leave();
    assert_int_equal(cancelled, 1);
    assert_false(admits(CREDENTIALS));
    tell(PASSWORD_RIGHT);
    leave(); /* told, and not asked again */
    assert_int_equal(cancelled, 1);
    assert_int_equal(admitted, 0);
}

SUITE(.each_begin = set_up, .each_end = end_asking);
