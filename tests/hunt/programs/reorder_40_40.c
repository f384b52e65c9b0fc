// Forty setters and forty checkers.
#define SETTERS 40
#define CHECKERS 40
#include "many_setters.h"
