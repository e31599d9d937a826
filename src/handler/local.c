#include "handler/local.h"

bool local_is_passed_on(const struct request *request)
{
    static const uint32_t marks = 1u << FIELD_VIA | 1u << FIELD_FORWARDED |
                                  1u << FIELD_X_FORWARDED_FOR |
                                  1u << FIELD_X_FORWARDED_HOST |
                                  1u << FIELD_X_FORWARDED_PROTO |
                                  1u << FIELD_X_REAL_IP;
    static const struct bytes prefix = {"X-Forwarded-", 12};

    if (request->seen & marks)
        return true;
    for (size_t i = 0; i < request->field_count; i++) {
        struct bytes name = request->fields[i].name;

        if (name.len > prefix.len &&
            bytes_ieq((struct bytes){name.data, prefix.len}, prefix))
            return true;
    }
    return false;
}

bool local_is_sender(const struct exchange *exchange,
                     const struct forwarded_trust *trust)
{
    return address_is_local(exchange->neighbour) &&
           address_is_local(exchange->peer) && !exchange->is_introduced &&
           !local_is_passed_on(&exchange->request) &&
           !(trust && forwarded_is_trusted(trust, exchange->neighbour));
}

/* Reads "192.0.2.1" or "[2001:db8::1]", either perhaps with a port. */
static bool read_address(struct bytes host)
{
    bool is_ipv6 = *host.data == '[';
    const char *end = memchr(host.data, is_ipv6 ? ']' : ':', host.len);
    struct address address;

    if (is_ipv6) {
        host = bytes_between(host.data + 1, end ? end : host.data + 1);
        return address_parse(&address, host) &&
               memchr(host.data, ':', host.len);
    }
    if (end)
        host = bytes_between(host.data, end);
    return address_parse(&address, host);
}

/* Whether a host is a numeric address. The last address is remembered, since
 * the requests to one worker name the same address again and again. */
static bool is_address(struct bytes host)
{
    static _Thread_local struct {
        size_t len; /* 0: no address was read yet */
        char text[56];
    } last;

    if (host.len == last.len && memcmp(host.data, last.text, host.len) == 0)
        return true;
    if (!read_address(host))
        return false;
    if (host.len <= sizeof(last.text)) {
        memcpy(last.text, host.data, host.len);
        last.len = host.len;
    }
    return true;
}

static bool is_localhost(struct bytes host)
{
    static const struct bytes name = {"localhost", 9};

    return host.len >= name.len &&
           bytes_ieq((struct bytes){host.data, name.len}, name) &&
           (host.len == name.len || host.data[name.len] == ':');
}

bool local_is_named(const struct hosts *names, struct bytes host)
{
    return host.len == 0 || is_localhost(host) || is_address(host) ||
           (names && hosts_find(names, host));
}
