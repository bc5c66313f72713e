// SPDX-License-Identifier: MIT
//
// asio.hpp: an io_context run by a pool of threads, as in Boost.Asio's threading and strand
// documentation; shared by both kinds of strand.
#ifndef PEER_ASIO_HPP
#define PEER_ASIO_HPP

#include <boost/asio.hpp>

#include <thread>
#include <utility>

namespace peer {

namespace asio = boost::asio;

// The context lives as long as the process.
inline asio::io_context *context;

inline void
start(int threads)
{
	// The hint lets a context that one thread runs leave out what only several need.
	context = new asio::io_context(threads);
	static auto work = asio::make_work_guard(*context);
	for (int i = 0; i < threads; i++)
		std::thread([] { context->run(); }).detach();
}

// How a handler submits: asio::defer says that the new work continues the handler's, so that Asio
// may keep it on this thread and wake no other one; asio::post says nothing.
#ifdef PEER_DEFER
#define PEER_ASIO_NAME(strand) strand "-defer"
template <class Strand, class Function>
void
submit(Strand &strand, Function &&f)
{
	asio::defer(strand, std::forward<Function>(f));
}
#else
#define PEER_ASIO_NAME(strand) strand
template <class Strand, class Function>
void
submit(Strand &strand, Function &&f)
{
	asio::post(strand, std::forward<Function>(f));
}
#endif

// What is posted to a Strand runs one after another; the lambda holds one pointer, so that it
// and its operation are recycled by Asio's per-thread allocator.
template <class Strand>
class strand_entity {
public:
	template <auto Method, class T>
	void post(T *object)
	{
		submit(strand_, [object] { (object->*Method)(); });
	}
	template <auto Method, class T>
	void post_outside(T *object)
	{
		asio::post(strand_, [object] { (object->*Method)(); });
	}

protected:
	template <class Context>
	explicit strand_entity(Context &&c) : strand_(c) {}

private:
	Strand strand_;
};

} // namespace peer

#endif
