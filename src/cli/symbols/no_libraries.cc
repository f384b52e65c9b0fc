// The weir command is linked statically, libc too, so that one build runs on every release of a
// distribution. elfutils would load a library that fetches debug information from the network, by
// dlopen(); a static program cannot load the libraries of another libc, and a report must not wait
// for somebody else's server (cli/symbols/modules.cc). So there is nothing to load here.
extern "C" {

void* dlopen(const char*, int) { return nullptr; }
void* dlsym(void*, const char*) { return nullptr; }
int dlclose(void*) { return 0; }
char* dlerror() {
  static char text[] = "the weir command loads no libraries";
  return text;
}
}
