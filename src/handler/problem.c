#include "handler/problem.h"

#include "http/status.h"

/* Room for the detail and the texts, with each byte written as "\u00XX", and
 * for the text around them. */
enum {
    BODY_BYTES_MAX = 6 * (PROBLEM_DETAIL_BYTES_MAX +
                          PROBLEM_MEMBERS_MAX * PROBLEM_TEXT_BYTES_MAX) +
                     1024
};

static struct bytes cut(struct bytes text, size_t bytes_max)
{
    return (struct bytes){text.data,
                          text.len < bytes_max ? text.len : bytes_max};
}

static void put_text(struct buf *body, const char *name, struct bytes text)
{
    buf_put_literal(body, ",\"");
    buf_put(body, bytes_of(name));
    buf_put_literal(body, "\":\"");
    buf_put_json(body, text);
    buf_put_literal(body, "\"");
}

static void put_member(struct buf *body, const struct problem_member *member)
{
    if (member->text.data) {
        put_text(body, member->name, cut(member->text, PROBLEM_TEXT_BYTES_MAX));
        return;
    }
    buf_put_literal(body, ",\"");
    buf_put(body, bytes_of(member->name));
    buf_put_literal(body, "\":");
    buf_put_number(body, member->number);
}

void problem_answer(struct response *response, const struct problem *problem,
                    const struct server_defaults *defaults)
{
    char storage[1024];
    struct buf body;

    buf_init(&body, storage, sizeof(storage), BODY_BYTES_MAX);
    buf_put_literal(&body, "{\"type\":\"about:blank\",\"title\":\"");
    buf_put_json(&body, status_reason(problem->status));
    buf_put_literal(&body, "\",\"status\":");
    buf_put_number(&body, problem->status);
    if (problem->detail.len > 0)
        put_text(&body, "detail",
                 cut(problem->detail, PROBLEM_DETAIL_BYTES_MAX));
    for (size_t i = 0; i < PROBLEM_MEMBERS_MAX && problem->members[i].name; i++)
        put_member(&body, &problem->members[i]);
    buf_put_literal(&body, "}\n");
    if (body.failed)
        response_make_error(response, problem->status, problem->fields,
                            defaults);
    else
        response_make_short(response, problem->status, problem->fields,
                            BYTES("application/problem+json"), buf_bytes(&body),
                            defaults);
    buf_fini(&body);
}
