/*
 * tree - a folder and all that is in it.
 */
#ifndef TESTS_TREE_H
#define TESTS_TREE_H

/* Removes it; links are not followed. 0 or -1. */
int tree_remove(const char *path);

#endif
