#include "acme/acme_record.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/units.h"

enum {
    HOUR_S = 3600,
    DAY_S = 24 * HOUR_S,
    /* Certificates with a shorter life are renewed when half of it is over. */
    SHORT_DAYS = 10,
    SPREAD = 50, /* chance moves a renewal by up to 1/50 of the life */
    SPARE = 10,  /* the last 1/10 of the life is left for more tries */
    DOUBLINGS_MAX = 20
};

/* --- As text ------------------------------------------------------------- */

enum kind { TEXT, WORD, NUMBER, COUNT };

struct member {
    const char *word;
    enum kind kind;
    size_t offset;
    size_t size;
};

#define MEMBER(word, kind, member)                        \
    {                                                     \
        word, kind, offsetof(struct acme_record, member), \
            sizeof(((struct acme_record *)0)->member)     \
    }

static const struct member members[] = {
    MEMBER("directory", WORD, directory),
    MEMBER("order", WORD, order),
    MEMBER("names", WORD, names),
    MEMBER("failures", COUNT, failures),
    MEMBER("next", NUMBER, next_s),
    MEMBER("window-from", NUMBER, window_from_s),
    MEMBER("window-until", NUMBER, window_until_s),
    MEMBER("look", NUMBER, look_s),
    MEMBER("error", TEXT, error),
};

static bool is_text(const struct member *member)
{
    return member->kind == TEXT || member->kind == WORD;
}

/* Whether `text` is visible ASCII, and so safe to show at a terminal. */
static bool is_word(struct bytes text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.data[i] <= ' ' || text.data[i] > '~')
            return false;
    return true;
}

static void set(struct acme_record *record, const struct member *member,
                struct bytes value)
{
    char *at = (char *)record + member->offset;
    char text[ACME_URL_MAX + 1];

    if (value.len >= sizeof(text) ||
        (is_text(member) && value.len >= member->size) ||
        (member->kind == WORD && !is_word(value)))
        return;
    memcpy(text, value.data, value.len);
    text[value.len] = '\0';
    if (is_text(member))
        memcpy(at, text, value.len + 1);
    else if (member->kind == COUNT)
        *(unsigned *)(void *)at = (unsigned)strtoul(text, NULL, 10);
    else
        *(int64_t *)(void *)at = strtoll(text, NULL, 10);
}

static void add_attempt(struct acme_record *record, struct bytes value)
{
    char text[32] = "";

    if (value.len >= sizeof(text))
        return;
    memcpy(text, value.data, value.len);
    for (size_t i = 0; i < ACME_FAILURES_MAX; i++)
        if (record->attempts[i] == 0) {
            record->attempts[i] = strtoll(text, NULL, 10);
            return;
        }
}

static void read_line(struct acme_record *record, struct bytes line)
{
    const char *space = memchr(line.data, ' ', line.len);
    struct bytes word = bytes_between(line.data,
                                      space ? space : line.data + line.len);
    struct bytes value;

    if (!space)
        return;
    value = bytes_between(space + 1, line.data + line.len);
    if (bytes_eq(word, BYTES("attempt")))
        add_attempt(record, value);
    for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++)
        if (bytes_eq(word, bytes_of(members[i].word)))
            set(record, &members[i], value);
}

void acme_record_read(struct acme_record *record, struct bytes text)
{
    const char *end = text.data + text.len;

    *record = (struct acme_record){0};
    while (text.data && text.data < end) {
        const char *line_end = memchr(text.data, '\n',
                                      (size_t)(end - text.data));

        read_line(record, bytes_between(text.data, line_end ? line_end : end));
        text.data = line_end ? line_end + 1 : end;
    }
}

void acme_record_put(const struct acme_record *record, struct buf *text)
{
    for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++) {
        const struct member *member = &members[i];
        const char *at = (const char *)record + member->offset;

        if (is_text(member))
            buf_printf(text, "%s %s\n", member->word, at);
        else if (member->kind == COUNT)
            buf_printf(text, "%s %u\n", member->word,
                       *(const unsigned *)(const void *)at);
        else
            buf_printf(text, "%s %lld\n", member->word,
                       (long long)*(const int64_t *)(const void *)at);
    }
    for (size_t i = 0; i < ACME_FAILURES_MAX; i++)
        if (record->attempts[i] != 0)
            buf_printf(text, "attempt %lld\n", (long long)record->attempts[i]);
}

