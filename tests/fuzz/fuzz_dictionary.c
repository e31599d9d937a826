/*
 * fuzz_dictionary - what clients and operators say of dictionaries: the first
 * line is the value of Available-Dictionary, the second a rule, the third a
 * path.
 *
 * A hash that is read has that one form; a rule that is taken makes lines of
 * printable ASCII that end where they should, with quotes in pairs; the hash,
 * as a name in the store's folder, is read back. Any breach aborts.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/base64.h"
#include "files/dictionary.h"
#include "http/rules/dictionary_rules.h"

#define CHECK(condition) ((condition) ? (void)0 : breach(__LINE__, #condition))

_Noreturn static void breach(int line, const char *condition)
{
    fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, line, condition);
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_name(const uint8_t hash[DICTIONARY_HASH_BYTES])
{
    struct dictionary written = {.rule = hash[0] * 0x123456789ull,
                                 .modified_ns = -hash[1]};
    struct dictionary read = {0};

    memcpy(written.hash, hash, sizeof(written.hash));
    dictionary_write_name(&written);
    CHECK(dictionary_read_name(&read, written.name));
    CHECK(read.rule == written.rule && read.modified_ns == written.modified_ns);
    CHECK(memcmp(read.hash, hash, sizeof(read.hash)) == 0);
}

static void check_offer(struct bytes value)
{
    struct field field;
    struct request request = {.fields = &field, .field_count = 1};
    uint8_t hash[DICTIONARY_HASH_BYTES];
    char storage[64];
    struct buf base64;

    request.fields[0] = (struct field){.name = BYTES("Available-Dictionary"),
                                       .value = value};
    if (!dictionary_offer_read(&request, hash))
        return;
    buf_init(&base64, storage, sizeof(storage), sizeof(storage));
    base64_put(&base64, (struct bytes){(const char *)hash, sizeof(hash)});
    CHECK(value.len == base64.len + 2);
    CHECK(memcmp(value.data + 1, base64.data, base64.len) == 0);
    check_name(hash);
}

static void check_line(struct bytes line)
{
    bool is_open = false;

    CHECK(line.len > 2 && memcmp(line.data + line.len - 2, "\r\n", 2) == 0);
    for (size_t i = 0; i < line.len - 2; i++) {
        CHECK(line.data[i] >= ' ' && line.data[i] <= '~');
        if (is_open && line.data[i] == '\\') {
            i++;
            CHECK(line.data[i] == '\\' || line.data[i] == '"');
        } else if (line.data[i] == '"') {
            is_open = !is_open;
        }
    }
    CHECK(!is_open);
}

static void check_rule(struct bytes text, struct bytes path)
{
    static struct dictionary_rules rules;
    char name[DICTIONARY_NAME_SIZE];
    struct dictionary dictionary;

    memset(&rules, 0, sizeof(rules));
    if (!dictionary_rules_add(&rules, text)) {
        check_line(dictionary_rule_use(&rules.rules[0]));
        if (rules.rules[0].file_len > 0)
            check_line(dictionary_rule_link(&rules.rules[0]));
        (void)dictionary_rules_find_made(&rules, path);
        (void)dictionary_rules_find_used(&rules, path);
    }
    snprintf(name, sizeof(name), "%.*s", (int)path.len, path.data);
    if (dictionary_read_name(&dictionary, name)) {
        dictionary_write_name(&dictionary);
        CHECK(strcmp(dictionary.name, name) == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *copy = malloc(size + 1); /* so that a sanitizer sees the next byte */
    struct bytes text = {copy, size};
    struct bytes offer, rule;

    CHECK(copy);
    if (size > 0)
        memcpy(copy, data, size);
    offer = bytes_take_line(&text);
    check_offer(offer);
    rule = bytes_take_line(&text);
    check_rule(rule, text);
    free(copy);
    return 0;
}
