#include "raw_case.h"

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
    size_t used;

    going_on("%s (split at %d)", raw->name, shot->split);
    if (len == 0 && raw->statuses[0] == 0)
        return; /* closed without a word, as it may */
    reply_begin(&first);
    used = len > 0 ? reply_parse(&first, data, len, true, raw->is_head) : 0;
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
        if (raw->then == THEN_GOES_ON)
            miss(shot, "answered %u, but the canary is not", first.status);
    } else if (raw->then == THEN_CLOSES) {
        miss(shot, "answered %u, and then goes on: '%.200s'", first.status,
             data + used);
    } else {
        reply_begin(&second);
        if (used + reply_parse(&second, data + used, len - used, true, false) !=
                len ||
            !is_canary(&second))
            miss(shot, "answered %u, then not the canary: '%.200s'",
                 first.status, data + used);
    }
}

static void fire(const struct server *server, const struct raw_case *cases,
                 size_t count, bool split)
{
    struct shot *shots = scratch(count * sizeof(*shots));

    missed = 0;
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
