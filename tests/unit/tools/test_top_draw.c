#include "tools/top_draw.h"

#include "suite.h"
#include "unit/says.h"
#include "unit/tools/top_status.h"

enum { DRAWN_BYTES_MAX = 1 << 20 };

/* What is drawn, as text; free it. */
static char *draw_document(const char *text, const struct top_view *view)
{
    struct json_reader json;
    struct buf out;

    if (json_read(&json, bytes_of(text)) != 0)
        fail_msg("no JSON: %s", text);
    buf_init(&out, NULL, 0, DRAWN_BYTES_MAX);
    top_draw(&out, json.values, view);
    buf_put(&out, (struct bytes){"", 1});
    assert_false(out.failed);
    json_fini(&json);
    return out.data;
}

/* --- A whole window ------------------------------------------------------ */

TEST(shows_all_of_a_status)
{
    char *drawn = draw_document(TOP_STATUS, &(struct top_view){.width = 79});

    assert_string_equal(
        drawn,
        "sprintd 1.2.3  live  up 1 d 2 h  workers 2  srpt  requests 1,234,567"
        "\n"
        "\n"
        "Requests/s          100                                    =_#"
        "  max 100\n"
        "Sent/s         2.00 KiB                                    =_#"
        "  max 2.00 KiB\n"
        "p50               10 us                                    . #"
        "  max 10 us\n"
        "p90              200 us                                    _ #"
        "  max 200 us\n"
        "p99             3.00 ms                                    _ #"
        "  max 3.00 ms\n"
        "p99 waiting      400 us                                    _ #"
        "  max 400 us\n"
        "Cache hits       95.5 %                                    = #"
        "  max 95.5 %\n"
        "Queue depth           4                                    __#"
        "  max 4\n"
        "Connections           3                                    ::#"
        "  max 3\n"
        "\n"
        "Time              min     mean   median      p90      p99    p99.9"
        "      max\n"
        "wait             1 us  20.5 us     3 us   400 us   500 us  60.0 ms"
        "   7.00 s\n"
        "unsent              -        -        -        -        -        -"
        "        -\n"
        "\n"
        "Methods       GET 1,234,000  HEAD 567\n"
        "Statuses      200 1,230,000  404 4,000  503 567\n"
        "Closed by     client 90  idle 6  accepted 99  refused 1\n"
        "Queue         holds 4.00 KiB  most 40  overtakes 77\n"
        "Cache         sieve  holds 2.00 KiB  in 12  hits 900  misses 100"
        "  evictions 5\n"
        "Compress      sent 700  saved 4.00 KiB  made 8  not smaller 2"
        "  queued 1\n"
        "Link          auto, holds back  rate 80.0 Mbit/s  delay 1.32 ms"
        "\n"
        "Log           lines 1,234,567  dropped 2  errors 0\n"
        "\n"
        "Size up to       count  wait p50       p99 total p50       p99\n"
        "1.00 KiB             7      2 us     50 us     30 us   5.00 ms\n"
        "> 1.00 KiB           0         -         -         -         -\n"
        "\n"
        "Worker          queued      most     bytes      open  requests\n"
        "0                    1        30  1.00 KiB         1     600 k\n"
        "1                    3        40  3.00 KiB         2     635 k\n"
        "\n"
        "Slowest           size      wait    status\n"
        "7.00 s        20.0 MiB   60.0 ms       200  GET /large.bin  "
        "192.0.2.7\n");
    free(drawn);
}

TEST(bars_are_blocks_where_the_terminal_knows_them)
{
    char *drawn = draw_document(TOP_STATUS, &(struct top_view){
                                                .width = 79, .is_utf8 = true});

    assert_has(drawn, "▅▁█  max 100\n");
    free(drawn);
}

TEST(shares_of_the_cpu_show_when_they_are_sampled)
{
    static const char sampled[] = TOP_STATUS_OPEN
        ",\"profile\":{\"enabled\":true,\"idle\":0.5,"
        "\"phases\":{\"read\":0.25,\"send\":0.125}}}";
    static const char not_sampled[] = TOP_STATUS_OPEN
        ",\"profile\":{\"enabled\":false,\"idle\":0,"
        "\"phases\":{\"read\":0}}}";
    const struct top_view view = {.width = 79};
    char *drawn = draw_document(sampled, &view);

    assert_has(drawn, "CPU           idle 50.0 %  read 25.0 %  send 12.5 %\n");
    free(drawn);
    drawn = draw_document(not_sampled, &view);
    assert_has_not(drawn, "CPU");
    free(drawn);
}

