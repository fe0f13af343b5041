#pragma once

#include <vector>

#include "benchmarks/common/buffer.hpp"
#include "benchmarks/npb/common/group.hpp"

namespace strata::npb {

/// One process and its threads, by OpenMP; what MPI adds, main_mpi.cpp derives from it.
class OpenMpGroup : public Group {
  public:
    OpenMpGroup();
    [[nodiscard]] const char* model() const override { return "openmp"; }
    [[nodiscard]] int threads() const override { return threads_; }
    [[nodiscard]] int workers() const override { return threads_; }

  protected:
    void run(Task task, void* held) override;
    [[nodiscard]] void* allocate(const std::string& name, std::size_t bytes) override;

  private:
    int threads_;
    std::vector<bench::Memory> memory_;
};

}  // namespace strata::npb
