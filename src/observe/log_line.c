#include "observe/log_line.h"

#include <time.h>

#include "base/units.h"

/* --- Dates ---------------------------------------------------------------- */

void log_dates_init(struct log_dates *dates)
{
    *dates = (struct log_dates){.second = INT64_MIN};
}

/* Writes the last two digits of a number. */
static inline void put_pair(char *at, unsigned number)
{
    at[0] = (char)('0' + number / 10 % 10);
    at[1] = (char)('0' + number % 10);
}

static void write_dates(struct log_dates *dates, const struct tm *utc)
{
    static const char months[12][4] = {"Jan", "Feb", "Mar", "Apr",
                                       "May", "Jun", "Jul", "Aug",
                                       "Sep", "Oct", "Nov", "Dec"};
    unsigned year = (unsigned)utc->tm_year + 1900;

    memcpy(dates->common, "00/Mon/0000:00:00:00 +0000", sizeof(dates->common));
    put_pair(dates->common, (unsigned)utc->tm_mday);
    memcpy(dates->common + 3, months[utc->tm_mon], 3);
    put_pair(dates->common + 7, year / 100);
    put_pair(dates->common + 9, year);
    put_pair(dates->common + 12, (unsigned)utc->tm_hour);
    put_pair(dates->common + 15, (unsigned)utc->tm_min);
    put_pair(dates->common + 18, (unsigned)utc->tm_sec);
    memcpy(dates->iso, "0000-00-00T00:00:00", sizeof(dates->iso));
    put_pair(dates->iso, year / 100);
    put_pair(dates->iso + 2, year);
    put_pair(dates->iso + 5, (unsigned)utc->tm_mon + 1);
    put_pair(dates->iso + 8, (unsigned)utc->tm_mday);
    memcpy(dates->iso + 11, dates->common + 12, 8);
}

void log_dates_refresh(struct log_dates *dates, const struct now *now)
{
    time_t seconds = (time_t)now->wall_s;
    struct tm utc;

    dates->ms = (unsigned)(now->wall_ns / NS_PER_MS % MS_PER_S);
    if (dates->second == now->wall_s)
        return;
    dates->second = now->wall_s;
    gmtime_r(&seconds, &utc);
    write_dates(dates, &utc);
}

/* --- Lines ---------------------------------------------------------------- */

#define EACH_BYTE(byte) (UINT64_C(0x0101010101010101) * (byte))

/* Returns a value other than 0 if any byte of the word is 0, otherwise 0. */
static inline uint64_t has_zero(uint64_t word)
{
    return (word - EACH_BYTE(0x01)) & ~word & EACH_BYTE(0x80);
}

/* Returns a value other than 0 if any of the eight bytes must be escaped,
 * otherwise 0. */
static inline uint64_t find_odd(const char *at)
{
    uint64_t word;

    memcpy(&word, at, sizeof(word));
    return (word & EACH_BYTE(0x80)) | /* bytes beyond ASCII */
           ((word - EACH_BYTE(0x20)) & ~word & EACH_BYTE(0x80)) | /* control */
           has_zero(word ^ EACH_BYTE('"')) | has_zero(word ^ EACH_BYTE('\\')) |
           has_zero(word ^ EACH_BYTE(0x7F));
}

/* Whether no byte of the text must be escaped. Words of eight bytes are
 * checked. The last word may overlap the word before, and a short text is
 * padded with spaces. */
static bool is_plain(struct bytes text)
{
    char spaced[8] = "        ";
    uint64_t odd;

    if (text.len < 8) {
        for (size_t i = 0; i < text.len; i++)
            spaced[i] = text.data[i];
        return find_odd(spaced) == 0;
    }
    odd = find_odd(text.data + text.len - 8);
    for (size_t at = 0; at + 8 < text.len; at += 8)
        odd |= find_odd(text.data + at);
    return odd == 0;
}

/* Cuts a text to at most `most` bytes, between two UTF-8 characters. */
static struct bytes cut(struct bytes text, size_t most)
{
    size_t len = most;

    while (len > 0 && most - len < 3 &&
           ((unsigned char)text.data[len] & 0xC0) == 0x80)
        len--;
    return (struct bytes){text.data, len};
}

/* Copies `len` bytes without calling memcpy(3) for short texts. Most texts are
 * short, and the call would take longer than the copying. */
static inline char *put(char *at, const char *data, size_t len)
{
    if (len > 16) {
        memcpy(at, data, len);
    } else if (len >= 8) { /* two words, which may overlap */
        memcpy(at, data, 8);
        memcpy(at + len - 8, data + len - 8, 8);
    } else if (len >= 4) {
        memcpy(at, data, 4);
        memcpy(at + len - 4, data + len - 4, 4);
    } else {
        for (size_t i = 0; i < len; i++)
            at[i] = data[i];
    }
    return at + len;
}

static char *put_number(char *at, uint64_t number)
{
    char digits[20]; /* 2^64 - 1 has 20 digits */
    size_t first = sizeof(digits);

    for (; number >= 100; number /= 100)
        put_pair(digits + (first -= 2), (unsigned)(number % 100));
    put_pair(digits + (first -= 2), (unsigned)number);
    if (number < 10)
        first++;
    return put(at, digits + first, sizeof(digits) - first);
}

static char *put_ms(char *at, unsigned ms)
{
    at[0] = '.';
    at[1] = (char)('0' + ms / 100);
    put_pair(at + 2, ms);
    return at + 4;
}

