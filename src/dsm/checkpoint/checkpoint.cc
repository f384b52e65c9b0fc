// A checkpoint: behind a barrier every node knows of all writes. Each home gets the bytes of its
// units and writes them; each node has a file of its own. Behind another barrier node 0 writes the
// directory, which has the sizes and checksums of these files, and makes the generation the current
// one. So the files hold each unit once, as of the barrier.
//
// A restart: node 0 reads the directory and sends it to every node. Then some node reads each file,
// and writes the units as a program writes them. So nothing depends on which node wrote the
// checkpoint, neither the number of nodes nor where homes are, and protocols know of nothing. It
// costs twins and notices of all units, once.
//
// Invariants:
//   1. All nodes return the same result: what each did goes round in a barrier after each step, and
//      the error that counts is that of the first node that had one. (not checkable: what the
//      others did is known by their answers only)
//   2. Memory that is being written to a file stays as it is without the mutex: homes have all that
//      was written, and a thread that would write more waits at the next barrier. (not checkable:
//      what threads write between two faults nobody sees)
//   3. No message names a unit before all nodes have its block: a barrier lies between. (checked in
//      page)
// Not saved: locks, which nobody holds; conditions and semaphores; tapes.
#include "dsm/checkpoint/checkpoint.h"

#include <errno.h>
#include <string.h>

#include <algorithm>

#include "dsm/base/failure.h"
#include "dsm/checkpoint/files.h"
#include "dsm/node/this_node.h"
#include "dsm/protocol/lrc.h"
#include "dsm/protocol/sc.h"

namespace weir::dsm {

namespace {

// What a node says after a step.
struct Step {
  int32_t error = 0;
  uint32_t generation = 0;  // of node 0
  FileSum file;
};

std::vector<Step> exchange(const Step& mine, Thread& thread, std::unique_lock<std::mutex>& held) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(&mine);
  const auto all =
      thread.node.barrier.arrive(kCheckpoint, {bytes, bytes + sizeof mine}, true, thread, held);
  std::vector<Step> steps;
  for (const auto& one : *all) {
    Step step;
    if (one.size() != sizeof step) fail("a checkpoint, while another node restarts from one");
    memcpy(&step, one.data(), sizeof step);
    steps.push_back(step);
  }
  return steps;
}

int first_error(const std::vector<Step>& steps) {
  for (const Step& step : steps) {
    if (step.error) return step.error;
  }
  return 0;
}

// Units that this node is the home of, current here. Lets go of the mutex meanwhile.
std::vector<Page*> homed_units(Thread& thread, std::unique_lock<std::mutex>& held) {
  Node& node = thread.node;
  static_cast<LrcProtocol&>(node.protocol(WEIR_DSM_LRC))
      .make_homes_current(node.barrier.everybody_knows(), thread, held);
  node.changed.notify_all();
  std::vector<Page*> units;
  node.memory.each_page([&](Page& page) {
    if (page.home == node.me() && !node.memory.is_freed(page.id)) units.push_back(&page);
  });
  std::sort(units.begin(), units.end(), [](const Page* a, const Page* b) { return a->id < b->id; });
  const auto untouched = [&](Page* page) {
    return page->protocol == &node.protocol(WEIR_DSM_SC) && !static_cast<ScPage*>(page)->started;
  };
  std::erase_if(units, untouched);
  for (Page* page : units) {
    if (page->protocol == &node.protocol(WEIR_DSM_SC)) {
      node.fetch(*page, false, thread, held);
    } else if (page->protocol == &node.protocol(WEIR_DSM_HLRC)) {
      while (!static_cast<LazyPage*>(page)->valid(node.me()))
        node.changed.wait(held);  // its diffs are on their way
    }
  }
  return units;
}

bool is_zero(const uint8_t* bytes, uint64_t size) {
  return size == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, size - 1) == 0);
}

// Node 0, when all units are on disk.
int write_directory(const std::string& directory, uint32_t generation,
                    const std::vector<Step>& steps, const Message& message) {
  DirectoryHeader header;
  Message content;
  memcpy(&header, message.body.data(), sizeof header);
  content.put(header);
  for (const Step& step : steps) content.put(step.file);
  content.put_bytes(message.body.data() + sizeof header, message.body.size() - sizeof header);
  const std::string path = generation_path(directory, generation);
  if (const int error = write_whole(path + "/directory", content.body.data(), content.body.size()))
    return error;
  if (const int error = sync_directory(path)) return error;
  return write_current(directory,
                       {generation, checksum(0, content.body.data(), content.body.size())});
}

}  // namespace

