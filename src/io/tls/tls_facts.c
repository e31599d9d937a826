#include <openssl/ssl.h>
#include <string.h>

#include "io/tls/tls_context_priv.h"
#include "io/tls/tls_priv.h"

static void tell_taken(const struct tls_taken *taken,
                       struct tls_facts *facts_out)
{
    *facts_out = (struct tls_facts){.version = "TLSv1.3",
                                    .cipher = taken->cipher,
                                    .group = taken->group,
                                    .name = {taken->name, strlen(taken->name)},
                                    .is_resumed = taken->is_resumed};
}

static void tell(SSL *ssl, struct tls_facts *facts_out)
{
    const char *name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
    int group = (int)SSL_get_negotiated_group(ssl);
    const char *group_name = group != 0 ? SSL_group_to_name(ssl, group) : NULL;

    *facts_out = (struct tls_facts){.version = SSL_get_version(ssl),
                                    .cipher = SSL_get_cipher_name(ssl),
                                    .group = group_name ? group_name : "",
                                    .name = {name ? name : "",
                                             name ? strlen(name) : 0},
                                    .is_resumed = SSL_session_reused(ssl) == 1};
}

void tls_tell(const struct tls *tls, struct tls_facts *facts_out)
{
    if (tls->taken)
        tell_taken(tls->taken, facts_out);
    else
        tell(tls->ssl, facts_out);
}

bool tls_speaks_http2(const struct tls *tls)
{
    const unsigned char *name;
    unsigned len;

    if (tls->taken)
        return tls->taken->speaks_http2;
    SSL_get0_alpn_selected(tls->ssl, &name, &len);
    return len == 2 && memcmp(name, "h2", 2) == 0;
}

const struct tls_set *tls_chosen(const struct tls *tls)
{
    return tls->taken ? tls->taken->set : tls_context_chosen(tls->ssl);
}
