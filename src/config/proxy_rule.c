#include "config/proxy_rule.h"

#include "base/address.h"
#include "base/host_name.h"
#include "handler/status/status.h"
#include "http/head_edit.h"

/* --- Pieces of text ------------------------------------------------------- */

/* Removes the part of `text` before the first byte `c`, and returns that part.
 * Without such a byte, it is the whole text. */
static struct bytes take_to(struct bytes *text, char c)
{
    const char *at = text->len > 0 ? memchr(text->data, c, text->len) : NULL;
    const char *end = text->data + text->len;
    struct bytes taken = bytes_between(text->data, at ? at : end);

    *text = bytes_between(at ? at : end, end);
    return taken;
}

/* Like take_to(), but also removes the byte `c`. */
static struct bytes take_before(struct bytes *text, char c)
{
    struct bytes taken = take_to(text, c);

    (void)bytes_take(text, (struct bytes){&c, 1});
    return taken;
}

/* Reads a number from `min` to `max`. Returns false if `text` is not one. */
static bool read_number(struct bytes text, unsigned min, unsigned max,
                        unsigned *number_out)
{
    unsigned number = 0;

    if (text.len == 0 || text.len > 9)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if (!byte_is_digit(text.data[i]))
            return false;
        number = 10 * number + (unsigned)(text.data[i] - '0');
    }
    *number_out = number;
    return number >= min && number <= max;
}

static bool is_dots(struct bytes segment)
{
    return bytes_eq(segment, BYTES(".")) || bytes_eq(segment, BYTES(".."));
}

/* Whether `path` is a valid path for requests (RFC 3986 3.3), and has no
 * escapes, no "..", and none of the characters that separate servers. */
static bool is_path(struct bytes path)
{
    static const char marks[] = "-._~!$&'()*+=:@/";

    if (path.len > PROXY_RULE_PATH_MAX)
        return false;
    for (size_t i = 0; i < path.len; i++) {
        char lower = byte_lower(path.data[i]);

        if ((lower < 'a' || lower > 'z') && !byte_is_digit(lower) &&
            !memchr(marks, lower, sizeof(marks) - 1))
            return false;
    }
    while (path.len > 0)
        if (is_dots(take_before(&path, '/')))
            return false;
    return true;
}

/* --- A server ------------------------------------------------------------- */

/* Reads "HOST", "HOST:PORT", "[::1]" or "[::1]:PORT". Returns NULL, or an error
 * message. */
static const char *read_authority(struct proxy_rule_server *server,
                                  struct bytes text)
{
    struct address address;
    unsigned port = server->is_tls ? 443 : 80;

    server->name = server->authority = text;
    if (bytes_take(&text, BYTES("["))) {
        server->host = take_to(&text, ']');
        if (!bytes_take(&text, BYTES("]")) ||
            !address_parse(&address, server->host) ||
            address.family != ADDRESS_IPV6)
            return "has brackets around what is no IPv6 address";
    } else {
        server->host = take_to(&text, ':');
        if (!host_name_is_valid(server->host) &&
            !(address_parse(&address, server->host) &&
              address.family == ADDRESS_IPV4))
            return "has a server that is no name and no address (IPv6 stands "
                   "in brackets)";
    }
    if (text.len > 0 && !(bytes_take(&text, BYTES(":")) &&
                          read_number(text, 1, UINT16_MAX, &port)))
        return "has a port that is no number from 1 to 65535";
    server->port = (uint16_t)port;
    return NULL;
}

/* Reads "AUTHORITY[/PATH]", which follows the scheme. Returns NULL, or an error
 * message. */
static const char *read_http(struct proxy_rule_server *server,
                             struct bytes text, struct bytes *path_out)
{
    struct bytes authority = take_to(&text, '/');

    *path_out = text;
    return read_authority(server, authority);
}

/* Reads "/SOCKET[:/PATH]", which follows "unix:". Returns NULL, or an error
 * message. */
