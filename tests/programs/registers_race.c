// As registers_kept, while all threads write different low bytes of one word: to publish such a
// word the runtime compares three values of it, and must not do that in the program's vector
// registers.
#define RACE
#include "registers_kept.c"
