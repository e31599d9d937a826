#include "observe/log_format.h"

#include "suite.h"

static struct log_format format;
static char fault[LOG_FAULT_BYTES_MAX];

static const char *const fields[] = {"remote",
                                     "remote_port",
                                     "time",
                                     "time_iso",
                                     "msec",
                                     "request",
                                     "method",
                                     "target",
                                     "path",
                                     "query",
                                     "protocol",
                                     "host",
                                     "status",
                                     "bytes",
                                     "bytes_sent",
                                     "referer",
                                     "user_agent",
                                     "total_us",
                                     "queue_us",
                                     "service_us",
                                     "worker",
                                     "requests",
                                     "connection",
                                     "keepalive",
                                     "complete",
                                     "bytes_in",
                                     "request_id",
                                     "cache_status",
                                     "upstream",
                                     "upstream_status",
                                     "upstream_connect_us",
                                     "upstream_first_us",
                                     "upstream_total_us",
                                     "tls_version",
                                     "tls_cipher",
                                     "tls_group",
                                     "tls_sni",
                                     "tls_resumed",
                                     "tls_client",
                                     "tls_client_fingerprint",
                                     "reason"};

enum { FIELDS = sizeof(fields) / sizeof(fields[0]) };

static void assert_accepted(const char *text)
{
    if (log_format_compile(&format, text, fault) != 0)
        fail_msg("'%s': %s", text, fault);
}

/* Refused, and part is in what is said of it. */
static void assert_refused(const char *text, const char *part)
{
    memset(fault, '#', sizeof(fault));
    assert_int_equal(log_format_compile(&format, text, fault), -EINVAL);
    assert_non_null(memchr(fault, '\0', sizeof(fault)));
    if (!strstr(fault, part))
        fail_msg("'%s' is not in: %s", part, fault);
}

static void assert_step(unsigned i, const char *literal, enum log_kind kind)
{
    const struct log_step *step = &format.templates[LOG_EVENT_REQUEST].steps[i];

    assert_int_equal(step->literal_len, strlen(literal));
    assert_memory_equal(step->literal, literal, strlen(literal));
    assert_int_equal(step->kind, kind);
}

/* --- What is accepted ---------------------------------------------------- */

TEST(names_stand_for_formats)
{
    static const char *const names[] = {"common", "combined", "json", "events"};

    for (int i = 0; i < 4; i++) {
        bool has_story = strcmp(names[i], "events") == 0;

        assert_accepted(names[i]);
        assert_int_equal(format.is_json, strcmp(names[i], "json") == 0);
        assert_true(log_format_tells(&format, LOG_EVENT_REQUEST));
        assert_int_equal(log_format_tells(&format, LOG_EVENT_ACCEPT),
                         has_story);
        assert_int_equal(log_format_tells(&format, LOG_EVENT_CLOSE), has_story);
    }
}

TEST(a_template_tells_of_requests_alone)
{
    assert_accepted("events %{status}");
    assert_true(log_format_tells(&format, LOG_EVENT_REQUEST));
    assert_false(log_format_tells(&format, LOG_EVENT_ACCEPT));
    assert_false(log_format_tells(&format, LOG_EVENT_CLOSE));
    assert_false(format.is_json);
}

TEST(a_template_becomes_literals_and_fields)
{
    assert_accepted("%{remote}%{status} a } b{%%%{bytes}%%{path}");
    assert_int_equal(format.templates[LOG_EVENT_REQUEST].step_count, 6);
    assert_step(0, "", LOG_REMOTE);
    assert_step(1, "", LOG_NUMBER);
    assert_step(2, " a } b{%", LOG_NOTHING);
    assert_step(3, "", LOG_NUMBER);
    assert_step(4, "%", LOG_NOTHING);
    assert_step(5, "{path}", LOG_NOTHING);
}

TEST(every_field_has_a_name)
{
    for (int i = 0; i < FIELDS; i++) {
        char text[100];

        snprintf(text, sizeof(text), "x%%{%s}y", fields[i]);
        assert_accepted(text);
        assert_int_equal(format.templates[0].step_count, 2);
        assert_int_not_equal(format.templates[0].steps[0].kind, LOG_NOTHING);
    }
}

