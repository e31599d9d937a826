#include "process/spare_memory.h"

bool spare_memory_note(struct spare_memory *spare, uint64_t open)
{
    if (open > spare->height)
        spare->height = open;
    if (spare->height < SPARE_MEMORY_CROWD ||
        open > spare->height / SPARE_MEMORY_SHARE)
        return false;
    spare->height = open;
    return true;
}
