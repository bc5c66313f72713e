// SPDX-License-Identifier: MIT
//
// asio_strand.hpp: boost::asio::strand<executor>, the strand that its documentation recommends:
// one implementation object for each strand.
#include "asio.hpp"

namespace peer {

constexpr const char *name = PEER_ASIO_NAME("asio-strand");

class entity : public strand_entity<asio::strand<asio::io_context::executor_type>> {
public:
	entity() : strand_entity(context->get_executor()) {}
};

} // namespace peer
