#include "store.h"

#include "json.h"
#include "redis.h"

#include <sys/wait.h>

enum { READY_MS = 20000 }; /* a cluster has to agree first */

static struct {
    enum store_engines engine;
    bool is_running;
    struct redis *nodes[REDIS_NODES]; /* or one, and no more */
} at_work = {.engine = STORE_IN_FOLDER};

/* --- Engines ------------------------------------------------------------- */

static unsigned next_number(void)
{
    static unsigned count;

    return ++count;
}

const char *store_folder(void)
{
    return printed("%s/store.%u", folder(), next_number());
}

static void run_engine(void)
{
    if (at_work.engine == STORE_IN_CLUSTER) {
        redis_make_cluster(at_work.nodes);
    } else {
        at_work.nodes[0] = redis_make(NULL);
        redis_start(at_work.nodes[0]);
    }
    redis_keep();
    at_work.is_running = true;
}

const char *store_place(void)
{
    if (at_work.engine == STORE_IN_FOLDER)
        return store_folder();
    if (!at_work.is_running)
        run_engine();
    return printed("redis://127.0.0.1:%u?name=store%u", at_work.nodes[0]->port,
                   next_number());
}

int store_run(const struct CMUnitTest tests[], size_t count,
              CMFixtureFunction start, unsigned engines)
{
    static const char *const names[] = {[STORE_IN_FOLDER] = "in a folder",
                                        [STORE_IN_REDIS] = "in redis",
                                        [STORE_IN_CLUSTER] = "in a cluster"};
    int failed = 0;

    for (unsigned engine = STORE_IN_FOLDER; engine < STORE_ANYWHERE;
         engine *= 2) {
        if (!(engines & engine))
            continue;
        if (engine != STORE_IN_FOLDER && !redis_is_there()) {
            print_message("[  SKIPPED ] %zu test(s).\n", count);
            continue;
        }
        at_work.engine = engine;
        failed += _cmocka_run_group_tests(names[engine], tests, count, start,
                                          redis_end);
        at_work.is_running = false;
    }
    return failed;
}

int store_run_anywhere(const struct CMUnitTest *tests, size_t count)
{
    return store_run(tests, count, suite.begin, STORE_ANYWHERE);
}

/* --- Asking -------------------------------------------------------------- */

bool store_say(struct client *client, const char *method, const char *key,
               const char *fields, const char *body)
{
    const char *length = "";

    if (body)
        length = printed("Content-Length: %zu\r\n", strlen(body));
    return client_say(client,
                      "%s /kv/%s HTTP/1.1\r\nHost: localhost\r\n%s%s\r\n",
                      method, key, fields ? fields : "", length) &&
           (!body || client_send(client, body, strlen(body)));
}

struct reply *store_ask(struct client *client, const char *method,
                        const char *key, const char *fields, const char *body)
{
    store_say(client, method, key, fields, body);
    return strcmp(method, "HEAD") == 0 ? client_reply_to_head(client)
                                       : client_reply(client);
}

void store_await(const struct server *server)
{
    assert_true(eventually(store_ask_alone(server, "GET", "none", NULL, NULL)
                                   ->status == 404,
                           READY_MS));
}

struct reply *store_ask_alone(const struct server *server, const char *method,
                              const char *key, const char *fields,
                              const char *body)
{
    return store_ask(client_open(server), method, key, fields, body);
}

uint64_t store_put(struct client *client, const char *key, const char *body)
{
    struct reply *reply = store_ask(client, "PUT", key, NULL, body);

    if (reply->status != 201 && reply->status != 204)
        flunk("PUT %s: %u", key, reply->status);
    return reply_revision(reply);
}

void store_holds(struct client *client, const char *key, const char *body)
{
    struct reply *reply = store_ask(client, "GET", key, NULL, NULL);

    going_on("GET %s", key);
    expect_status(reply, 200);
    expect_body(reply, body);
    going_on("%s", "");
}

uint64_t reply_revision(const struct reply *reply)
{
    const char *tag = reply_field(reply, "ETag");
    char *end = NULL;
    uint64_t revision = tag && *tag == '"' ? strtoull(tag + 1, &end, 10) : 0;

    if (revision == 0 || strcmp(end, "\"") != 0)
        flunk("%u with the ETag %s", reply->status, tag ? tag : "missing");
    return revision;
}

void check_problem(const struct reply *reply, unsigned status, const char *part,
                   const char *file, int line)
{
    const char *type = reply_field(reply, "Content-Type");

    check_status(reply, status, file, line);
    if (!type || strcmp(type, "application/problem+json") != 0)
        flunk("%s:%d: %u is %s", file, line, status, type ? type : "no type");
    expect_json(reply->body, reply->body_len);
    if (!memmem(reply->body, reply->body_len, part, strlen(part)))
        flunk("%s:%d: it says %.*s", file, line, (int)reply->body_len,
              reply->body);
}

int store_command(const char *in, const char *out,
                  const char *const arguments[])
{
    int status = 0;
    pid_t pid = fork();

    if (pid == 0) {
        int from = open(in ? in : "/dev/null", O_RDONLY | O_CLOEXEC);
        int to = open(out ? out : "/dev/null",
                      O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

        if (from != -1 && to != -1 && null != -1 && dup2(from, 0) != -1 &&
            dup2(to, 1) != -1 && dup2(null, 2) != -1)
            execv(getenv("SPRINTD"), (char *const *)(uintptr_t)arguments);
        _exit(127);
    }
    if (pid == -1 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
        flunk("sprintd kv %s: status %x", arguments[2], (unsigned)status);
    return WEXITSTATUS(status);
}
