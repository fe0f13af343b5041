// The control groups of one run: where they may be made, making them, and removing them.
#pragma once

#include <string>
#include <vector>

#include "core/machine/cgroup.hpp"

namespace strata::launch {

/// Folders in which a group with `controller` may be made for a run of this process, best first; empty when
/// there is none. Version 1: below the own group. Version 2 gives controllers only to groups whose parent
/// hands them down, and a group with processes in it may not: so below the own group if it does, else beside
/// it, provided that the own group sets no limit that leaving it would escape.
std::vector<std::string> group_parents(const std::string& controller, const std::string& root = "");

/// All folders that may hold groups of this user's dead runs.
std::vector<std::string> all_group_parents();

/// Removes an empty group, and gives back at once the processors that it had to itself. False when it is not
/// empty: a process that has just been collected may hold it for an instant longer, so it is tried for
/// `wait_s`.
bool remove_group(const std::string& folder, double wait_s = 0.2);

/// Groups named after a run, one a hierarchy, for the time that this object lives.
class RunGroups {
  public:
    explicit RunGroups(std::string name) : name_(std::move(name)) {}
    ~RunGroups();
    RunGroups(const RunGroups&) = delete;
    RunGroups& operator=(const RunGroups&) = delete;

    /// Makes what is missing so that all these controllers govern the run (in version 2 they share a group,
    /// so all that are wanted are named at once). False when the system does not grant it: `why` says what
    /// was tried. What had been made for it is removed then.
    bool make(const std::vector<std::string>& controllers, std::string& why);
    /// The folder with a controller's files for this run; empty when make() was not asked for it or failed.
    [[nodiscard]] std::string folder(const std::string& controller) const;
    /// Moves the calling process into the groups; false with errno when one refuses.
    [[nodiscard]] bool join() const;

  private:
    struct Group {
        std::string controller, folder;
    };
    [[nodiscard]] std::vector<std::string> parents_for(const std::string& controller,
                                                       const std::vector<std::string>& together) const;
    bool make_one(const std::string& controller, const std::vector<std::string>& together, std::string& why);
    [[nodiscard]] bool folder_is_used(const std::string& path) const;

    std::string name_;
    std::vector<Group> groups_;
};

}  // namespace strata::launch
