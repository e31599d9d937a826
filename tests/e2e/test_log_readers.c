/*
 * Who reads the access log may be slow, or stuck: workers go on, or wait when
 * they were told to, and a stop comes to its end; whoever was answered is in
 * the log.
 */
#include <signal.h>
#include <sys/stat.h>

#include "log_load.h"

enum { SOON_MS = 5000 };

/* --- Readers that are stuck ---------------------------------------------- */

static int make_fifo(const char *path)
{
    int reader;

    if (mkfifo(path, 0600) == -1)
        flunk("mkfifo: %s", strerror(errno));
    reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (reader == -1)
        flunk("open '%s': %s", path, strerror(errno));
    return reader;
}

/* Appends what can be read by now. */
static void read_some(int reader, char *text, size_t size)
{
    size_t len = strlen(text);
    ssize_t n;

    while ((n = read(reader, text + len, size - 1 - len)) > 0)
        text[len += (size_t)n] = '\0';
}

TEST(a_stuck_reader_stalls_no_worker)
{
    enum { TEXT_BYTES = 1 << 18 };
    char *text = scratch(TEXT_BYTES);
    const char *log_path = log_new_path();
    int reader = make_fifo(log_path);
    struct server *one = START(printed("--access-log=%s", log_path),
                               "--workers=1");
    struct load *load = load_open(one);

    while (load->sent < 2000)
        load_turn(load);
    assert_true(eventually(server_says(one, "lines dropped"), SOON_MS));
    server_stop(one);
    text[0] = '\0';
    read_some(reader, text, TEXT_BYTES);
    close(reader);
    /* A pipe keeps what it has, half a line too. */
    if (strrchr(text, '\n'))
        strrchr(text, '\n')[1] = '\0';
    assert_int_equal(load_count(load, text) + log_lost(one), load->sent);
}

TEST(an_unread_standard_output_stalls_none_either)
{
    struct server *one = START("--access-log=-", "--workers=1");
    struct load *load = load_open(one);

    while (load->sent < 2000)
        load_turn(load);
    server_stop(one);
    assert_in_range(log_lost(one), 1, load->sent);
}

TEST(who_waits_loses_nothing)
{
    enum { TEXT_BYTES = 4 << 20 };
    char *text = scratch(TEXT_BYTES);
    const char *log_path = log_new_path();
    int reader = make_fifo(log_path);
    struct server *one = START(printed("--access-log=%s", log_path),
                               "--log-overflow=wait", "--workers=1");
    struct load *load = load_open(one);

    text[0] = '\0';
    while (load->sent < 2500) {
        load_send(load);
        /* Without this nobody would be answered any more. */
        while (!client_hears(load->clients[LOAD_CLIENTS - 1], 20))
            read_some(reader, text, TEXT_BYTES);
        for (size_t i = 0; i < LOAD_CLIENTS; i++)
            for (size_t j = 0; j < LOAD_VOLLEY; j++) {
                while (!client_hears(load->clients[i], 20))
                    read_some(reader, text, TEXT_BYTES);
                expect_status(client_reply(load->clients[i]), 200);
            }
    }
    server_signal(one, SIGTERM);
    assert_true(eventually((read_some(reader, text, TEXT_BYTES),
                            server_wait(one, 10) == 0),
                           SOON_MS));
    read_some(reader, text, TEXT_BYTES);
    close(reader);
    assert_int_equal(load_count(load, text), load->sent);
    assert_string_equal(read_text(one->errors, NULL), "");
}

static void stop_while_waiting(const char *drain)
{
    const char *log_path = log_new_path();
    int reader = make_fifo(log_path);
    struct server *one = START(printed("--access-log=%s", log_path),
                               "--log-overflow=wait", "--workers=1", drain);
    struct load *load = load_open(one);

    for (int i = 0; i < 8; i++)
        load_send(load);
    /* What fills pipe and memory is answered, and then nothing. */
    for (size_t i = 0; i < LOAD_CLIENTS; i++)
        while (client_hears(load->clients[i], 200))
            expect_status(client_reply(load->clients[i]), 200);
    server_stop(one);
    assert_true(log_lost(one) > 0);
    assert_false(server_says(one, "leaving them"));
    close(reader);
}

TEST(waiting_for_a_stuck_reader_ends_with_a_stop)
{
    stop_while_waiting("--drain-timeout=30");
    stop_while_waiting("--drain-timeout=0");
}

/* --- Stopping ------------------------------------------------------------ */

TEST(whoever_was_answered_is_in_the_log)
{
    for (int round = 0; round < 5; round++) {
        char *log_path = log_new_path();
        struct server *one = START(printed("--access-log=%s", log_path),
                                   "--workers=2");
        unsigned answered = 0;
        struct reply *reply;
        struct load *load;
        unsigned count;

        going_on("round %d", round);
        load = load_open(one);
        for (int i = 0; i < round; i++)
            load_turn(load);
        load_send(load);
        server_signal(one, SIGTERM);
        for (size_t i = 0; i < LOAD_CLIENTS; i++)
            while (client_try(load->clients[i], false, &reply) == CLIENT_REPLY)
                answered++;
        assert_int_equal(server_wait(one, patience(10000)), 0);
        count = load_count(load, read_text(log_path, NULL));
        assert_in_range(count, load->answered + answered, load->sent);
        clients_close();
    }
}

E2E_SUITE(harness_begin_site);
