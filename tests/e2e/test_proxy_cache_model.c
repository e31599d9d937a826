/*
 * A cache against one that forgets nothing: behind the server is one that says
 * of each answer, by its number, what it was for and who might have it how
 * long; what clients get is then looked up there, and must have been allowed at
 * all.
 *
 * CACHE_REQUESTS says how many there are; 20,000, if nothing does. Half of them
 * are asked of a cache in memory, half of one on disk, which is small, so that
 * much goes and comes again.
 */
#include "beside.h"
#include "harness.h"

#include <netinet/in.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

enum {
    PATHS = 150,
    FOOS = 3, /* values of the field that some vary by */
    CLIENTS = 6,
    REQUESTS = 20000,
    REQUESTS_SANITIZED = 4000,
    LONG_BYTES = 70000,
    SLACK_MS = 1100, /* a cache counts seconds */
    SEED = 31
};

enum kind {
    FRESH,  /* max-age */
    SHARED, /* s-maxage, beside a longer max-age */
    NO_STORE,
    PRIVATE,
    NO_CACHE,  /* kept, but asked about each time */
    MEANWHILE, /* stale-while-revalidate */
    SILENT,    /* says nothing but how old it is: a tenth of that */
    KINDS
};

/* What an answer said. Its number is in its body. */
struct record {
    enum kind kind;
    unsigned path;
    unsigned foo;
    bool varies;
    unsigned version;
    int64_t lifetime_ms;
    int64_t made_ms;
    _Atomic int64_t validated_ms; /* by a 304 */
    unsigned delivered;           /* the test's */
};

struct world {
    atomic_uint count;
    atomic_uint versions[PATHS];
    uint64_t draws;
    struct record records[];
};

static struct world *world;
static unsigned records_max;
static uint64_t draws;
static int64_t posted_ms[PATHS]; /* when the answer to the last POST was here */
static unsigned posted[PATHS];   /* which version that has made */

static int64_t now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static uint64_t draw_of(uint64_t *count, uint64_t seed, uint64_t below)
{
    uint64_t word;

    seeded_fill(seed, 8 * (*count)++, (char *)&word, sizeof(word));
    return word % below;
}

static uint64_t draw(uint64_t below)
{
    return draw_of(&draws, SEED, below);
}

static bool is_long(unsigned path)
{
    return path % 16 == 0;
}

/* --- The server behind --------------------------------------------------- */

static const char *fields_of(struct record *record, char *out, size_t size)
{
    static const int64_t lifetimes_s[] = {0, 1, 2, 1000};
    int64_t lifetime_s = lifetimes_s[draw_of(&world->draws, SEED + 1, 4)];
    int64_t grace_s = 0;
    time_t modified = time(NULL) - 10 * lifetime_s;
    char date[40];
    struct tm tm;

    strftime(date, sizeof(date), "%a, %d %b %Y %H:%M:%S GMT",
             gmtime_r(&modified, &tm));
    switch (record->kind) {
    case FRESH:
        snprintf(out, size, "Cache-Control: max-age=%lld\r\n",
                 (long long)lifetime_s);
        break;
    case SHARED:
        snprintf(out, size, "Cache-Control: max-age=5000, s-maxage=%lld\r\n",
                 (long long)lifetime_s);
        break;
    case NO_STORE:
        snprintf(out, size, "Cache-Control: max-age=1000, no-store\r\n");
        break;
    case PRIVATE:
        snprintf(out, size, "Cache-Control: private, max-age=1000\r\n");
        break;
    case NO_CACHE:
        snprintf(out, size, "Cache-Control: no-cache, max-age=1000\r\n");
        break;
    case MEANWHILE:
        grace_s = 1;
        snprintf(out, size,
                 "Cache-Control: max-age=%lld, stale-while-revalidate=1\r\n",
                 (long long)lifetime_s);
        break;
    case SILENT:
    case KINDS:
        snprintf(out, size, "Last-Modified: %s\r\n", date);
        break;
    }
    record->lifetime_ms = 1000 * (lifetime_s + grace_s);
    return out;
}

/* The number in If-None-Match, or UINT32_MAX. */
static unsigned known_number(const char *head)
{
    const char *field = strstr(head, "If-None-Match: \"");

    return field ? (unsigned)strtoul(field + 16, NULL, 10) : UINT32_MAX;
}

static void say(int fd, const char *text, size_t len)
{
    while (len > 0) {
        ssize_t n = send(fd, text, len, MSG_NOSIGNAL);

        if (n <= 0)
            return;
        text += n;
        len -= (size_t)n;
    }
}

