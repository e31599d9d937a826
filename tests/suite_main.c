/*
 * The main() of every test program that has none.
 */
#include "suite.h"

int main(void)
{
    return suite_run();
}
