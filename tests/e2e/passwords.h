/*
 * passwords - files of users with hashed passwords, and what clients send.
 *
 * Thread: the test's.
 */
#ifndef E2E_PASSWORDS_H
#define E2E_PASSWORDS_H

/* "user:hash\n"; kind is "$2y$", "$5$" or "$6$"; cost as that has it, 0 for
 * its least. Freed after the test, as is all here. */
const char *password_line(const char *user, const char *password,
                          const char *kind, unsigned long cost);

/* "Authorization: Basic ...\r\n". */
const char *credentials(const char *user, const char *password);

#endif
