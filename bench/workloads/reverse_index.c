// Question: what do very many short critical sections cost that each write a few pages?
// Pattern:  Phoenix's reverse_index. Main walks a tree of HTML files; each thread reads its files
//           and looks for links. Every link found is put into one index that all share, sorted by
//           link, under one lock: a search, an entry with the file and the place (allocated inside,
//           as the names are), and for a link that is new the part of the table behind it moved up.
//           So the sections are short, there is one for each link, and they write where others have
//           just written.
// Command:  reverse_index --threads N --input FOLDER (generate html)
// Figure:   wall time of the program.
#include <dirent.h>

#include "input.h"

struct Place {
  int file;
  long offset;
};

struct Link {
  char* name;
  struct Place* places;
  long count, room;
};

struct Index {
  struct Link** links;  // by name
  long count, room;
};

static pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;
static struct Index g_index;  // Guarded by: g_lock
static char** g_paths;
static long g_files, g_threads;

// An array with room for one more.
static void* grown(void* array, long count, long* room, size_t size) {
  if (count < *room) return array;
  *room = *room ? 2 * *room : 4;
  array = realloc(array, (size_t)*room * size);
  must(!array, "realloc");
  return array;
}

// The first link that is not before `name`.
static long search(const char* name) {
  long first = 0, limit = g_index.count;
  while (first < limit) {
    const long middle = (first + limit) / 2;
    if (strcmp(g_index.links[middle]->name, name) < 0) first = middle + 1;
    else limit = middle;
  }
  return first;
}

static void insert(const char* name, struct Place place) {
  const long at = search(name);
  if (at == g_index.count || strcmp(g_index.links[at]->name, name)) {
    g_index.links = grown(g_index.links, g_index.count, &g_index.room, sizeof *g_index.links);
    memmove(g_index.links + at + 1, g_index.links + at,
            (size_t)(g_index.count - at) * sizeof *g_index.links);
    struct Link* link = calloc(1, sizeof *link);
    must(!link || !(link->name = strdup(name)), "malloc");
    g_index.links[at] = link;
    ++g_index.count;
  }
  struct Link* link = g_index.links[at];
  link->places = grown(link->places, link->count, &link->room, sizeof *link->places);
  link->places[link->count++] = place;
}

static void insert_locked(const char* name, struct Place place) {
  pthread_mutex_lock(&g_lock);
  insert(name, place);
  pthread_mutex_unlock(&g_lock);
}

// Calls `found` for each href="NAME" of the file.
static void find_links(int number, void (*found)(const char* name, struct Place place)) {
  static const char kMark[] = "href=\"";
  const long mark = sizeof kMark - 1;
  struct File file = read_file(g_paths[number]);
  long matched = 0;
  for (long i = 0; i < (long)file.size; ++i) {
    matched = file.bytes[i] == kMark[matched] ? matched + 1 : file.bytes[i] == kMark[0];
    if (matched < mark) continue;
    char name[256];
    long length = 0;
    const long start = i + 1;
    while (start + length < (long)file.size && length < (long)sizeof name - 1 &&
           file.bytes[start + length] != '"') {
      name[length] = file.bytes[start + length];
      ++length;
    }
    name[length] = 0;
    found(name, (struct Place){number, start});
    i += length, matched = 0;
  }
  free(file.bytes);
}

static void* index_band(void* number) {
  for (long i = first_of(g_files, (long)number, g_threads);
       i < first_of(g_files, (long)number + 1, g_threads); ++i)
    find_links((int)i, insert_locked);
  return NULL;
}

// Depth first, by name.
static void walk(const char* path) {
  static long room;
  struct dirent** entries;
  const int count = scandir(path, &entries, NULL, alphasort);
  must(count < 0, path);
  for (int i = 0; i < count; ++i) {
    char* inside;
    must(asprintf(&inside, "%s/%s", path, entries[i]->d_name) < 0, "asprintf");
    struct stat status;
    must(stat(inside, &status), inside);
    if (S_ISDIR(status.st_mode)) {
      if (entries[i]->d_name[0] != '.') walk(inside);
      free(inside);
    } else {
      g_paths = grown(g_paths, g_files, &room, sizeof *g_paths);
      g_paths[g_files++] = inside;
    }
    free(entries[i]);
  }
  free(entries);
}

static int by_place(const void* one, const void* two) {
  const struct Place *a = one, *b = two;
  if (a->file != b->file) return a->file - b->file;
  return (a->offset > b->offset) - (a->offset < b->offset);
}

static void print(void) {
  long places = 0;
  const struct Link* most = NULL;
  uint64_t hash = kHashStart;
  for (long i = 0; i < g_index.count; ++i) {
    const struct Link* link = g_index.links[i];
    qsort(link->places, (size_t)link->count, sizeof *link->places, by_place);
    hash = hash_bytes(hash, link->name, strlen(link->name));
    for (long k = 0; k < link->count; ++k) {
      hash = hash_bytes(hash, &link->places[k].file, sizeof link->places[k].file);
      hash = hash_bytes(hash, &link->places[k].offset, sizeof link->places[k].offset);
    }
    places += link->count;
    if (!most || link->count > most->count) most = link;
  }
  printf("files %ld, links %ld, in places %ld, all %016lx\n", g_files, g_index.count, places, hash);
  if (most) printf("%s %ld\n", most->name, most->count);
}

int main(int argc, char** argv) {
  const struct Options options = parse_options(argc, argv, NULL);
  must(!options.input, "without --input FOLDER (made by generate) this program");
  g_threads = options.threads;
  walk(options.input);
  if (options.sequential)
    for (long i = 0; i < g_files; ++i) find_links((int)i, insert);
  else run_threads(g_threads, index_band);
  print();
  return 0;
}
