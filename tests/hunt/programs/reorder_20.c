// 19 setters and one checker.
#define SETTERS 19
#define CHECKERS 1
#include "many_setters.h"
