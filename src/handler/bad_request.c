#include "handler/bad_request.h"

#include "http/accept.h"
#include "http/status.h"

/* Room for a body: the longest texts of a reason, and the text around them. */
enum { BODY_BYTES_MAX = 512 };

static unsigned more(unsigned a, unsigned b)
{
    return a > b ? a : b;
}

/* Returns the weight, in thousandths, of a type. Returns 0 for a type that the
 * client does not name, or names only by a wildcard. */
static unsigned weight_of(struct accepted accepted)
{
    return accepted.precision == ACCEPT_ITSELF ? accepted.weight : 0;
}

static bool prefers_problem(struct accepted problem, struct accepted json,
                            struct accepted html, struct accepted plain)
{
    unsigned program = more(weight_of(problem), weight_of(json));

    return program > 0 && program >= more(weight_of(html), weight_of(plain));
}

bool bad_request_wants_problem(const struct request *request)
{
    return request_find(request, FIELD_ACCEPT) &&
           prefers_problem(accept_find(request,
                                       BYTES("application/problem+json")),
                           accept_find(request, BYTES("application/json")),
                           accept_find(request, BYTES("text/html")),
                           accept_find(request, BYTES("text/plain")));
}

bool bad_request_wants_problem_in(struct bytes head)
{
    static const struct bytes name = {"Accept:", 7};

    while (head.len > 0) {
        struct bytes line = bytes_take_line(&head);
        struct bytes value = {line.data + name.len, line.len - name.len};

        if (line.len > name.len &&
            bytes_ieq((struct bytes){line.data, name.len}, name))
            return prefers_problem(
                accept_find_in(value, BYTES("application/problem+json")),
                accept_find_in(value, BYTES("application/json")),
                accept_find_in(value, BYTES("text/html")),
                accept_find_in(value, BYTES("text/plain")));
    }
    return false;
}

static void put_problem(struct buf *body, enum reason reason)
{
    unsigned status = reason_status(reason);

    buf_put_literal(body, "{\"type\":\"about:blank\",\"title\":\"");
    buf_put_json(body, status_reason(status));
    buf_put_literal(body, "\",\"status\":");
    buf_put_number(body, status);
    buf_put_literal(body, ",\"detail\":\"");
    buf_put_json(body, reason_text(reason));
    buf_put_literal(body, "\",\"reason\":\"");
    buf_put_json(body, reason_word(reason));
    buf_put_literal(body, "\"}\n");
}

static void put_text(struct buf *body, enum reason reason)
{
    buf_put(body, reason_text(reason));
    buf_put_literal(body, " (");
    buf_put(body, reason_word(reason));
    buf_put_literal(body, ")\n");
}

void bad_request_write(struct response *response, enum reason reason,
                       bool as_problem, const struct server_defaults *defaults)
{
    char storage[BODY_BYTES_MAX];
    struct buf body;

    buf_init(&body, storage, sizeof(storage), sizeof(storage));
    if (as_problem)
        put_problem(&body, reason);
    else
        put_text(&body, reason);
    response_make_error_text(response, reason_status(reason), BYTES(""),
                             as_problem ? BYTES("application/problem+json")
                                        : BYTES("text/plain; charset=utf-8"),
                             buf_bytes(&body), defaults);
    response->reason = (uint8_t)reason;
    if (as_problem) /* programs get no error page */
        response->is_error = false;
}
