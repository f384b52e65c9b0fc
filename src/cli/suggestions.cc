#include "cli/suggestions.h"

#include "cli/failure.h"

namespace weir::cli {

void refuse_suggestions() {
  throw Failure(kWeirFailed, "check --suggest: this build does not collect what suggestions are made of; leave the option out");
}

void print_suggestions(const FindingsReader&, const std::string&) {}

}  // namespace weir::cli