static const char *read_unix(struct proxy_rule_server *server,
                             struct bytes text, struct bytes *path_out)
{
    const char *begin = text.data - (sizeof("unix:") - 1);

    server->socket = take_before(&text, ':');
    server->name = bytes_between(begin,
                                 server->socket.data + server->socket.len);
    server->authority = BYTES("localhost"); /* other proxies send this, too */
    if (server->socket.len < 2 || *server->socket.data != '/' ||
        server->socket.len > UPSTREAM_UNIX_PATH_MAX)
        return "has a socket whose path does not begin with a slash, or is too "
               "long";
    *path_out = text;
    if (text.len > 0 && *text.data != '/')
        return "has something behind a socket that is no path";
    return NULL;
}

enum { SAID_BACKUP = 1, SAID_WEIGHT = 2, SAID_CONNS = 4 };

/* Records that a parameter was given. Returns false if it was given before. */
static bool say_once(unsigned *said, unsigned what)
{
    bool is_first = !(*said & what);

    *said |= what;
    return is_first;
}

static const char *read_parameter(struct proxy_rule_server *server,
                                  struct bytes text, unsigned *said)
{
    if (bytes_eq(text, BYTES("backup"))) {
        server->is_backup = true;
        return say_once(said, SAID_BACKUP) ? NULL : "says ;backup twice";
    }
    if (bytes_take(&text, BYTES("weight="))) {
        if (!say_once(said, SAID_WEIGHT))
            return "gives a server two weights";
        return read_number(text, 1, BALANCE_WEIGHT_MAX, &server->weight)
                   ? NULL
                   : "has a weight that is no number from 1 to 1000";
    }
    if (bytes_take(&text, BYTES("max-conns="))) {
        if (!say_once(said, SAID_CONNS))
            return "gives a server two max-conns";
        return read_number(text, 0, PROXY_RULE_CONNS_MAX, &server->conns_max)
                   ? NULL
                   : "has a max-conns that is no number up to 1000000";
    }
    return "has something behind a server that is none of ;weight=N, ;backup "
           "and ;max-conns=N";
}

static const char *read_server(struct proxy_rule_server *server,
                               struct bytes text, struct bytes *path_out)
{
    struct bytes place = take_before(&text, ';');
    const char *fault;
    unsigned said = 0;

    *server = (struct proxy_rule_server){.weight = 1};
    *path_out = BYTES("");
    /* Schemes are compared ignoring case (RFC 3986 3.1). */
    server->is_tls = bytes_take_ieq(&place, BYTES("https://"));
    if (bytes_take_ieq(&place, BYTES("unix:")))
        fault = read_unix(server, place, path_out);
    else if (server->is_tls || bytes_take_ieq(&place, BYTES("http://")))
        fault = read_http(server, place, path_out);
    else
        fault = "has a server that begins with none of http://, https:// and "
                "unix:/";
    while (!fault && text.len > 0)
        fault = read_parameter(server, take_before(&text, ';'), &said);
    if (!fault && path_out->len > 0 && !is_path(*path_out))
        fault = "has a path that cannot be asked for as it is";
    return fault;
}

/* --- A rule --------------------------------------------------------------- */

static bool is_named_before(const struct proxy_rule *rule)
{
    struct bytes name = rule->servers[rule->count].name;

    for (size_t i = 0; i < rule->count; i++)
        if (bytes_ieq(rule->servers[i].name, name))
            return true;
    return false;
}

static const char *add_server(struct proxy_rule *rule, struct bytes text)
{
    struct bytes path;
    const char *fault;

    if (rule->count == PROXY_RULE_SERVERS_MAX)
        return "has more than 64 servers";
    fault = read_server(&rule->servers[rule->count], text, &path);
    if (fault)
        return fault;
    if (is_named_before(rule))
        return "names a server twice";
    if (rule->count > 0 && !bytes_eq(path, rule->path))
        return "has servers whose paths are not the same";
    rule->path = path;
    rule->count++;
    return NULL;
}