TEST(a_format_says_what_must_be_seen_to)
{
    static const struct {
        const char *text;
        bool id, upstream, head, tls, tls_client;
    } cases[] = {
        {"combined", false, false, false, false, false},
        {"json", false, false, false, false, false},
        {"%{header:A}", false, false, false, false, false},
        {"%{request_id}", true, false, false, false, false},
        {"%{tls_sni}", false, false, false, true, false},
        {"%{tls_client}", false, false, false, true, true},
        {"%{tls_client_fingerprint}", false, false, false, true, true},
        {"%{upstream}", false, true, false, false, false},
        {"%{upstream_status}", false, true, false, false, false},
        {"%{upstream_total_us}", false, true, false, false, false},
        {"%{response_header:A}", false, false, true, false, false},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_accepted(cases[i].text);
        assert_int_equal(format.needs.id, cases[i].id);
        assert_int_equal(format.needs.upstream, cases[i].upstream);
        assert_int_equal(format.needs.head, cases[i].head);
        assert_int_equal(format.needs.tls, cases[i].tls);
        assert_int_equal(format.needs.tls_client, cases[i].tls_client);
    }
}

/* --- What is refused ----------------------------------------------------- */

TEST(what_is_wrong_is_said)
{
    static const struct {
        const char *text;
        const char *part;
    } cases[] = {
        {"%{nothing}", "'%{nothing}'"},
        {"%{remote} %{Status}", "'%{Status}'"},
        {"%{status} %{ bytes}", "'%{ bytes}'"},
        {"%{}", "'%{}'"},
        {"%{status", "no '}'"},
        {"%{status} %{", "no '}'"},
        {"%{status} %{bytes ", "'%{bytes ' has no '}'"},
        {"%", "'%' is no field"},
        {"%{status}%", "'%' is no field"},
        {"%h %{status}", "'%h' is no field"},
        {"%{status} 100% sure", "'% ' is no field"},
        {"%{header:}", "'%{header:}'"},
        {"%{response_header}", "'%{response_header}'"},
        {"combine", "neither common, combined, json, events"},
        {"Combined", "neither"},
        {"100%%", "neither"},
        {"", "neither"},
        {"%{status}\n%{bytes}", "control"},
        {"\t%{status}", "control"},
        {"%{status}\x7f", "control"},
        {"%{st\x1b[0matus}", "control"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_refused(cases[i].text, cases[i].part);
}

TEST(an_unknown_field_is_told_all_there_are)
{
    for (int i = 0; i < FIELDS; i++) {
        char part[32];

        snprintf(part, sizeof(part), " %s", fields[i]);
        assert_refused("%{remote} %{x}", part);
    }
}

TEST(a_long_name_is_cut_in_what_is_said)
{
    char text[LOG_TEMPLATE_BYTES_MAX];

    memset(text, 'x', sizeof(text));
    memcpy(text, "%{", 2);
    memcpy(text + sizeof(text) - 2, "}", 2);
    assert_refused(text, "'%{xxxxxxxxxxxx");
    assert_refused(text, " complete"); /* the last of the fields */
    text[sizeof(text) - 2] = 'x';
    assert_refused(text, "has no '}'");
}

/* --- Limits -------------------------------------------------------------- */

TEST(a_template_has_a_longest_length)
{
    char text[LOG_TEMPLATE_BYTES_MAX + 2] = "%{status}";
    size_t len = strlen(text);

    memset(text + len, 'x', LOG_TEMPLATE_BYTES_MAX - len);
    assert_accepted(text);
    memset(text + len, 'x', LOG_TEMPLATE_BYTES_MAX + 1 - len);
    assert_refused(text, "at most 2048 bytes, not 2049");
}

TEST(a_template_has_most_fields)
{
    char text[LOG_STEPS_MAX * 10 + 20] = "";

    for (int i = 0; i < LOG_STEPS_MAX; i++)
        memcpy(text + i * 8, "%{query}", 9);
    assert_accepted(text);
    assert_int_equal(format.templates[0].step_count, LOG_STEPS_MAX);
    strncat(text, "%%", 3);
    assert_refused(text, "at most 64 fields");
}

TEST(many_texts_are_cut_sooner)
{
    char text[LOG_STEPS_MAX * 10 + 20] = "";

    assert_accepted("combined");
    assert_int_equal(format.templates[0].text_max, LOG_TEXT_BYTES_MAX);
    for (int i = 0; i < LOG_STEPS_MAX; i++)
        memcpy(text + i * 8, "%{query}", 9);
    assert_accepted(text);
    assert_in_range(format.templates[0].text_max, 200,
                    LOG_LINE_BYTES_MAX / 4 / LOG_STEPS_MAX);
    assert_accepted("json");
    assert_in_range(format.templates[0].text_max, 1500, LOG_TEXT_BYTES_MAX);
}
