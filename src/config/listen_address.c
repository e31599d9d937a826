#include "config/listen_address.h"

#include <stdlib.h>

#define UNIX "unix:"

static const char *pass(const char *text, const char *word)
{
    size_t len = strlen(word);

    return strncmp(text, word, len) == 0 ? text + len : NULL;
}

/* Returns the part behind the scheme. *is_tls_out becomes true if the scheme is
 * https. */
static const char *pass_scheme(const char *text, bool *is_tls_out)
{
    const char *rest = pass(text, "https://");

    *is_tls_out = rest != NULL;
    if (!rest)
        rest = pass(text, "http://");
    return rest ? rest : text;
}

static bool read_tcp(struct listen_address *where, const char *text)
{
    const char *colon = strrchr(text, ':');
    char *end;
    size_t len;
    unsigned long port;

    if (!colon || !byte_is_digit(colon[1]))
        return false;
    port = strtoul(colon + 1, &end, 10);
    len = (size_t)(colon - text);
    if (*end != '\0' || port > 65535)
        return false;
    if (text[0] == '[') {
        if (len < 3 || text[len - 1] != ']')
            return false;
        text++;
        len -= 2;
    } else if (memchr(text, ':', len)) {
        return false; /* IPv6 without brackets: its end is unclear */
    }
    if (len >= sizeof(where->address))
        return false;
    memcpy(where->address, text, len);
    where->address[len] = '\0';
    where->is_everywhere = len == 0;
    where->port = (unsigned)port;
    return true;
}

bool listen_address_read(struct listen_address *where, const char *text)
{
    const char *rest;

    *where = (struct listen_address){0};
    rest = pass_scheme(text, &where->is_tls);
    where->path = pass(rest, UNIX);
    return where->path || read_tcp(where, rest);
}

const char *listen_address_path(const char *text)
{
    bool is_tls;

    return pass(pass_scheme(text, &is_tls), UNIX);
}
