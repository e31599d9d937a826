/*
 * sprintd-acme - the program beside the server that obtains its certificates,
 * so that the server neither connects to authorities nor has an account's key.
 */

#include "acme/acme_command.h"

int main(int argc, char **argv)
{
    return acme_command_run(argc, argv);
}
