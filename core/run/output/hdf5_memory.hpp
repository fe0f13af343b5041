// An HDF5 file that is laid out in memory. HDF5 never writes to a disk itself: if the disk is full when it
// closes a file, HDF5 1.10 crashes (the file's identifier remains and is closed once more at exit).
#pragma once

#include <hdf5.h>

#include <array>
#include <cstddef>
#include <filesystem>
#include <map>

namespace strata::graph {

/// The bytes that HDF5 has written, in pages. Places that it has only allocated for data take no memory.
class MemoryFile {
  public:
    static constexpr std::size_t kPage = 4096;

    MemoryFile();
    ~MemoryFile();
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;

    /// To be given to H5Fcreate, with any name: the new file is in this object.
    [[nodiscard]] hid_t access() const { return access_; }
    /// Writes the file `part`, with the length that HDF5 has allocated; parts that were not written are
    /// holes. To be called after HDF5 has closed it. Throws Error that names `path`, the later name of the
    /// file.
    void write_to(const std::filesystem::path& part, const std::filesystem::path& path) const;

    // For HDF5
    void put(haddr_t at, std::size_t count, const std::byte* from);
    void get(haddr_t at, std::size_t count, std::byte* to) const;
    haddr_t end = 0;  // the end of the allocated places

  private:
    std::map<haddr_t, std::array<std::byte, kPage>> pages_;  // by page number
    hid_t access_ = -1;
};

}  // namespace strata::graph
