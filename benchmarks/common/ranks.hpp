// What the programs over MPI begin and end alike.
#pragma once

#include <string>

namespace strata::bench {

/// MPI from here to the end of the program. A rank does not outlive what started it, even when that was
/// killed without a chance to say so.
class MpiRun {
  public:
    MpiRun(int& argc, char**& argv);
    ~MpiRun();
    MpiRun(const MpiRun&) = delete;
    MpiRun& operator=(const MpiRun&) = delete;
};

/// This process, and how many there are.
[[nodiscard]] int world_rank();
[[nodiscard]] int world_size();

/// The library's name and version, without its date and configuration.
[[nodiscard]] std::string mpi_library();

}  // namespace strata::bench
