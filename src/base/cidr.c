#include "base/cidr.h"

#include <arpa/inet.h>

enum { MAPPED_BITS = 96 }; /* length of the prefix ::ffff:0:0/96 */

/* Whether the first `bits` bits of `a` and `b` are equal. */
static bool begin_alike(const uint8_t *a, const uint8_t *b, unsigned bits)
{
    unsigned octets = bits / 8;
    unsigned mask = 0xFFu << (8 - bits % 8) & 0xFF;

    return memcmp(a, b, octets) == 0 &&
           (mask == 0 || (a[octets] & mask) == (b[octets] & mask));
}

static bool is_zero_behind(const struct cidr *cidr, unsigned width)
{
    for (unsigned bit = cidr->bits; bit < width; bit++)
        if (cidr->octets[bit / 8] & 0x80u >> bit % 8)
            return false;
    return true;
}

/* Parses a prefix length: digits without leading zeros. */
static bool parse_bits(const char *text, unsigned most, uint8_t *bits_out)
{
    unsigned bits = 0;

    if (*text == '\0' || (*text == '0' && text[1] != '\0'))
        return false;
    for (; *text; text++) {
        if (!byte_is_digit(*text))
            return false;
        bits = 10 * bits + (unsigned)(*text - '0');
        if (bits > most)
            return false;
    }
    *bits_out = (uint8_t)bits;
    return true;
}

static void unmap(struct cidr *cidr)
{
    static const uint8_t mapped[12] = {[10] = 0xFF, [11] = 0xFF};

    if (cidr->bits < MAPPED_BITS ||
        memcmp(cidr->octets, mapped, sizeof(mapped)) != 0)
        return;
    cidr->family = ADDRESS_IPV4;
    cidr->bits = (uint8_t)(cidr->bits - MAPPED_BITS);
    memmove(cidr->octets, cidr->octets + sizeof(mapped), 4);
    memset(cidr->octets + 4, 0, sizeof(mapped));
}

bool cidr_parse(struct cidr *cidr, const char *text)
{
    size_t len = strcspn(text, "/");
    char address[ADDRESS_TEXT_MAX + 1];
    unsigned width;

    if (len >= sizeof(address))
        return false;
    memcpy(address, text, len);
    address[len] = '\0';
    *cidr = (struct cidr){.family = ADDRESS_IPV4};
    if (strchr(address, ':'))
        cidr->family = ADDRESS_IPV6;
    width = cidr->family == ADDRESS_IPV4 ? 32 : 128;
    if (inet_pton(cidr->family == ADDRESS_IPV4 ? AF_INET : AF_INET6, address,
                  cidr->octets) != 1)
        return false;
    cidr->bits = (uint8_t)width;
    if ((text[len] == '/' && !parse_bits(text + len + 1, width, &cidr->bits)) ||
        !is_zero_behind(cidr, width))
        return false;
    unmap(cidr);
    return true;
}

bool cidr_contains(const struct cidr *cidr, const struct address *address)
{
    return cidr->family == CIDR_ALL ||
           (address->family == cidr->family &&
            begin_alike(address->octets, cidr->octets, cidr->bits));
}
