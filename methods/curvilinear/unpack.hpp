// Files that xz has packed.
#pragma once

#include <string>

#include "methods/curvilinear/bytes.hpp"

namespace strata::flow {

/// Whether this build can unpack: it was made with liblzma.
[[nodiscard]] bool can_unpack();

/// All that an .xz file packs, `name` in errors. Throws Error where it is damaged, unpacks to far more than
/// it is, or takes more memory to unpack than what `xz -9` makes.
[[nodiscard]] std::string unpacked(const Bytes& packed, const std::string& name);

}  // namespace strata::flow
