// A private folder in shared memory for one recorded run, and the removal of what dead predecessors left.
#pragma once

#include <string>
#include <vector>

namespace strata::launch {

/// Holds what an MPI writes to files: session folder and shared-memory segments. Its name,
/// strata-UID-PID-STARTTIME and six random letters, says whose it is; its owner holds a lock on it for as
/// long as it lives, which is true across containers that share /dev/shm but not process numbers, and cannot
/// be left behind.
class Scratch {
  public:
    /// Makes the folder in the first of `bases` that can be written.
    explicit Scratch(const std::vector<std::string>& bases = default_bases());
    ~Scratch();
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

    [[nodiscard]] const std::string& path() const { return path_; }
    /// strata-UID-PID-STARTTIME: also the value of STRATA_RUN, by which a run's processes are known.
    [[nodiscard]] const std::string& name() const { return name_; }
    /// Variables that send the files of Open MPI 4 and 5 and of MPICH here. Over several nodes, only the
    /// run's mark: an MPI hands these variables on to nodes where nobody has made the folder, and some make
    /// it.
    [[nodiscard]] std::vector<std::pair<std::string, std::string>> settings(bool several_nodes = false) const;

    static std::vector<std::string> default_bases();

  private:
    std::string name_, path_;
    int lock_ = -1;
};

/// Segments that an MPI makes under a name of its own in /dev/shm, whatever it is told, and unlinks only when
/// its start succeeds: removed when they are this user's, made since `since` (seconds, wall clock) and no
/// process has them open or mapped, also none of another container that shares the folder.
void remove_stray_segments(double since, const std::string& folder = "/dev/shm");

/// Ends and removes what was left by runs of this user whose supervisor was killed: processes that carry
/// their mark, scratch folders, empty cgroups below `cgroup_folders`. Returns one line a thing removed.
std::vector<std::string> sweep_leftovers(const std::vector<std::string>& cgroup_folders,
                                         const std::vector<std::string>& bases = Scratch::default_bases());

}  // namespace strata::launch
