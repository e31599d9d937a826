#include "process/notify.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/log.h"
#include "base/now.h"
#include "base/units.h"

enum { MESSAGE_MAX = 512 };

/* Returns the decimal number in `text`, or 0 if `text` is no decimal number. */
static uint64_t read_number(const char *text)
{
    unsigned long long number;
    char *end;

    if (!text || !byte_is_digit(*text))
        return 0;
    errno = 0;
    number = strtoull(text, &end, 10);
    return errno == 0 && *end == '\0' ? number : 0;
}

/* Reads an address from `text` into *to: "/path", or "@name" in the abstract
 * namespace. Returns the address's length, or 0 if `text` has another form or
 * is too long. */
static socklen_t read_address(struct sockaddr_un *to, const char *text)
{
    size_t len = strlen(text);

    *to = (struct sockaddr_un){.sun_family = AF_UNIX};
    if ((*text != '/' && *text != '@') || len < 2 ||
        len >= sizeof(to->sun_path))
        return 0;
    memcpy(to->sun_path, text, len);
    if (*text == '@')
        to->sun_path[0] = '\0';
    /* The length includes the NUL behind a path, and nothing behind an abstract
     * name. */
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len +
                       (*text == '/'));
}

static int connect_to(const char *where)
{
    struct sockaddr_un to;
    socklen_t len = read_address(&to, where);
    int fd;

    if (len == 0) {
        log_notice("NOTIFY_SOCKET '%s': neither /PATH nor @NAME", where);
        return -1;
    }
    fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd != -1 && connect(fd, (const struct sockaddr *)&to, len) == 0)
        return fd;
    log_notice("NOTIFY_SOCKET '%s': %s", where, strerror(errno));
    if (fd != -1)
        close(fd);
    return -1;
}

void notify_open(struct notify *notify)
{
    const char *where = getenv("NOTIFY_SOCKET");
    const char *watched = getenv("WATCHDOG_PID");
    uint64_t period_ms = read_number(getenv("WATCHDOG_USEC")) / US_PER_MS;

    *notify = (struct notify){.fd = -1};
    if (where && *where != '\0')
        notify->fd = connect_to(where);
    notify->is_abstract = where && *where == '@';
    if (notify->fd != -1 &&
        (!watched || read_number(watched) == (uint64_t)getpid()))
        notify->watchdog_ms = period_ms;
    unsetenv("NOTIFY_SOCKET");
    unsetenv("WATCHDOG_USEC");
    unsetenv("WATCHDOG_PID");
}

void notify_close(struct notify *notify)
{
    if (notify->fd != -1)
        close(notify->fd);
    *notify = (struct notify){.fd = -1};
}

__attribute__((format(printf, 2, 3))) static void tell(
    const struct notify *notify, const char *format, ...)
{
    char message[MESSAGE_MAX];
    va_list args;
    size_t len;
    int n;

    if (notify->fd == -1)
        return;
    va_start(args, format);
    n = vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    if (n <= 0)
        return;
    len = (size_t)n < sizeof(message) ? (size_t)n : sizeof(message) - 1;
    /* The message is lost if the manager restarts or reads too slowly. */
    if (send(notify->fd, message, len, MSG_NOSIGNAL) == -1)
        log_debug("the service manager: %s", strerror(errno));
}

/* Returns the length of the first line of `text`. Further lines must not be
 * sent: the manager would take them for other messages. */
static int line_of(const char *text)
{
    size_t len = strcspn(text, "\n");

    return len < MESSAGE_MAX / 2 ? (int)len : MESSAGE_MAX / 2;
}

void notify_ready(const struct notify *notify, const char *status)
{
    tell(notify, "READY=1\nMAINPID=%ld\nSTATUS=%.*s", (long)getpid(),
         line_of(status), status);
}

void notify_reloading(const struct notify *notify)
{
    /* Newer managers accept the end of a reload only if they were told when
     * the reload began. */
    tell(notify, "RELOADING=1\nMONOTONIC_USEC=%" PRIu64,
         now_read_ns() / NS_PER_US);
}

void notify_stopping(const struct notify *notify, const char *status)
{
    tell(notify, "STOPPING=1\nSTATUS=%.*s", line_of(status), status);
}

void notify_watchdog(const struct notify *notify)
{
    tell(notify, "WATCHDOG=1");
}

void notify_main_pid(const struct notify *notify, pid_t pid)
{
    tell(notify, "MAINPID=%ld", (long)pid);
}
