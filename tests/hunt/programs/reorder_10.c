// 9 setters and one checker.
#define SETTERS 9
#define CHECKERS 1
#include "many_setters.h"
