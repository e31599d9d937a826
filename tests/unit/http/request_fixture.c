#include "unit/http/request_fixture.h"

#include "suite.h"

struct request request;
static struct field fields[REQUEST_FIELDS_FEW];

static char store[512];
static size_t store_len;

void request_begin(enum method method)
{
    request = (struct request){.method = method, .fields = fields};
    store_len = 0;
}

void request_add(enum field_id id, const char *value, char after)
{
    size_t len = strlen(value);
    char *copy = store + store_len;

    assert_in_range(store_len + len + 1, 1, sizeof(store));
    memcpy(copy, value, len);
    copy[len] = after;
    store_len += len + 1;
    if (!(request.seen & 1u << id))
        request.first[id] = request.field_count;
    request.seen |= 1u << id;
    request.fields[request.field_count++] = (struct field){
        .id = id, .value = {copy, len}};
}
