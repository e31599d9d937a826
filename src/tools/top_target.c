#include "tools/top_target.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

/* Whether all characters may stand in a request line and in a Host field. */
static bool is_visible(const char *text)
{
    for (; *text; text++)
        if (*text <= ' ' || *text >= 0x7F)
            return false;
    return true;
}

static bool ends_with(struct bytes text, struct bytes end)
{
    return text.len >= end.len &&
           memcmp(text.data + text.len - end.len, end.data, end.len) == 0;
}

static const char *set_path(struct top_target *target, const char *prefix)
{
    struct bytes path = bytes_of(prefix);
    int len;

    if (strpbrk(prefix, "?#"))
        return "a prefix has no '?' and no '#'";
    if (ends_with(path, BYTES("/" TOP_DOCUMENT)))
        path.len -= strlen(TOP_DOCUMENT);
    if (path.len <= 1)
        path = BYTES("/_sprintd");
    if (path.data[path.len - 1] == '/')
        path.len--;
    if (path.len >= sizeof(target->path))
        return "the prefix is too long";
    len = snprintf(target->path, sizeof(target->path), "%.*s/" TOP_DOCUMENT,
                   (int)path.len, path.data);
    return (size_t)len < sizeof(target->path) ? NULL : "the prefix is too long";
}

static const char *read_unix(struct top_target *target, const char *text)
{
    const char *prefix = "";
    size_t len = strlen(text);

    for (size_t i = 1; i < len; i++) {
        if (text[i] == ':' && text[i + 1] == '/') {
            prefix = text + i + 1;
            len = i;
        }
    }
    if (len == 0 || len >= sizeof(target->socket.sun_path))
        return "the path of a socket has 1 to 107 bytes";
    target->is_unix = true;
    target->socket.sun_family = AF_UNIX;
    memcpy(target->socket.sun_path, text, len);
    snprintf(target->host, sizeof(target->host), "localhost");
    return set_path(target, prefix);
}

/* Reads ":PORT" or nothing, up to a slash or the end of `text`. */
static bool set_port(struct top_target *target, const char *text)
{
    size_t len = strcspn(text, "/");
    size_t digits;

    if (len == 0) {
        memcpy(target->port, "80", 3);
        return true;
    }
    digits = strspn(text + 1, "0123456789");
    if (text[0] != ':' || digits != len - 1 || digits == 0 || digits > 5)
        return false;
    memcpy(target->port, text + 1, digits);
    return strtoul(target->port, NULL, 10) - 1 < 65535;
}

const char *top_target_read(struct top_target *target, const char *url)
{
    const char *host = url;
    size_t len;

    *target = (struct top_target){0};
    if (!is_visible(url))
        return "an address has no spaces or controls";
    if (strncmp(url, "unix:", 5) == 0)
        return read_unix(target, url + 5);
    if (strncasecmp(url, "http://", 7) == 0)
        host += 7;
    else if (strstr(url, "://"))
        return "only http:// and unix: are spoken";
    if (*host == '[') {
        len = strspn(++host, "0123456789abcdefABCDEF:.");
        if (host[len] != ']')
            return "the address in brackets is none of IPv6";
    } else {
        len = strcspn(host, ":/?#@[]");
    }
    if (len == 0 || len > TOP_HOST_BYTES_MAX)
        return "a host has 1 to 255 bytes";
    memcpy(target->host, host, len);
    host += len + (host[len] == ']');
    if (!set_port(target, host))
        return "a port is a number from 1 to 65535";
    return set_path(target, host + strcspn(host, "/"));
}
