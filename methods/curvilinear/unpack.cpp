#include "methods/curvilinear/unpack.hpp"

#include <fmt/format.h>
#include <lzma.h>

#include <algorithm>
#include <memory>
#include <new>

#include "core/base/error.hpp"

namespace strata::flow {

namespace {

constexpr std::int64_t kBuffer = 1 << 16;
// Coordinates shrink to a tenth; a small file that fills all memory is none of a grid.
constexpr std::int64_t kLeastUnpacked = std::int64_t{64} << 20, kMostShrunk = 64;
// Bytes that the decoder may take: `xz -9` needs 65 MiB, and the file says how much.
constexpr std::uint64_t kDecoder = std::uint64_t{80} << 20;

const char* what_of(lzma_ret said) {
    switch (said) {
        case LZMA_MEMLIMIT_ERROR:
            return "unpacking it takes more than 80 MiB of memory";
        case LZMA_FORMAT_ERROR:
            return "it is no .xz file";
        case LZMA_BUF_ERROR:
            return "it ends too early";
        case LZMA_OPTIONS_ERROR:
            return "it is packed in a way that this liblzma does not know";
        default:
            return "it is damaged";
    }
}

}  // namespace

bool can_unpack() { return true; }

std::string unpacked(const Bytes& packed, const std::string& name) {
    const std::int64_t most = kLeastUnpacked + kMostShrunk * packed.size();
    lzma_stream stream = LZMA_STREAM_INIT;
    const std::unique_ptr<lzma_stream, void (*)(lzma_stream*)> ended(&stream, lzma_end);
    lzma_ret said = lzma_auto_decoder(&stream, kDecoder, LZMA_CONCATENATED);
    std::string bytes, in(static_cast<std::size_t>(kBuffer), '\0'), out(in);
    for (std::int64_t at = 0; said == LZMA_OK;) {
        if (stream.avail_in == 0 && at < packed.size()) {
            const std::int64_t count = std::min(kBuffer, packed.size() - at);
            packed.read(at, count, in.data());
            at += count;
            stream.next_in = reinterpret_cast<const std::uint8_t*>(in.data());
            stream.avail_in = static_cast<std::size_t>(count);
        }
        stream.next_out = reinterpret_cast<std::uint8_t*>(out.data());
        stream.avail_out = out.size();
        said = lzma_code(&stream, at < packed.size() ? LZMA_RUN : LZMA_FINISH);
        bytes.append(out, 0, out.size() - stream.avail_out);
        if (static_cast<std::int64_t>(bytes.size()) > most)
            throw Error("the file unpacks to far more than it is")
                .at(name)
                .given(fmt::format("more than {} bytes of {}", most, packed.size()))
                .allowed(fmt::format("{} times its size, and {} bytes", kMostShrunk, kLeastUnpacked))
                .remedy(fmt::format("if it is right: xz -dk {}, and name the file without .xz", name));
    }
    if (said == LZMA_STREAM_END) return bytes;
    if (said == LZMA_MEM_ERROR) throw std::bad_alloc();
    throw Error("the file cannot be unpacked")
        .at(name)
        .given(what_of(said))
        .remedy(fmt::format("try: xz -dk {}, and name the file without .xz", name));
}

}  // namespace strata::flow