static char *put_escaped(char *at, struct bytes text, bool is_json)
{
    struct buf out;

    /* There is room for the longest escaped text. */
    buf_init(&out, at, 6 * text.len, 6 * text.len);
    if (is_json)
        buf_put_json(&out, text);
    else
        buf_put_log(&out, text);
    return at + out.len;
}

static char *put_text(char *at, struct bytes text, size_t most, bool is_json)
{
    bool is_cut = text.len > most;

    if (is_cut)
        text = cut(text, most);
    if (text.len == 0 && !is_json)
        *at++ = '-';
    else if (is_plain(text))
        at = put(at, text.data, text.len);
    else
        at = put_escaped(at, text, is_json);
    return is_cut ? put(at, "...", 3) : at;
}

static const void *find(const struct log_entry *entry,
                        const struct log_step *step)
{
    return (const char *)entry + step->offset;
}

static char *put_bool(char *at, bool is_true)
{
    return is_true ? put(at, "true", 4) : put(at, "false", 5);
}

static char *put_upstream(char *at, const struct log_entry *entry,
                          const struct log_step *step, uint64_t unit)
{
    uint64_t number =
        entry->upstream
            ? *(const uint64_t *)(const void *)((const char *)entry->upstream +
                                                step->offset)
            : LOG_NONE;

    return number == LOG_NONE ? put(at, "-", 1) : put_number(at, number / unit);
}

static struct bytes find_text(const struct log_entry *entry,
                              const struct log_step *step)
{
    struct bytes name = {step->literal + step->name_at, step->name_len};

    if (step->kind == LOG_TEXT)
        return *(const struct bytes *)find(entry, step);
    if (step->kind == LOG_UPSTREAM_NAME)
        return entry->upstream ? entry->upstream->name : BYTES("");
    if (step->kind == LOG_TLS)
        return entry->tls
                   ? *(const struct bytes *)(const void *)((const char *)
                                                               entry->tls +
                                                           step->offset)
                   : BYTES("");
    return entry->find ? entry->find(entry->context,
                                     step->kind == LOG_RESPONSE_HEADER, name)
                       : BYTES("");
}

/* Puts one of the server's own words, which need no escapes; "-" if the word is
 * empty and the format is not JSON. */
static char *put_word(char *at, struct bytes word, bool is_json)
{
    return word.len == 0 && !is_json ? put(at, "-", 1)
                                     : put(at, word.data, word.len);
}

static char *put_step(char *at, const struct log_step *step,
                      const struct log_dates *dates, unsigned worker,
                      const struct log_entry *entry, bool is_json)
{
    switch ((enum log_kind)step->kind) {
    case LOG_TEXT: /* the caller puts all texts */
    case LOG_UPSTREAM_NAME:
    case LOG_TLS:
    case LOG_HEADER:
    case LOG_RESPONSE_HEADER:
    case LOG_NOTHING:
        return at;
    case LOG_NUMBER:
        return put_number(at, *(const uint64_t *)find(entry, step));
    case LOG_TIME_US:
        return put_number(at, *(const uint64_t *)find(entry, step) / NS_PER_US);
    case LOG_BOOL:
        return put_bool(at, *(const bool *)find(entry, step));
    case LOG_REMOTE:
        return at + address_format(entry->peer, at);
    case LOG_REMOTE_PORT:
        return put_number(at, entry->peer->port);
    case LOG_DATE:
        return put(at, dates->common, sizeof(dates->common) - 1);
    case LOG_DATE_ISO:
        at = put(at, dates->iso, sizeof(dates->iso) - 1);
        at = put_ms(at, dates->ms);
        *at++ = 'Z';
        return at;
    case LOG_DATE_MSEC:
        return put_ms(put_number(at, (uint64_t)dates->second), dates->ms);
    case LOG_WORKER:
        return put_number(at, worker);
    case LOG_REASON:
        return put_word(at, entry->reason, is_json);
    case LOG_UPSTREAM_NUMBER:
        return put_upstream(at, entry, step, 1);
    case LOG_UPSTREAM_US:
        return put_upstream(at, entry, step, 1000);
    }
    return at;
}

/* Returns the maximum length of the entry's line. */
static size_t bound(const struct log_format *format,
                    const struct log_template *template,
                    const struct log_entry *entry)
{
    size_t texts = 0;

    for (unsigned i = 0; i < template->step_count; i++) {
        const struct log_step *step = &template->steps[i];

        if (step->kind <= LOG_LAST_TEXT) {
            size_t len = find_text(entry, step).len;

            texts += len < template->text_max ? len : template->text_max;
        }
    }
    return template->fixed_max + texts * log_format_growth(format);
}

bool log_line_put(struct buf *out, const struct log_format *format,
                  const struct log_dates *dates, unsigned worker,
                  const struct log_entry *entry)
{
    const struct log_template *template = &format->templates[entry->event];
    char *at = out->data + out->len;

    if (out->capacity - out->len < bound(format, template, entry))
        return false;
    for (unsigned i = 0; i < template->step_count; i++) {
        const struct log_step *step = &template->steps[i];

        at = put(at, step->literal, step->literal_len);
        if (step->kind <= LOG_LAST_TEXT)
            at = put_text(at, find_text(entry, step), template->text_max,
                          format->is_json);
        else
            at = put_step(at, step, dates, worker, entry, format->is_json);
    }
    *at++ = '\n';
    out->len = (size_t)(at - out->data);
    return true;
}
