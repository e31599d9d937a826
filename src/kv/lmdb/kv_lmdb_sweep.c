#include <lmdb.h>

#include "kv/lmdb/kv_lmdb_priv.h"

int kv_change_sweep(struct kv_change *change, size_t limit, size_t *swept_out,
                    bool *some_left_out)
{
    MDB_cursor *cursor;
    MDB_val when;
    MDB_val key;
    int rc = mdb_cursor_open(change->txn, change->env->expiry, &cursor);

    *swept_out = 0;
    if (rc != 0)
        return rc;
    for (;;) {
        struct bytes expired;
        int64_t expires_ms;

        rc = mdb_cursor_get(cursor, &when, &key, MDB_FIRST);
        *some_left_out = rc != MDB_NOTFOUND;
        if (rc != 0 || *swept_out == limit)
            break;
        expires_ms = when.mv_size == KV_NUMBER_BYTES
                         ? (int64_t)kv_number_read(when.mv_data)
                         : 0; /* an entry that is not ours counts as expired */
        if (expires_ms > change->now_ms)
            break;
        expired = (struct bytes){key.mv_data, key.mv_size};
        rc = kv_change_expire(change, expired, expires_ms);
        if (rc == 0)
            rc = mdb_cursor_del(cursor, 0);
        if (rc != 0)
            break;
        ++*swept_out;
    }
    mdb_cursor_close(cursor);
    return rc == MDB_NOTFOUND ? 0 : rc;
}
