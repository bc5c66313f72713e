// SPDX-License-Identifier: MIT
//
// asio_iostrand.hpp: boost::asio::io_context::strand, the older strand: cheaper, but strands
// share 193 implementation objects, so that unrelated ones may exclude each other.
#include "asio.hpp"

namespace peer {

constexpr const char *name = PEER_ASIO_NAME("asio-iostrand");

class entity : public strand_entity<asio::io_context::strand> {
public:
	entity() : strand_entity(*context) {}
};

} // namespace peer
