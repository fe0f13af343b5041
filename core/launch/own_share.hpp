// A share of the CPUs of one's own, so that a measured program keeps running beside other load. `nice` alone
// does nothing between login sessions: since Linux 2.6.38 each session is a group of its own, and the groups
// share equally.
#pragma once

#include <string>

#include "core/launch/control_groups.hpp"

namespace strata::launch {

/// The means by which a run got its share, as it is recorded.
struct Share {
    std::string method = "none";  // cgroup2-weight, cgroup1-shares, autogroup-nice, session-autogroup, none
    long value = 0;               // weight, shares or nice
    std::string why;              // why nothing better
};

/// Whether autogroups count for this process: they do only in the control group of everybody.
bool in_root_cpu_group(const std::string& root = "");

/// Decides on a method, and makes what it needs in the run's groups.
class OwnShare {
  public:
    /// Without `asked` the run still has its own session, which is an autogroup of its own where the system
    /// has them.
    ///
    /// Where a cgroup was made, this process joins it too, until the object ends. Beside load on every CPU it
    /// would otherwise share with everybody else what the run leaves, and read a short program back too late
    /// or not at all.
    OwnShare(bool asked, RunGroups& groups);
    ~OwnShare();
    OwnShare(const OwnShare&) = delete;
    OwnShare& operator=(const OwnShare&) = delete;

    /// Called in the new process, after setsid and before it runs the program; the groups are joined apart.
    void join() const;
    [[nodiscard]] const Share& share() const { return share_; }

  private:
    bool make_group(RunGroups& groups);
    void take_in(const RunGroups& groups);
    Share share_;
    std::string came_from_;  // the group that this process goes back to; empty when it did not leave it
};

}  // namespace strata::launch