static void put_answer(int fd, unsigned path, unsigned foo)
{
    static char text[LONG_BYTES + 1000];
    unsigned number = atomic_load(&world->count);
    struct record *record = &world->records[number % records_max];
    char fields[200], body[100];
    int len, body_len;

    *record = (struct record){.kind = (enum kind)draw_of(&world->draws,
                                                         SEED + 1, KINDS),
                              .path = path,
                              .foo = foo,
                              .varies = path % 3 == 0,
                              .version = atomic_load(&world->versions[path]),
                              .made_ms = now()};
    fields_of(record, fields, sizeof(fields));
    atomic_store(&world->count, number + 1);
    body_len = snprintf(body, sizeof(body), "%u.", number);
    len = snprintf(text, sizeof(text),
                   "HTTP/1.1 200 OK\r\nConnection: close\r\n%s%sETag: "
                   "\"%u\"\r\nContent-Length: %d\r\n\r\n%s",
                   fields, record->varies ? "Vary: Foo\r\n" : "", number,
                   is_long(path) ? LONG_BYTES : body_len, body);
    if (is_long(path)) {
        memset(text + len, 'a' + (int)(number % 26),
               (size_t)(LONG_BYTES - body_len));
        len += LONG_BYTES - body_len;
    }
    say(fd, text, (size_t)len);
}

static void answer_one(int fd)
{
    char head[4096], text[200];
    ssize_t n = recv(fd, head, sizeof(head) - 1, 0);
    const char *field;
    unsigned path, foo = 0, known;

    if (n <= 0)
        return;
    head[n] = '\0';
    if (sscanf(head, "%*s /%u", &path) != 1 || path >= PATHS)
        return;
    if ((field = strstr(head, "Foo: ")))
        foo = (unsigned)strtoul(field + 5, NULL, 10);
    if (strncmp(head, "POST", 4) == 0) {
        n = snprintf(text, sizeof(text),
                     "HTTP/1.1 204 Done\r\nConnection: close\r\n"
                     "X-Version: %u\r\n\r\n",
                     atomic_fetch_add(&world->versions[path], 1) + 1);
        say(fd, text, (size_t)n);
        return;
    }
    known = known_number(head);
    if (known < atomic_load(&world->count)) {
        struct record *record = &world->records[known % records_max];

        if (record->path == path &&
            record->version == atomic_load(&world->versions[path]) &&
            (!record->varies || record->foo == foo)) {
            atomic_store(&record->validated_ms, now());
            n = snprintf(text, sizeof(text),
                         "HTTP/1.1 304 Same\r\nConnection: close\r\n"
                         "ETag: \"%u\"\r\n\r\n",
                         known);
            say(fd, text, (size_t)n);
            return;
        }
    }
    put_answer(fd, path, foo);
}

/* --- Clients ------------------------------------------------------------- */

struct asked {
    int fd;
    unsigned path;
    unsigned foo;
    bool posts;
    bool no_cache;
    int64_t at_ms;
};

static unsigned long from_cache;

static int connect_to(const struct server *server)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)server->port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)),
                     0);
    return fd;
}

static void ask(struct asked *asked)
{
    char text[300];
    int len;

    /* Some are asked for far more often than others. */
    asked->path = (unsigned)(draw(PATHS) * draw(PATHS) / PATHS);
    asked->foo = (unsigned)draw(FOOS);
    asked->posts = draw(60) == 0;
    asked->no_cache = !asked->posts && draw(30) == 0;
    len = snprintf(text, sizeof(text),
                   "%s /%u HTTP/1.1\r\nHost: a\r\nFoo: %u\r\n%s%s\r\n",
                   asked->posts ? "POST" : "GET", asked->path, asked->foo,
                   asked->no_cache ? "Cache-Control: no-cache\r\n" : "",
                   asked->posts ? "Content-Length: 0\r\n" : "");
    asked->at_ms = now();
    say(asked->fd, text, (size_t)len);
}

/* Reads one answer; its body, with a NUL behind it. */
static const char *hear(int fd, unsigned *status, size_t *body_len,
                        unsigned *version)
{
    static char text[LONG_BYTES + 4096];
    size_t len = 0, wanted = SIZE_MAX;
    const char *body = NULL, *field;

    while (len < wanted) {
        ssize_t n = recv(fd, text + len, sizeof(text) - 1 - len, 0);

        if (n <= 0)
            flunk("a connection has ended");
        len += (size_t)n;
        text[len] = '\0';
        if (body || !(body = strstr(text, "\r\n\r\n")))
            continue;
        body += 4;
        field = strstr(text, "\r\nContent-Length: ");
        *body_len = field && field < body ? strtoul(field + 18, NULL, 10) : 0;
        wanted = (size_t)(body - text) + *body_len;
    }
    field = strstr(text, "\r\nX-Version: ");
    *version = field && field < body ? (unsigned)strtoul(field + 13, NULL, 10)
                                     : 0;
    *status = (unsigned)strtoul(text + 9, NULL, 10);
    return body;
}

