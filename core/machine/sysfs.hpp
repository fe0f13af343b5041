// One-line files of /proc and /sys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace strata::machine {

/// The whole of a small file without its last line end; nothing where it cannot be read. No more than `most`
/// bytes: any process can have the kernel tell gigabytes of untouched memory as its command line or its
/// environment (PR_SET_MM, prctl(2)), which costs it nothing.
[[nodiscard]] std::optional<std::string> read_file(const std::string& path, std::size_t most = SIZE_MAX);
/// Writes to a file of the kernel's (cgroup, autogroup) in one write; false with errno when it is refused.
bool write_file(const std::string& path, std::string_view text);
/// The number that a file holds, or nothing where there is no file or no number.
template <class T = std::int64_t>  // or std::uint64_t
[[nodiscard]] std::optional<T> read_number(const std::string& path);
/// The number after a key in lines such as "Key: 12 kB", "Node 0 Key: 12 kB" or "key 12".
[[nodiscard]] std::optional<std::uint64_t> number_after(const std::string& text, std::string_view key);
/// The chosen word of a file such as "always [madvise] never".
[[nodiscard]] std::optional<std::string> read_choice(const std::string& path);
/// The names in a folder, in order; none where there is no folder.
[[nodiscard]] std::vector<std::string> list_folder(const std::string& path);

}  // namespace strata::machine