int write_checkpoint(const char* directory, void* root, Thread& thread) {
  Node& node = thread.node;
  if (!thread.locks.empty())
    fail("weir_dsm_checkpoint while lock %u is held", thread.locks.front());
  const bool leads = node.me() == 0;
  Step mine;
  Current before;
  if (leads) {
    mine.error = node.memory.segment.contains(root) ? read_current(directory, before) : EINVAL;
    mine.generation = before.generation + 1;
    if (!mine.error) {
      remove_others(directory, before.generation);  // of jobs that ended while they wrote them
      mine.error = make_generation(directory, mine.generation);
    }
  }
  std::unique_lock<std::mutex> held(node.mutex);
  std::vector<Step> steps = exchange(mine, thread, held);
  if (const int error = first_error(steps)) return error;
  const uint32_t generation = steps[0].generation;

  const std::vector<Page*> units = homed_units(thread, held);
  held.unlock();
  UnitWriter writer(generation_path(directory, generation) + "/node-" + std::to_string(node.me()),
                    node.me(), generation);
  for (const Page* page : units) {
    if (!is_zero(page->open, page->size)) writer.add(page->id, page->open, page->size);
  }
  mine.error = writer.finish(mine.file);
  held.lock();
  steps = exchange(mine, thread, held);

  mine.error = first_error(steps);
  if (leads) {
    Message content;
    DirectoryHeader header;
    header.nodes = node.nodes();
    header.address = node.settings.address;
    header.root =
        static_cast<uint64_t>(static_cast<uint8_t*>(root) - node.memory.segment.program());
    content.put(header);
    node.memory.put_all(content, thread, held);
    held.unlock();
    if (!mine.error) mine.error = write_directory(directory, generation, steps, content);
    // After an error of the very last step both stand.
    Current now;
    if (read_current(directory, now) == 0) {
      if (now.generation != generation) remove_generation(directory, generation);
      if (!mine.error) remove_others(directory, generation);
    }
    held.lock();
  }
  return first_error(exchange(mine, thread, held));
}

// --- Restart

namespace {

// Node 0: the number of the generation, and its directory; empty: there is none.
std::vector<uint8_t> read_directory(const std::string& directory) {
  Current current;
  if (const int error = read_current(directory, current)) {
    fail("%s/current cannot be read (%s)", directory.c_str(),
         error == EBADMSG ? "it is damaged" : strerror(error));
  }
  if (current.generation == 0) return {};
  const std::string path = generation_path(directory, current.generation) + "/directory";
  std::vector<uint8_t> bytes;
  if (const int error = read_whole(path, bytes))
    fail("the checkpoint is incomplete: %s cannot be read (%s)", path.c_str(), strerror(error));
  if (checksum(0, bytes.data(), bytes.size()) != current.checksum)
    fail("the checkpoint is damaged: the checksum of %s is wrong", path.c_str());
  Message message;
  message.put(current.generation);
  message.put_bytes(bytes.data(), bytes.size());
  return std::move(message.body);
}

// As the program writes it.
void install(UnitId unit, const std::vector<uint8_t>& bytes, Thread& thread) {
  Node& node = thread.node;
  std::unique_lock<std::mutex> held(node.mutex);
  Page& page = node.memory.page(unit);
  if (page.size != bytes.size())
    fail("the checkpoint has %zu bytes of unit %u, which has %lu", bytes.size(), unit, page.size);
  while (page.right != Right::kWrite) node.fetch(page, true, thread, held);
  memcpy(page.open, bytes.data(), bytes.size());
}

}  // namespace

void* read_checkpoint(const char* directory, Thread& thread) {
  Node& node = thread.node;
  std::vector<uint8_t> mine;
  if (node.me() == 0) mine = read_directory(directory);
  Message content;
  {
    std::unique_lock<std::mutex> held(node.mutex);
    content.body = (*node.barrier.arrive(kCheckpoint, std::move(mine), true, thread, held))[0];
  }
  if (content.body.empty()) return nullptr;
  const uint32_t generation = content.get<uint32_t>();
  const std::string path = generation_path(directory, generation);
  const DirectoryHeader header = content.get<DirectoryHeader>();
  if (content.bad() || memcmp(header.magic, DirectoryHeader().magic, sizeof header.magic) ||
      header.version != kCheckpointVersion) {
    fail("%s/directory is of another version of libweir-dsm", path.c_str());
  }
  if (header.address != node.settings.address)
    fail("the checkpoint was made with WEIR_DSM_ADDRESS=%#lx; here it is %#lx", header.address,
         node.settings.address);
  std::vector<FileSum> files;
  for (uint32_t writer = 0; writer < header.nodes && !content.bad(); writer++)
    files.push_back(content.get<FileSum>());
  {
    std::unique_lock<std::mutex> held(node.mutex);
    node.memory.restore(content);
    if (content.bad() || !content.at_end())
      fail("the checkpoint is damaged: %s/directory makes no sense", path.c_str());
    node.barrier.arrive(kCheckpoint, {}, true, thread, held);
  }
  for (NodeId writer = node.me(); writer < files.size(); writer += node.nodes()) {
    UnitReader reader(path + "/node-" + std::to_string(writer), writer, generation, files[writer]);
    UnitId unit = kNoUnit;
    std::vector<uint8_t> bytes;
    while (reader.next(unit, bytes)) install(unit, bytes, thread);
  }
  std::unique_lock<std::mutex> held(node.mutex);
  node.barrier.arrive(kCheckpoint, {}, true, thread, held);
  return node.memory.segment.program() + header.root;
}

