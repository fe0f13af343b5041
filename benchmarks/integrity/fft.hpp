// Integers multiplied by fast Fourier transforms of doubles, as prime finders do it. Digits of 12 bits are
// short enough that every rounded coefficient is exact (Percival 2003). Two numbers make one complex vector a
// + ib, whose square has 2ab as its imaginary part.
#pragma once

#include <cstdint>
#include <span>

#include "benchmarks/integrity/kernel.hpp"

namespace strata::integrity {

inline constexpr std::size_t kPoints = 8192;  // digits of a product

/// What one multiplication computes in.
struct FftRoom {
    std::span<double> re, im, other_re, other_im;  // kPoints each
    std::span<double> cosine, sine;                // kPoints / 2 each: of the angles 2 pi j / kPoints
    std::span<std::uint16_t> a, b;                 // kPoints / 2 digits of 12 bits
    std::span<std::uint16_t> product;              // kPoints digits
};
[[nodiscard]] FftRoom fft_room(std::span<std::byte> scratch);
inline constexpr std::size_t kFftBytes = 5 * kPoints * sizeof(double) + 2 * kPoints * sizeof(std::uint16_t);

void fft_angles(FftRoom& room);
/// The digits of a and b from a seed.
void fft_digits(std::uint64_t seed, FftRoom& room);
/// The transform of a + ib, into re and im.
void fft_spectrum(FftRoom& room);
/// The product's digits from the transform; the largest distance of a coefficient from an integer.
[[nodiscard]] double fft_product(FftRoom& room);

/// The same transform by scalar code, to the same bits.
void fft_spectrum_reference(FftRoom& room);
/// The same coefficients by scalar code; the product's digits as one learns it in school.
void fft_product_reference(FftRoom& room);

bool fft(const Round& round, Trace& trace);
bool fft_reference(const Round& round, Trace& trace);
std::string fft_place(int step);

}  // namespace strata::integrity
