// Memory for very many small things that are made one after the other and never move.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <vector>

namespace strata::graph {

/// A cache line of private memory.
struct alignas(64) Line {
    std::byte bytes[64];
};

/// Things of all types, one behind the other.
class Stock {
  public:
    Stock() = default;
    Stock(Stock&&) noexcept = default;
    Stock& operator=(Stock&& other) noexcept {
        end_all();
        chunks_ = std::move(other.chunks_), endings_ = std::move(other.endings_);
        open_ = other.open_, made_ = other.made_;
        return *this;
    }
    ~Stock() { end_all(); }

    /// So many, next to each other, as T{}.
    template <class T>
    std::span<T> take(std::size_t count) {
        if (count == 0) return {};
        T* const first = reinterpret_cast<T*>(room(count * sizeof(T), alignof(T)));
        std::uninitialized_value_construct_n(first, count);
        if constexpr (!std::is_trivially_destructible_v<T>)
            endings_.push_back(
                {[](void* at, std::size_t of) { std::destroy_n(static_cast<T*>(at), of); }, first, count});
        return {first, count};
    }
    template <class T>
    T& one() {
        return take<T>(1)[0];
    }
    template <class T>
    std::span<T> keep(const std::vector<T>& all) {
        const std::span<T> taken = take<T>(all.size());
        std::copy(all.begin(), all.end(), taken.begin());
        return taken;
    }
    /// So many of these bytes each come next: they get a place of the size that they need.
    void expect(std::size_t count, std::size_t bytes, std::size_t alignment) {
        const std::size_t all = count * ((bytes + alignment - 1) & -alignment);
        const auto fits = [&](Left of) { return of.take(bytes, alignment) != nullptr; };
        if (all > kLeast && all < kMost && std::none_of(open_.begin(), open_.end(), fits))
            static_cast<void>(begin(all + spare(alignment)));
    }
    /// Memory for anything that needs no destructor.
    std::byte* room(std::size_t bytes, std::size_t alignment) {
        for (Left& each : open_)
            if (std::byte* const taken = each.take(bytes, alignment); taken != nullptr) return taken;
        // An eighth of what there is: little is left over, and there are few chunks.
        const std::size_t usual = std::clamp(made_ / 8, kLeast, kMost);
        return begin(std::max(bytes + spare(alignment), usual)).take(bytes, alignment);
    }

  private:
    static constexpr std::size_t kLeast = 240, kMost = std::size_t{1} << 18;
    /// The free end of a chunk.
    struct Left {
        std::byte* next = nullptr;
        std::size_t bytes = 0;

        /// Null: there is not enough.
        std::byte* take(std::size_t wanted, std::size_t alignment) {
            const std::size_t gap = -reinterpret_cast<std::uintptr_t>(next) & (alignment - 1);
            if (bytes < wanted + gap) return nullptr;
            std::byte* const taken = next + gap;
            next = taken + wanted, bytes -= wanted + gap;
            return taken;
        }
    };
    struct Ending {
        void (*end)(void* at, std::size_t count);
        void* at;
        std::size_t count;
    };
    /// Chunks begin at multiples of that.
    static constexpr std::size_t spare(std::size_t alignment) {
        return alignment <= __STDCPP_DEFAULT_NEW_ALIGNMENT__ ? 0 : alignment;
    }
    /// In place of the fullest of the chunks that are open.
    Left& begin(std::size_t bytes) {
        made_ += bytes;
        chunks_.push_back(std::make_unique_for_overwrite<std::byte[]>(bytes));
        Left& least = *std::min_element(open_.begin(), open_.end(),
                                        [](const Left& a, const Left& b) { return a.bytes < b.bytes; });
        return least = {chunks_.back().get(), bytes};
    }
    void end_all() {
        for (const Ending& each : endings_) each.end(each.at, each.count);
        endings_.clear();
    }
    std::vector<std::unique_ptr<std::byte[]>> chunks_;
    std::vector<Ending> endings_;
    std::array<Left, 4> open_;
    std::size_t made_ = 0;
};

}  // namespace strata::graph
