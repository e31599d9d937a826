#include "http/proxy_protocol.h"

static const char v1_prefix[] = "PROXY ";
static const char v2_signature[] = "\r\n\r\n\0\r\nQUIT\n";

enum {
    V1_PREFIX_BYTES = sizeof(v1_prefix) - 1,
    SIGNATURE_BYTES = sizeof(v2_signature) - 1,
    V2_HEAD_BYTES = SIGNATURE_BYTES + 4,
    /* Addresses behind the head of version 2: source, destination, ports. */
    IPV4_BYTES = 2 * 4 + 2 * 2,
    IPV6_BYTES = 2 * 16 + 2 * 2,
    UNIX_BYTES = 2 * 108
};

enum command { COMMAND_LOCAL, COMMAND_PROXY };
enum family { FAMILY_NONE, FAMILY_IPV4, FAMILY_IPV6, FAMILY_UNIX };
enum transport { TRANSPORT_NONE, TRANSPORT_STREAM, TRANSPORT_DGRAM };

/* --- Version 1 ------------------------------------------------------------ */

/* Takes the text before the next space, or all of the text, off *rest. */
static struct bytes take_word(struct bytes *rest)
{
    const char *space = memchr(rest->data, ' ', rest->len);
    const char *end = rest->data + rest->len;
    struct bytes word = bytes_between(rest->data, space ? space : end);

    *rest = space ? bytes_between(space + 1, end) : (struct bytes){NULL, 0};
    return word;
}

static bool read_port(struct bytes word, uint16_t *port_out)
{
    unsigned port = 0;

    if (word.len == 0 || word.len > 5 || (word.len > 1 && *word.data == '0'))
        return false;
    for (size_t i = 0; i < word.len; i++) {
        if (!byte_is_digit(word.data[i]))
            return false;
        port = 10 * port + (unsigned)(word.data[i] - '0');
    }
    *port_out = (uint16_t)port;
    return port <= 65535;
}

/* Reads an address, either of IPv6 (mapped ones included) or of IPv4. */
static bool read_address(struct bytes word, bool is_ipv6,
                         struct address *address)
{
    return word.len > 0 && !memchr(word.data, ':', word.len) == !is_ipv6 &&
           address_parse(address, word);
}

/* Reads the line between "PROXY " and CRLF. */
static bool read_line(struct proxy_protocol *proxy, struct bytes line)
{
    struct bytes words[5];
    struct address destination;
    uint16_t source_port, destination_port;
    bool is_ipv6;

    for (size_t i = 0; i < 5; i++) {
        words[i] = line.data ? take_word(&line) : BYTES("");
        if (i == 0 && bytes_eq(words[0], BYTES("UNKNOWN")))
            return true; /* the source stays unknown, whatever follows */
    }
    is_ipv6 = bytes_eq(words[0], BYTES("TCP6"));
    if (line.data || (!is_ipv6 && !bytes_eq(words[0], BYTES("TCP4"))) ||
        !read_address(words[1], is_ipv6, &proxy->source) ||
        !read_address(words[2], is_ipv6, &destination) ||
        !read_port(words[3], &source_port) ||
        !read_port(words[4], &destination_port))
        return false;
    proxy->source.port = source_port;
    return true;
}

static enum proxy_protocol_verdict parse_v1(struct proxy_protocol *proxy,
                                            struct bytes text)
{
    bool is_full = text.len >= PROXY_PROTOCOL_V1_BYTES_MAX;
    const char *end;

    if (is_full)
        text.len = PROXY_PROTOCOL_V1_BYTES_MAX;
    end = memchr(text.data, '\n', text.len);
    if (!end)
        return is_full ? PROXY_PROTOCOL_BAD : PROXY_PROTOCOL_MORE;
    if (end[-1] != '\r' ||
        !read_line(proxy, bytes_between(text.data + V1_PREFIX_BYTES, end - 1)))
        return PROXY_PROTOCOL_BAD;
    proxy->used = (size_t)(end + 1 - text.data);
    return PROXY_PROTOCOL_DONE;
}

/* --- Version 2 ------------------------------------------------------------ */

static unsigned read_u16(const uint8_t *at)
{
    return (unsigned)at[0] << 8 | at[1];
}

/* How many bytes the two addresses and ports of each family take. */
static const size_t address_bytes[] = {[FAMILY_NONE] = 0,
                                       [FAMILY_IPV4] = IPV4_BYTES,
                                       [FAMILY_IPV6] = IPV6_BYTES,
                                       [FAMILY_UNIX] = UNIX_BYTES};

static enum proxy_protocol_verdict parse_v2(struct proxy_protocol *proxy,
                                            struct bytes text)
{
    const uint8_t *at = (const uint8_t *)text.data + SIGNATURE_BYTES;
    unsigned command, family, transport;
    size_t len;

    if (text.len > SIGNATURE_BYTES &&
        (at[0] >> 4 != 2 || (at[0] & 15) > COMMAND_PROXY))
        return PROXY_PROTOCOL_BAD;
    if (text.len < V2_HEAD_BYTES)
        return PROXY_PROTOCOL_MORE;
    command = at[0] & 15;
    family = at[1] >> 4;
    transport = at[1] & 15;
    len = read_u16(at + 2);
    if (len > PROXY_PROTOCOL_BYTES_MAX - V2_HEAD_BYTES)
        return PROXY_PROTOCOL_BAD;
    /* A LOCAL header is about the proxy itself: its addresses are skipped. */
    if (command == COMMAND_PROXY &&
        (family > FAMILY_UNIX || transport > TRANSPORT_DGRAM ||
         len < address_bytes[family]))
        return PROXY_PROTOCOL_BAD;
    if (text.len < V2_HEAD_BYTES + len)
        return PROXY_PROTOCOL_MORE;
    proxy->used = V2_HEAD_BYTES + len;
    at += 4;
    if (command == COMMAND_LOCAL)
        proxy->is_local = true;
    else if (transport == TRANSPORT_STREAM && family == FAMILY_IPV4)
        address_from_ipv4(&proxy->source, at, (uint16_t)read_u16(at + 8));
    else if (transport == TRANSPORT_STREAM && family == FAMILY_IPV6)
        address_from_ipv6(&proxy->source, at, (uint16_t)read_u16(at + 32));
    return PROXY_PROTOCOL_DONE;
}

/* --- Either --------------------------------------------------------------- */

/* Whether `text` begins with `prefix`, or `prefix` with `text`. */
static bool begins_alike(struct bytes text, const char *prefix, size_t len)
{
    return memcmp(text.data, prefix, text.len < len ? text.len : len) == 0;
}

enum proxy_protocol_verdict proxy_protocol_parse(struct proxy_protocol *proxy,
                                                 struct bytes text)
{
    *proxy = (struct proxy_protocol){0};
    if (text.len == 0)
        return PROXY_PROTOCOL_MORE;
    if (begins_alike(text, v1_prefix, V1_PREFIX_BYTES))
        return text.len < V1_PREFIX_BYTES ? PROXY_PROTOCOL_MORE
                                          : parse_v1(proxy, text);
    if (begins_alike(text, v2_signature, SIGNATURE_BYTES))
        return text.len < SIGNATURE_BYTES ? PROXY_PROTOCOL_MORE
                                          : parse_v2(proxy, text);
    return PROXY_PROTOCOL_BAD;
}