// --- What is allocated. Node 0's, which knows all.

void Memory::put_all(Message& message, Thread& thread, std::unique_lock<std::mutex>& held) {
  Message heaps(0);
  heap_.put(heaps);
  for (NodeId node = 1; node < node_.nodes(); node++) {
    Message reply = node_.ask(node, Message(static_cast<uint8_t>(Kind::kHeap)), thread, held);
    heaps.put_bytes(reply.body.data(), reply.body.size());
  }
  message.put(used_);
  message.put_list(blocks_);
  message.put(node_.nodes());
  message.put_bytes(heaps.body.data(), heaps.body.size());
  message.put(static_cast<uint32_t>(allocations_.size()));
  for (const auto& [offset, allocation] : allocations_) {
    message.put(offset);
    message.put(allocation.size);
    message.put(allocation.block);
    message.put(allocation.name);
  }
  message.put(static_cast<uint32_t>(alive_.size()));
  for (const auto& [block, count] : alive_) {
    message.put(block);
    message.put(count);
  }
  message.put(static_cast<uint32_t>(small_.size()));
  for (const auto& [attributes, where] : small_) {
    message.put_list(std::vector<char>(attributes.begin(), attributes.end()));
    message.put(where.first);
    message.put(where.second);
  }
}

void Memory::restore(Message& message) {
  if (!blocks_.empty()) fail("weir_dsm_restart after shared memory was allocated");
  const uint64_t used = message.get<uint64_t>();
  if (used > segment.size())
    fail(
        "the checkpoint has %lu bytes of shared memory, and the segment %lu; make it larger by "
        "WEIR_DSM_SIZE",
        used, segment.size());
  std::vector<Block> blocks = message.get_list<Block>();
  std::map<uint64_t, uint64_t> lie;  // offset, size
  for (Block& block : blocks) {
    if (block.owner != kNoNode) block.owner %= node_.nodes();
    if (block.freed) continue;
    add_block(block, {});
    if (block.kind != UnitKind::kRegion) lie[block.offset] = page_up(block.size);
  }
  blocks_.resize(std::max(blocks_.size(), blocks.size()));
  born_.resize(blocks_.size());
  std::vector<uint32_t> numbers;
  for (const Block& block : blocks) {
    if (!block.freed) continue;
    blocks_[block.number] = block;
    if (block.kind != UnitKind::kRegion) numbers.push_back(block.number);
  }
  reached_ = std::max(reached_, used);
  for (uint32_t nodes = message.get<uint32_t>(); nodes > 0 && !message.bad(); nodes--) {
    for (const Heap::Saved& saved : Heap::get(message)) {
      const Block* const block = block_at(saved.block);
      if (block && block->owner == node_.me()) heap_.restore(*block, saved);
    }
  }
  std::map<uint64_t, Allocation> allocations;
  for (uint32_t count = message.get<uint32_t>(); count > 0 && !message.bad(); count--) {
    Allocation allocation;
    allocation.offset = message.get<uint64_t>();
    allocation.size = message.get<uint64_t>();
    allocation.block = message.get<uint32_t>();
    if (const void* name = message.get_bytes(sizeof allocation.name))
      memcpy(allocation.name, name, sizeof allocation.name);
    allocations[allocation.offset] = allocation;
  }
  std::unordered_map<uint32_t, uint32_t> alive;
  for (uint32_t count = message.get<uint32_t>(); count > 0 && !message.bad(); count--) {
    const uint32_t block = message.get<uint32_t>();
    alive[block] = message.get<uint32_t>();
  }
  std::map<std::string, std::pair<uint32_t, uint64_t>> small;
  for (uint32_t count = message.get<uint32_t>(); count > 0 && !message.bad(); count--) {
    const std::vector<char> attributes = message.get_list<char>();
    const uint32_t block = message.get<uint32_t>();
    small[{attributes.begin(), attributes.end()}] = {block, message.get<uint64_t>()};
  }
  if (node_.me() != 0) return;
  used_ = used;
  numbers_ = std::move(numbers);
  uint64_t end = kPageSize;
  for (const auto& [offset, size] : lie) {
    if (offset > end) add_place(end, offset - end);
    end = offset + size;
  }
  if (used > end) add_place(end, used - end);
  allocations_ = std::move(allocations);
  alive_ = std::move(alive);
  small_ = std::move(small);
}

}  // namespace weir::dsm

extern "C" {

int weir_dsm_checkpoint(const char* directory, void* root) {
  const weir::dsm::NotCancelled stays;
  return weir::dsm::write_checkpoint(directory, root, weir::dsm::this_thread());
}
void* weir_dsm_restart(const char* directory) {
  const weir::dsm::NotCancelled stays;
  return weir::dsm::read_checkpoint(directory, weir::dsm::this_thread());
}

}  // extern "C"
