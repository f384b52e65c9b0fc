// libweir-dsm.so is the archive of its parts, whole; a shared library wants a source of its own.
#include "weir/dsm.h"
