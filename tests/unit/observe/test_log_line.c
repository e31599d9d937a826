#include "observe/log_line.h"

#include "json_check.h"
#include "suite.h"

static const struct address peer = {
    .family = ADDRESS_IPV4, .port = 51234, .octets = {192, 0, 2, 7}};

static const struct log_tls tls = {.version = {"TLSv1.3", 7},
                                   .cipher = {"TLS_AES_128_GCM_SHA256", 22},
                                   .group = {"x25519", 6},
                                   .sni = {"example.org", 11},
                                   .resumed = {"false", 5}};
static const struct log_upstream upstream = {.name = {"10.0.0.1:80", 11},
                                             .status = 200,
                                             .connect_ns = 999,
                                             .first_ns = 1999999,
                                             .total_ns = LOG_NONE};

static struct log_entry entry;
static struct now now;
static struct log_format format;
static char text[LOG_LINE_BYTES_MAX + 1];

static struct bytes find_header(const void *context, bool is_response,
                                struct bytes name)
{
    assert_ptr_equal(context, &peer);
    if (bytes_eq(name, BYTES("Odd")))
        return BYTES("\"\n\xff");
    if (!bytes_eq(name, BYTES("Two")))
        return BYTES("");
    return is_response ? BYTES("two of the response")
                       : BYTES("two of the request");
}

static int set_up(void **state)
{
    (void)state;
    now = (struct now){.wall_s = 784111777,
                       .wall_ns = INT64_C(784111777012999999)};
    entry = (struct log_entry){.event = LOG_EVENT_REQUEST,
                               .peer = &peer,
                               .connection = 4711,
                               .requests = 3,
                               .request_line = BYTES("GET /a/b?c=d HTTP/1.1"),
                               .method = BYTES("GET"),
                               .target = BYTES("/a/b?c=d"),
                               .path = BYTES("/a/b"),
                               .query = BYTES("c=d"),
                               .protocol = BYTES("HTTP/1.1"),
                               .host = BYTES("example.org:80"),
                               .referer = BYTES("http://there/"),
                               .user_agent = BYTES("browser/1.0 (it)"),
                               .request_id = BYTES("4bf9"),
                               .upstream = &upstream,
                               .tls = &tls,
                               .find = find_header,
                               .context = &peer,
                               .status = 206,
                               .keep_alive = true,
                               .is_complete = false,
                               .body_bytes = 12345678901,
                               .sent_bytes = 12345679000,
                               .read_bytes = 98765432109,
                               .total_ns = 3999999,
                               .queue_ns = 2000000,
                               .service_ns = 1999};
    return 0;
}

static void use_format(const char *name)
{
    char fault[LOG_FAULT_BYTES_MAX];

    if (log_format_compile(&format, name, fault) != 0)
        fail_msg("%s", fault);
}

/* The entry's line, without its end. */
static const char *line(void)
{
    struct log_dates dates;
    struct buf out;

    log_dates_init(&dates);
    log_dates_refresh(&dates, &now);
    buf_init(&out, text, LOG_LINE_BYTES_MAX, LOG_LINE_BYTES_MAX);
    assert_true(log_line_put(&out, &format, &dates, 5, &entry));
    assert_false(out.failed);
    assert_ptr_equal(out.data, text); /* nothing was allocated */
    assert_int_equal(text[out.len - 1], '\n');
    text[out.len - 1] = '\0';
    assert_int_equal(strlen(text), out.len - 1);
    return text;
}

static const char *line_as(const char *name)
{
    use_format(name);
    return line();
}

/* --- Fields -------------------------------------------------------------- */

