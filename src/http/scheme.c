#include "http/scheme.h"

struct bytes scheme_of(const struct request *request, bool is_secure,
                       const struct address *neighbour,
                       const struct forwarded_trust *trust)
{
    const struct field *told = request_single(request, FIELD_X_FORWARDED_PROTO);

    if (told && forwarded_is_trusted(trust, neighbour))
        is_secure = bytes_ieq(told->value, BYTES("https"));
    return is_secure ? BYTES("https") : BYTES("http");
}
