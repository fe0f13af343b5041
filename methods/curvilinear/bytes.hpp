// Bytes of a file, read where they are asked for; those of a compressed one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

namespace strata::flow {

class Bytes {
  public:
    Bytes() = default;
    virtual ~Bytes() = default;
    Bytes(const Bytes&) = delete;
    Bytes& operator=(const Bytes&) = delete;

    [[nodiscard]] virtual std::int64_t size() const = 0;
    /// `count` bytes from `offset` on, all of which must be there. Any number of threads may call it.
    virtual void read(std::int64_t offset, std::int64_t count, char* to) const = 0;

    /// Opens a file. One whose name ends with .xz is unpacked (unpack.hpp) and held whole. Throws Error.
    static std::unique_ptr<Bytes> open(const std::filesystem::path& path);
};

/// All of a small file, unpacked where it is an .xz.
[[nodiscard]] std::string read_whole(const std::filesystem::path& path);

}  // namespace strata::flow
