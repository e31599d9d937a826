#include "acme/acme_jws.h"

#include "base/base64.h"

enum { MESSAGE_MAX = 256 * 1024 };

static void put_member(struct buf *json, const char *name, const char *value)
{
    buf_printf(json, "\"%s\":\"", name);
    buf_put_json(json, bytes_of(value));
    buf_put_literal(json, "\"");
}

static bool put_head(const struct acme_jws *jws, struct buf *json)
{
    buf_put_literal(json, "{");
    put_member(json, "alg", acme_key_algorithm(jws->key));
    buf_put_literal(json, ",");
    if (jws->account) {
        put_member(json, "kid", jws->account);
    } else {
        buf_put_literal(json, "\"jwk\":");
        if (!acme_key_put_jwk(jws->key, json))
            return false;
    }
    buf_put_literal(json, ",");
    if (jws->nonce) {
        put_member(json, "nonce", jws->nonce);
        buf_put_literal(json, ",");
    }
    put_member(json, "url", jws->url);
    buf_put_literal(json, "}");
    return !json->failed;
}

/* Appends the message up to the signature. `input` is the signed text,
 * "HEAD.PAYLOAD". */
static void put_message(struct buf *text, struct bytes input, size_t head_len)
{
    buf_put_literal(text, "{\"protected\":\"");
    buf_put(text, (struct bytes){input.data, head_len});
    buf_put_literal(text, "\",\"payload\":\"");
    buf_put(text, (struct bytes){input.data + head_len + 1,
                                 input.len - head_len - 1});
    buf_put_literal(text, "\",\"signature\":\"");
}

/* Appends the text to be signed, and returns the length of its head. */
static size_t put_input(struct buf *input, struct bytes head,
                        struct bytes payload)
{
    size_t head_len;

    base64_put_url(input, head);
    head_len = input->len;
    buf_put_literal(input, ".");
    base64_put_url(input, payload);
    return head_len;
}

bool acme_jws_put(const struct acme_jws *jws, struct buf *text)
{
    struct buf head, input;
    size_t head_len;
    bool is_done;

    buf_init(&head, NULL, 0, MESSAGE_MAX);
    buf_init(&input, NULL, 0, MESSAGE_MAX);
    is_done = put_head(jws, &head);
    head_len = put_input(&input, buf_bytes(&head), jws->payload);
    is_done = is_done && !input.failed;
    if (is_done) {
        put_message(text, buf_bytes(&input), head_len);
        is_done = acme_key_sign(jws->key, buf_bytes(&input), text);
        buf_put_literal(text, "\"}");
    }
    buf_fini(&input);
    buf_fini(&head);
    return is_done && !text->failed;
}

bool acme_jws_put_binding(const struct acme_key *key, const char *name,
                          struct bytes secret, const char *url,
                          struct buf *text)
{
    unsigned char digest[ACME_DIGEST_BYTES];
    struct buf head, jwk, input;
    size_t head_len;
    bool is_done;

    buf_init(&head, NULL, 0, MESSAGE_MAX);
    buf_init(&jwk, NULL, 0, MESSAGE_MAX);
    buf_init(&input, NULL, 0, MESSAGE_MAX);
    buf_put_literal(&head, "{\"alg\":\"HS256\",");
    put_member(&head, "kid", name);
    buf_put_literal(&head, ",");
    put_member(&head, "url", url);
    buf_put_literal(&head, "}");
    is_done = acme_key_put_jwk(key, &jwk) && !head.failed;
    head_len = put_input(&input, buf_bytes(&head), buf_bytes(&jwk));
    is_done = is_done && !input.failed &&
              acme_hmac(secret, buf_bytes(&input), digest);
    if (is_done) {
        put_message(text, buf_bytes(&input), head_len);
        base64_put_url(text, (struct bytes){(char *)digest, sizeof(digest)});
        buf_put_literal(text, "\"}");
    }
    buf_fini(&input);
    buf_fini(&jwk);
    buf_fini(&head);
    return is_done && !text->failed;
}
