// SHA-256 against the examples of FIPS 180-4 (NIST, "SHA256.pdf", Cryptographic Standards and Guidelines) and
// its HMAC against RFC 4231, whose keys of other lengths than 32 bytes are given as they are: a shorter one
// is followed by zeros.
#include "core/base/sha256.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "tests/catch.hpp"

using namespace strata;

namespace {

std::span<const std::byte> bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

std::string hex(const Bytes32& digest) {
    std::string text;
    for (const auto byte : digest) text += fmt::format("{:02x}", byte);
    return text;
}

std::string digest(const std::string& text, std::size_t piece = 1000) {
    Sha256 sum;
    for (std::size_t at = 0; at < text.size(); at += piece) sum.add(bytes(text.substr(at, piece)));
    return hex(sum.digest());
}

}  // namespace

TEST_CASE("SHA-256 of published messages, in pieces of any length") {
    CHECK(digest("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    CHECK(digest("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    const std::string two = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    for (const std::size_t piece : {1U, 7U, 55U, 100U})
        CHECK(digest(two, piece) == "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    CHECK(digest(std::string(1'000'000, 'a'), 999) ==
          "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("HMAC-SHA-256 of published messages, whole and in pieces") {
    Bytes32 first{}, second{};
    first.fill(0);
    std::fill_n(first.begin(), 20, std::uint8_t{0x0b});
    const std::string jefe = "Jefe";
    std::copy(jefe.begin(), jefe.end(), second.begin());
    const std::string there = "Hi There", what = "what do ya want for nothing?";
    const std::string known = "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7";
    CHECK(hex(hmac_sha256(first, {bytes(there)})) == known);
    const std::string hi = "Hi ", rest = "There";
    CHECK(hex(hmac_sha256(first, {bytes(hi), bytes(rest)})) == known);
    CHECK(hex(hmac_sha256(second, {bytes(what)})) ==
          "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

TEST_CASE("random bytes are not the same twice, and bytes are the same only where all are") {
    Bytes32 some = random_bytes();
    CHECK_FALSE(same_bytes(some, random_bytes()));
    for (std::size_t i = 0; i < some.size(); ++i) {
        Bytes32 other = some;
        CHECK(same_bytes(some, other));
        other[i] ^= 0x10;
        CHECK_FALSE(same_bytes(some, other));
    }
}
