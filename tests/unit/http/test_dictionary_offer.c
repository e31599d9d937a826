#include "http/dictionary_offer.h"

#include "suite.h"

static struct request request;
static struct field fields[REQUEST_FIELDS_FEW];

static int clear(void **state)
{
    (void)state;
    request = (struct request){.fields = fields};
    return 0;
}

SUITE(.each_begin = clear);

static void add(const char *name, const char *value)
{
    request.fields[request.field_count++] = (struct field){
        .name = bytes_of(name), .value = bytes_of(value)};
}

#define HASH "pZGm1Av0IEBKARczz7exkNYsZb8LzaMrV7J32a2fFG4="

TEST(a_hash_is_read)
{
    static const uint8_t begin[] = {0xa5, 0x91, 0xa6, 0xd4};
    uint8_t hash[DICTIONARY_HASH_BYTES];

    assert_false(dictionary_offer_read(&request, hash));
    add("Accept", "*/*");
    add("available-DICTIONARY", ":" HASH ":");
    assert_true(dictionary_offer_read(&request, hash));
    assert_memory_equal(hash, begin, sizeof(begin));
    assert_int_equal(hash[31], 0x6e);
}

TEST(whatever_else_stands_there_is_none)
{
    static const char *const values[] = {
        "",
        ":",
        "::",
        HASH,
        ":" HASH,
        HASH ":",
        ":" HASH ":;a",
        ":" HASH ":,",
        ":pZGm1Av0IEBKARczz7exkNYsZb8LzaMrV7J32a2fFG4:",
        ":pZGm1Av0IEBKARczz7exkNYsZb8LzaMrV7J32a2fFG5=:", /* other spare bits */
        ":pZGm1Av0IEBKARczz7exkNYsZb8LzaMrV7J32a2fFG4=:=",
        ":pZGm1Av0IEBKARczz7exkNYsZb8LzaMrV7J32a2fFA==:",
        ":pZGm1Av0IEBKARczz7exkNYsZb8LzaMrV7J32a2fFG4A:",
        ":pZGm1Av0IEBKARczz7exkNYsZb8Lza rV7J32a2fFG4=:",
        ":pZGm1Av0IEBKARczz7exkNYsZb8LzaM-V7J32a2fFG4=:",
        ":pZGm1Av0IEBKARczz7exkNYsZb8LzaMrV7J32a2fFG4=pZGm:",
        "\"" HASH "\""};
    uint8_t hash[DICTIONARY_HASH_BYTES];

    for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
        clear(NULL);
        add("Available-Dictionary", values[i]);
        if (dictionary_offer_read(&request, hash))
            fail_msg("'%s' is a hash", values[i]);
    }
    clear(NULL);
    add("Available-Dictionary", ":" HASH ":");
    add("Available-Dictionary", ":" HASH ":");
    assert_false(dictionary_offer_read(&request, hash));
}

TEST(who_may_read_it_is_of_the_same_origin_or_goes_there)
{
    static const struct {
        const char *site;
        const char *mode;
        bool is_readable;
    } cases[] = {{NULL, NULL, true},
                 {NULL, "no-cors", true},
                 {"same-origin", NULL, true},
                 {"same-origin", "no-cors", true},
                 {"same-origin", "cors", true},
                 {"none", "navigate", true},
                 {"cross-site", "navigate", true},
                 {"cross-site", "same-origin", true},
                 {"cross-site", NULL, false},
                 {"cross-site", "no-cors", false},
                 {"same-site", "no-cors", false},
                 {"same-site", "cors", false},
                 {"Same-Origin", "cors", false},
                 {"", "websocket", false}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        clear(NULL);
        if (cases[i].site)
            add("Sec-Fetch-Site", cases[i].site);
        if (cases[i].mode)
            add("Sec-Fetch-Mode", cases[i].mode);
        if (dictionary_offer_is_readable(&request) != cases[i].is_readable)
            fail_msg("case %zu", i);
    }
}
