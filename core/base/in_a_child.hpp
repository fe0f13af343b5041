// Work that a process of its own does, so that only that process dies of it.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

namespace strata {

/// What `work` gives, done in a child of this process with limits: 30 s of CPU time, a minute in all, no
/// core file, nothing to be seen on the terminal. For libraries that read a stranger's file and may crash,
/// hang or never end. Nothing where the child died, `work` threw, or gave more than 64 MiB. What comes
/// back is to be checked like the file itself: whoever breaks into the child chooses it.
///
/// Other threads do not exist in the child: `work` may take no lock that one of them may hold. Throws Error
/// where the system starts no process.
[[nodiscard]] std::optional<std::string> in_a_child(const std::function<std::string()>& work);

/// From now on this process may have so many bytes of memory of its own beyond what it has. For `work`.
void claim_at_most(std::size_t more);

}  // namespace strata
