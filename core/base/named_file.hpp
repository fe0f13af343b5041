// Files that a user names on a command line: read to their end, where they have one, and written whole or
// left as they were.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace strata {

/// All of a file that a user has named. A plain file is read as far as it goes; a FIFO, a device or a
/// terminal may have no end: more than `most` bytes of one are an error. `what` it is, for errors: "the map".
/// Throws Error.
[[nodiscard]] std::string read_named(const std::filesystem::path& path, const std::string& what,
                                     std::size_t most = std::size_t{64} << 20);

/// Writes all of a text to a descriptor, on after signals and partial writes: 0, or errno.
[[nodiscard]] int write_all(int file, std::string_view text);

/// And closes it, where network file systems tell of a full disk.
[[nodiscard]] int write_and_close(int file, std::string_view text);

/// Puts a file with this text in the place of what stands at a path, by a file beside it and rename(2): 0, or
/// errno, and then what stood there is as it was. No link is followed.
[[nodiscard]] int write_atomically(const std::string& path, std::string_view text);

/// Writes what a user has named: a file by write_atomically(), where a link leads in its place, and the link
/// stays. Into a FIFO, a device or a descriptor of this process (/dev/stdout) the text is written. Where
/// another user can have put a link or a FIFO there (in /tmp), a file takes its place. 0, or errno.
[[nodiscard]] int write_named(const std::string& path, std::string_view text);

/// A descriptor, close-on-exec, of what a user has named, for what is written piece by piece: a file begins
/// anew. Links, FIFOs and devices as write_named() takes them; one that another user can have put there is
/// refused. -1 with errno.
[[nodiscard]] int open_named(const std::string& path);

/// Why write_named() would fail at once, as far as that is known before: errno, or 0.
[[nodiscard]] int why_not_named(const std::string& path);

}  // namespace strata
