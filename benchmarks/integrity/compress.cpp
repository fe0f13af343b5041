#include "benchmarks/integrity/compress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace strata::integrity {
namespace {

constexpr std::size_t kLeast = 4, kLongest = 255, kFarthest = 65535;
constexpr int kTexts = 4, kPieces = 4;
constexpr std::uint32_t kNowhere = ~0U;

std::size_t slot(std::span<const std::byte> text, std::size_t at) {
    std::uint32_t four = 0;
    std::memcpy(&four, text.data() + at, 4);
    return four * 2654435761U >> 20U;
}

std::size_t same(std::span<const std::byte> text, std::size_t early, std::size_t late) {
    std::size_t length = 0;
    while (length < kLongest && late + length < text.size() && text[early + length] == text[late + length])
        ++length;
    return length;
}

template <class Code>
void texts(const Round& round, Trace& trace, const Code& code) {
    auto rest = round.scratch;
    const auto take = [&rest](std::size_t bytes) {
        const auto part = rest.first(bytes);
        rest = rest.subspan(bytes);
        return part;
    };
    const auto text = take(kText), again = take(kText), packed = take(kText + kText / 64),
               table = take(kTable * 4);
    Random random(round.seed);
    for (int i = 0; i < kTexts; ++i) {
        const std::uint64_t seed = random.next();
        make_text(seed, text);
        const std::size_t length =
            compress(text, packed, {reinterpret_cast<std::uint32_t*>(table.data()), kTable});
        trace.add(digest(packed.first(length), length));
        code(packed.first(length), text, again);
        // What came out is compared with the text made anew: also the text in memory may have changed.
        make_text(seed, text);
        for (std::size_t piece = 0; piece < kPieces; ++piece) {
            const std::size_t from = piece * (kText / kPieces);
            for (std::size_t at = from; at < from + kText / kPieces; at += 8) {
                std::uint64_t expected = 0, obtained = 0;
                std::memcpy(&expected, text.data() + at, 8);
                std::memcpy(&obtained, again.data() + at, 8);
                trace.expect(static_cast<int>(trace.steps()), expected, obtained);
            }
            trace.add(digest(again.subspan(from, kText / kPieces)));
        }
        trace.did(kText);
    }
}

}  // namespace

void make_text(std::uint64_t seed, std::span<std::byte> text) {
    Random random(seed);
    constexpr std::size_t words = 256, longest = 12;
    std::array<std::array<char, longest>, words> word{};
    std::array<std::size_t, words> length{};
    for (std::size_t i = 0; i < words; ++i) {
        length[i] = 2 + random.below(longest - 2);
        for (std::size_t j = 0; j < length[i]; ++j) word[i][j] = static_cast<char>('a' + random.below(26));
    }
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t which = random.below(words), many = std::min(length[which], text.size() - at);
        std::memcpy(text.data() + at, word[which].data(), many);
        at += many;
    }
}

std::size_t compress(std::span<const std::byte> text, std::span<std::byte> to,
                     std::span<std::uint32_t> table) {
    std::fill(table.begin(), table.end(), kNowhere);
    std::size_t wrote = 0, literals = 0;  // where the head of the literals is, once there are some
    std::size_t head = 0;
    const auto end_literals = [&] {
        if (literals > 0) to[head] = static_cast<std::byte>(literals);
        literals = 0;
    };
    for (std::size_t at = 0; at < text.size();) {
        std::size_t length = 0, back = 0;
        if (at + kLeast <= text.size()) {
            std::uint32_t& seen = table[slot(text, at)];
            if (seen != kNowhere && at - seen <= kFarthest) {
                back = at - seen;
                length = same(text, seen, at);
            }
            seen = static_cast<std::uint32_t>(at);
        }
        if (length >= kLeast) {
            end_literals();
            to[wrote++] = std::byte{0};  // a copy: its length, and how far back it begins
            to[wrote++] = static_cast<std::byte>(length);
            to[wrote++] = static_cast<std::byte>(back);
            to[wrote++] = static_cast<std::byte>(back >> 8U);
            at += length;
        } else {
            if (literals == 0) head = wrote++;
            to[wrote++] = text[at++];
            if (++literals == 255) end_literals();
        }
    }
    end_literals();
    return wrote;
}

std::size_t expand(std::span<const std::byte> code, std::span<std::byte> text) {
    std::size_t made = 0;
    for (std::size_t at = 0; at < code.size();) {
        const auto literals = std::to_integer<std::size_t>(code[at++]);
        if (literals > 0) {
            if (at + literals > code.size() || made + literals > text.size()) return made;
            std::copy_n(code.begin() + static_cast<std::ptrdiff_t>(at), literals,
                        text.begin() + static_cast<std::ptrdiff_t>(made));
            at += literals;
            made += literals;
            continue;
        }
        if (at + 3 > code.size()) return made;
        const auto length = std::to_integer<std::size_t>(code[at]);
        const auto back =
            std::to_integer<std::size_t>(code[at + 1]) | std::to_integer<std::size_t>(code[at + 2]) << 8U;
        if (back == 0 || back > made || made + length > text.size()) return made;
        // A copy may reach into what it writes.
        for (std::size_t i = 0; i < length; ++i, ++made) text[made] = text[made - back];
        at += 3;
    }
    return made;
}

bool compression(const Round& round, Trace& trace) {
    texts(round, trace,
          [&](std::span<const std::byte> packed, std::span<const std::byte>, std::span<std::byte> again) {
              trace.add(expand(packed, again));
          });
    return true;
}

/// The text itself is what must come out.
bool compression_reference(const Round& round, Trace& trace) {
    texts(round, trace,
          [&](std::span<const std::byte>, std::span<const std::byte> text, std::span<std::byte> again) {
              std::copy(text.begin(), text.end(), again.begin());
              trace.add(text.size());
          });
    return true;
}

std::string compression_place(int step) {
    const int in = step % (kPieces + 2);
    return fmt::format("{} of text {} of {}",
                       in == 0   ? "the code"
                       : in == 1 ? "the length"
                                 : fmt::format("quarter {}", in - 1),
                       step / (kPieces + 2) + 1, kTexts);
}

}  // namespace strata::integrity
