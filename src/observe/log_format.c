#include "observe/log_format.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#define AT(member) offsetof(struct log_entry, member)
#define OF_TLS(member) offsetof(struct log_tls, member)
#define OF_UPSTREAM(member) offsetof(struct log_upstream, member)

/* The fields of templates, in the order in which messages list them. */
static const struct field {
    const char *name;
    enum log_kind kind;
    uint16_t offset;
} fields[] = {
    {"remote", LOG_REMOTE, 0},
    {"remote_port", LOG_REMOTE_PORT, 0},
    {"time", LOG_DATE, 0},
    {"time_iso", LOG_DATE_ISO, 0},
    {"msec", LOG_DATE_MSEC, 0},
    {"request", LOG_TEXT, AT(request_line)},
    {"method", LOG_TEXT, AT(method)},
    {"target", LOG_TEXT, AT(target)},
    {"path", LOG_TEXT, AT(path)},
    {"query", LOG_TEXT, AT(query)},
    {"protocol", LOG_TEXT, AT(protocol)},
    {"host", LOG_TEXT, AT(host)},
    {"referer", LOG_TEXT, AT(referer)},
    {"user_agent", LOG_TEXT, AT(user_agent)},
    {"request_id", LOG_TEXT, AT(request_id)},
    {"status", LOG_NUMBER, AT(status)},
    {"bytes", LOG_NUMBER, AT(body_bytes)},
    {"bytes_sent", LOG_NUMBER, AT(sent_bytes)},
    {"bytes_in", LOG_NUMBER, AT(read_bytes)},
    {"total_us", LOG_TIME_US, AT(total_ns)},
    {"queue_us", LOG_TIME_US, AT(queue_ns)},
    {"service_us", LOG_TIME_US, AT(service_ns)},
    {"cache_status", LOG_TEXT, AT(cache_status)},
    {"upstream", LOG_UPSTREAM_NAME, OF_UPSTREAM(name)},
    {"upstream_status", LOG_UPSTREAM_NUMBER, OF_UPSTREAM(status)},
    {"upstream_connect_us", LOG_UPSTREAM_US, OF_UPSTREAM(connect_ns)},
    {"upstream_first_us", LOG_UPSTREAM_US, OF_UPSTREAM(first_ns)},
    {"upstream_total_us", LOG_UPSTREAM_US, OF_UPSTREAM(total_ns)},
    {"tls_version", LOG_TLS, OF_TLS(version)},
    {"tls_cipher", LOG_TLS, OF_TLS(cipher)},
    {"tls_group", LOG_TLS, OF_TLS(group)},
    {"tls_sni", LOG_TLS, OF_TLS(sni)},
    {"tls_resumed", LOG_TLS, OF_TLS(resumed)},
    {"tls_client", LOG_TLS, OF_TLS(client)},
    {"tls_client_fingerprint", LOG_TLS, OF_TLS(client_fingerprint)},
    {"connection", LOG_NUMBER, AT(connection)},
    {"requests", LOG_NUMBER, AT(requests)},
    {"worker", LOG_WORKER, 0},
    {"keepalive", LOG_BOOL, AT(keep_alive)},
    {"complete", LOG_BOOL, AT(is_complete)},
    {"reason", LOG_REASON, 0},
};

enum { FIELDS = sizeof(fields) / sizeof(fields[0]) };

#define COMMON "%{remote} - - [%{time}] \"%{request}\" %{status} %{bytes}"

/* A named format. A template is NULL if the event has no line. */
static const struct preset {
    const char *name;
    bool is_json;
    const char *templates[LOG_EVENT_COUNT];
} presets[] = {
    {"common", false, {COMMON}},
    {"combined", false, {COMMON " \"%{referer}\" \"%{user_agent}\""}},
    {"json",
     true,
     {"{\"time\":\"%{time_iso}\",\"remote\":\"%{remote}\","
      "\"port\":%{remote_port},\"connection\":%{connection},"
      "\"requests\":%{requests},\"worker\":%{worker},"
      "\"request\":\"%{request}\",\"method\":\"%{method}\","
      "\"path\":\"%{path}\",\"host\":\"%{host}\",\"status\":%{status},"
      "\"bytes\":%{bytes},\"bytes_sent\":%{bytes_sent},"
      "\"bytes_in\":%{bytes_in},"
      "\"referer\":\"%{referer}\",\"user_agent\":\"%{user_agent}\","
      "\"total_us\":%{total_us},\"queue_us\":%{queue_us},"
      "\"service_us\":%{service_us},\"keepalive\":%{keepalive},"
      "\"complete\":%{complete}}"}},
    {"events",
     false,
     {[LOG_EVENT_REQUEST] =
          "%{time_iso} %{connection} request n=%{requests} status=%{status} "
          "bytes=%{bytes} total_us=%{total_us} queue_us=%{queue_us} "
          "service_us=%{service_us} complete=%{complete} \"%{request}\"",
      [LOG_EVENT_ACCEPT] = "%{time_iso} %{connection} accept "
                           "remote=%{remote} port=%{remote_port} "
                           "worker=%{worker}",
      [LOG_EVENT_CLOSE] = "%{time_iso} %{connection} close reason=%{reason} "
                          "requests=%{requests}"}},
};

