#include "passwords.h"

#include <crypt.h>

#include "harness.h"

enum { BCRYPT_COST_MIN = 4, ROUNDS_MIN = 1000 };

const char *password_line(const char *user, const char *password,
                          const char *kind, unsigned long cost)
{
    static const char random[] = "not so random, but long enough";
    char setting[CRYPT_GENSALT_OUTPUT_SIZE];
    struct crypt_data data = {.initialized = 0};
    const char *hash = NULL;

    if (cost == 0)
        cost = kind[1] == '2' ? BCRYPT_COST_MIN : ROUNDS_MIN;
    if (crypt_gensalt_rn(kind, cost, random, sizeof(random), setting,
                         sizeof(setting)))
        hash = crypt_r(password, setting, &data);
    if (!hash || *hash == '*')
        flunk("no hash of kind %s", kind);
    return printed("%s:%s\n", user, hash);
}

const char *credentials(const char *user, const char *password)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *text = printed("%s:%s%c%c", user, password, 0, 0);
    size_t len = strlen(text);
    char *base64 = scratch(2 * len + 5);
    char *to = base64;

    for (size_t i = 0; i < len; i += 3) {
        unsigned bits = (unsigned)(unsigned char)text[i] << 16 |
                        (unsigned)(unsigned char)text[i + 1] << 8 |
                        (unsigned char)text[i + 2];

        *to++ = digits[bits >> 18];
        *to++ = digits[bits >> 12 & 63];
        *to++ = i + 1 < len ? digits[bits >> 6 & 63] : '=';
        *to++ = i + 2 < len ? digits[bits & 63] : '=';
    }
    *to = '\0';
    return printed("Authorization: Basic %s\r\n", base64);
}