static void check_kept(const struct asked *asked, const struct record *record)
{
    int64_t validated_ms = atomic_load(&record->validated_ms);
    int64_t since_ms = validated_ms > record->made_ms ? validated_ms
                                                      : record->made_ms;
    int64_t age_ms = asked->at_ms - since_ms;

    from_cache++;
    if (record->kind == NO_STORE || record->kind == PRIVATE)
        flunk("what was not for all was kept");
    if ((record->kind == NO_CACHE || asked->no_cache) && age_ms > 0)
        flunk("it was not asked about");
    if (age_ms > record->lifetime_ms + SLACK_MS)
        flunk("it is %lld ms old, of %lld", (long long)age_ms,
              (long long)record->lifetime_ms);
    if (record->version < posted[asked->path] &&
        posted_ms[asked->path] < asked->at_ms)
        flunk("it was made invalid %lld ms before",
              (long long)(asked->at_ms - posted_ms[asked->path]));
}

static void check(const struct asked *asked, const char *body, size_t len)
{
    unsigned number = (unsigned)strtoul(body, NULL, 10);
    struct record *record = &world->records[number % records_max];

    going_on("answer %u, of kind %d, to %s/%u Foo: %u", number,
             (int)record->kind, asked->no_cache ? "no-cache " : "", asked->path,
             asked->foo);
    assert_true(number < atomic_load(&world->count));
    if (record->path != asked->path)
        flunk("it is /%u", record->path);
    if (record->varies && record->foo != asked->foo)
        flunk("it is for Foo: %u", record->foo);
    if (is_long(asked->path) &&
        (len != LONG_BYTES || body[len - 1] != (char)('a' + number % 26)))
        flunk("its body is another's");
    if (record->made_ms < asked->at_ms)
        check_kept(asked, record);
    if (++record->delivered > 1 &&
        (record->kind == NO_STORE || record->kind == PRIVATE))
        flunk("two got what was for one");
}

static void take_answer(const struct asked *asked)
{
    unsigned status, version;
    size_t len = 0;
    const char *body = hear(asked->fd, &status, &len, &version);

    assert_int_equal(status, asked->posts ? 204 : 200);
    if (!asked->posts) {
        check(asked, body, len);
    } else if (version > posted[asked->path]) {
        posted[asked->path] = version;
        posted_ms[asked->path] = now();
    }
}

static void run_model(const char *place, const char *size, unsigned requests)
{
    struct asked asked[CLIENTS];
    unsigned port;
    pid_t origin;
    struct server *server;

    records_max = requests + 1000;
    world = mmap(NULL, sizeof(*world) + records_max * sizeof(*world->records),
                 PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(world != MAP_FAILED);
    memset(posted_ms, 0, sizeof(posted_ms));
    memset(posted, 0, sizeof(posted));
    from_cache = 0;
    origin = serve_beside(&port, answer_one);
    server = START("--workers=2",
                   printed("--proxy=/=http://127.0.0.1:%u", port),
                   printed("--proxy-cache=%s", place),
                   printed("--proxy-cache-size=%s", size));
    for (unsigned i = 0; i < CLIENTS; i++)
        asked[i].fd = connect_to(server);
    for (unsigned done = 0; done < requests; done += CLIENTS) {
        for (unsigned i = 0; i < CLIENTS; i++)
            ask(&asked[i]);
        for (unsigned i = 0; i < CLIENTS; i++)
            take_answer(&asked[i]);
    }
    going_on("%s", "");
    for (unsigned i = 0; i < CLIENTS; i++)
        close(asked[i].fd);
    print_message("%u requests, %lu answers that were kept, %u by the origin\n",
                  requests, from_cache, atomic_load(&world->count));
    assert_true(from_cache > requests / 10);
    server_stop(server);
    kill(origin, SIGKILL);
    waitpid(origin, NULL, 0);
    munmap(world, sizeof(*world) + records_max * sizeof(*world->records));
}

static unsigned count_requests(void)
{
    const char *wished = getenv("CACHE_REQUESTS");

    return wished           ? (unsigned)strtoul(wished, NULL, 10)
           : is_sanitized() ? REQUESTS_SANITIZED
                            : REQUESTS;
}

TEST(nobody_gets_from_memory_what_was_not_allowed)
{
    run_model("memory", "1M", count_requests() / 2);
}

TEST(nobody_gets_from_a_disk_what_was_not_allowed)
{
    run_model(printed("%s/kept", folder()), "1M", count_requests() / 2);
}

E2E_SUITE(harness_begin);