enum { PRESETS = sizeof(presets) / sizeof(presets[0]) };

/* --- Compiling ------------------------------------------------------------ */

struct compiler {
    struct log_template *template;
    struct log_needs *needs;
    unsigned *header_count;
    unsigned growth; /* bytes that one byte of a text may become */
    char *fault;
};

__attribute__((format(printf, 2, 3))) static bool refuse(
    const struct compiler *compiler, const char *why, ...)
{
    va_list args;

    va_start(args, why);
    vsnprintf(compiler->fault, LOG_FAULT_BYTES_MAX, why, args);
    va_end(args);
    return false;
}

static bool refuse_field(const struct compiler *compiler, struct bytes field)
{
    char known[LOG_FAULT_BYTES_MAX];
    size_t len = 0;

    for (unsigned i = 0; i < FIELDS && len < sizeof(known); i++)
        len += (size_t)snprintf(known + len, sizeof(known) - len, " %s",
                                fields[i].name);
    return refuse(compiler,
                  "unknown field '%.*s'; there are%s header:NAME "
                  "response_header:NAME",
                  field.len < 40 ? (int)field.len : 40, field.data, known);
}

static const struct field *find_field(struct bytes name)
{
    for (unsigned i = 0; i < FIELDS; i++)
        if (bytes_eq(bytes_of(fields[i].name), name))
            return &fields[i];
    return NULL;
}

/* Takes the header's name from "header:NAME" or "response_header:NAME". Returns
 * false if `field` has neither form. */
static bool take_header(struct bytes field, struct bytes *name_out,
                        enum log_kind *kind_out)
{
    static const struct {
        struct bytes prefix;
        enum log_kind kind;
    } kinds[] = {{{"header:", 7}, LOG_HEADER},
                 {{"response_header:", 16}, LOG_RESPONSE_HEADER}};

    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        size_t len = kinds[i].prefix.len;

        if (field.len <= len ||
            !bytes_eq((struct bytes){field.data, len}, kinds[i].prefix))
            continue;
        *kind_out = kinds[i].kind;
        *name_out = bytes_between(field.data + len, field.data + field.len);
        return true;
    }
    return false;
}

/* Sets a step to a header's value. Only the length of the header's name is
 * checked, since an invalid name does no harm: no message has such a field, so
 * the value is empty. */
static bool set_header(const struct compiler *compiler, struct log_step *step,
                       enum log_kind kind, struct bytes name)
{
    if (name.len > LOG_HEADER_NAME_MAX)
        return refuse(compiler, "the name of a header has at most %d bytes",
                      LOG_HEADER_NAME_MAX);
    if ((*compiler->header_count)++ == LOG_HEADERS_MAX)
        return refuse(compiler, "a template has at most %d headers",
                      LOG_HEADERS_MAX);
    step->kind = (uint8_t)kind;
    step->name_len = (uint8_t)name.len;
    step->name_at = (uint16_t)(name.data - step->literal);
    compiler->needs->head |= kind == LOG_RESPONSE_HEADER;
    return true;
}

static bool set_field(const struct compiler *compiler, struct log_step *step,
                      struct bytes name)
{
    const struct field *field = find_field(name);
    struct bytes header;
    enum log_kind kind;

    if (take_header(name, &header, &kind))
        return set_header(compiler, step, kind, header);
    if (!field)
        return refuse_field(compiler, bytes_between(name.data - 2,
                                                    name.data + name.len + 1));
    step->kind = (uint8_t)field->kind;
    step->offset = field->offset;
    compiler->needs->id |= field->kind == LOG_TEXT &&
                           field->offset == AT(request_id);
    compiler->needs->tls |= field->kind == LOG_TLS;
    compiler->needs->tls_client |=
        field->kind == LOG_TLS && (field->offset == OF_TLS(client) ||
                                   field->offset == OF_TLS(client_fingerprint));
    compiler->needs->upstream |= field->kind == LOG_UPSTREAM_NAME ||
                                 field->kind == LOG_UPSTREAM_NUMBER ||
                                 field->kind == LOG_UPSTREAM_US;
    return true;
}

