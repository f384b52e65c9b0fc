// Glyphs are made when they are first asked for. Two threads make the same one, and the one that
// comes later frees what the other has handed out.
#include "planted.h"

struct Glyph {
  int width;
};
static struct Glyph* volatile glyphs[2];

static const struct Glyph* glyph(int which) {
  FIX(lock();)
  if (!glyphs[which]) {
    struct Glyph* made = malloc(sizeof *made);
    made->width = 10 + which;
    struct Glyph* old = glyphs[which];
    glyphs[which] = made;
    free(old);
  }
  const struct Glyph* found = glyphs[which];
  FIX(unlock();)
  return found;
}

static void* draw(void* unused) {
  for (int i = 0; i < 2; i++) REQUIRE(glyph(i)->width == 10 + i);
  return unused;
}

int main(void) {
  RUN(draw, draw);
  return 0;
}
