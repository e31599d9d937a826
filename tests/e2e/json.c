#include "json.h"

#include "harness.h"
#include "json_check.h"

void expect_json(const char *text, size_t len)
{
    if (!json_is_valid_bytes((struct bytes){text, len}))
        flunk("not JSON: '%.*s'", (int)len, text);
}
