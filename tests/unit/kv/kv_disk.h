/*
 * kv_disk - a disk that the test has in its hands, and many writes that wait
 * for it. Needs `link: -Wl,--wrap=fstatvfs`.
 */
#ifndef UNIT_KV_DISK_H
#define UNIT_KV_DISK_H

#include "unit/kv/store_fixture.h"

#include <pthread.h>

enum { WAITING = 200, LARGE_BYTES = 100000 };

/* --- LMDB's system calls: a disk that the test has in its hands ----------- */

extern atomic_int sync_errno;
extern atomic_int write_errno;   /* of every write; 0: none */
extern atomic_int meta_errno;    /* of those by which a commit counts */
extern _Atomic off_t disk_bytes; /* what a file may have; 0: no limit */
extern atomic_bool writes_short; /* what does not fit is cut off, not refused */
extern atomic_int short_writes;  /* so many are cut off that would fit */

void set_gate(bool is_open);
unsigned count_syncs(void);
void wait_for_syncs(unsigned count);
int heal_and_tear_down(void **state);

/* --- Writes that wait ----------------------------------------------------- */

extern struct asked waiting[WAITING];
extern char names[WAITING][32];

void ask_all(size_t count_of, struct bytes value);

/* How many of them had that outcome. */
size_t wait_for_all(size_t count_of, enum kv_outcome outcome);

#endif
