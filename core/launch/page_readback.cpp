#include "core/launch/page_readback.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "core/machine/page_placement.hpp"
#include "core/machine/sysfs.hpp"

namespace strata::launch {

namespace {

using Clock = std::chrono::steady_clock;

/// With move_pages, where there is no numa_maps: spread evenly over the address space.
constexpr std::uint64_t kPagesAsked = 1 << 14;

std::uint64_t huge_page_bytes() {
    const auto text = machine::read_file("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size");
    const std::uint64_t bytes = text ? std::strtoull(text->c_str(), nullptr, 10) : 0;
    return bytes == 0 ? 2 << 20 : bytes;
}

std::uint64_t anon_huge_of(const std::string& folder) {
    const auto rollup = machine::read_file(folder + "/smaps_rollup");
    const size_t at = rollup ? rollup->find("AnonHugePages:") : std::string::npos;
    return at == std::string::npos ? 0 : std::strtoull(rollup->c_str() + at + 14, nullptr, 10) * 1024;
}

/// A memory that some process was promised: one that this process may place a page in.
std::optional<int> promised_memory(const Placement& placement) {
    for (size_t p = 0; p < placement.memory.size(); ++p)
        if (const auto promise = promised_pages(placement, static_cast<int>(p)))
            return promise->memories.front();
    return std::nullopt;
}

}  // namespace

std::string why_unverified(const Placement& placement) {
    const auto memory = promised_memory(placement);
    if (!memory) return "";
    const machine::PagePlacement tried = machine::try_page_placement(*memory);
    return tried.mbind && tried.move_pages ? "" : tried.why;
}

std::vector<RankedProcess> in_turn(std::vector<RankedProcess> processes, int last) {
    std::sort(processes.begin(), processes.end(), [](const auto& a, const auto& b) { return a.pid < b.pid; });
    const auto next =
        std::find_if(processes.begin(), processes.end(), [&](const auto& p) { return p.pid > last; });
    std::rotate(processes.begin(), next == processes.end() ? processes.begin() : next, processes.end());
    return processes;
}

PageReadback::PageReadback(Placement promised)
    : promised_(std::move(promised)),
      any_promise_(promised_memory(promised_).has_value()),
      unverified_(why_unverified(promised_)),
      grain_(huge_page_bytes()) {}

void PageReadback::read(const std::vector<RankedProcess>& processes, double elapsed_s) {
    if (elapsed_s < kEarliest || processes.empty()) return;
    forget_ended(processes);
    const std::vector<RankedProcess> turn = in_turn(processes, last_);
    const size_t free = std::exchange(looked_, true) ? 0 : kFree;
    for (size_t i = 0; i < turn.size(); ++i) {
        if (i >= free && walked_ >= kFreeBytes && spent_s_ > kBudget * elapsed_s) break;
        const auto begin = Clock::now();
        if (read_one(turn[i])) ranks_.insert(turn[i].rank);
        spent_s_ += std::chrono::duration<double>(Clock::now() - begin).count();
        last_ = turn[i].pid;
    }
}

/// Its pages are gone; that they were elsewhere when it was last read is not.
void PageReadback::forget_ended(const std::vector<RankedProcess>& processes) {
    std::erase_if(known_, [&](const auto& one) {
        const bool lives = std::any_of(processes.begin(), processes.end(),
                                       [&](const RankedProcess& p) { return p.pid == one.first; });
        if (!lives && one.second.doubt && !disagreement_) disagreement_ = one.second.doubt;
        return !lives;
    });
}

bool PageReadback::read_one(const RankedProcess& process) {
    const std::string folder = "/proc/" + std::to_string(process.pid);
    const auto maps = machine::read_file(folder + "/maps");
    if (!maps) {
        if (errno == EACCES || errno == EPERM)
            why_ = fmt::format("{}/maps: {}", folder, std::strerror(errno));
        return false;
    }
    std::vector<machine::Region> regions;
    if (const auto numa_maps = machine::read_file(folder + "/numa_maps")) {
        regions = machine::read_numa_maps(*numa_maps, *maps, "");
        method_ = "numa_maps";
    } else {
        regions = machine::read_maps(*maps, "");
        if (!machine::ask_pages(process.pid, regions, kPagesAsked)) {
            // One that has just ended says nothing about the others.
            if (errno != ESRCH) why_ = fmt::format("no numa_maps; move_pages: {}", std::strerror(errno));
            return false;
        }
        method_ = "move_pages";
    }
    // It may have ended while it was read: half a table would be no table.
    if (regions.empty()) return false;
    Known& known = known_[process.pid];
    known.rank = process.rank;
    known.index = process.index;
    known.all = machine::sum(regions);
    walked_ += std::max(kLeastBytes, machine::total(known.all));
    known.anon_huge = anon_huge_of(folder);
    judge(known, regions);
    return true;
}

/// Pages that were elsewhere at two readings count for good, at one only until the next: a program may still
/// be moving them.
void PageReadback::judge(Known& known, const std::vector<machine::Region>& regions) {
    const auto promise = promised_pages(promised_, known.index);
    if (!promise) return;
    std::uint64_t grain = grain_;
    for (const machine::Region& region : regions) grain = std::max(grain, region.page_bytes);
    auto now = find_page_disagreement(known.rank, own_bytes(regions), *promise, grain);
    if (now && known.doubt && !disagreement_) disagreement_ = now;
    known.doubt = std::move(now);
}

std::optional<std::string> PageReadback::found() const {
    if (disagreement_) return disagreement_;
    for (const auto& [pid, known] : known_)
        if (known.doubt) return known.doubt;
    return std::nullopt;
}

PageReading PageReadback::reading(bool saw_anything) const {
    PageReading said;
    said.method = method_;
    for (const auto& [pid, known] : known_) {
        for (const auto& [memory, bytes] : known.all) said.by_memory[memory] += bytes;
        said.anon_huge += known.anon_huge;
    }
    said.processes = ranks_.size();
    if (ranks_.empty()) said.why = why_;
    if (ranks_.empty() && why_.empty())
        said.why = saw_anything ? "the run was shorter than 0.1 s" : "the run ended before it could be read";
    if (!any_promise_) {
        said.verdict = kNothingPromised;
    } else if (!unverified_.empty() || (ranks_.empty() && !why_.empty())) {
        said.verdict = fmt::format("{}: {}", kUnverified, unverified_.empty() ? why_ : unverified_);
    } else if (ranks_.empty()) {
        said.verdict = "not read: " + said.why;
    } else {
        said.disagreement = found();
        said.agrees = !said.disagreement;
        said.verdict = said.disagreement ? "not as promised" : "as promised";
    }
    return said;
}

}  // namespace strata::launch
