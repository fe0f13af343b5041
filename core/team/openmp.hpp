// The OpenMP runtime that a program may have, found when it runs: this library does without.
#pragma once

#include <vector>

namespace strata::team {

class OpenMP {
  public:
    /// Looks for the runtime among what the program is linked with (GNU's, or one that has its entries too,
    /// as LLVM's and Intel's do).
    OpenMP();
    /// Whether there is one.
    explicit operator bool() const { return set_threads_ != nullptr; }

    /// From now on its regions have as many threads as there are entries, thread i bound to the PUs of entry
    /// i; where an entry is empty, or the runtime has no way to be asked, bound to nothing. Costs what the
    /// runtime takes for a region with another number of threads: it makes those that it lacks.
    void use(const std::vector<std::vector<int>>& pus) const;

  private:
    using Region = void (*)(void (*body)(void*), void* held, unsigned threads, unsigned flags);

    void (*set_threads_)(int) = nullptr;
    int (*own_number_)() = nullptr;
    Region region_ = nullptr;
};

}  // namespace strata::team
