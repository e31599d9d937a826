#include "io/tls/tls_policy.h"

#include <openssl/crypto.h>

bool tls_policy_read(void)
{
    return OPENSSL_init_crypto(OPENSSL_INIT_LOAD_CONFIG, NULL) == 1;
}
