#include "http/scheme.h"

struct bytes scheme_of(const struct request *request,
                       const struct address *neighbour,
                       const struct forwarded_trust *trust)
{
    const struct field *told = request_single(request, FIELD_X_FORWARDED_PROTO);

    return told && forwarded_is_trusted(trust, neighbour) &&
                   bytes_ieq(told->value, BYTES("https"))
               ? BYTES("https")
               : BYTES("http");
}
