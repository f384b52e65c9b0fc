// weir-cc, weir-c++, and the assembler that they give to compilers: one program, by the name that
// it is called.
//
//   weir-cc [options of gcc] FILE ...     static variables have pages of their own, so that `weir
//                                         check` knows them one by one
//   weir-cc --weir-objects FILE ...       which these are in a program or library, and what memory
//                                         they take

#include <string.h>

#include <string_view>

#include "compiler/driver.h"
#include "compiler/listing.h"

int main(int count, char** words) {
  std::string_view name = count ? words[0] : "weir-cc";
  name = name.substr(name.rfind('/') + 1);
  if (name == "as") return weir::cc::assemble(count, words);
  if (count > 1 && !strcmp(words[1], "--weir-objects"))
    return weir::cc::list_objects(count - 2, words + 2);
  return weir::cc::compile(name == "weir-c++", count, words);
}
