#pragma once

#include <string>

#include "core/machine/machine.hpp"

namespace strata::machine {

/// The limits of the cgroups that this process is in: version 1, version 2, or both beside each other. A
/// limit of an ancestor holds for its descendants, so the smallest along the path counts. `root` is put
/// before /proc and before every mount point, so that tests can describe other systems.
[[nodiscard]] Cgroup read_cgroup(const std::string& root = "");

/// Where a controller's files for this process lie: its mount point and the path below it; empty where it is
/// not mounted.
struct ControllerPath {
    int version = 0;
    std::string mount, path;
    [[nodiscard]] std::string folder() const { return path == "/" ? mount : mount + path; }
};
[[nodiscard]] ControllerPath find_controller(const std::string& controller, const std::string& root = "");

}  // namespace strata::machine
