#include "acme/acme_problem.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/utf8.h"

#define PROBLEMS "urn:ietf:params:acme:error:"

enum { DETAIL_MAX = 256 * 1024 };

enum acme_result acme_tell(struct acme_problem *problem,
                           enum acme_result result, const char *format, ...)
{
    va_list arguments;

    *problem = (struct acme_problem){.wait_s = problem->wait_s};
    va_start(arguments, format);
    vsnprintf(problem->text, sizeof(problem->text), format, arguments);
    va_end(arguments);
    /* The text may quote an untrusted file, and root's terminal may show it, so
     * it keeps no character that a terminal might obey. */
    utf8_disarm(problem->text, strlen(problem->text), false);
    return result;
}

bool acme_text(const struct json_value *value, char *to, size_t size)
{
    struct buf text;
    bool is_done;

    buf_init(&text, to, size - 1, size - 1);
    to[0] = '\0';
    if (!value || value->kind != JSON_STRING)
        return false;
    json_put_text(&text, value);
    is_done = !text.failed && text.len > 0;
    for (size_t i = 0; i < text.len; i++)
        is_done = is_done && text.data[i] > ' ' && text.data[i] <= '~';
    to[is_done ? text.len : 0] = '\0';
    return is_done;
}

/* Sets the problem's text to its type and detail, as far as there is room. */
static void put_detail(struct acme_problem *problem,
                       const struct json_value *json)
{
    char detail[ACME_FAULT_MAX / 2] = "";
    struct buf text;

    buf_init(&text, NULL, 0, DETAIL_MAX);
    if (json && json->kind == JSON_STRING)
        json_put_text(&text, json);
    for (size_t i = 0; i < text.len; i++)
        if (text.data[i] < ' ' && text.data[i] >= 0)
            text.data[i] = ' ';
    utf8_disarm(text.data, text.len, false);
    snprintf(detail, sizeof(detail), "%.*s", (int)text.len,
             text.data ? text.data : "");
    snprintf(problem->text, sizeof(problem->text), "%s%s%s", problem->type,
             detail[0] != '\0' && problem->type[0] != '\0' ? ": " : "", detail);
    buf_fini(&text);
}

/* Finds a problem's detail. If there are subproblems, one for each name, the
 * detail of the first is used (RFC 8555 6.7.1). */
static const struct json_value *find_detail(const struct json_value *json)
{
    const struct json_value *parts = json_find(json, "subproblems");
    const struct json_value *first = json_next(parts, NULL);
    const struct json_value *detail = json_find(first, "detail");

    return detail ? detail : json_find(json, "detail");
}

void acme_problem_read(struct acme_problem *problem,
                       const struct json_value *json)
{
    char type[128];
    size_t len = sizeof(PROBLEMS) - 1;

    problem->type[0] = '\0';
    if (acme_text(json_find(json, "type"), type, sizeof(type)) &&
        strncmp(type, PROBLEMS, len) == 0)
        snprintf(problem->type, sizeof(problem->type), "%.60s", type + len);
    put_detail(problem, find_detail(json));
}
