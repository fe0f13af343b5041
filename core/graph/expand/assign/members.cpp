#include "core/graph/expand/assign/members.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "core/base/error.hpp"
#include "core/machine/machine.hpp"

namespace strata::graph {

namespace {

machine::Machine this_machine() {
    return machine::read_machine(
        {.text = "system", .with_devices = false, .with_limits = false, .cached = true});
}

/// Where a member's threads are bound; empty where they are not.
std::vector<int> domains_of(const team::Team& team, const machine::Machine& here) {
    const launch::Placement& placement = team.placement();
    const auto& mine = placement.threads[static_cast<std::size_t>(team.rank())];
    if (placement.layout.bind == launch::Bind::none || mine.size() < 2) return {};
    std::vector<int> domains;
    for (const std::vector<int>& pus : mine)
        for (const machine::Core& core : here.cores)
            if (std::find(core.pus.begin(), core.pus.end(), pus.front()) != core.pus.end())
                domains.push_back(core.domain);
    return domains.size() == mine.size() ? domains : std::vector<int>{};
}

bool has_one_memory(const team::Team& team, const machine::Machine& here) {
    const std::vector<int> mine = team.placement().pus(team.rank());
    int first = -1;
    for (const machine::Core& core : here.cores)
        for (const int pu : core.pus)
            if (mine.empty() || std::find(mine.begin(), mine.end(), pu) != mine.end()) {
                if (first >= 0 && core.domain != first) return false;
                first = core.domain;
            }
    return first >= 0;
}

}  // namespace

Members Members::alone() { return {}; }

Members Members::of(team::Team& team) {
    Members members;
    members.rank = team.rank();
    members.size = team.size();
    members.firsts = team.first_ranks();
    members.node = team.node();
    members.arena = &team.arena();
    members.messages = team.messages();
    if (const char* said = std::getenv("STRATA_MESSAGE_DELAY"); said != nullptr)
        members.message_delay = std::atof(said);
    members.in_threads = [&team](const auto& work) { team.crew().parallel_region(work); };
    members.meet = [&team] { team.barrier(); };
    members.patience = team.patience();
    const machine::Machine here = this_machine();
    members.domains = domains_of(team, here);
    members.beside_one_memory = has_one_memory(team, here);
    return members;
}

SharedMemory::SharedMemory(const Members& members, std::string name, std::size_t bytes)
    : arena_(members.arena), name_(std::move(name)), bytes_(bytes == 0 ? 64 : bytes) {
    if (arena_ != nullptr) {
        data_ = static_cast<std::byte*>(arena_->allocate(name_, bytes_));
        return;
    }
    void* mapped =
        mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED)
        throw system_error(fmt::format("no memory for {} bytes of '{}'", bytes_, name_), errno);
    madvise(mapped, bytes_, MADV_HUGEPAGE);
    data_ = static_cast<std::byte*>(mapped);
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : arena_(other.arena_),
      name_(std::move(other.name_)),
      data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)) {}

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
    if (this != &other) {
        release();
        arena_ = other.arena_;
        name_ = std::move(other.name_);
        data_ = std::exchange(other.data_, nullptr);
        bytes_ = std::exchange(other.bytes_, 0);
    }
    return *this;
}

SharedMemory::~SharedMemory() { release(); }

void SharedMemory::release() noexcept {
    if (data_ == nullptr) return;
    if (arena_ == nullptr)
        munmap(data_, bytes_);
    else
        try {
            arena_->release(name_);
        } catch (const std::exception&) {  // the team is ending: the arena goes with it
        }
    data_ = nullptr;
}

std::byte* SharedMemory::of_other(const Members& members, const std::string& name) {
    return static_cast<std::byte*>(members.arena->find(name));
}

}  // namespace strata::graph
