// A chain of pointers through every line of a working set, in random order: each load needs the one before
// it, so the time of a step is the load latency (McVoy and Staelin, lmbench, USENIX 1996, section 6.1, with a
// random order that no prefetcher follows).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace strata::bench::machine_measures {

/// A random bijection of [0, count): position in the chain -> line. Computed, not stored, so that chains of
/// gigabytes are made in one pass of independent stores. Odd multiplications and shifts with exclusive or are
/// invertible on 2^b numbers; what falls outside of `count` is mapped again until it falls inside (cycle
/// walking: Black and Rogaway, Ciphers with arbitrary finite domains, CT-RSA 2002).
class Order {
  public:
    Order(std::size_t count, std::uint64_t seed);
    [[nodiscard]] std::size_t operator()(std::size_t position) const {
        do {
            position = mix(position);
        } while (position >= count_);
        return position;
    }
    [[nodiscard]] std::size_t size() const { return count_; }

  private:
    [[nodiscard]] std::size_t mix(std::size_t x) const {
        for (const std::uint64_t factor : factors_) {
            x = (x * factor + addend_) & mask_;
            x ^= x >> shift_;
        }
        return x;
    }
    std::size_t count_, mask_;
    unsigned shift_;
    std::uint64_t factors_[4], addend_;
};

/// Writes into the first word of each line the address of the next line, in the given order, the last leading
/// to the first.
void link_lines(std::span<std::byte> memory, std::size_t line_bytes, const Order& order);

/// Follows the chain and returns where it got to.
[[nodiscard]] const void* chase(const void* from, std::size_t steps) noexcept;

/// Whether the chain visits every line exactly once before it returns: walked in many parts at once, so that
/// it costs a fraction of a chase.
[[nodiscard]] bool visits_every_line_once(std::span<const std::byte> memory, std::size_t line_bytes,
                                          const Order& order);

}  // namespace strata::bench::machine_measures
