// Arrays whose pages are placed in one of four ways, and where they then lie.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "benchmarks/common/buffer.hpp"
#include "core/machine/machine.hpp"

namespace strata::bench::machine_measures {

/// Which domain a CPU is of and which a memory is of, by the system's numbers.
class Domains {
  public:
    explicit Domains(const machine::Machine& machine);
    [[nodiscard]] int of_pu(int pu) const { return find(of_pu_, pu); }
    [[nodiscard]] int of_memory(int memory) const { return find(of_memory_, memory); }
    [[nodiscard]] const std::vector<int>& all() const { return all_; }
    [[nodiscard]] const std::vector<int>& allowed_memories() const { return allowed_; }
    /// The memory that the pages of a domain's threads belong in: its first that may be used.
    [[nodiscard]] int memory_of(int domain) const;
    /// Those of all domains: what pages are dealt over, which leaves out memories that belong to no cores (of
    /// a GPU, or an expander).
    [[nodiscard]] std::vector<int> dealt_over() const;

  private:
    static int find(const std::map<int, int>& in, int key) {
        const auto at = in.find(key);
        return at == in.end() ? -1 : at->second;
    }
    std::map<int, int> of_pu_, of_memory_;
    std::vector<int> all_, allowed_;
};

/// Runs work(thread) on all threads of the runtime's team, the same threads in the same places each time; an
/// error of any is thrown once all are done.
void on_team(int threads, const std::function<void(int)>& work);

/// Three arrays in one allocation, each cut into blocks of whole pages, a block for each thread.
class Field {
  public:
    static constexpr std::size_t kArrays = 3;
    Field(std::size_t array_bytes, Pages pages, int threads)
        : page_(pages == Pages::huge ? std::size_t{2} << 20 : 4096),
          pages_(std::max<std::size_t>(array_bytes / page_, static_cast<std::size_t>(threads))),
          threads_(static_cast<std::size_t>(threads)),
          memory_(kArrays * pages_ * page_, pages) {}

    struct Block {
        std::size_t first = 0, count = 0;  // pages of an array
    };
    [[nodiscard]] Block block(int thread) const {
        const auto t = static_cast<std::size_t>(thread);
        const std::size_t first = pages_ * t / threads_;
        return {first, pages_ * (t + 1) / threads_ - first};
    }
    [[nodiscard]] std::byte* page(std::size_t array, std::size_t index) const {
        return static_cast<std::byte*>(memory_.data()) + (array * pages_ + index) * page_;
    }
    [[nodiscard]] double* at(std::size_t array, std::size_t index) const {
        return reinterpret_cast<double*>(page(array, index));
    }
    [[nodiscard]] std::size_t page_bytes() const { return page_; }
    [[nodiscard]] std::size_t pages() const { return pages_; }
    [[nodiscard]] std::size_t doubles(std::size_t pages) const { return pages * page_ / sizeof(double); }
    [[nodiscard]] const Memory& memory() const { return memory_; }

    /// Writes all of the thread's blocks: brings their pages into being.
    void touch(int thread) const;
    /// a = b + q c on the thread's block.
    void sweep(int thread) const;
    /// Elements of a that a sweep of all threads did not give their value.
    [[nodiscard]] std::size_t wrong() const;

  private:
    std::size_t page_, pages_, threads_;
    Memory memory_;
};

enum class Mode { one, threads, interleave, bind };

/// Brings every page into being, where the mode says; with one memory only first touch is left of it. Binding
/// needs the CPU that each thread is on now. Throws Error where the kernel refuses to place pages.
void place(const Field& field, Mode mode, int threads, const Domains& domains, const std::vector<int>& cpus);

/// Where the pages lie: how many of each thread's domain (row) in each memory (column).
struct Counted {
    std::vector<std::vector<double>> pages;  // [domain][memory]
    std::size_t asked = 0, local = 0, elsewhere = 0;
    std::map<int, std::size_t> by_memory;
};

/// Asks for every page, or for so many spread evenly over all. `elsewhere` counts those that are not in the
/// domain of the CPU that their thread had in `placed_from`. None where the kernel does not tell.
[[nodiscard]] std::optional<Counted> count(const Field& field, int threads, const Domains& domains,
                                           const std::vector<int>& cpus, const std::vector<int>& placed_from);

/// Pages that lie elsewhere than the mode promises: bound ones in another memory, dealt ones beyond evenness.
[[nodiscard]] double misplaced(Mode mode, const Counted& counted, const Domains& domains);

/// Whether numa_maps tells the same as move_pages; in words.
[[nodiscard]] std::string cross_check(const Field& field, const Counted& counted);

}  // namespace strata::bench::machine_measures
