// 49 writers and one reader.
#define WRITERS 49
#include "stages.h"
