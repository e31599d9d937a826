#include "http/forwarded.h"

#define NO_BYTES ((struct bytes){NULL, 0})

bool forwarded_is_trusted(const struct forwarded_trust *trust,
                          const struct address *address)
{
    if (address->family == ADDRESS_UNIX)
        return trust->trusts_unix;
    for (size_t i = 0; i < trust->block_count; i++)
        if (cidr_contains(&trust->blocks[i], address))
            return true;
    return false;
}

/* --- Lists from their right end ------------------------------------------- */

/* Finds the mark that opens a quotation, given the end of the quotation: its
 * closing mark stands just before `end`. Marks inside of it have a backslash
 * before them. Returns NULL when there is no opening mark. */
static const char *find_opening(const char *begin, const char *end)
{
    for (const char *at = end - 1; at > begin;) {
        const char *slash;

        at--;
        if (*at != '"')
            continue;
        slash = at;
        while (slash > begin && slash[-1] == '\\')
            slash--;
        if ((at - slash) % 2 == 0)
            return at;
    }
    return NULL;
}

/* Takes the last member off the list. With the list's first member, list->data
 * becomes NULL. Returns false when a quotation has no opening mark, because
 * nobody knows then where the member begins. */
static bool take_last(struct bytes *list, bool has_quotes,
                      struct bytes *member_out)
{
    const char *end = list->data + list->len;
    const char *at = end;

    while (at > list->data && at[-1] != ',') {
        if (has_quotes && at[-1] == '"') {
            at = find_opening(list->data, at);
            if (!at)
                return false;
        } else {
            at--;
        }
    }
    *member_out = bytes_trim(bytes_between(at, end));
    *list = at > list->data ? bytes_between(list->data, at - 1) : NO_BYTES;
    return true;
}

/* --- One member ----------------------------------------------------------- */

/* Whether c is a tchar (RFC 9110 5.6.2). '_' is one, with which obfuscated
 * ports begin. */
static bool is_token_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           byte_is_digit(c) || (c != '\0' && strchr("!#$%&'*+-.^_`|~", c));
}

/* Reads a port: a number, or an obfuscated word, which begins with '_' (RFC
 * 7239 6.2) and counts as 0. */
static bool read_port(struct bytes text, uint16_t *port_out)
{
    unsigned port = 0;

    *port_out = 0;
    if (text.len > 1 && *text.data == '_') {
        for (size_t i = 1; i < text.len; i++)
            if (!is_token_char(text.data[i]))
                return false;
        return true;
    }
    if (text.len == 0 || text.len > 5)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if (!byte_is_digit(text.data[i]))
            return false;
        port = 10 * port + (unsigned)(text.data[i] - '0');
    }
    *port_out = (uint16_t)port;
    return port <= 65535;
}

/* Reads "192.0.2.1", "192.0.2.1:80", "2001:db8::1", "[2001:db8::1]" or
 * "[2001:db8::1]:80". Returns false, and leaves *address alone, for any other
 * text. */
static bool read_node(struct bytes text, struct address *address)
{
    struct bytes host = text;
    struct bytes port = NO_BYTES;
    struct address found;
    const char *end = text.data + text.len;
    const char *mark;

    if (text.len > 0 && *text.data == '[') {
        mark = memchr(text.data, ']', text.len);
        if (!mark)
            return false;
        host = bytes_between(text.data + 1, mark);
        if (!memchr(host.data, ':', host.len))
            return false; /* only an IPv6 address has brackets */
        if (mark + 1 < end && mark[1] != ':')
            return false;
        if (mark + 1 < end)
            port = bytes_between(mark + 2, end);
    } else if (text.len > 0 &&
               (mark = memchr(text.data, ':', text.len)) != NULL &&
               !memchr(mark + 1, ':', (size_t)(end - mark - 1))) {
        host = bytes_between(text.data, mark);
        port = bytes_between(mark + 1, end);
    }
    if (!address_parse(&found, host) ||
        (port.data && !read_port(port, &found.port)))
        return false;
    *address = found;
    return true;
}

static bool take_token(struct bytes *text, struct bytes *token_out)
{
    const char *begin = text->data;

    while (text->len > 0 && is_token_char(*text->data)) {
        text->data++;
        text->len--;
    }
    *token_out = bytes_between(begin, text->data);
    return token_out->len > 0;
}

/* Takes the inside of a quoted-string. Backslashes stay in the text, since no
 * address has any. */
static bool take_quoted(struct bytes *text, struct bytes *inside_out)
{
    const char *begin = text->data;

    for (; text->len > 0 && *text->data != '"'; text->data++, text->len--) {
        if (*text->data == '\\') {
            text->data++;
            if (--text->len == 0)
                return false;
        }
    }
    *inside_out = bytes_between(begin, text->data);
    return bytes_take(text, BYTES("\""));
}

/* Reads forwarded-element = [ pair ] *( ";" [ pair ] ), in which exactly one
 * pair is "for=node". */
static bool read_element(struct bytes text, struct address *address)
{
    struct bytes node = NO_BYTES;

    while (text.len > 0) {
        struct bytes name, value;

        if (bytes_take(&text, BYTES(";")))
            continue;
        if (!take_token(&text, &name) || !bytes_take(&text, BYTES("=")))
            return false;
        if (!(bytes_take(&text, BYTES("\"")) ? take_quoted(&text, &value)
                                             : take_token(&text, &value)))
            return false;
        if (text.len > 0 && *text.data != ';')
            return false;
        if (!bytes_ieq(name, BYTES("for")))
            continue;
        if (node.data)
            return false;
        node = value;
    }
    return node.data && read_node(node, address);
}

/* --- All of it ------------------------------------------------------------ */

static bool read_member(struct bytes member,
                        const struct forwarded_trust *trust,
                        struct address *address)
{
    return trust->field == FORWARDED_RFC7239 ? read_element(member, address)
                                             : read_node(member, address);
}

/* How far the search for the client has come. `client` is the peer at first,
 * and then the address that a trusted proxy has named last. */
struct search {
    struct address client;
    bool is_told;
};

/* Goes on with the search in one line. Returns false when the search is
 * over. */
static bool walk_line(struct bytes list, const struct forwarded_trust *trust,
                      struct search *search)
{
    static const struct address unknown = {.family = ADDRESS_UNKNOWN};

    while (list.data) {
        struct address found = unknown;
        struct bytes member;

        if (take_last(&list, trust->field == FORWARDED_RFC7239, &member)) {
            if (member.len == 0)
                continue; /* members may be empty (RFC 9110 5.6.1.2) */
            if (!read_member(member, trust, &found) ||
                (address_is_local(&found) &&
                 !address_is_local(&search->client)))
                found = unknown;
        }
        *search = (struct search){found, true};
        if (!forwarded_is_trusted(trust, &found))
            return false;
    }
    return true;
}

struct address forwarded_client(const struct request *request,
                                const struct address *peer,
                                const struct forwarded_trust *trust)
{
    enum field_id id = trust->field == FORWARDED_X_FOR ? FIELD_X_FORWARDED_FOR
                                                       : FIELD_FORWARDED;
    struct search search = {.client = *peer};

    if (trust->field == FORWARDED_NONE || !forwarded_is_trusted(trust, peer))
        return *peer;
    for (size_t i = request->field_count; i-- > 0;)
        if (request->fields[i].id == id &&
            !walk_line(request->fields[i].value, trust, &search))
            break;
    return search.is_told ? search.client
                          : (struct address){.family = ADDRESS_UNKNOWN};
}
