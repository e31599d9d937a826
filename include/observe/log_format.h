/*
 * log_format - what lines of the access log look like: templates, taken apart
 * once at start into short lists of steps, so that no line parses anything.
 *
 *   "%{remote}: %{status}"  ->  "" remote, ": " status
 *
 *   common    %{remote} - - [%{time}] "%{request}" %{status} %{bytes}
 *   combined  the same, then "%{referer}" "%{user_agent}"
 *   json      an object a line, valid whatever the client sent
 *   events    the connection's story: accept, each request, close
 *
 * or a template of one's own; %% is a percent. The table in log_format.c has
 * the fields. %{header:NAME} is any field of the request, and
 * %{response_header:NAME} of the response: the first of that name.
 *
 * Thread: any once it is made.
 * Owns:   nothing; the steps point into the template.
 */
#ifndef OBSERVE_LOG_FORMAT_H
#define OBSERVE_LOG_FORMAT_H

#include "observe/log_entry.h"

enum {
    LOG_TEMPLATE_BYTES_MAX = 2048,
    LOG_STEPS_MAX = 64,
    LOG_HEADERS_MAX = 16,
    LOG_HEADER_NAME_MAX = 64,
    LOG_TEXT_BYTES_MAX = 2048, /* of a client's text before it is escaped */
    LOG_LINE_BYTES_MAX = 65536,
    LOG_FAULT_BYTES_MAX = 768
};

/* What a step tells: first the texts, which are escaped, and cut when long. */
enum log_kind {
    LOG_TEXT,          /* at offset in the entry, as the next three are */
    LOG_UPSTREAM_NAME, /* as all of upstream in struct log_upstream */
    LOG_TLS,           /* at offset in struct log_tls */
    LOG_HEADER,
    LOG_RESPONSE_HEADER,
    LOG_LAST_TEXT = LOG_RESPONSE_HEADER,
    LOG_NUMBER,  /* of 64 bits */
    LOG_TIME_US, /* of nanoseconds */
    LOG_BOOL,
    LOG_NOTHING, /* the literal is all */
    LOG_REMOTE,
    LOG_REMOTE_PORT,
    LOG_DATE,      /* 21/Nov/2026:10:04:00 +0000 */
    LOG_DATE_ISO,  /* 2026-11-21T10:04:00.123Z */
    LOG_DATE_MSEC, /* 1795255440.123: seconds since the epoch */
    LOG_WORKER,
    LOG_REASON,
    LOG_UPSTREAM_NUMBER,
    LOG_UPSTREAM_US
};

/* A literal, then something. */
struct log_step {
    const char *literal;
    uint16_t literal_len;
    uint16_t offset;  /* in struct log_entry, log_upstream or log_tls */
    uint8_t kind;     /* enum log_kind */
    uint8_t name_len; /* of a header's name */
    uint16_t name_at; /* of a header: where its name begins in literal */
};

/* What must be seen to while a request is answered, for its line. */
struct log_needs {
    bool id;
    bool upstream;
    bool tls;
    bool tls_client; /* tls as well */
    bool head;       /* of the response, after it was sent */
};

struct log_template {
    unsigned step_count; /* 0: the event is not told */
    unsigned fixed_max;  /* bytes a line takes besides its texts */
    unsigned text_max;   /* of each text, so that the line fits in any case */
    struct log_step steps[LOG_STEPS_MAX];
};

struct log_format {
    bool is_json;
    struct log_needs needs;
    struct log_template templates[LOG_EVENT_COUNT];
};

/* text: the name of a format, or a template; it must outlive the format. 0,
 * or -EINVAL: fault then says what is wrong and what would be right. */
MUST_USE int log_format_compile(struct log_format *format, const char *text,
                                char fault[LOG_FAULT_BYTES_MAX]);

static inline bool log_format_tells(const struct log_format *format,
                                    enum log_event event)
{
    return format->templates[event].step_count > 0;
}

/* How many bytes one of a text may become: "\u00HH" or "\ufffd" in JSON, and
 * "\xHH" elsewhere. */
static inline unsigned log_format_growth(const struct log_format *format)
{
    return format->is_json ? 6 : 4;
}

#endif
