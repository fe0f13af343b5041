#pragma once

#include "core/machine/machine.hpp"

namespace strata::machine {

/// Tries to place a page (mbind) and to read back where it lies (move_pages). Containers often forbid either.
[[nodiscard]] PagePlacement try_page_placement(int memory_os_index);

}  // namespace strata::machine
