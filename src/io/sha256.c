#include "io/sha256.h"

#include <openssl/evp.h>

bool sha256(struct bytes text, uint8_t out[SHA256_BYTES])
{
    return EVP_Digest(text.data, text.len, out, NULL, EVP_sha256(), NULL) == 1;
}
