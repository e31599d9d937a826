#include "versions.h"

#include <dirent.h>
#include <openssl/evp.h>
#include <sys/stat.h>

enum { HASH_BYTES = 32 };

/* --- Versions ------------------------------------------------------------ */

char *version_text(unsigned version)
{
    char *text = scratch(LEN + 1);
    char *bytes = scratch(LEN / 2 + 1);

    seeded_fill(7, 0, bytes, LEN / 2 + 1);
    seeded_fill(100 + version, 0, bytes + LEN / 8 + version * 150, 120);
    for (size_t i = 0; i < LEN; i++)
        text[i] = "0123456789abcdef"[bytes[i / 2] >> (i % 2 * 4) & 15];
    text[LEN] = '\0';
    return text;
}

void version_write(const char *name, unsigned version)
{
    site_write(name, version_text(version), LEN);
    site_date(name, LONG_AGO + (int64_t)version, 0);
    pause_ms(150);
}

const char *version_name(unsigned version)
{
    return printed("assets/app.%u.js", version);
}

const char *version_target(unsigned version)
{
    return printed("/%s", version_name(version));
}

static void hash_of(unsigned version, unsigned char hash[HASH_BYTES])
{
    assert_int_equal(EVP_Digest(version_text(version), LEN, hash, NULL,
                                EVP_sha256(), NULL),
                     1);
}

const char *version_value(unsigned version)
{
    unsigned char hash[HASH_BYTES];
    char base64[48];

    hash_of(version, hash);
    EVP_EncodeBlock((unsigned char *)base64, hash, sizeof(hash));
    return printed(":%s:", base64);
}

const char *offer(unsigned version)
{
    return printed("Available-Dictionary: %s\r\n", version_value(version));
}

/* --- The server and its folder ------------------------------------------- */

const char *state_place(void)
{
    return printed("%s/state", folder());
}

const char *state_argument(void)
{
    return printed("--state-directory=%s", state_place());
}

int versions_clean(void **unused)
{
    (void)unused;
    return system(printed("rm -rf %s %s/assets", state_place(), site())) == 0
               ? 0
               : -1;
}

static bool is_hash(const char *name, unsigned version)
{
    unsigned char hash[HASH_BYTES];
    char text[2 * HASH_BYTES + 1];

    hash_of(version, hash);
    for (size_t i = 0; i < HASH_BYTES; i++)
        snprintf(text + 2 * i, 3, "%02x", hash[i]);
    return strlen(name) > 64 && strcmp(name + strlen(name) - 64, text) == 0;
}

const char *find_kept(unsigned version)
{
    DIR *kept = opendir(printed("%s/dictionaries", state_place()));
    const char *found = NULL;
    struct dirent *entry;

    assert_non_null(kept);
    while ((entry = readdir(kept)))
        if (*entry->d_name != '.' && is_hash(entry->d_name, version))
            found = printed("%s/dictionaries/%s", state_place(), entry->d_name);
    closedir(kept);
    return found;
}

unsigned count_kept(void)
{
    DIR *kept = opendir(printed("%s/dictionaries", state_place()));
    struct dirent *entry;
    unsigned count = 0;

    assert_non_null(kept);
    while ((entry = readdir(kept)))
        count += *entry->d_name != '.';
    closedir(kept);
    return count;
}

/* --- Asking -------------------------------------------------------------- */

bool is_delta(const struct reply *reply)
{
    const char *coding = reply_field(reply, "Content-Encoding");

    return coding && strcmp(coding, "dcz") == 0;
}

struct reply *fetch_ok(struct client *client, const char *target,
                       const char *fields)
{
    struct reply *reply = client_ask(client, "GET", target, fields);

    expect_status(reply, 200);
    return reply;
}

void publish(struct client *client, unsigned version)
{
    version_write(version_name(version), version);
    if (!eventually((fetch_ok(client, version_target(version), TAKES),
                     find_kept(version) != NULL),
                    MADE_MS))
        flunk("version %u is never kept", version);
}

struct reply *await_delta(struct client *client, const char *target,
                          unsigned version)
{
    struct reply *reply;

    if (!eventually((reply = fetch_ok(client, target,
                                      printed(TAKES "%s", offer(version))),
                     is_delta(reply)),
                    MADE_MS))
        flunk("%s is never sent by version %u", target, version);
    return reply;
}

void save(const char *path, const void *data, size_t len)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
}

void expect_delta(const char *body, size_t body_len, unsigned from, unsigned to)
{
    static const unsigned char magic[] = {0x5e, 0x2a, 0x4d, 0x18,
                                          0x20, 0,    0,    0};
    const char *delta = printed("%s/delta", folder());
    const char *dictionary = printed("%s/dictionary", folder());
    const char *plain = printed("%s/plain", folder());
    unsigned char hash[HASH_BYTES];
    const char *text;
    size_t len;

    hash_of(from, hash);
    assert_true(body_len > 40 && body_len < LEN / 40);
    assert_memory_equal(body, magic, sizeof(magic));
    assert_memory_equal(body + sizeof(magic), hash, sizeof(hash));
    save(delta, body, body_len);
    save(dictionary, version_text(from), LEN);
    assert_int_equal(system(printed("zstd -dqf --patch-from=%s %s -o %s",
                                    dictionary, delta, plain)),
                     0);
    text = read_text(plain, &len);
    assert_int_equal(len, LEN);
    assert_memory_equal(text, version_text(to), LEN);
}

void expect_reply_delta(const struct reply *reply, unsigned from, unsigned to)
{
    expect_delta(reply->body, reply->body_len, from, to);
}
