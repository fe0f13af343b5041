// What the workers have done, and what the program says of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "benchmarks/integrity/crew.hpp"

namespace strata::integrity {

class Progress {
  public:
    /// Time counts from here.
    Progress(const Settings& settings, const Crew& crew, std::string mode);

    /// A round that was done; said at once where each is asked for (--verbose), or is a replay.
    void add(int worker, const Report& report);
    [[nodiscard]] std::uint64_t rounds(int worker, std::uint32_t kernel) const {
        return sums_[static_cast<std::size_t>(worker)][kernel].rounds;
    }
    /// False once nobody reads.
    [[nodiscard]] bool heard() const { return heard_; }

    void start();
    void yielded(int worker, double seconds);
    /// An event that says its core alone.
    void of_core(const char* event, int worker);
    /// The sums of all rounds so far, by kernel and core.
    void sums(const char* event, std::uint64_t findings);

  private:
    struct Sums {
        std::uint64_t rounds = 0, work = 0;
        double cpu_s = 0;
    };

    const Settings& settings_;
    const Crew& crew_;
    std::string mode_;
    double began_s_;
    std::vector<std::vector<Sums>> sums_;
    bool heard_ = true;
};

}  // namespace strata::integrity