/* --- Times --------------------------------------------------------------- */

static int64_t part(int64_t whole, uint32_t chance)
{
    return (int64_t)((double)whole * ((double)chance / (double)UINT32_MAX));
}

/* Chooses a time in the authority's window, between the begin of the
 * certificate's life and its last tenth, which is left for more tries. If the
 * window ends before the life begins, the result is in the past, and the
 * certificate is renewed at once. */
static int64_t choose_in_window(const struct acme_record *record,
                                int64_t begins_at, int64_t ends_at,
                                uint32_t chance)
{
    int64_t from_s = record->window_from_s;
    int64_t until_s = record->window_until_s;
    int64_t latest_s = ends_at - (ends_at - begins_at) / SPARE;

    if (from_s < begins_at && until_s > begins_at)
        from_s = begins_at;
    if (until_s > latest_s)
        until_s = latest_s > from_s ? latest_s : from_s;
    return from_s + part(until_s - from_s, chance);
}

int64_t acme_record_due(const struct acme_record *record, int64_t begins_at,
                        int64_t ends_at, uint32_t chance)
{
    int64_t life_s = ends_at > begins_at ? ends_at - begins_at : 0;
    int64_t due_s = begins_at + (life_s < (int64_t)SHORT_DAYS * DAY_S
                                     ? life_s / 2
                                     : life_s / 3 * 2);

    if (record->window_from_s > 0 && record->window_from_s < ends_at &&
        record->window_until_s > record->window_from_s)
        return choose_in_window(record, begins_at, ends_at, chance);
    return due_s - part(life_s / SPREAD, chance);
}

/* Whether an attempt was within the last hour. An attempt more than an hour in
 * the future does not count: a clock that was set back must not delay a
 * certificate forever. */
static bool is_recent(int64_t attempt_s, int64_t now_s)
{
    return attempt_s != 0 && attempt_s > now_s - HOUR_S &&
           attempt_s <= now_s + HOUR_S;
}

bool acme_record_begin(struct acme_record *record, int64_t now_s,
                       int64_t *when_out)
{
    size_t place = ACME_FAILURES_MAX;
    int64_t oldest_s = INT64_MAX;

    for (size_t i = 0; i < ACME_FAILURES_MAX; i++) {
        if (!is_recent(record->attempts[i], now_s))
            place = i;
        else if (record->attempts[i] < oldest_s)
            oldest_s = record->attempts[i];
    }
    if (place == ACME_FAILURES_MAX) {
        *when_out = oldest_s + HOUR_S;
        return false;
    }
    record->attempts[place] = now_s;
    return true;
}

/* Keeps the earlier, failed attempts in the record, and removes only the last
 * one, which has succeeded. */
void acme_record_succeed(struct acme_record *record)
{
    struct acme_record before = *record;
    size_t last = 0;

    *record = (struct acme_record){0};
    memcpy(record->directory, before.directory, sizeof(record->directory));
    memcpy(record->attempts, before.attempts, sizeof(record->attempts));
    for (size_t i = 1; i < ACME_FAILURES_MAX; i++)
        if (record->attempts[i] > record->attempts[last])
            last = i;
    record->attempts[last] = 0;
}

void acme_record_fail(struct acme_record *record, const char *why,
                      int64_t now_s, int64_t retry_ms, int64_t wait_s,
                      uint32_t chance)
{
    int64_t pause_ms = retry_ms;
    int64_t pause_s;

    for (unsigned i = 0; i < record->failures && i < DOUBLINGS_MAX; i++)
        pause_ms = pause_ms < (int64_t)DAY_S * MS_PER_S ? pause_ms * 2
                                                        : pause_ms;
    pause_s = (pause_ms + MS_PER_S - 1) / MS_PER_S;
    if (pause_s > DAY_S)
        pause_s = DAY_S;
    if (pause_s < wait_s)
        pause_s = wait_s;
    record->failures++;
    record->next_s = now_s + pause_s + part(pause_s / 10, chance);
    snprintf(record->error, sizeof(record->error), "%s", why);
    for (char *at = record->error; *at; at++)
        if (*at == '\n' || *at == '\r')
            *at = ' ';
}
