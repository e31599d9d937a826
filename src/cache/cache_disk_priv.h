/*
 * cache_disk_priv - what the files of the disk share. Each file calls only
 * those below it in this list:
 *
 *   cache_disk.c  writes, reads, changes and removes entries
 *   cache_scan.c  finds the entries that were there
 */
#ifndef CACHE_CACHE_DISK_PRIV_H
#define CACHE_CACHE_DISK_PRIV_H

#include <dirent.h>

#include "cache/cache_disk.h"

/* How long a job sleeps before it tries again to lock the folder, or to read a
 * file for which memory or descriptors were short. */
enum { CACHE_DISK_PAUSE_US = 20000 };

struct cache_disk {
    struct cache_folder folder;
    struct cache_queue *queue;
    struct cache_spooling spooling;
    struct bytes surrogate;
    const struct cache_disk_events *events;
    void *context;
    atomic_bool leaves;       /* the folder is left to another process */
    _Atomic uint64_t pending; /* bytes of bodies in memory, to be written */
    _Atomic uint64_t written;
    _Atomic uint64_t refused;
    _Atomic uint64_t damaged;
    struct cache_job lock; /* job that locks or leaves the folder */
    struct cache_job scan;
    /* For the queue's thread alone: */
    DIR *names;            /* the folder while its files are looked at */
    struct dirent *unread; /* entry of `names` whose file could not be read */
    char *buffer;          /* room for one block of a file */
    uint64_t damaged_said; /* what the log last said of `damaged` */
};

/* --- cache_scan.c -------------------------------------------------------- */

/* Begins to look at the folder's files, unless that is being done already. */
void cache_scan_begin(struct cache_disk *disk);

/* Runs disk->scan, which looks at the folder's files. */
void cache_scan_run(struct cache_job *job);

#endif
