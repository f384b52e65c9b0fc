// 99 writers and one reader, who has to come between the stages of the first.
#define WRITERS 99
#include "stages.h"
