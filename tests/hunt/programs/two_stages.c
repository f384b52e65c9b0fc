// One writer and one reader.
#define WRITERS 1
#include "stages.h"
