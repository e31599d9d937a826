#include "engine/conn_idle.h"

#include <sys/socket.h>

#include "engine/conn.h"

/* Where all are busy, who knocks costs a look at all of them so often only. */
enum { IN_VAIN_MS = 100 };

static bool waits(const struct conn *conn)
{
    return conn->state == CONN_READING;
}

/* Behind those that have waited as long, or longer. */
static void note(struct conn_idle *idle, struct conn *conn)
{
    struct conn_idle_note *notes = idle->notes;
    size_t at = idle->count;

    if (at == CONN_IDLE_NOTED_MAX) {
        if (notes[--at].since_ms <= conn->since_ms)
            return;
    } else {
        idle->count++;
    }
    for (; at > 0 && notes[at - 1].since_ms > conn->since_ms; at--)
        notes[at] = notes[at - 1];
    notes[at] = (struct conn_idle_note){conn, conn->number, conn->since_ms};
}

static void look_at_all(struct conn_idle *idle, const struct list *open,
                        uint64_t now_ms)
{
    idle->count = idle->next = 0;
    if (idle->in_vain_ms != 0 && now_ms - idle->in_vain_ms < IN_VAIN_MS)
        return;
    for (const struct list *link = open->next; link != open;
         link = link->next) {
        struct conn *conn = OWNER_OF(link, struct conn, link);

        if (waits(conn))
            note(idle, conn);
    }
    idle->in_vain_ms = idle->count == 0 ? now_ms : 0;
}

bool conn_has_more(const struct conn *conn)
{
    char byte;

    return recv(conn->io.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 1;
}

static struct conn *take_noted(struct conn_idle *idle)
{
    while (idle->next < idle->count) {
        const struct conn_idle_note *noted = &idle->notes[idle->next++];
        struct conn *conn = noted->conn;

        if (conn->number == noted->number && waits(conn) &&
            conn->since_ms == noted->since_ms && !conn_has_more(conn))
            return conn;
    }
    return NULL;
}

struct conn *conn_idle_take(struct conn_idle *idle, const struct list *open,
                            uint64_t now_ms)
{
    struct conn *conn = take_noted(idle);

    if (conn)
        return conn;
    look_at_all(idle, open, now_ms);
    return take_noted(idle);
}
