#include "http/websocket.h"

#include <openssl/evp.h>

#include "base/base64.h"

#define GUID "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

enum { DIGEST_BYTES = 20, ACCEPT_LEN = (DIGEST_BYTES + 2) / 3 * 4 };

/* Computes the answer to the key (RFC 6455 4.2.2). SHA-1 only shows that the
 * key was read, and keeps nothing secret. Returns false when the key has
 * another length, or SHA-1 is not available. */
static bool answer_key(struct bytes key, char accept[ACCEPT_LEN])
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    char text[WEBSOCKET_KEY_LEN + sizeof(GUID) - 1];
    struct buf out;

    if (key.len != WEBSOCKET_KEY_LEN)
        return false;
    memcpy(text, key.data, WEBSOCKET_KEY_LEN);
    memcpy(text + WEBSOCKET_KEY_LEN, GUID, sizeof(GUID) - 1);
    if (EVP_Digest(text, sizeof(text), digest, NULL, EVP_sha1(), NULL) != 1)
        return false;
    buf_init(&out, accept, ACCEPT_LEN, ACCEPT_LEN);
    base64_put(&out, (struct bytes){(char *)digest, DIGEST_BYTES});
    return true;
}

bool websocket_is_answered(const struct request *request,
                           const struct reply *reply)
{
    const struct field *key = field_find_only(request->fields,
                                              request->field_count,
                                              BYTES("Sec-WebSocket-Key"));
    const struct field *answer = field_find_only(reply->fields,
                                                 reply->field_count,
                                                 BYTES("Sec-WebSocket-Accept"));
    char accept[ACCEPT_LEN];

    return key && answer && answer_key(key->value, accept) &&
           bytes_eq(answer->value, (struct bytes){accept, ACCEPT_LEN});
}
