#pragma once

namespace strata::cli {

/// Hands what was printed to the system, before this process ends or becomes another program. Throws Error
/// where it did not arrive: a disk that is full must not pass for success.
void flush_output();

}  // namespace strata::cli
