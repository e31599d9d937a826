#include "unit/http/http2/http2_head_fixture.h"

#include "suite.h"

struct http2_head head;

enum http2_verdict gather(const char *lines, bool ends, enum reason *reason)
{
    struct bytes rest = bytes_of(lines);

    http2_head_begin(&head, false);
    while (rest.len > 0) {
        const char *end = rest.data + rest.len;
        const char *bar = memchr(rest.data, '|', rest.len);
        struct bytes line = bytes_between(rest.data, bar ? bar : end);
        const char *sign = memchr(line.data, '=', line.len);

        assert_true(http2_head_add(&head, bytes_between(line.data, sign),
                                   bytes_between(sign + 1,
                                                 line.data + line.len)));
        rest = bytes_between(bar ? bar + 1 : end, end);
    }
    return http2_head_end(&head, ends, KEY, reason);
}
