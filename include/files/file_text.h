/*
 * file_text - reads all bytes of one version of an open file, on a thread that
 * is no worker.
 *
 * Thread: any; no state.
 */
#ifndef FILES_FILE_TEXT_H
#define FILES_FILE_TEXT_H

#include <stdatomic.h>

#include "codec/codec.h"
#include "files/file_stamp.h"

/* Reads stamp.bytes of the file into memory of codec_meter_allocate(). Returns
 * NULL when the file has another stamp, before or after the reading; when it
 * cannot be read; when there is no memory; or when `stops` has become true. */
MUST_USE char *file_text_read(int fd, const struct file_stamp *stamp,
                              const atomic_bool *stops,
                              struct codec_meter *meter);

#endif