TEST(tls_shows_when_somebody_comes_by_it)
{
    static const char used[] = TOP_STATUS_OPEN
        ",\"tls\":{\"handshakes\":{\"full\":12,\"resumed\":3},"
        "\"failed\":{\"gone\":4,\"timeout\":1}},\"certificates\":["
        "{\"site\":\"a.example\",\"expiry_s\":7776000},"
        "{\"site\":\"b\\u001b\",\"expiry_s\":0,\"failures\":0},"
        "{\"site\":\"c\",\"expiry_s\":60,\"failures\":3}]}";
    static const char unused[] = TOP_STATUS_OPEN
        ",\"tls\":{\"handshakes\":{\"full\":1,\"resumed\":0},"
        "\"failed\":{}}}";
    const struct top_view view = {.width = 79};
    char *drawn = draw_document(used, &view);

    assert_has(drawn, "TLS           full 12  resumed 3  failed  gone 4  "
                      "timeout 1\n");
    assert_has(drawn, "Expiry        a.example 90 d 0 h  b\\x1b 0 s  "
                      "c 1 min 0 s  failed 3\n");
    free(drawn);
    drawn = draw_document(unused, &view);
    assert_has(drawn, "TLS           full 1  resumed 0\n");
    assert_has_not(drawn, "Expiry");
    free(drawn);
}

TEST(a_draining_server_says_so)
{
    char *drawn = draw_document(
        "{\"server\":\"sprintd\",\"version\":\"1\",\"draining\":true}",
        &(struct top_view){.width = 79, .has_styles = true});

    assert_has(drawn, "\033[0;33mdraining\033[0m");
    free(drawn);
}

TEST(trouble_stands_in_the_first_line)
{
    char *drawn = draw_document(TOP_STATUS,
                                &(struct top_view){
                                    .width = 79,
                                    .trouble = "h:80: cannot \033connect"});

    assert_memory_equal(drawn, "sprintd 1.2.3  h:80: cannot \\x1bconnect\n",
                        40);
    free(drawn);
}

/* --- Windows of every size ----------------------------------------------- */

static size_t count_columns(const char *line, size_t len)
{
    size_t columns = 0;

    for (size_t i = 0; i < len; i++)
        columns += ((unsigned char)line[i] & 0xC0) != 0x80;
    return columns;
}

TEST(never_leaves_the_window)
{
    for (unsigned width = 0; width < 130; width += 1 + width / 20) {
        for (unsigned height = 1; height < 60; height += 1 + height / 10) {
            char *drawn = draw_document(TOP_STATUS,
                                        &(struct top_view){.width = width,
                                                           .height = height,
                                                           .is_utf8 = true});
            unsigned lines = 0;

            for (const char *at = drawn; *at; lines++) {
                size_t len = strcspn(at, "\n");

                assert_in_range(count_columns(at, len), 0, width);
                at += len + 1;
            }
            assert_in_range(lines, 1, height);
            free(drawn);
        }
    }
}

TEST(a_low_window_has_no_empty_lines)
{
    char *low = draw_document(TOP_STATUS,
                              &(struct top_view){.width = 79, .height = 24});
    char *high = draw_document(TOP_STATUS,
                               &(struct top_view){.width = 79, .height = 40});

    assert_has_not(low, "\n\n");
    assert_has(low, "\nLog ");
    assert_has(high, "\n\n");
    assert_has(high, "\n7.00 s ");
    free(low);
    free(high);
}

TEST(a_number_is_never_cut)
{
    for (unsigned width = 0; width < 60; width++) {
        char *drawn = draw_document(TOP_STATUS,
                                    &(struct top_view){.width = width});
        const char *methods = strstr(drawn, "\nMethods");

        if (methods) {
            char line[128];

            snprintf(line, sizeof(line), "%.*s",
                     (int)strcspn(methods + 1, "\n"), methods + 1);
            assert_true(!strstr(line, "1,") || strstr(line, "1,234,000"));
        }
        free(drawn);
    }
}

/* --- Whatever comes ------------------------------------------------------ */

