#include "engine/conn_idle.h"

#include "engine/conn.h"

/* When a search finds all connections busy, no other search begins within this
 * time. */
enum { IN_VAIN_MS = 100 };

/* Adds `conn` to the notes, the longest wait first. When all notes are used,
 * the connection with the shortest wait is left out. */
static void note(struct conn_idle *idle, struct conn *conn)
{
    struct conn_idle_note *notes = idle->notes;
    size_t at = idle->count;

    if (at == CONN_IDLE_NOTED_MAX) {
        if (notes[--at].since_ms <= conn->session.since_ms)
            return;
    } else {
        idle->count++;
    }
    for (; at > 0 && notes[at - 1].since_ms > conn->session.since_ms; at--)
        notes[at] = notes[at - 1];
    notes[at] = (struct conn_idle_note){conn, conn->session.number,
                                        conn->session.since_ms};
}

static void look_at_all(struct conn_idle *idle, const struct list *open,
                        uint64_t now_ms)
{
    idle->count = idle->next = 0;
    if (idle->in_vain_ms != 0 && now_ms - idle->in_vain_ms < IN_VAIN_MS)
        return;
    for (const struct list *list_node = open->next; list_node != open;
         list_node = list_node->next) {
        struct conn *conn = OWNER_OF(list_node, struct conn, list_node);

        if (conn->waits)
            note(idle, conn);
    }
    idle->in_vain_ms = idle->count == 0 ? now_ms : 0;
}

static struct conn *take_noted(struct conn_idle *idle)
{
    while (idle->next < idle->count) {
        const struct conn_idle_note *noted = &idle->notes[idle->next++];
        struct conn *conn = noted->conn;

        if (conn->session.number == noted->number && conn->waits &&
            conn->session.since_ms == noted->since_ms &&
            !conn->session.holds_input &&
            !transport_has_bytes(&conn->session.transport))
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