static const char *read_prefix(struct proxy_rule *rule, struct bytes text)
{
    char prefix[STATUS_PREFIX_BYTES_MAX + 2];
    const char *begin = text.data;

    rule->prefix = (struct bytes){begin, 0};
    if (bytes_eq(text, BYTES("/")))
        return NULL;
    if (text.len >= sizeof(prefix))
        return "has a prefix that is too long";
    memcpy(prefix, begin, text.len);
    prefix[text.len] = '\0';
    if (strlen(prefix) != text.len ||
        !status_read_prefix(prefix, &rule->prefix))
        return "has a prefix that is no path of letters, digits and \"-._~\"";
    rule->prefix.data = begin;
    return NULL;
}

/* Whether text begins with a server, and so has no prefix. */
static bool begins_server(struct bytes text)
{
    return bytes_take_ieq(&text, BYTES("http://")) ||
           bytes_take_ieq(&text, BYTES("https://")) ||
           bytes_take_ieq(&text, BYTES("unix:"));
}

const char *proxy_rule_read(struct proxy_rule *rule, struct bytes text)
{
    const char *equals = text.len > 0 ? memchr(text.data, '=', text.len) : NULL;
    const char *end = text.data + text.len;
    const char *fault = NULL;

    rule->count = 0;
    rule->path = rule->prefix = BYTES("");
    rule->has_prefix = !begins_server(text);
    if (rule->has_prefix) {
        if (!equals || equals == text.data || equals + 1 == end)
            return "is not PREFIX=SERVER, such as /=http://127.0.0.1:9000";
        fault = read_prefix(rule, bytes_between(text.data, equals));
        text = bytes_between(equals + 1, end);
    }
    if (!fault && end[-1] == ',')
        fault = "ends in a comma";
    while (!fault && text.len > 0)
        fault = add_server(rule, take_before(&text, ','));
    return fault;
}

/* --- Related options ------------------------------------------------------ */

const char *proxy_rule_read_balance(struct proxy_options *to, struct bytes text)
{
    static const struct {
        struct bytes name;
        enum balance_policy policy;
        enum proxy_hash hash;
    } policies[] = {
        {{"round-robin", 11}, BALANCE_ROUND_ROBIN, PROXY_HASH_ADDRESS},
        {{"least-conn", 10}, BALANCE_LEAST_CONN, PROXY_HASH_ADDRESS},
        {{"random", 6}, BALANCE_RANDOM, PROXY_HASH_ADDRESS},
        {{"hash-address", 12}, BALANCE_HASH, PROXY_HASH_ADDRESS},
        {{"hash-uri", 8}, BALANCE_HASH, PROXY_HASH_URI}};

    for (size_t i = 0; i < sizeof(policies) / sizeof(*policies); i++) {
        if (!bytes_eq(text, policies[i].name))
            continue;
        to->upstream.balance.policy = policies[i].policy;
        to->hash = policies[i].hash;
        return NULL;
    }
    if (!bytes_take(&text, BYTES("hash:")) || !head_is_token(text))
        return "is none of round-robin, least-conn, random, hash-address, "
               "hash-uri and hash:FIELD";
    to->upstream.balance.policy = BALANCE_HASH;
    to->hash = PROXY_HASH_FIELD;
    to->hash_field = text;
    return NULL;
}

const char *proxy_rule_read_statuses(struct bytes text, unsigned *min_out,
                                     unsigned *max_out)
{
    struct bytes min = take_to(&text, '-');
    struct bytes max = bytes_take(&text, BYTES("-")) ? text : min;

    return read_number(min, 200, 599, min_out) &&
                   read_number(max, *min_out, 599, max_out)
               ? NULL
               : "is neither a status from 200 to 599 nor a range such as "
                 "200-399";
}
