// What a program or library says about itself: just enough of ELF to learn which MPI a program would load,
// without loading it (ldd runs the program's own interpreter, dlopen its constructors).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace strata::launch {

struct Elf {
    std::uint16_t processor = 0;       // e_machine
    bool dynamic = false;              // has PT_DYNAMIC
    std::vector<std::string> needed;   // DT_NEEDED
    std::string rpath, runpath;        // DT_RPATH, DT_RUNPATH, as written
    std::vector<std::uint32_t> notes;  // types of its notes (PT_NOTE) that are Strata's
};

/// Reads a 64-bit ELF file of this machine's byte order; nothing for any other file.
std::optional<Elf> read_elf(const std::string& path);

/// Facts that programs state of themselves in notes of the owner "STRATA", put there by core/team.
inline constexpr std::uint32_t kTeamNote = 1;     // starts its processes itself (strata::team)
inline constexpr std::uint32_t kTeamMpiNote = 2;  // or joins those of mpirun and srun (strata::team_mpi)

/// The folders in which the dynamic loader looks for libraries, in the order of ld.so(8).
class LibraryPaths {
  public:
    /// `library_path` is the value of LD_LIBRARY_PATH; `cache` the loader's index of the system's libraries.
    explicit LibraryPaths(const std::string& library_path, const std::string& cache = "/etc/ld.so.cache");

    /// The file that `name` stands for when `user` (at `user_path`) needs it; empty when there is none.
    [[nodiscard]] std::string resolve(const std::string& name, const Elf& user,
                                      const std::string& user_path) const;

  private:
    std::vector<std::string> library_path_;
    std::string cache_;
    /// Of the index, sorted by name; read when a library is first looked for, which few programs need.
    mutable std::optional<std::vector<std::pair<std::string, std::string>>> cached_;
};

/// Which libraries are visited: the compilers' and the C library's own families are in every program and say
/// nothing about it.
enum class Visit { telling, all };

/// Visits the libraries that a program needs, breadth first, until `stop` says so. `stop(name, path)` gets
/// each library's name as written and the file found (empty when it is missing).
void visit_libraries(const std::string& program, const LibraryPaths& paths,
                     const std::function<bool(const std::string& name, const std::string& path)>& stop,
                     Visit which = Visit::telling);

}  // namespace strata::launch
