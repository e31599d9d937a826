#include "http/percent.h"
#include "kv/redis/kv_redis_node_priv.h"

enum { DEFAULT_PORT = 6379, PORT_MAX = 65535 };

/* Splits a text at `mark`: `before` gets the part before the mark, `text` keeps
 * the part after it. Returns false if the text has no mark. */
static bool split(struct bytes *text, char mark, struct bytes *before)
{
    const char *at = text->len > 0 ? memchr(text->data, mark, text->len) : NULL;
    const char *end = text->data + text->len;

    if (!at)
        return false;
    *before = bytes_between(text->data, at);
    *text = bytes_between(at + 1, end);
    return true;
}

static bool copy(struct bytes text, char *to, size_t bytes_max)
{
    if (text.len == 0 || text.len > bytes_max)
        return false;
    memcpy(to, text.data, text.len);
    to[text.len] = '\0';
    return true;
}

static bool decode(struct bytes text, char to[KV_REDIS_SECRET_BYTES_MAX + 1])
{
    size_t len = 0;

    if (text.len > KV_REDIS_SECRET_BYTES_MAX ||
        !percent_decode(text, false, to, &len))
        return false;
    to[len] = '\0';
    return true;
}

/* Returns true if the text has only letters, digits and characters of `more`.
 * The URL's host and name must be such texts. */
static bool is_plain(struct bytes text, const char *more)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = byte_lower(text.data[i]);

        if (!(c >= 'a' && c <= 'z') && !byte_is_digit(c) &&
            (c == '\0' || !strchr(more, c)))
            return false;
    }
    return true;
}

static const char *read_secret(struct kv_redis_url *url, struct bytes text)
{
    struct bytes user;

    if (!split(&text, ':', &user) || text.len == 0)
        return "has a user without a password";
    if (!decode(user, url->user) || !decode(text, url->password))
        return "has a user or password that is too long, or a broken escape";
    return NULL;
}

static const char *read_seed(struct kv_redis_url *url, struct bytes text)
{
    struct kv_redis_seed *seed = &url->seeds[url->seed_count];
    struct bytes host = text;
    uint64_t port = DEFAULT_PORT;
    bool has_port = false;

    if (url->seed_count == KV_REDIS_SEEDS_MAX)
        return "names more than 16 machines";
    if (text.len > 0 && *text.data == '[') {
        text.data++;
        text.len--;
        if (!split(&text, ']', &host) || !is_plain(host, ":.") ||
            (text.len > 0 && *text.data != ':'))
            return "has a broken address in brackets";
        has_port = text.len > 0;
        if (has_port)
            text = (struct bytes){text.data + 1, text.len - 1};
    } else {
        has_port = split(&text, ':', &host);
        if (!is_plain(host, ".-_"))
            return "has a host that is no name or address";
    }
    if (has_port &&
        (!kv_redis_read_number(text, &port) || port == 0 || port > PORT_MAX))
        return "has a port that is not 1 to 65535";
    if (!copy(host, seed->host, KV_REDIS_HOST_BYTES_MAX))
        return "has an empty host, or one that is too long";
    seed->port = (uint16_t)port;
    url->seed_count++;
    return NULL;
}

static const char *read_authority(struct kv_redis_url *url, struct bytes text)
{
    const char *at = memrchr(text.data, '@', text.len);
    struct bytes seed;
    const char *fault = NULL;

    if (at) {
        fault = read_secret(url, bytes_between(text.data, at));
        text = bytes_between(at + 1, text.data + text.len);
    }
    while (!fault && split(&text, ',', &seed))
        fault = read_seed(url, seed);
    return fault ? fault : read_seed(url, text);
}

static const char *read_db(struct kv_redis_url *url, struct bytes text)
{
    uint64_t db = 0;

    if (text.len > 0 &&
        (!kv_redis_read_number(text, &db) || db > KV_REDIS_DB_MAX))
        return "has a database that is not 0 to 65535";
    url->db = (unsigned)db;
    return NULL;
}

static const char *read_query(struct kv_redis_url *url, struct bytes text)
{
    struct bytes name;

    if (!split(&text, '=', &name) || !bytes_eq(name, BYTES("name")))
        return "has something behind '?' that is not name=NAME";
    if (!is_plain(text, "-_.") ||
        !copy(text, url->name, KV_REDIS_NAME_BYTES_MAX))
        return "has a name that is not 1 to 64 of letters, digits and \"-_.\"";
    return NULL;
}

const char *kv_redis_url_read(struct kv_redis_url *url, const char *text)
{
    struct bytes rest = bytes_of(text);
    struct bytes before;
    const char *fault = NULL;

    *url = (struct kv_redis_url){.name = "sprintd"};
    url->is_tls = strncmp(text, "rediss://", 9) == 0;
    if (!url->is_tls && strncmp(text, "redis://", 8) != 0)
        return "is not redis://HOST:PORT or rediss://HOST:PORT; unix sockets "
               "are not there";
    before.len = url->is_tls ? 9 : 8;
    rest = (struct bytes){rest.data + before.len, rest.len - before.len};
    if (split(&rest, '?', &before)) {
        fault = read_query(url, rest);
        rest = before;
    }
    if (!fault && split(&rest, '/', &before)) {
        fault = read_db(url, rest);
        rest = before;
    }
    return fault ? fault : read_authority(url, rest);
}

bool kv_redis_is_url(const char *text)
{
    static const char *const schemes[] = {"redis:",  "rediss:",  "redis+",
                                          "valkey:", "valkeys:", "unix:"};

    for (size_t i = 0; i < sizeof(schemes) / sizeof(*schemes); i++)
        if (strncmp(text, schemes[i], strlen(schemes[i])) == 0)
            return true;
    return strstr(text, "://") != NULL;
}

bool kv_redis_is_tls(const char *text)
{
    return strncmp(text, "rediss:", 7) == 0;
}

const char *kv_redis_check(const char *text)
{
    struct kv_redis_url url;

    return kv_redis_url_read(&url, text);
}
