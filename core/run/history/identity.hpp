// The program and the kind of processor that compute a run. Where both are the same, so are the bits.
#pragma once

#include <string>
#include <vector>

namespace strata::graph {

struct Identity {
    struct File {
        std::string name;  // without its folder, which differs between nodes
        std::string mark;  // "crc32c 1a2b3c4d, 5012345 bytes", or "build-id ..." of a library
        friend bool operator==(const File&, const File&) = default;
    };
    /// The program, then the files of a script, then the libraries in which values may be computed.
    std::vector<File> files;
    std::string processor;  // its name, for people
    std::string kind;  // vendor, family, model and vector instructions: libraries choose their code by these
};

/// Of this process. `sources`: files of a program that no linker knows, e.g. a script. Libraries count where
/// they lie outside the system's folders, and those of the system that compute (libm, BLAS, ...): a new
/// version of another, e.g. of libssl, changes no value. Throws Error where a file cannot be read.
[[nodiscard]] Identity own_identity(const std::vector<std::string>& sources);

/// The first difference as a sentence, "" where there is none. Libraries that only one of them has loaded are
/// not compared: MPI loads some of its own.
[[nodiscard]] std::string difference(const Identity& recorded, const Identity& now);

}  // namespace strata::graph
