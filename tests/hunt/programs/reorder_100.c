// 99 setters and one checker.
#define SETTERS 99
#define CHECKERS 1
#include "many_setters.h"
