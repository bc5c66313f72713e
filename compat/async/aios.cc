/* SPDX-License-Identifier: MIT */
/*
 * aios.cc: the class aios, a handle on a stream, and the two handles of standard input and output.
 */
#include "stream.h"

/* Constructed before any object of a program, wherever the linker puts this file. */
__attribute__((init_priority(200))) ptr<aios> ain;
__attribute__((init_priority(200))) ptr<aios> aout;

namespace melycompat {

struct aios_part {
	ref<stream> s;
};

}

aios::aios(int fd, size_t line_max)
    : part(new melycompat::aios_part{New refcounted<melycompat::stream>(fd, line_max)})
{
}

aios::~aios()
{
	part->s->orphan();
	delete part;
}

ref<aios>
aios::alloc(int fd, size_t line_max)
{
	return New refcounted<aios>(fd, line_max);
}

int
aios::fdno() const
{
	return part->s->descriptor();
}

void
aios::readline(rcb_t cb)
{
	ref<melycompat::stream> s = part->s; /* cb may drop this */

	s->read(true, cb);
}

void
aios::readany(rcb_t cb)
{
	ref<melycompat::stream> s = part->s;

	s->read(false, cb);
}

void
aios::readcancel()
{
	part->s->cancel();
}

void
aios::unread(size_t n)
{
	ref<melycompat::stream> s = part->s;

	s->unread(n);
}

void
aios::write(const void *bytes, size_t n)
{
	part->s->out.tosuio()->copy(bytes, n);
	part->s->output();
}

void
aios::writev(const iovec *iov, int count)
{
	for (int i = 0; i < count; i++)
		part->s->out.tosuio()->copy(iov[i].iov_base, iov[i].iov_len);
	part->s->output();
}

void
aios::sendfd(int sent)
{
	part->s->send_descriptor(sent);
}

void
aios::sendeof()
{
	part->s->send_end();
}

void
aios::setwcb(wcb_t cb)
{
	ref<melycompat::stream> s = part->s;

	s->when_sent(cb);
}

int
aios::flush()
{
	ref<melycompat::stream> s = part->s;

	return s->flush();
}

void
aios::settimeout(time_t seconds)
{
	part->s->limit(seconds);
}

void
aios::setdebug(str name)
{
	part->s->show_as(name);
}

void
aios::abort()
{
	part->s->close_now();
}

const strbuf &
aios::_output() const
{
	return part->s->out;
}

void
aios::_started()
{
	part->s->output();
}

void
aios::_disown()
{
	part->s->disown();
}

/* ---- standard input and output ---- */

int aiosinit::count;

void
aiosinit::start()
{
	ain = aios::alloc(0);
	aout = aios::alloc(1);
}

/* Code that still holds one of the two handles keeps its stream; the descriptor stays open for
 * stdio. */
void
aiosinit::stop()
{
	if (aout)
		(void)aout->flush();
	melycompat::stream::last_words();
	if (ain)
		ain->_disown();
	if (aout)
		aout->_disown();
	ain = nullptr;
	aout = nullptr;
	for (int fd = 0; fd < 2; fd++)
		melycompat::set_blocking(fd, true);
}
