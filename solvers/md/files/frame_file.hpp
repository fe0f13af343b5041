// A file of frames that grows while a run goes on, written by several processes without any of them having
// all atoms. A frame is first written beside the file (NAME.part): room for it is made by one process, then
// all put their atoms to their places, then one appends it. So after a kill the file has whole frames, and
// at most the beginning of one more, which going on cuts off.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "solvers/md/files/frame_format.hpp"

namespace strata::md {

/// One process makes room and commits; in between any number of processes put atoms. Throws Error.
class FrameFile {
  public:
    FrameFile(std::filesystem::path path, const FrameFormat& format);

    /// For one process, before the first frame of a run. `after`: the step of the checkpoint from which the
    /// run goes on; -1: it starts. Frames of later steps are cut off. Refuses a file that is there where a
    /// run starts, and one of another run where it goes on. Returns the step of the file's first frame; -1:
    /// there is no file.
    std::int64_t begin(std::int64_t after);

    /// For one process: makes a frame's room, and all of it but the atoms.
    void make_room(const Frame& frame) const;
    /// For one process: the frame becomes the file's `number`-th, from 0.
    void commit(std::int64_t number) const;
    void abandon() const noexcept;

    /// A frame's room, seen by a process that puts atoms there.
    class Room {
      public:
        explicit Room(const FrameFile& file);
        ~Room();
        Room(const Room&) = delete;
        Room& operator=(const Room&) = delete;
        [[nodiscard]] char* bytes() const { return bytes_; }

      private:
        char* bytes_ = nullptr;
        std::size_t size_;
    };

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_, part_;
    const FrameFormat& format_;
};

}  // namespace strata::md
