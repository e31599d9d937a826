#include <stdlib.h>

#include "auth/htpasswd_priv.h"

enum {
    BCRYPT_BYTES = 60, /* "$2y$10$" 7, salt 22, hash 31 */
    SHA256_BYTES = 43,
    SHA512_BYTES = 86,
    SALT_BYTES_MAX = 16,
    ROUNDS_MIN = 1000
};

static bool has_prefix(struct bytes text, struct bytes prefix)
{
    return text.len >= prefix.len &&
           memcmp(text.data, prefix.data, prefix.len) == 0;
}

static struct bytes behind(struct bytes text, size_t len)
{
    return (struct bytes){text.data + len, text.len - len};
}

/* Whether all characters of `text` are among the 64 of crypt(3)'s hashes. */
static bool is_coded(struct bytes text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];

        if (!byte_is_digit(c) && !(c >= 'A' && c <= 'Z') &&
            !(c >= 'a' && c <= 'z') && c != '.' && c != '/')
            return false;
    }
    return true;
}

/* Returns what is wrong with a bcrypt hash; NULL if nothing is. */
static const char *judge_bcrypt(struct bytes hash)
{
    unsigned cost;

    if (hash.len != BCRYPT_BYTES || !byte_is_digit(hash.data[4]) ||
        !byte_is_digit(hash.data[5]) || hash.data[6] != '$' ||
        !is_coded(behind(hash, 7)))
        return "not a bcrypt hash, though it begins like one";
    cost = 10 * (unsigned)(hash.data[4] - '0') + (unsigned)(hash.data[5] - '0');
    if (cost < 4)
        return "not a bcrypt hash: its cost is less than 4";
    if (cost > HTPASSWD_BCRYPT_COST_MAX)
        return "a bcrypt hash of a cost over 14 takes too long to check";
    return NULL;
}

/* Removes "rounds=N$" from the front of *rest, if it is there. Returns NULL, or
 * what is wrong with the text or with N. */
static const char *judge_rounds(struct bytes *rest)
{
    const struct bytes prefix = BYTES("rounds=");
    unsigned rounds = 0;
    size_t at = prefix.len;

    if (!has_prefix(*rest, prefix))
        return NULL;
    for (; at < rest->len && byte_is_digit(rest->data[at]); at++) {
        rounds = 10 * rounds + (unsigned)(rest->data[at] - '0');
        if (rounds > HTPASSWD_ROUNDS_MAX)
            return "a SHA-crypt hash of over 1000000 rounds takes too long to "
                   "check";
    }
    /* With leading zeros, crypt's output would differ from the text in the
     * file. */
    if (rounds < ROUNDS_MIN || rest->data[prefix.len] == '0' ||
        at == rest->len || rest->data[at] != '$')
        return "not a SHA-crypt hash: its rounds are no number from 1000 on";
    *rest = behind(*rest, at + 1);
    return NULL;
}

static const char *judge_sha(struct bytes hash, size_t digest_bytes)
{
    struct bytes rest = behind(hash, 3);
    const char *why = judge_rounds(&rest);
    const char *mark;

    if (why)
        return why;
    mark = memchr(rest.data, '$', rest.len);
    if (!mark || (size_t)(mark - rest.data) > SALT_BYTES_MAX ||
        !is_coded(bytes_between(rest.data, mark)) ||
        (size_t)(rest.data + rest.len - mark - 1) != digest_bytes ||
        !is_coded(bytes_between(mark + 1, rest.data + rest.len)))
        return "not a SHA-crypt hash, though it begins like one";
    return NULL;
}

static const char *judge_hash(struct bytes hash)
{
    if (has_prefix(hash, BYTES("$2y$")) || has_prefix(hash, BYTES("$2b$")) ||
        has_prefix(hash, BYTES("$2a$")))
        return judge_bcrypt(hash);
    if (has_prefix(hash, BYTES("$5$")))
        return judge_sha(hash, SHA256_BYTES);
    if (has_prefix(hash, BYTES("$6$")))
        return judge_sha(hash, SHA512_BYTES);
    if (has_prefix(hash, BYTES("$apr1$")) || has_prefix(hash, BYTES("$1$")))
        return "an MD5 hash is too easy to guess; use bcrypt (htpasswd -B)";
    if (has_prefix(hash, BYTES("{SHA}")) || has_prefix(hash, BYTES("{SSHA}")))
        return "a SHA-1 hash is too easy to guess; use bcrypt (htpasswd -B)";
    return "neither bcrypt ($2y$) nor SHA-crypt ($5$, $6$): plain text and "
           "other hashes are not taken; use bcrypt (htpasswd -B)";
}

/* A line is: name ":" hash [ ":" anything ]. */
static const char *read_user(struct htpasswd_user *user, struct bytes line)
{
    const char *end = line.data + line.len;
    const char *colon = memchr(line.data, ':', line.len);
    const char *more;

    if (!colon)
        return "no ':' behind the user's name";
    user->name = bytes_between(line.data, colon);
    more = memchr(colon + 1, ':', (size_t)(end - colon - 1));
    user->hash = bytes_between(colon + 1, more ? more : end);
    if (user->name.len == 0)
        return "a user without a name";
    if (user->name.len > HTPASSWD_NAME_BYTES_MAX)
        return "a user's name of over 255 bytes";
    if (bytes_has_control(user->name))
        return "a control character in a user's name";
    return judge_hash(user->hash);
}

int htpasswd_compare_users(const void *a, const void *b)
{
    struct bytes left = ((const struct htpasswd_user *)a)->name;
    struct bytes right = ((const struct htpasswd_user *)b)->name;
    size_t len = left.len < right.len ? left.len : right.len;
    int order = len > 0 ? memcmp(left.data, right.data, len) : 0;

    return order != 0 ? order : (left.len > right.len) - (left.len < right.len);
}

/* Finds a name that occurs twice; users are sorted. */
static bool find_twice(const struct htpasswd_user *users, int count,
                       struct htpasswd_fault *fault_out)
{
    for (int i = 1; i < count; i++) {
        if (!bytes_eq(users[i - 1].name, users[i].name))
            continue;
        *fault_out = (struct htpasswd_fault){users[i].line > users[i - 1].line
                                                 ? users[i].line
                                                 : users[i - 1].line,
                                             "a user for the second time"};
        return true;
    }
    return false;
}

int htpasswd_parse(struct bytes text, struct htpasswd_user *users,
                   struct htpasswd_fault *fault_out)
{
    unsigned number = 0;
    int count = 0;

    while (text.len > 0) {
        struct bytes line = bytes_take_line(&text);
        const char *why;

        number++;
        if (line.len == 0 || *line.data == '#')
            continue;
        if (count == HTPASSWD_USERS_MAX)
            why = "more than 10000 users";
        else
            why = read_user(&users[count], line);
        if (why) {
            *fault_out = (struct htpasswd_fault){number, why};
            return -1;
        }
        users[count++].line = number;
    }
    if (count > 0)
        qsort(users, (size_t)count, sizeof(*users), htpasswd_compare_users);
    return find_twice(users, count, fault_out) ? -1 : count;
}