TEST(every_field_tells_its_own)
{
    static const struct {
        const char *template;
        const char *line;
    } cases[] = {
        {"%{remote}", "192.0.2.7"},
        {"%{remote_port}", "51234"},
        {"%{time}", "06/Nov/1994:08:49:37 +0000"},
        {"%{time_iso}", "1994-11-06T08:49:37.012Z"},
        {"%{msec}", "784111777.012"},
        {"%{request}", "GET /a/b?c=d HTTP/1.1"},
        {"%{method}", "GET"},
        {"%{target}", "/a/b?c=d"},
        {"%{path}", "/a/b"},
        {"%{query}", "c=d"},
        {"%{protocol}", "HTTP/1.1"},
        {"%{host}", "example.org:80"},
        {"%{status}", "206"},
        {"%{bytes}", "12345678901"},
        {"%{bytes_sent}", "12345679000"},
        {"%{bytes_in}", "98765432109"},
        {"%{referer}", "http://there/"},
        {"%{user_agent}", "browser/1.0 (it)"},
        {"%{request_id}", "4bf9"},
        {"%{upstream}", "10.0.0.1:80"},
        {"%{upstream_status}", "200"},
        {"%{upstream_connect_us}", "0"},
        {"%{upstream_first_us}", "1999"},
        {"%{upstream_total_us}", "-"},
        {"%{tls_version}", "TLSv1.3"},
        {"%{tls_cipher}", "TLS_AES_128_GCM_SHA256"},
        {"%{tls_group}", "x25519"},
        {"%{tls_sni}", "example.org"},
        {"%{tls_resumed}", "false"},
        {"%{header:Two}", "two of the request"},
        {"%{response_header:Two}", "two of the response"},
        {"%{total_us}", "3999"},
        {"%{queue_us}", "2000"},
        {"%{service_us}", "1"},
        {"%{connection}", "4711"},
        {"%{requests}", "3"},
        {"%{worker}", "5"},
        {"%{keepalive}", "true"},
        {"%{complete}", "false"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_string_equal(line_as(cases[i].template), cases[i].line);
}

TEST(literals_stand_between_them)
{
    assert_string_equal(line_as("%%%{status}, 100%% {%{method}}\xc3\xa9"),
                        "%206, 100% {GET}\xc3\xa9");
}

TEST(what_is_not_there_is_a_dash)
{
    entry.request_line = entry.method = entry.target = entry.path =
        entry.query = entry.protocol = entry.host = entry.referer =
            entry.user_agent = entry.request_id = (struct bytes){NULL, 0};
    entry.upstream = NULL;
    entry.tls = NULL;
    assert_string_equal(line_as("%{request}%{method}%{target}%{path}%{query}"
                                "%{protocol}%{host}%{referer}%{user_agent}"
                                "%{request_id}%{upstream}%{upstream_status}"
                                "%{upstream_first_us}%{header:One}"
                                "%{tls_sni}%{tls_resumed}"),
                        "----------------");
    entry.find = NULL;
    assert_string_equal(line_as("%{response_header:Two}"), "-");
}

TEST(headers_are_escaped_like_other_texts)
{
    assert_string_equal(line_as("%{header:Odd}%{response_header:Odd}"),
                        "\\x22\\x0a\\xff\\x22\\x0a\\xff");
}

TEST(every_kind_of_peer_is_named)
{
    static const struct address unix_peer = {.family = ADDRESS_UNIX};
    static const struct address ipv6_peer = {.family = ADDRESS_IPV6,
                                             .port = 1,
                                             .octets = {0x20, 1, 0x0d,
                                                        0xb8, [15] = 1}};

    entry.peer = &unix_peer;
    assert_string_equal(line_as("%{remote} %{remote_port}"), "unix: 0");
    entry.peer = &ipv6_peer;
    assert_string_equal(line_as("%{remote} %{remote_port}"), "2001:db8::1 1");
}

/* --- Formats with a name ------------------------------------------------- */

TEST(common_and_combined_are_as_readers_know_them)
{
    assert_string_equal(line_as("common"),
                        "192.0.2.7 - - [06/Nov/1994:08:49:37 +0000] "
                        "\"GET /a/b?c=d HTTP/1.1\" 206 12345678901");
    assert_string_equal(line_as("combined"),
                        "192.0.2.7 - - [06/Nov/1994:08:49:37 +0000] "
                        "\"GET /a/b?c=d HTTP/1.1\" 206 12345678901 "
                        "\"http://there/\" \"browser/1.0 (it)\"");
    entry.referer = entry.user_agent = BYTES("");
    entry.request_line = BYTES("");
    assert_string_equal(line_as("combined"),
                        "192.0.2.7 - - [06/Nov/1994:08:49:37 +0000] "
                        "\"-\" 206 12345678901 \"-\" \"-\"");
}

TEST(json_is_one_object)
{
    entry.referer = BYTES("");
    assert_string_equal(
        line_as("json"),
        "{\"time\":\"1994-11-06T08:49:37.012Z\",\"remote\":\"192.0.2.7\","
        "\"port\":51234,\"connection\":4711,\"requests\":3,\"worker\":5,"
        "\"request\":\"GET /a/b?c=d HTTP/1.1\",\"method\":\"GET\","
        "\"path\":\"/a/b\",\"host\":\"example.org:80\",\"status\":206,"
        "\"bytes\":12345678901,\"bytes_sent\":12345679000,"
        "\"bytes_in\":98765432109,"
        "\"referer\":\"\",\"user_agent\":\"browser/1.0 (it)\","
        "\"total_us\":3999,\"queue_us\":2000,\"service_us\":1,"
        "\"keepalive\":true,\"complete\":false}");
    assert_true(json_is_valid(text));
}

TEST(events_tell_a_story)
{
    assert_string_equal(line_as("events"),
                        "1994-11-06T08:49:37.012Z 4711 request n=3 status=206 "
                        "bytes=12345678901 total_us=3999 queue_us=2000 "
                        "service_us=1 complete=false \"GET /a/b?c=d "
                        "HTTP/1.1\"");
    entry.event = LOG_EVENT_ACCEPT;
    assert_string_equal(line(), "1994-11-06T08:49:37.012Z 4711 accept "
                                "remote=192.0.2.7 port=51234 worker=5");
    entry.event = LOG_EVENT_CLOSE;
    entry.reason = BYTES("idle");
    assert_string_equal(line(), "1994-11-06T08:49:37.012Z 4711 close "
                                "reason=idle requests=3");
}

/* --- Escaping ------------------------------------------------------------ */

TEST(nobody_can_forge_a_line)
{
    entry.request_line = BYTES("GET /\"\\ HTTP/1.1");
    entry.referer = BYTES("a\r\nb\tc\x1b[0m");
    entry.user_agent = BYTES("\x80\xff\x7f%{status}");
    assert_string_equal(line_as("%{request}|%{referer}|%{user_agent}"),
                        "GET /\\x22\\x5c HTTP/1.1|a\\x0d\\x0ab\\x09c\\x1b[0m|"
                        "\\x80\\xff\\x7f%{status}");
}

/* Each byte at each place of a word is told from its neighbours. */
TEST(every_byte_is_escaped_or_kept)
{
    use_format("%{path}");
    for (int byte = 0; byte < 256; byte++)
        for (size_t len = 1; len < 20; len++)
            for (size_t at = 0; at < len; at++) {
                char path[20];
                char escaped[8];
                bool is_plain = byte >= 0x20 && byte < 0x7F && byte != '"' &&
                                byte != '\\';

                memset(path, 'p', sizeof(path));
                path[at] = (char)byte;
                entry.path = (struct bytes){path, len};
                snprintf(escaped, sizeof(escaped), is_plain ? "%c" : "\\x%02x",
                         byte);
                assert_int_equal(strlen(line()), len - 1 + strlen(escaped));
                assert_memory_equal(text + at, escaped, strlen(escaped));
                assert_int_equal(strspn(text, "p"), byte == 'p' ? len : at);
            }
}

TEST(json_is_valid_whatever_is_in_it)
{
    static char noise[3000];
    uint32_t random = 1;

    use_format("json");
    for (int round = 0; round < 2000; round++) {
        size_t len = (size_t)round * 7 % sizeof(noise);

        for (size_t i = 0; i < len; i++) {
            random = random * 1664525 + 1013904223;
            /* Every byte; more often one that matters. */
            noise[i] = round % 2 == 0
                           ? (char)(random >> 24)
                           : "\"\\\n\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\x01z"
                                 [(random >> 24) % 15];
        }
        entry.request_line = entry.host = entry.user_agent = (struct bytes){
            noise, len};
        if (!json_is_valid(line()))
            fail_msg("round %d: %s", round, text);
        assert_null(strchr(text, '\n'));
    }
}

/* --- Long texts ---------------------------------------------------------- */

TEST(a_long_text_is_cut)
{
    static char long_text[LOG_TEXT_BYTES_MAX + 1];

    memset(long_text, 'x', sizeof(long_text));
    use_format("%{path} %{status}");
    entry.path = (struct bytes){long_text, LOG_TEXT_BYTES_MAX};
    assert_int_equal(strspn(line(), "x"), LOG_TEXT_BYTES_MAX);
    assert_string_equal(text + LOG_TEXT_BYTES_MAX, " 206");
    entry.path.len++;
    assert_int_equal(strspn(line(), "x"), LOG_TEXT_BYTES_MAX);
    assert_string_equal(text + LOG_TEXT_BYTES_MAX, "... 206");
}

TEST(a_text_is_not_cut_within_a_character)
{
    static char long_text[LOG_TEXT_BYTES_MAX + 8];

    use_format("json");
    for (size_t shift = 0; shift < 5; shift++) {
        const char *end;

        memset(long_text, 'x', sizeof(long_text));
        memcpy(long_text + format.templates[0].text_max - shift, "\xe2\x82\xac",
               3);
        entry.path = (struct bytes){long_text, sizeof(long_text)};
        end = strstr(line(), "...");
        assert_non_null(end);
        assert_null(strstr(text, "\\ufffd"));
        if (shift == 1 || shift == 2)
            assert_int_equal(end[-1], 'x');
        else if (shift == 3)
            assert_memory_equal(end - 3, "\xe2\x82\xac", 3);
    }
}

/* Bytes that only look like the rest of a character do not take more away. */
TEST(garbage_is_cut_too)
{
    static char long_text[LOG_TEXT_BYTES_MAX + 8];

    memset(long_text, '\x80', sizeof(long_text));
    entry.path = (struct bytes){long_text, sizeof(long_text)};
    assert_int_equal(strlen(line_as("%{path}")),
                     4 * (LOG_TEXT_BYTES_MAX - 3) + 3);
}

TEST(the_longest_lines_still_fit)
{
    static char long_text[70000];
    char many[LOG_STEPS_MAX * 16 + 1] = "";
    const char *const formats[] = {"common", "combined", "json", "events",
                                   many};
    struct bytes all = {long_text, sizeof(long_text)};

    for (int i = 0; i < LOG_STEPS_MAX; i++)
        memcpy(many + i * 16, "lit %{referer}  ", 16);
    many[LOG_STEPS_MAX * 16 - 2] = '\0';
    memset(long_text, '\x01', sizeof(long_text));
    entry.request_line = entry.method = entry.target = entry.path =
        entry.query = entry.host = entry.referer = entry.user_agent = all;
    entry.connection = entry.body_bytes = entry.sent_bytes = entry.total_ns =
        entry.queue_ns = entry.service_ns = UINT64_MAX;
    entry.requests = UINT32_MAX;
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        line_as(formats[i]); /* which checks that it did */
        assert_true(strlen(text) > 2000);
    }
}

/* Into as much memory as there is, so that a sanitizer sees the next byte. */
TEST(what_may_not_fit_is_not_begun)
{
    static const char evil[100] = {0};
    struct log_dates dates;
    struct buf out;
    bool fits = false;

    use_format("combined");
    entry.referer = (struct bytes){evil, sizeof(evil)};
    log_dates_init(&dates);
    log_dates_refresh(&dates, &now);
    for (size_t room = 0; room < 2000; room++) {
        char *storage = malloc(room + 1);

        assert_non_null(storage);
        buf_init(&out, storage, room, room);
        if (log_line_put(&out, &format, &dates, 5, &entry)) {
            fits = true;
            assert_in_range(out.len, 400, room);
        } else {
            assert_false(fits);
            assert_int_equal(out.len, 0);
        }
        assert_false(out.failed);
        assert_ptr_equal(out.data, storage);
        free(storage);
    }
    assert_true(fits);
}

TEST(numbers_of_every_length_are_told)
{
    uint64_t number = 0;
    char digits[32];

    use_format("%{bytes}");
    for (int i = 0; i < 20; i++) {
        for (uint64_t near = number - (i > 0); near <= number + 1; near++) {
            entry.body_bytes = near;
            snprintf(digits, sizeof(digits), "%llu", (unsigned long long)near);
            assert_string_equal(line(), digits);
        }
        number = i == 0 ? 10 : number * 10;
    }
    entry.body_bytes = UINT64_MAX;
    assert_string_equal(line(), "18446744073709551615");
}

/* --- Dates --------------------------------------------------------------- */

TEST(dates_follow_the_second_and_the_millisecond)
{
    static const struct {
        int64_t seconds;
        const char *line;
    } cases[] = {
        {951827696, "29/Feb/2000:12:34:56 +0000 2000-02-29T12:34:56.012Z"},
        {0, "01/Jan/1970:00:00:00 +0000 1970-01-01T00:00:00.012Z"},
        {1798761599, "31/Dec/2026:23:59:59 +0000 2026-12-31T23:59:59.012Z"},
        {4107542400, "01/Mar/2100:00:00:00 +0000 2100-03-01T00:00:00.012Z"},
    };
    struct log_dates dates;
    struct buf out;

    use_format("%{time} %{time_iso}");
    log_dates_init(&dates);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        now.wall_s = cases[i].seconds;
        now.wall_ns = cases[i].seconds * 1000000000 + 12000000;
        log_dates_refresh(&dates, &now);
        buf_init(&out, text, sizeof(text), sizeof(text));
        assert_true(log_line_put(&out, &format, &dates, 0, &entry));
        text[out.len - 1] = '\0';
        assert_string_equal(text, cases[i].line);
    }
    now.wall_ns += 987000000;
    log_dates_refresh(&dates, &now);
    assert_int_equal(dates.ms, 999);
}

SUITE(.each_begin = set_up);
