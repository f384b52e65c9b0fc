// Three setters and one checker (SCTBench's reorder).
#define SETTERS 3
#define CHECKERS 1
#include "many_setters.h"
