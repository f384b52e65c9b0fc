// Where the libraries of an installed Weir lie, relative to the folder of its bin. Weir may be
// moved as a whole, so the programs know no path of the installation.
#pragma once

#ifndef WEIR_LIBDIR
#define WEIR_LIBDIR "lib"  // the build says it (CMAKE_INSTALL_LIBDIR)
#endif

namespace weir {

// First where this build installs them (an absolute path stays what it is), then the usual places.
// A build folder has lib.
inline constexpr const char* kLibraryFolders[] = {WEIR_LIBDIR, "lib", "lib64",
                                                  "lib/x86_64-linux-gnu"};

}  // namespace weir
