/* version - which sprintd this is. */
#ifndef SERVER_VERSION_H
#define SERVER_VERSION_H

#define SPRINTD_VERSION "0.1.0"

#endif
