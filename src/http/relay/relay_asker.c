#include "http/relay/relay_priv.h"

#define PREFIX_FIELD "X-Forwarded-Prefix"
#define SUBJECT_FIELD "X-Forwarded-Tls-Client-Subject"
#define FINGERPRINT_FIELD "X-Forwarded-Tls-Client-Fingerprint"

bool relay_believes(const struct relay *relay, const struct relay_from *from,
                    enum forwarded_field way)
{
    return relay->trust && relay->trust->field == way &&
           forwarded_is_trusted(relay->trust, from->peer);
}

/* Returns the text for an address; "unknown" for a unix socket. */
static struct bytes peer_text(const struct address *peer,
                              char storage[ADDRESS_TEXT_MAX])
{
    if (peer->family != ADDRESS_IPV4 && peer->family != ADDRESS_IPV6)
        return BYTES("unknown");
    return (struct bytes){storage, address_format(peer, storage)};
}

/* Puts the values of all fields with that id, as the beginning of one list. */
static void put_list(const struct request *request, enum field_id id,
                     struct buf *out)
{
    const struct field *field = request_find(request, id);

    for (; field; field = request_next(request, field)) {
        if (field->value.len == 0)
            continue;
        buf_put(out, field->value);
        buf_put_literal(out, ", ");
    }
}

/* Returns the host that X-Forwarded-Host and Forwarded tell: that of the
 * request, or none if it has ',', ';' or '%'. Many applications take the fields
 * for lists or decode them, and would read the name of another site, whose
 * rules this server has not followed. Host itself goes on as it is. */
static struct bytes host_to_tell(const struct request *request)
{
    for (size_t i = 0; i < request->host.len; i++) {
        char byte = request->host.data[i];

        if (byte == ',' || byte == ';' || byte == '%')
            return BYTES("");
    }
    return request->host;
}

static void put_x_forwarded(const struct request *request,
                            const struct relay_from *from, struct bytes peer,
                            bool goes_on, struct buf *out)
{
    struct bytes host = host_to_tell(request);

    buf_put_literal(out, "X-Forwarded-For: ");
    if (goes_on)
        put_list(request, FIELD_X_FORWARDED_FOR, out);
    buf_put(out, peer);
    buf_put_literal(out, "\r\n");
    if (!goes_on || !request_find(request, FIELD_X_FORWARDED_PROTO))
        head_field(out, BYTES("X-Forwarded-Proto"), from->scheme);
    if (host.len > 0 &&
        (!goes_on || !request_find(request, FIELD_X_FORWARDED_HOST)))
        head_field(out, BYTES("X-Forwarded-Host"), host);
}

/* Puts Forwarded (RFC 7239 4 and 6): a text that is no token stands in quotes,
 * an IPv6 address also in brackets. No host has a quotation mark or a backslash
 * (http1_meaning.c). */
static void put_forwarded(const struct request *request,
                          const struct relay_from *from, struct bytes peer,
                          bool goes_on, struct buf *out)
{
    struct bytes host = host_to_tell(request);
    struct bytes quote = head_is_token(host) ? BYTES("") : BYTES("\"");

    buf_put_literal(out, "Forwarded: ");
    if (goes_on)
        put_list(request, FIELD_FORWARDED, out);
    buf_put_literal(out, "for=");
    if (from->peer->family == ADDRESS_IPV6)
        buf_put_literal(out, "\"[");
    buf_put(out, peer);
    if (from->peer->family == ADDRESS_IPV6)
        buf_put_literal(out, "]\"");
    buf_put_literal(out, ";proto=");
    buf_put(out, from->scheme);
    if (host.len > 0) {
        buf_put_literal(out, ";host=");
        buf_put(out, quote);
        buf_put(out, host);
        buf_put(out, quote);
    }
    buf_put_literal(out, "\r\n");
}

static bool replaces_prefix(const struct relay *relay)
{
    return relay->strip.len > 0 && relay->replace.len > 0;
}

/* Puts X-Forwarded-Prefix: the prefix that this server takes off the paths of
 * requests. If a trusted proxy has sent this field with a prefix of its own,
 * that prefix is put first. */
static void put_prefix(const struct relay *relay, const struct request *request,
                       bool believes_x, struct buf *out)
{
    const struct field *end = request->fields + request->field_count;
    struct bytes outer = BYTES("");

    if (!replaces_prefix(relay) || bytes_eq(request->path, BYTES("*")))
        return;
    for (const struct field *field = request->fields;
         field < end && believes_x && outer.len == 0; field++)
        if (bytes_ieq(field->name, BYTES(PREFIX_FIELD)))
            outer = field->value;
    while (outer.len > 0 && outer.data[outer.len - 1] == '/')
        outer.len--;
    buf_put_literal(out, PREFIX_FIELD ": ");
    buf_put(out, outer);
    buf_put(out, relay->strip);
    buf_put_literal(out, "\r\n");
}

/* Puts the fields about the client's certificate. Such fields of the request
 * are dropped even if a trusted proxy sent them: the proxy might not know that
 * it has to take them away from its own clients. */
static void put_client(const struct relay *relay, const struct relay_from *from,
                       struct buf *out)
{
    if (!relay->tells_client || from->client_fingerprint.len == 0)
        return;
    head_field(out, BYTES(SUBJECT_FIELD), from->client_subject);
    head_field(out, BYTES(FINGERPRINT_FIELD), from->client_fingerprint);
}

/* Puts the names by which logs and traces find the request. */
static void put_ids(const struct relay *relay, struct buf *out)
{
    if (relay->request_id.len > 0)
        head_field(out, BYTES(RELAY_ID_FIELD), relay->request_id);
    if (relay->traceparent.len > 0)
        head_field(out, BYTES("traceparent"), relay->traceparent);
}

void relay_put_asker(const struct relay *relay, const struct request *request,
                     const struct relay_from *from, struct buf *out)
{
    bool believes_x = relay_believes(relay, from, FORWARDED_X_FOR);
    bool believes_rfc = relay_believes(relay, from, FORWARDED_RFC7239);
    char storage[ADDRESS_TEXT_MAX];
    struct bytes peer = peer_text(from->peer, storage);

    if (!believes_rfc)
        put_x_forwarded(request, from, peer, believes_x, out);
    if (!believes_x)
        put_forwarded(request, from, peer, believes_rfc, out);
    put_prefix(relay, request, believes_x, out);
    put_client(relay, from, out);
    put_ids(relay, out);
}

bool relay_says(const struct relay *relay, struct bytes name)
{
    if (relay->request_id.len > 0 && bytes_ieq(name, BYTES(RELAY_ID_FIELD)))
        return true;
    if (replaces_prefix(relay) && bytes_ieq(name, BYTES(PREFIX_FIELD)))
        return true;
    if (relay->tells_client && (bytes_ieq(name, BYTES(SUBJECT_FIELD)) ||
                                bytes_ieq(name, BYTES(FINGERPRINT_FIELD))))
        return true;
    return relay->traceparent.len > 0 &&
           (bytes_ieq(name, BYTES("traceparent")) ||
            bytes_ieq(name, BYTES("tracestate")));
}
