#include "engine/exchange_log.h"

#include "base/now.h"
#include "io/tls/tls.h"

_Static_assert(sizeof(((struct log_tls *)0)->client_text) == TLS_SUBJECT_MAX &&
                   sizeof(((struct log_tls *)0)->client_fingerprint_text) ==
                       TLS_FINGERPRINT_MAX + 1,
               "what is told has room");

/* --- Headers ------------------------------------------------------------- */

static struct bytes find_in_request(const struct request *request,
                                    struct bytes name)
{
    const struct field *end = request->fields + request->field_count;

    for (const struct field *field = request->fields; field < end; field++)
        if (bytes_ieq(field->name, name))
            return field->value;
    return BYTES("");
}

/* Finds a field in a head by looking at each line. The status line is skipped
 * by the test for the colon. */
static struct bytes find_in_head(struct bytes head, struct bytes name)
{
    const char *end = head.data + head.len;
    const char *at = head.data;

    while (at < end) {
        const char *feed = memchr(at, '\n', (size_t)(end - at));
        struct bytes line = bytes_between(at, feed ? feed : end);

        if (line.len > name.len && line.data[name.len] == ':' &&
            bytes_ieq((struct bytes){line.data, name.len}, name)) {
            line = bytes_between(at + name.len + 1, line.data + line.len);
            if (line.len > 0 && line.data[line.len - 1] == '\r')
                line.len--;
            return bytes_trim(line);
        }
        at += line.len + 1;
    }
    return BYTES("");
}

static struct bytes find_header(const void *context, bool is_response,
                                struct bytes name)
{
    const struct exchange *exchange = context;
    const struct response *response = &exchange->response;

    if (!is_response)
        return find_in_request(&exchange->request, name);
    return response->head_copy && response->bytes_sent > 0
               ? find_in_head(buf_bytes(response->head_copy), name)
               : BYTES("");
}

/* --- The server that was asked ------------------------------------------- */

static uint64_t since(uint64_t from_ns, uint64_t at_ns)
{
    return at_ns != 0 ? at_ns - from_ns : LOG_NONE;
}

static void describe_upstream(const struct exchange_upstream *from,
                              struct log_upstream *upstream)
{
    *upstream = (struct log_upstream){
        .name = from->name,
        .status = from->status != 0 ? from->status : LOG_NONE,
        .connect_ns = since(from->asked_ns, from->opened_ns),
        .first_ns = since(from->asked_ns, from->first_ns),
        /* If the exchange with the server has not ended, it is given up now. */
        .total_ns = since(from->asked_ns,
                          from->last_ns != 0 ? from->last_ns : now_read_ns())};
}

void exchange_log_describe(const struct exchange *exchange,
                           struct log_entry *entry,
                           struct log_upstream *upstream)
{
    entry->request_id = exchange_request_id(exchange);
    entry->cache_status = bytes_of(
        response_cache_name((enum response_cache)exchange->response.cache_use));
    entry->find = find_header;
    entry->context = exchange;
    if (exchange->upstream.name.len == 0)
        return;
    describe_upstream(&exchange->upstream, upstream);
    entry->upstream = upstream;
}

void exchange_log_describe_tls(const struct exchange *exchange,
                               struct log_entry *entry, struct log_tls *tls)
{
    struct tls_facts facts;

    if (!exchange->tls)
        return;
    tls_tell(exchange->tls, &facts);
    tls->version = bytes_of(facts.version);
    tls->cipher = bytes_of(facts.cipher);
    tls->group = bytes_of(facts.group);
    tls->sni = facts.name;
    tls->resumed = facts.is_resumed ? BYTES("true") : BYTES("false");
    tls->client = tls->client_fingerprint = BYTES("");
    entry->tls = tls;
}

void exchange_log_describe_client(const struct exchange *exchange,
                                  struct log_tls *tls)
{
    if (!exchange->tls || !tls_tell_client(exchange->tls, tls->client_text,
                                           tls->client_fingerprint_text))
        return;
    tls->client = bytes_of(tls->client_text);
    tls->client_fingerprint = bytes_of(tls->client_fingerprint_text);
}
