/*
 * Before servers of others: what they serve, ten thousand times, compared with
 * what they serve directly.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "child.h"
#include "client.h"

enum {
    FILES = 40,
    REQUESTS = 10000,
    CLIENTS = 4, /* Python lets no more than six wait to be accepted */
    LARGEST = 300000,
    START_MS = 10000,
    NOT_THERE = 127 /* as a shell says it */
};

static const char nginx_path[] = "/usr/sbin/nginx";

/* What a server gave when it was asked without anybody between. */
static struct {
    const char *head;
    const char *body;
    size_t len;
} direct[FILES];

static pid_t program; /* the other server; 0: none */

/* --- The files ----------------------------------------------------------- */

/* 0 and 1, then growing: about 1.6 times as large every other time. */
static size_t size_of(int file)
{
    size_t size = (size_t)(file % 2);

    for (int i = 0; i < file / 2; i++)
        size += size / 2 + (size_t)(3 * i + 7);
    return size < LARGEST ? size : LARGEST;
}

E2E_BEGIN(start)
{
    for (int i = 0; i < FILES; i++)
        site_seeded(printed("%d.bin", i), (uint64_t)i, size_of(i));
}

/* --- The other server ---------------------------------------------------- */

static void end_program(void)
{
    if (program <= 0)
        return;
    kill(program, SIGKILL);
    waitpid(program, NULL, 0);
    program = 0;
}

static int after_test(void **state)
{
    int result = harness_after_test(state);

    end_program();
    return result;
}

/* Runs it; what it prints can be read from what is returned. */
static int run(const char *const arguments[])
{
    int out[2];

    if (pipe2(out, O_CLOEXEC) == -1)
        flunk("pipe: %s", strerror(errno));
    program = child_fork();
    if (program == 0) {
        int null = open("/dev/null", O_RDWR | O_CLOEXEC);

        if (dup2(null, STDIN_FILENO) == -1 || dup2(null, STDERR_FILENO) == -1 ||
            dup2(out[1], STDOUT_FILENO) == -1)
            _exit(126);
        execvp(arguments[0], (char *const *)(uintptr_t)arguments);
        _exit(NOT_THERE);
    }
    close(out[1]);
    return out[0];
}

/* "Serving HTTP on 127.0.0.1 port 9000 (...". 0: it does not run. */
static unsigned read_port(int out)
{
    char line[200];
    size_t len = 0;
    struct pollfd ready = {.fd = out, .events = POLLIN};
    const char *at;

    while (len + 1 < sizeof(line) &&
           poll(&ready, 1, (int)patience(START_MS)) == 1 &&
           read(out, line + len, 1) == 1 && line[len] != '\n')
        len++;
    line[len] = '\0';
    at = strstr(line, " port ");
    return at ? (unsigned)strtoul(at + 6, NULL, 10) : 0;
}

static struct client *open_port(unsigned port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

    return client_open_to((struct sockaddr *)&address, sizeof(address));
}

/* Asks as the simplest client does: all until the end is the reply. */
static void fetch(struct client *client, int file)
{
    const char *end;
    size_t len;
    char *copy;

    if (!client)
        flunk("the other server does not listen");
    client_say(client, "GET /%d.bin HTTP/1.0\r\nHost: a\r\n\r\n", file);
    len = client_take(client, SIZE_MAX);
    end = len > 0 ? memmem(client_raw(client), len, "\r\n\r\n", 4) : NULL;
    if (!end || !memmem(client_raw(client), (size_t)(end - client_raw(client)),
                        " 200 ", 5))
        flunk("the other server gives no file: '%.200s'",
              len > 0 ? client_raw(client) : "");
    end += 4;
    len -= (size_t)(end - client_raw(client));
    direct[file].head = printed("%.*s", (int)(end - client_raw(client)),
                                client_raw(client));
    copy = scratch(len + 1);
    memcpy(copy, end, len);
    direct[file].body = copy;
    direct[file].len = len;
    client_close(client);
    assert_int_equal(len, size_of(file));
}

/* --- Comparing ----------------------------------------------------------- */

static void compare(struct client *client, int file)
{
    static const char *const kept[] = {"Content-Type", "Last-Modified",
                                       "Content-Length", "Server"};
    struct reply *reply = client_reply(client);

    expect_status(reply, 200);
    if (reply->body_len != direct[file].len ||
        memcmp(reply->body, direct[file].body, reply->body_len) != 0)
        flunk("file %d is another one through the proxy", file);
    for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++) {
        const char *value = reply_field(reply, kept[i]);

        if (!value || !strstr(direct[file].head, value))
            flunk("'%s: %s' is not of\n%s", kept[i], value ? value : "",
                  direct[file].head);
    }
}

static int file_of(int request)
{
    return request * 7919 % FILES;
}

static void compare_often(const char *at)
{
    struct server *server = START("--workers=2", printed("--proxy=/=%s", at));
    struct client *clients[CLIENTS];
    int count = is_sanitized() ? REQUESTS / 10 : REQUESTS;

    for (int i = 0; i < count + CLIENTS; i++) {
        struct client **client = &clients[i % CLIENTS];

        if (i < CLIENTS)
            *client = client_open(server);
        else
            compare(*client, file_of(i - CLIENTS));
        if (i < count)
            client_say(*client, "GET /%d.bin HTTP/1.1\r\nHost: a\r\n\r\n",
                       file_of(i));
    }
    expect_status(ask(server, "GET", "/none", NULL), 404);
}

TEST(ten_thousand_files_of_pythons_server)
{
    int out = run((const char *const[]){"python3", "-u", "-m", "http.server",
                                        "--bind", "127.0.0.1", "--directory",
                                        site(), "0", NULL});
    unsigned port = read_port(out);
    int status;

    close(out);
    if (port == 0) {
        waitpid(program, &status, 0);
        program = 0;
        if (!WIFEXITED(status) || WEXITSTATUS(status) != NOT_THERE)
            flunk("python3 -m http.server does not run");
        print_message("python3 is not installed: its server is not tried\n");
        skip();
    }
    for (int i = 0; i < FILES; i++)
        fetch(open_port(port), i);
    compare_often(printed("http://127.0.0.1:%u", port));
}

TEST(ten_thousand_files_of_nginx)
{
    const char *socket_path = printed("%s/nginx.socket", folder());
    const char *conf = printed("%s/nginx.conf", folder());
    const char *text =
        printed("daemon off; master_process off; pid %s/nginx.pid;\n"
                "error_log %s/nginx.log; events {}\n"
                "http { access_log off; client_body_temp_path %s/body;\n"
                "proxy_temp_path %s/proxy; fastcgi_temp_path %s/fastcgi;\n"
                "uwsgi_temp_path %s/uwsgi; scgi_temp_path %s/scgi;\n"
                "server { listen unix:%s; root %s; } }\n",
                folder(), folder(), folder(), folder(), folder(), folder(),
                folder(), socket_path, site());
    struct client *client = NULL;

    if (access(nginx_path, X_OK) == -1) {
        print_message("%s is not there: not tried\n", nginx_path);
        skip();
    }
    site_write("../nginx.conf", text, strlen(text));
    close(run((const char *const[]){nginx_path, "-c", conf, NULL}));
    if (!eventually((client = client_open_unix(socket_path)) != NULL, START_MS))
        flunk("nginx does not run");
    for (int i = 0; i < FILES; i++)
        fetch(i == 0 ? client : client_open_unix(socket_path), i);
    compare_often(printed("unix:%s", socket_path));
}

SUITE(.begin = start, .end = harness_end, .each_end = after_test);
