// Who is at the other end of a Unix socket, as the kernel says (SO_PEERCRED, unix(7)).
#pragma once

namespace strata {

/// Whether it is a process of this user, or of root, who can do all that this user can. At a caller's end the
/// kernel knows who began to listen, at the other end who called; neither can claim to be somebody else.
[[nodiscard]] bool is_trusted_peer(int socket) noexcept;

/// The next such caller at a listening Unix socket, close-on-exec and not blocking; other users are turned
/// away before anything is read or said. -1: nobody calls now, or very many do.
[[nodiscard]] int accept_trusted(int listening) noexcept;

}  // namespace strata
