#include "harness.h"

#include <signal.h>
#include <sys/stat.h>
#include <time.h>

#include "client.h"
#include "server_priv.h"
#include "tree.h"

struct scrap {
    struct scrap *next;
    max_align_t data[];
};

static struct {
    char folder[64];
    char site[80];
    int site_fd;
    struct scrap *scraps;
    char context[256];
} here = {.site_fd = -1};

/* --- Saying what went wrong ---------------------------------------------- */

void going_on(const char *format, ...)
{
    va_list list;

    va_start(list, format);
    vsnprintf(here.context, sizeof(here.context), format, list);
    va_end(list);
}

void flunk(const char *format, ...)
{
    char text[2048];
    va_list list;

    va_start(list, format);
    vsnprintf(text, sizeof(text), format, list);
    va_end(list);
    if (here.context[0])
        print_error("in %s:\n", here.context);
    print_error("%s\n", text);
    fail();
    abort(); /* not reached */
}

/* --- Memory and time ----------------------------------------------------- */

void *scratch(size_t len)
{
    struct scrap *scrap = malloc(sizeof(*scrap) + len);

    if (!scrap)
        flunk("no memory");
    scrap->next = here.scraps;
    here.scraps = scrap;
    return scrap->data;
}

char *printed(const char *format, ...)
{
    va_list list;
    char *made;
    char *kept;
    int len;

    va_start(list, format);
    len = vasprintf(&made, format, list);
    va_end(list);
    if (len < 0)
        flunk("no memory");
    kept = scratch((size_t)len + 1);
    memcpy(kept, made, (size_t)len + 1);
    free(made);
    return kept;
}

static void free_scraps(void)
{
    while (here.scraps) {
        struct scrap *next = here.scraps->next;

        free(here.scraps);
        here.scraps = next;
    }
}

uint64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

bool is_sanitized(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return true;
#else
    return false;
#endif
}

unsigned slowness(void)
{
    const char *text = getenv("TEST_SLOW");
    unsigned long factor = text ? strtoul(text, NULL, 10) : 0;

    if (factor == 0)
        factor = is_sanitized() ? 5 : 1;
    return factor < 1000 ? (unsigned)factor : 1000;
}

uint64_t patience(unsigned ms)
{
    return (uint64_t)ms * slowness();
}

void pause_ms(unsigned ms)
{
    struct timespec time = {ms / 1000, (long)(ms % 1000) * 1000000};

    while (nanosleep(&time, &time) == -1 && errno == EINTR)
        continue;
}

/* --- The folder ---------------------------------------------------------- */

const char *folder(void)
{
    return here.folder;
}

const char *site(void)
{
    return here.site;
}

int site_open(void)
{
    return here.site_fd;
}

static void remove_folder(void)
{
    if (here.site_fd != -1)
        close(here.site_fd);
    here.site_fd = -1;
    if (here.folder[0])
        tree_remove(here.folder);
    here.folder[0] = '\0';
}

/* Thousands of connections need as many descriptors. */
static void raise_descriptors(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

/* When it takes too long somebody ends it: not without sweeping. Not quite
 * what a handler may do, but the last thing this one does. */
static void on_signal(int number)
{
    remove_folder();
    _exit(128 + number);
}

static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal};

    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
}

static bool make_folder(const char *parent)
{
    snprintf(here.folder, sizeof(here.folder), "%s/sprintd-e2e.XXXXXX", parent);
    if (mkdtemp(here.folder))
        return true;
    here.folder[0] = '\0';
    return false;
}

static int begin_in(const char *parent)
{
    raise_descriptors();
    if (!make_folder(parent) && !make_folder("/tmp"))
        return -1;
    atexit(remove_folder);
    catch_signals();
    snprintf(here.site, sizeof(here.site), "%s/site", here.folder);
    /* Somebody else than who made it shall be able to look. */
    if (chmod(here.folder, 0755) == -1 || mkdir(here.site, 0755) == -1)
        return -1;
    here.site_fd = open(here.site, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return here.site_fd == -1 ? -1 : servers_begin();
}

int harness_begin(void **state)
{
    (void)state;
    return begin_in("/tmp");
}

int harness_begin_in_memory(void **state)
{
    (void)state;
    return begin_in("/dev/shm");
}

void harness_keep(void)
{
    servers_keep();
    here.context[0] = '\0';
}

int harness_begin_with(void **state, void (*make)(void))
{
    if (harness_begin(state) != 0)
        return -1;
    site_text("canary", "canary\n");
    if (make)
        make();
    harness_keep();
    return 0;
}

int harness_begin_site(void **state)
{
    return harness_begin_with(state, NULL);
}

int harness_after_test(void **state)
{
    int result;

    (void)state;
    clients_close();
    here.context[0] = '\0';
    result = servers_end(false);
    free_scraps();
    return result;
}

int harness_end(void **state)
{
    int result;

    (void)state;
    clients_close();
    result = servers_end(true);
    free_scraps();
    remove_folder();
    return result;
}
