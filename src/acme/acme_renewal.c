#include "acme/acme_renewal.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "acme/acme_x509.h"
#include "base/log.h"

bool acme_renewal_identify(struct bytes chain,
                           char id_out[ACME_IDENTIFIER_MAX + 1])
{
    struct buf text;

    buf_init(&text, id_out, ACME_IDENTIFIER_MAX, ACME_IDENTIFIER_MAX);
    if (!acme_x509_put_identifier(chain, &text)) {
        id_out[0] = '\0'; /* a part may have been written before */
        return false;
    }
    id_out[text.len] = '\0';
    return true;
}

/* --- Dates --------------------------------------------------------------- */

/* Reads `count` digits, and moves *text past them. Returns false if there are
 * fewer. */
static bool read_digits(const char **text, int count, int *number_out)
{
    *number_out = 0;
    for (int i = 0; i < count; i++, (*text)++) {
        if (**text < '0' || **text > '9')
            return false;
        *number_out = 10 * *number_out + (**text - '0');
    }
    return true;
}

/* Skips one character. Returns false if it is none of the characters in
 * `these`. */
static bool read_one_of(const char **text, const char *these)
{
    return **text != '\0' && strchr(these, *(*text)++) != NULL;
}

/* Reads a time zone: "Z", or one like "+01:00". */
static bool read_zone(const char *text, int64_t *seconds_out)
{
    bool is_west = *text == '-';
    int hours, minutes;

    *seconds_out = 0;
    if ((*text == 'Z' || *text == 'z') && text[1] == '\0')
        return true;
    if (!read_one_of(&text, "+-") || !read_digits(&text, 2, &hours) ||
        !read_one_of(&text, ":") || !read_digits(&text, 2, &minutes) ||
        *text != '\0' || hours > 23 || minutes > 59)
        return false;
    *seconds_out = (int64_t)hours * 3600 + (int64_t)minutes * 60;
    if (is_west)
        *seconds_out = -*seconds_out;
    return true;
}

bool acme_renewal_read_date(const char *text, int64_t *seconds_out)
{
    struct tm tm = {0};
    int64_t zone_s;

    if (!read_digits(&text, 4, &tm.tm_year) || !read_one_of(&text, "-") ||
        !read_digits(&text, 2, &tm.tm_mon) || !read_one_of(&text, "-") ||
        !read_digits(&text, 2, &tm.tm_mday) || !read_one_of(&text, "Tt ") ||
        !read_digits(&text, 2, &tm.tm_hour) || !read_one_of(&text, ":") ||
        !read_digits(&text, 2, &tm.tm_min) || !read_one_of(&text, ":") ||
        !read_digits(&text, 2, &tm.tm_sec))
        return false;
    if (tm.tm_year < 1970 || tm.tm_mon < 1 || tm.tm_mon > 12 ||
        tm.tm_mday < 1 || tm.tm_mday > 31 || tm.tm_hour > 23 ||
        tm.tm_min > 59 || tm.tm_sec > 60)
        return false;
    if (*text == '.')
        text += 1 + strspn(text + 1, "0123456789");
    if (!read_zone(text, &zone_s))
        return false;
    tm.tm_year -= 1900;
    tm.tm_mon--;
    *seconds_out = (int64_t)timegm(&tm) - zone_s;
    return true;
}

/* --- Windows ------------------------------------------------------------- */

static bool read_member(const struct json_value *window, const char *name,
                        int64_t *seconds_out)
{
    char text[64];

    return acme_text(json_find(window, name), text, sizeof(text)) &&
           acme_renewal_read_date(text, seconds_out);
}

static void take_window(struct acme_record *record,
                        const struct json_value *json)
{
    const struct json_value *window = json_find(json, "suggestedWindow");
    int64_t from_s, until_s;

    record->window_from_s = record->window_until_s = 0;
    if (!read_member(window, "start", &from_s) ||
        !read_member(window, "end", &until_s) || until_s <= from_s)
        return;
    record->window_from_s = from_s;
    record->window_until_s = until_s;
}

void acme_renewal_look(struct acme_client *client, const char *id,
                       struct acme_record *record, int64_t now_s)
{
    char url[ACME_URL_MAX + ACME_IDENTIFIER_MAX + 2];
    struct acme_reply reply;
    struct acme_problem problem;
    int64_t wait_s = ACME_LOOK_S;

    record->look_s = now_s + ACME_LOOK_S;
    if (client->places[ACME_RENEWAL_INFO][0] == '\0')
        return;
    snprintf(url, sizeof(url), "%s/%s", client->places[ACME_RENEWAL_INFO], id);
    if (acme_client_get(client, url, &reply, &problem) == ACME_DONE) {
        take_window(record, acme_reply_json(&reply));
        if (reply.answer.wait_s >= 0)
            wait_s = reply.answer.wait_s;
    } else {
        log_info("acme: renewal information: %s", problem.text);
    }
    acme_reply_fini(&reply);
    if (wait_s < ACME_LOOK_MIN_S)
        wait_s = ACME_LOOK_MIN_S;
    record->look_s = now_s +
                     (wait_s < ACME_LOOK_MAX_S ? wait_s : ACME_LOOK_MAX_S);
}
