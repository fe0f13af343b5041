// A share of the CPUs of one's own, so that a measured program keeps running beside other load. `nice` alone
// does nothing between login sessions: since Linux 2.6.38 each session is a group of its own, and the groups
// share equally.
#pragma once

#include <string>
#include <vector>

namespace strata::launch {

/// How a run got its share, as it is recorded.
struct Share {
    std::string method = "none";  // cgroup2-weight, cgroup1-shares, autogroup-nice, session-autogroup, none
    long value = 0;               // weight, shares or nice
    std::string why;              // why nothing better
};

/// The cpu controller of this process: version 1 or 2 and the folder of its group; version 0 when there is
/// none.
struct CpuGroup {
    int version = 0;
    std::string folder;
    bool root = false;  // the group of everybody: only there do autogroups count
};
CpuGroup own_cpu_group(const std::string& cgroup = "/proc/self/cgroup",
                       const std::string& mounts = "/proc/self/mountinfo");

/// Folders below which a run's cgroup may be made (and a dead run's left over).
std::vector<std::string> cgroup_parents(const CpuGroup& group);

/// Decides on a method, makes what it needs, and removes it at the end.
class OwnShare {
  public:
    /// Without `asked` the run still has its own session, which is an autogroup of its own where the system
    /// has them.
    OwnShare(bool asked, const std::string& name);
    ~OwnShare();
    OwnShare(const OwnShare&) = delete;
    OwnShare& operator=(const OwnShare&) = delete;

    /// Called in the new process, after setsid and before it runs the program.
    void join() const;
    [[nodiscard]] const Share& share() const { return share_; }

  private:
    bool make_group(const CpuGroup& group, const std::string& name);
    Share share_;
    std::string folder_;
};

}  // namespace strata::launch
