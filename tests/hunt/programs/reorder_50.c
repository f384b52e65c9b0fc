// 49 setters and one checker.
#define SETTERS 49
#define CHECKERS 1
#include "many_setters.h"
