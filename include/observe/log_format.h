/*
 * log_format - the form of the access log's lines: templates, which are
 * compiled at the start into short lists of steps. No template is parsed when a
 * line is written.
 *
 *   "%{remote}: %{status}"  ->  "" remote, ": " status
 *
 *   common    %{remote} - - [%{time}] "%{request}" %{status} %{bytes}
 *   combined  the same, then "%{referer}" "%{user_agent}"
 *   json      one object per line, valid whatever clients send
 *   events    lines for accept, each request, and close
 *
 * A format is one of these names, or a template of the operator, where %% is a
 * percent sign. The table in log_format.c lists the fields. %{header:NAME} is
 * the first header field NAME of the request, %{response_header:NAME} the first
 * of the response.
 *
 * Thread: any thread may use a compiled format.
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
    LOG_TEXT_BYTES_MAX = 2048, /* bytes of a text before escaping */
    LOG_LINE_BYTES_MAX = 65536,
    LOG_FAULT_BYTES_MAX = 768
};

/* The kind of value that a step writes. Texts come first in the enum; they are
 * escaped, and cut when they are long. */
enum log_kind {
    LOG_TEXT,          /* a text at `offset` in struct log_entry */
    LOG_UPSTREAM_NAME, /* a text at `offset` in struct log_upstream */
    LOG_TLS,           /* a text at `offset` in struct log_tls */
    LOG_HEADER,
    LOG_RESPONSE_HEADER,
    LOG_LAST_TEXT = LOG_RESPONSE_HEADER,
    LOG_NUMBER,  /* an integer of 64 bits */
    LOG_TIME_US, /* nanoseconds, written as microseconds */
    LOG_BOOL,
    LOG_NOTHING, /* no value, only the literal */
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

/* A step: a literal, then a value. */
struct log_step {
    const char *literal;
    uint16_t literal_len;
    uint16_t offset;  /* where the value lies in the struct of its kind */
    uint8_t kind;     /* enum log_kind */
    uint8_t name_len; /* length of a header's name */
    uint16_t name_at; /* where a header's name begins in `literal` */
};

/* Which facts must be collected during a request, because the format's lines
 * show them. */
struct log_needs {
    bool id;
    bool upstream;
    bool tls;
    bool tls_client; /* if set, `tls` is set, too */
    bool head;       /* the response's head is needed after sending */
};

struct log_template {
    unsigned step_count; /* 0 if the event has no line */
    unsigned fixed_max;  /* maximum bytes of a line without its texts */
    unsigned text_max;   /* maximum bytes of each text before escaping */
    struct log_step steps[LOG_STEPS_MAX];
};

struct log_format {
    bool is_json;
    struct log_needs needs;
    struct log_template templates[LOG_EVENT_COUNT];
};

/* Compiles `text`, which is the name of a format, or a template. `text` must
 * outlive the format. Returns 0, or -EINVAL after writing to `fault` what is
 * wrong and what would be right. */
MUST_USE int log_format_compile(struct log_format *format, const char *text,
                                char fault[LOG_FAULT_BYTES_MAX]);

static inline bool log_format_tells(const struct log_format *format,
                                    enum log_event event)
{
    return format->templates[event].step_count > 0;
}

/* Returns how many bytes one byte of a text may become by escaping: "\u00HH" or
 * "\ufffd" in JSON, otherwise "\xHH". */
static inline unsigned log_format_growth(const struct log_format *format)
{
    return format->is_json ? 6 : 4;
}

#endif
