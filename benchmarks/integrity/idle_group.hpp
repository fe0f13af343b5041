// A control group whose tasks run only where nobody else wants to. SCHED_IDLE ranks a task below others of
// its own group alone; between groups their weights count. So the workers get a group of their own, at the
// root, with cpu.idle (Linux 5.15) or the least weight.
#pragma once

#include <sys/types.h>
#include <string>

namespace strata::integrity {

class IdleGroup {
  public:
    /// Makes the group below `parent`: a folder of the cpu controller's; empty: its root. Groups of
    /// supervisors that no longer live are removed. Where no group can be made, why() says why.
    explicit IdleGroup(const std::string& parent);
    ~IdleGroup();
    IdleGroup(const IdleGroup&) = delete;
    IdleGroup& operator=(const IdleGroup&) = delete;

    /// "cgroup idle", "cgroup weight", or empty where there is no group.
    [[nodiscard]] const std::string& mode() const { return mode_; }
    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] const std::string& why() const { return why_; }
    /// False where the kernel refuses.
    [[nodiscard]] bool take(pid_t process) const;

    /// Its tasks shall end soon: they get the weight of others.
    void hurry() const;

  private:
    std::string path_, mode_, why_;
};

}  // namespace strata::integrity
