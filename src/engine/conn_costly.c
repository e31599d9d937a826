#include "engine/conn_costly.h"

#include "engine/conn.h"

bool conn_costly_put(struct conn_costly *costly, struct conn *conn)
{
    unsigned at = (costly->first + costly->count) % CONN_COSTLY_MAX;

    if (conn->is_put_off)
        return true;
    if (costly->count == CONN_COSTLY_MAX)
        return false;
    costly->notes[at] = (struct conn_costly_note){conn, conn->session.number};
    costly->count++;
    conn->is_put_off = true;
    return true;
}

struct conn *conn_costly_take(struct conn_costly *costly)
{
    while (costly->count > 0) {
        struct conn_costly_note note = costly->notes[costly->first];

        costly->first = (costly->first + 1) % CONN_COSTLY_MAX;
        costly->count--;
        if (note.conn->session.number != note.number ||
            note.conn->state == CONN_CLOSED)
            continue;
        note.conn->is_put_off = false;
        return note.conn;
    }
    return NULL;
}