/* Takes the first step from *rest: the text before the next '%', and the field
 * that begins with this '%'. At "%%" the step is the text and one '%', without
 * a field. */
static bool take_step(const struct compiler *compiler, struct bytes *rest,
                      struct log_step *step)
{
    const char *end = rest->data + rest->len;
    const char *percent = memchr(rest->data, '%', rest->len);
    const char *close;

    if (!percent)
        percent = end;
    *step = (struct log_step){.literal = rest->data,
                              .literal_len = (uint16_t)(percent - rest->data),
                              .kind = LOG_NOTHING};
    *rest = bytes_between(percent, end);
    if (rest->len == 0)
        return true;
    if (rest->len >= 2 && percent[1] == '%') {
        step->literal_len++;
        *rest = bytes_between(percent + 2, end);
        return true;
    }
    if (rest->len < 2 || percent[1] != '{')
        return refuse(compiler,
                      "'%.2s' is no field; write %%{name}, or %%%% for a "
                      "percent",
                      percent);
    close = memchr(percent, '}', rest->len);
    if (!close)
        return refuse(compiler, "'%.40s' has no '}'", percent);
    *rest = bytes_between(close + 1, end);
    return set_field(compiler, step, bytes_between(percent + 2, close));
}

_Static_assert((int)LOG_TEMPLATE_BYTES_MAX +
                       (int)LOG_STEPS_MAX * (int)ADDRESS_TEXT_MAX <
                   (int)LOG_LINE_BYTES_MAX / 2,
               "at least half of a line is left for texts");

/* Computes how many bytes of each text fit, so that no line is too long. */
static void plan_room(struct log_template *template, unsigned growth)
{
    unsigned texts = 0;
    unsigned most;

    template->fixed_max = 1; /* room for the line end */
    for (unsigned i = 0; i < template->step_count; i++) {
        template->fixed_max += template->steps[i].literal_len;
        if (template->steps[i].kind <= LOG_LAST_TEXT) {
            template->fixed_max += 3; /* "..." where the text is cut */
            texts++;
        } else {
            template->fixed_max += ADDRESS_TEXT_MAX; /* the longest value */
        }
    }
    if (texts == 0)
        return;
    most = ((unsigned)LOG_LINE_BYTES_MAX - template->fixed_max) /
           (texts * growth);
    template->text_max = most < LOG_TEXT_BYTES_MAX ? most : LOG_TEXT_BYTES_MAX;
}

static bool compile(const struct compiler *compiler, const char *text)
{
    struct log_template *template = compiler->template;
    struct bytes rest = bytes_of(text);
    bool has_field = false;

    if (rest.len > LOG_TEMPLATE_BYTES_MAX)
        return refuse(compiler, "a template has at most %d bytes, not %zu",
                      LOG_TEMPLATE_BYTES_MAX, rest.len);
    if (bytes_has_control(rest))
        return refuse(compiler, "a line has no control characters");
    while (rest.len > 0) {
        struct log_step *step = &template->steps[template->step_count];

        if (template->step_count++ == LOG_STEPS_MAX)
            return refuse(compiler, "a template has at most %d fields",
                          LOG_STEPS_MAX);
        if (!take_step(compiler, &rest, step))
            return false;
        has_field |= step->kind != LOG_NOTHING;
    }
    plan_room(template, compiler->growth);
    return has_field ||
           refuse(compiler, "neither common, combined, json, events, nor a "
                            "template, such as \"%%{remote} %%{status}\"");
}

int log_format_compile(struct log_format *format, const char *text,
                       char fault[LOG_FAULT_BYTES_MAX])
{
    struct preset own = {.templates = {[LOG_EVENT_REQUEST] = text}};
    const struct preset *preset = &own;

    for (unsigned i = 0; i < PRESETS; i++)
        if (strcmp(text, presets[i].name) == 0)
            preset = &presets[i];
    *format = (struct log_format){.is_json = preset->is_json};
    for (unsigned i = 0; i < LOG_EVENT_COUNT; i++) {
        unsigned headers = 0;
        struct compiler compiler = {.template = &format->templates[i],
                                    .needs = &format->needs,
                                    .header_count = &headers,
                                    .growth = log_format_growth(format),
                                    .fault = fault};

        if (preset->templates[i] && !compile(&compiler, preset->templates[i]))
            return -EINVAL;
    }
    return 0;
}