TEST(nothing_of_others_reaches_the_terminal_as_it_is)
{
    static const char document[] =
        "{\"server\":\"sprintd\",\"version\":\"\\u001b[2J\",\"schedule\":"
        "\"\\u009b1m\",\"requests\":{\"by_method\":{\"\\u001bM\":1,"
        "\"\302\233\":2},\"by_status\":{\"5\177\":3}},\"times\":{\"\302\205\":"
        "{}},\"link\":{\"mode\":\"\\r\\n\\b\\u0007\"},\"cache\":{\"policy\":"
        "\"\\u202e\"},\"profile\":{\"enabled\":true,\"phases\":{\"\302\220\":"
        "1}},\"slowest\":[{\"method\":\"\\u001b]52;c;x\\u0007\",\"target\":"
        "\"\\u0000\303\251\\ud83d\\ude00\\u001b[31m\",\"remote\":\"\177\"}]}";
    char *drawn = draw_document(document, &(struct top_view){.width = 1000});

    for (const char *at = drawn; *at; at++)
        assert_true(*at == '\n' || (*at >= ' ' && *at <= '~'));
    assert_has(drawn, "sprintd \\x1b[2J  live");
    assert_has(drawn, "\\x1b]52;c;x\\x07 "
                      "\\x00\\xc3\\xa9\\xf0\\x9f\\x98\\x80\\x1b[31m  \\x7f\n");
    free(drawn);
}

TEST(what_is_missing_or_of_another_kind_is_a_dash)
{
    static const char *const documents[] = {
        "{\"server\":\"sprintd\"}",
        "null",
        "[]",
        "{\"history\":{\"points\":[[],[1],null,{},[1,\"2\",[],{}]],"
        "\"interval_s\":0}}",
        "{\"history\":{\"points\":7},\"times\":[1,null],\"sizes\":{\"a\":1},"
        "\"queue\":{\"by_worker\":[[],7]},\"slowest\":[0,\"\"],"
        "\"requests\":[],\"connections\":\"\",\"cache\":null,\"link\":[],"
        "\"log\":1,\"profile\":{\"enabled\":true,\"phases\":[1,2]}}",
        "{\"history\":{\"interval_s\":-1,\"points\":[[0,-5,1e300,-1e300,0]]},"
        "\"uptime_s\":-1,\"workers\":1e308}",
    };

    for (size_t i = 0; i < sizeof(documents) / sizeof(*documents); i++) {
        char *drawn = draw_document(documents[i],
                                    &(struct top_view){.width = 79,
                                                       .is_utf8 = true});

        assert_memory_equal(drawn, "sprintd ", 8);
        assert_has(drawn, "up -  workers -");
        assert_has_not(drawn, "nan");
        assert_has_not(drawn, "inf");
        free(drawn);
    }
}

TEST(more_history_than_fits_shows_its_newest)
{
    struct buf text;
    char *drawn;

    buf_init(&text, NULL, 0, 1 << 20);
    buf_put_literal(&text, "{\"history\":{\"points\":[");
    for (int i = 0; i < 1000; i++)
        buf_printf(&text, "[%d,%d],", i, i < 650 ? 9000 : i % 2 ? 70 : 0);
    buf_put_literal(&text, "[1000,35]]}}");
    buf_put(&text, (struct bytes){"", 1});
    drawn = draw_document(text.data, &(struct top_view){.width = 1000});
    assert_has(drawn, "\nRequests/s           35  _#_#");
    assert_has(drawn, "#_#_#=  max 70\n");
    free(drawn);
    buf_fini(&text);
}

TEST(rates_are_over_the_interval)
{
    char *drawn = draw_document(
        "{\"history\":{\"interval_s\":2,\"points\":[[1,10,4096]]}}",
        &(struct top_view){.width = 79});

    assert_has(drawn, "\nRequests/s            5 ");
    assert_has(drawn, "\nSent/s         2.00 KiB ");
    free(drawn);
}

TEST(tells_a_status_from_other_json)
{
    static const struct {
        const char *text;
        bool is_status;
    } cases[] = {
        {TOP_STATUS, true},
        {"{\"server\":\"sprintd\"}", true},
        {"{\"server\":\"nginx\"}", false},
        {"{\"server\":1}", false},
        {"{}", false},
        {"[\"server\",\"sprintd\"]", false},
        {"null", false},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct json_reader json;

        assert_int_equal(json_read(&json, bytes_of(cases[i].text)), 0);
        assert_int_equal(top_is_status(json.values), cases[i].is_status);
        json_fini(&json);
    }
}
