#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace strata::bench {

/// Which pages memory is asked for. The system may not grant huge ones: huge_bytes() says what it gave.
enum class Pages { small, huge };

/// Fresh zeroed memory from the system, unmapped with its owner; no page of it exists until it is touched, so
/// the thread that touches first decides where it lies. Aligned to 2 MiB. Throws Error when there is not
/// enough.
class Memory {
  public:
    Memory(std::size_t bytes, Pages pages);
    ~Memory();
    Memory(Memory&& other) noexcept;
    Memory& operator=(Memory&&) = delete;

    [[nodiscard]] void* data() const { return data_; }
    [[nodiscard]] std::size_t bytes() const { return bytes_; }
    /// How much of it lies in huge pages, as /proc/self/smaps says; touch it first.
    [[nodiscard]] std::size_t huge_bytes() const;

  private:
    void* mapping_ = nullptr;
    std::size_t mapped_ = 0;
    void* data_ = nullptr;
    std::size_t bytes_ = 0;
};

/// An array of T in Memory of its own.
template <class T>
class Array {
  public:
    explicit Array(std::size_t count, Pages pages = Pages::huge)
        : memory_(count * sizeof(T), pages), count_(count) {}
    [[nodiscard]] T* data() const { return static_cast<T*>(memory_.data()); }
    [[nodiscard]] std::size_t size() const { return count_; }
    [[nodiscard]] std::span<T> span() const { return {data(), count_}; }
    T& operator[](std::size_t i) const { return data()[i]; }
    [[nodiscard]] const Memory& memory() const { return memory_; }

  private:
    Memory memory_;
    std::size_t count_;
};

/// The memory that this process can still get without swapping: what is available on the machine, or what its
/// cgroups leave of it, whichever is less.
[[nodiscard]] std::uint64_t available_memory();

/// All memory of this machine, or what its cgroups allow of it, whichever is less; in use or not.
[[nodiscard]] std::uint64_t installed_memory();

/// The largest cache that the machine says it has, in bytes; 32 MiB where it says nothing.
[[nodiscard]] std::uint64_t last_level_cache();

/// Refuses with need and supply when `bytes` cannot be had.
void require_memory(std::uint64_t bytes, const char* what);

}  // namespace strata::bench
