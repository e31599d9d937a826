#include "log_load.h"

enum { AGENT_BYTES = 800 }; /* makes long lines, which fill things up sooner */

struct load *load_open(const struct server *server)
{
    struct load *load = scratch(sizeof(*load));

    memset(load, 0, sizeof(*load));
    for (size_t i = 0; i < LOAD_CLIENTS; i++)
        load->clients[i] = client_open(server);
    return load;
}

void load_send(struct load *load)
{
    char agent[AGENT_BYTES + 1];

    memset(agent, 'u', AGENT_BYTES);
    agent[AGENT_BYTES] = '\0';
    if (load->sent + LOAD_TURN > LOAD_REQUESTS_MAX)
        flunk("too many requests");
    for (size_t i = 0; i < LOAD_CLIENTS; i++)
        for (size_t j = 0; j < LOAD_VOLLEY; j++)
            client_say(load->clients[i],
                       "GET /canary?%u. HTTP/1.1\r\nHost: a\r\n"
                       "User-Agent: %s\r\n\r\n",
                       load->sent++, agent);
}

void load_receive(struct load *load)
{
    for (size_t i = 0; i < LOAD_CLIENTS; i++)
        for (size_t j = 0; j < LOAD_VOLLEY; j++) {
            expect_status(client_reply(load->clients[i]), 200);
            load->answered++;
        }
}

void load_turn(struct load *load)
{
    load_send(load);
    load_receive(load);
}

/* The number of the request of a line. */
static unsigned parse_line(const char *line, size_t line_len)
{
    static const char tail[] = "\" 200 7 \"-\" \"uuu";
    unsigned number;
    int len = 0;

    if (sscanf(line,
               "127.0.0.1 - - [%*2d/%*3[A-Za-z]/%*4d:%*2d:%*2d:%*2d +0000] "
               "\"GET /canary?%u. HTTP/1.1%n",
               &number, &len) != 1 ||
        len == 0 || strncmp(line + len, tail, sizeof(tail) - 1) != 0 ||
        line_len != (size_t)len + sizeof(tail) - 4 + AGENT_BYTES + 1)
        flunk("not a line: '%.*s'", (int)line_len, line);
    return number;
}

unsigned load_count(struct load *load, const char *text)
{
    unsigned count = 0;

    while (*text) {
        const char *end = strchr(text, '\n');
        unsigned number;

        if (!end)
            flunk("half a line: '%.100s'", text);
        number = parse_line(text, (size_t)(end - text));
        if (number >= load->sent || load->seen[number])
            flunk("twice, or never sent: %u", number);
        load->seen[number] = true;
        count++;
        text = end + 1;
    }
    return count;
}

char *log_new_path(void)
{
    static unsigned paths;

    return printed("%s/log.%u", folder(), paths++);
}

unsigned log_lost(const struct server *server)
{
    const char *text = read_text(server->errors, NULL);
    const char *end = strstr(text, " lines lost in all");

    if (!end)
        return 0;
    while (end > text && end[-1] != ' ')
        end--;
    return (unsigned)strtoul(end, NULL, 10);
}

unsigned server_says_times(const struct server *server, const char *part)
{
    const char *text = read_text(server->errors, NULL);
    unsigned count = 0;

    for (; (text = strstr(text, part)); text++)
        count++;
    return count;
}

bool server_says(const struct server *server, const char *part)
{
    return server_says_times(server, part) > 0;
}
