#include <time.h>

#include "acme/acme_http.h"
#include "http/date.h"

void acme_answer_fini(struct acme_answer *answer)
{
    buf_fini(&answer->body);
}

static bool take_name(struct bytes line, struct bytes name,
                      struct bytes *value_out)
{
    if (line.len <= name.len || line.data[name.len] != ':' ||
        !bytes_ieq((struct bytes){line.data, name.len}, name))
        return false;
    *value_out = bytes_trim((struct bytes){line.data + name.len + 1,
                                           line.len - name.len - 1});
    return true;
}

/* Copies `value` if it fits and is visible ASCII; otherwise the copy is "". The
 * copy gets into requests, files and logs. */
static void keep(char *to, size_t size, struct bytes value)
{
    to[0] = '\0';
    if (value.len >= size)
        return;
    for (size_t i = 0; i < value.len; i++)
        if (value.data[i] <= ' ' || value.data[i] > '~')
            return;
    memcpy(to, value.data, value.len);
    to[value.len] = '\0';
}

static struct bytes without_parameters(struct bytes value)
{
    const char *end = memchr(value.data, ';', value.len);

    return end ? bytes_trim(bytes_between(value.data, end)) : value;
}

static int64_t limit_wait(int64_t wait_s)
{
    return wait_s < 0 ? 0 : wait_s > ACME_WAIT_MAX_S ? ACME_WAIT_MAX_S : wait_s;
}

/* Reads Retry-After: seconds, or a date (RFC 9110 10.2.3). Returns seconds from
 * now, or -1 if `value` is invalid. */
static int64_t read_wait(struct bytes value, int64_t now_s)
{
    int64_t number = 0;

    for (size_t i = 0; i < value.len; i++) {
        if (!byte_is_digit(value.data[i]))
            return date_parse(value, now_s, &number)
                       ? limit_wait(number - now_s)
                       : -1;
        number = limit_wait(number * 10 + (value.data[i] - '0'));
    }
    return value.len > 0 ? number : -1;
}

void acme_answer_take_line(struct acme_answer *answer, struct bytes line,
                           int64_t now_s)
{
    struct bytes value;

    while (line.len > 0 &&
           (line.data[line.len - 1] == '\n' || line.data[line.len - 1] == '\r'))
        line.len--;
    if (take_name(line, BYTES("Replay-Nonce"), &value))
        keep(answer->nonce, sizeof(answer->nonce), value);
    else if (take_name(line, BYTES("Location"), &value))
        keep(answer->location, sizeof(answer->location), value);
    else if (take_name(line, BYTES("Content-Type"), &value))
        keep(answer->type, sizeof(answer->type), without_parameters(value));
    else if (take_name(line, BYTES("Retry-After"), &value))
        answer->wait_s = read_wait(value, now_s);
}
