// A file of HDF5's that is laid out in memory: HDF5 1.10 dies of a disk that is full when it closes a file
// (its identifier stays and is closed once more at exit), so it never writes to one.
#pragma once

#include <hdf5.h>

#include <array>
#include <cstddef>
#include <filesystem>
#include <map>

namespace strata::graph {

/// What HDF5 has written, in pages; places that it has only set aside for data take no memory.
class MemoryFile {
  public:
    static constexpr std::size_t kPage = 4096;

    MemoryFile();
    ~MemoryFile();
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;

    /// To be given to H5Fcreate, under any name: the file that is made lies here.
    [[nodiscard]] hid_t access() const { return access_; }
    /// Makes it the file `part`, as long as HDF5 has set aside: what was not written is a hole. After HDF5
    /// has closed it. Throws Error that names `path`, what the file is to be called.
    void write_to(const std::filesystem::path& part, const std::filesystem::path& path) const;

    // For HDF5
    void put(haddr_t at, std::size_t count, const std::byte* from);
    void get(haddr_t at, std::size_t count, std::byte* to) const;
    haddr_t end = 0;  // of what is set aside

  private:
    std::map<haddr_t, std::array<std::byte, kPage>> pages_;  // by their number
    hid_t access_ = -1;
};

}  // namespace strata::graph
