// The processor's own count of cycles and instructions, where the system lets a program have it.
#pragma once

#include <cstdint>
#include <string>

namespace strata::bench::machine_measures {

/// Cycles and instructions of the calling thread in user mode, counted together. Opened once; a read is a
/// system call of some 0.3 us, whose kernel part is not counted.
class CycleCounter {
  public:
    CycleCounter();
    ~CycleCounter();
    CycleCounter(const CycleCounter&) = delete;
    CycleCounter& operator=(const CycleCounter&) = delete;

    [[nodiscard]] bool works() const { return group_ >= 0; }
    /// Why it does not work; empty where it does.
    [[nodiscard]] const std::string& why_not() const { return why_; }

    struct Count {
        std::uint64_t cycles = 0, instructions = 0;
        bool whole = false;  // counted all the time: the processor had counters enough for everybody
    };
    [[nodiscard]] Count read() const;

  private:
    int group_ = -1, second_ = -1;
    std::string why_;
};

}  // namespace strata::bench::machine_measures
