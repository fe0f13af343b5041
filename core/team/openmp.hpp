// The OpenMP runtime of the program, looked up at run time: this library does not link one.
#pragma once

#include <vector>

namespace strata::team {

class OpenMP {
  public:
    /// Looks for the runtime in the program's libraries: GNU's, or one with its entry points, as LLVM's and
    /// Intel's.
    OpenMP();
    /// Whether there is one.
    explicit operator bool() const { return set_threads_ != nullptr; }

    /// From now on its regions have as many threads as there are entries, with thread i bound to the PUs of
    /// entry i. An empty entry, or a runtime without the entry point, means no binding. Costs as much as a
    /// region with a new number of threads: the runtime makes those that it lacks.
    void use(const std::vector<std::vector<int>>& pus) const;

  private:
    using Region = void (*)(void (*body)(void*), void* held, unsigned threads, unsigned flags);

    void (*set_threads_)(int) = nullptr;
    int (*own_number_)() = nullptr;
    Region region_ = nullptr;
};

}  // namespace strata::team
