#include "raw_case.h"

#include "origin.h"
#include "reply.h"
#include "volley.h"

static const char canary[] = "GET /canary HTTP/1.1\r\nHost: a\r\n"
                             "Connection: close\r\n\r\n";

void raw_case_site(void)
{
    site_text("f", "file f\n");
    site_text("canary", "canary\n");
    site_text("index.html", "index\n");
}

/* --- Before an origin ---------------------------------------------------- */

struct server *raw_server;
static bool is_passed_on;
static struct origin *origin;
static unsigned long relayed; /* answers of the origin's that came back */

struct server *raw_case_start(void)
{
    if (!is_passed_on)
        return START(NULL);
    origin = origin_start("origin");
    /* What announces a body of gigabytes is not waited for. */
    return START(printed("--proxy=/=%s", origin->at), "--max-body=1M");
}

static int end(void **state)
{
    int result = harness_end(state);

    origins_end();
    origin = NULL;
    return result;
}

int raw_case_begin(void **state)
{
    if (harness_begin(state) != 0)
        return -1;
    raw_case_site();
    raw_server = raw_case_start();
    harness_keep();
    return 0;
}

int raw_case_run(const struct CMUnitTest *tests, size_t count)
{
    int failed;

    is_passed_on = false;
    failed = _cmocka_run_group_tests("of files", tests, count, suite.begin,
                                     end);
    is_passed_on = true;
    return failed +
           _cmocka_run_group_tests("passed on", tests, count, suite.begin, end);
}

void raw_case_check_origin(void)
{
    if (origin)
        origin_check(origin);
}

static void note_relayed(const struct reply *reply)
{
    relayed += reply_field(reply, "Via") != NULL;
}

/* What it has got is what has been answered: nothing was smuggled. */
static void check_origin(unsigned long before)
{
    unsigned long got;

    if (!origin)
        return;
    raw_case_check_origin();
    got = atomic_load(&origin->counts->requests) - before;
    if (got != relayed)
        flunk("the origin has got %lu requests, but %lu were answered", got,
              relayed);
}

/* --- Judging ------------------------------------------------------------- */

/* Of the shots that have been judged; and the name of the last of them, since
 * one fault usually shows at every split. */
static size_t missed;
static char last_missed[64];

static bool is_canary(const struct reply *reply)
{
    return reply->status == 200 && reply->body_len == 7 &&
           memcmp(reply->body, "canary\n", 7) == 0;
}

static bool may_answer(const struct raw_case *raw, unsigned status)
{
    if (is_passed_on && raw->is_for_us)
        return status == 400;
    for (size_t i = 0; i < RAW_STATUSES_MAX; i++)
        if (raw->statuses[i] != 0 && raw->statuses[i] == (int)status)
            return true;
    return false;
}

/* Says what is wrong with a shot, and goes on to the next. */
__attribute__((format(printf, 2, 3))) static void miss(const struct shot *shot,
                                                       const char *format, ...)
{
    const struct raw_case *raw = shot->what;
    char text[512];
    va_list list;

    va_start(list, format);
    vsnprintf(text, sizeof(text), format, list);
    va_end(list);
    if (missed == 0 || strcmp(last_missed, raw->name) != 0)
        print_error("%s (split at %d): %s\n", raw->name, shot->split, text);
    snprintf(last_missed, sizeof(last_missed), "%s", raw->name);
    missed++;
}

static void judge(const struct shot *shot, char *data, size_t len,
                  bool was_reset)
{
    static struct reply first;
    static struct reply second;
    const struct raw_case *raw = shot->what;
    enum raw_then then = is_passed_on && raw->is_for_us ? THEN_EITHER
                                                        : raw->then;
    size_t used;

    going_on("%s (split at %d)", raw->name, shot->split);
    if (len == 0 && raw->statuses[0] == 0)
        return; /* closed without a word, as it may */
    reply_begin(&first);
    used = len > 0 ? reply_parse(&first, data, len, true, raw->is_head) : 0;
    if (used > 0)
        note_relayed(&first);
    if (used == 0) {
        miss(shot, "no whole answer%s: '%.200s'",
             was_reset ? ", but a reset" : "", data);
    } else if (!may_answer(raw, first.status)) {
        miss(shot, "answered %u: '%.100s'", first.status, data);
    } else if (was_reset) {
        /* It can overtake what the client has not read yet (9112 9.6). */
        miss(shot, "answered %u, and then resets", first.status);
    } else if (len == used) {
        /* RFC 9112 9.6; who spoke HTTP/1.0 need not be told. */
        if (first.status >= 400 && !reply_lists(&first, "Connection", "close"))
            miss(shot, "answered %u, and ends without saying so", first.status);
        if (then == THEN_GOES_ON)
            miss(shot, "answered %u, but the canary is not", first.status);
    } else if (then == THEN_CLOSES) {
        miss(shot, "answered %u, and then goes on: '%.200s'", first.status,
             data + used);
    } else {
        reply_begin(&second);
        if (used + reply_parse(&second, data + used, len - used, true, false) !=
                len ||
            !is_canary(&second))
            miss(shot, "answered %u, then not the canary: '%.200s'",
                 first.status, data + used);
        note_relayed(&second);
    }
}

static void fire(const struct server *server, const struct raw_case *cases,
                 size_t count, bool split)
{
    struct shot *shots = scratch(count * sizeof(*shots));

    unsigned long before = origin ? atomic_load(&origin->counts->requests) : 0;

    missed = relayed = 0;
    for (size_t i = 0; i < count; i++) {
        size_t len = cases[i].len + sizeof(canary) - 1;
        char *data = scratch(len + 1);

        memcpy(data, cases[i].bytes, cases[i].len);
        memcpy(data + cases[i].len, canary, sizeof(canary));
        shots[i] = (struct shot){data, len, split ? (int)cases[i].len : 0,
                                 &cases[i], false};
    }
    if (split)
        volley_fire_split(server, shots, count, judge);
    else
        volley_fire(server, shots, count, judge);
    going_on("%s", "");
    if (missed > 0)
        flunk("%zu shots missed", missed);
    check_origin(before);
}

void raw_cases_split(const struct server *server, const struct raw_case *cases,
                     size_t count)
{
    fire(server, cases, count, true);
}

void raw_cases_whole(const struct server *server, const struct raw_case *cases,
                     size_t count)
{
    fire(server, cases, count, false);
}
