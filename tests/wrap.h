/*
 * wrap - plays a function of the system, or of the project, in a test program.
 * A comment of that program tells Makefile so: "link: -Wl,--wrap=bind".
 *
 *   WRAP(int, bind, int fd, const struct sockaddr *address, socklen_t len)
 *   {
 *       return fails ? -1 : __real_bind(fd, address, len);
 *   }
 */
#ifndef TESTS_WRAP_H
#define TESTS_WRAP_H

#define WRAP(type, name, ...)        \
    type __real_##name(__VA_ARGS__); \
    type __wrap_##name(__VA_ARGS__); \
    type __wrap_##name(__VA_ARGS__)

#endif
