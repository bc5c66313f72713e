/* SPDX-License-Identifier: MIT */
/*
 * suio.cc: chains of iovecs.
 *
 * Copied bytes are stored in blocks. One block at a time is filled; a full block is freed when its
 * last byte has been removed. A mark is an action that waits until all bytes up to a number have
 * been removed: it frees a block, runs a callback or releases a string. The marks are in the order
 * of these numbers.
 */
#include "../include/async/amisc.h"

namespace {

/* A longer writev is not faster. */
constexpr size_t iovs_max = 64;

}

/* ---- marks ---- */

class suio::mark
{
public:
	virtual ~mark() = default;
	/** Called when all bytes before the mark have been removed. */
	virtual void reached() = 0;

	mark *next = nullptr;
	u_int64_t at = 0;
};

class suio::mark_of_block final : public suio::mark
{
public:
	explicit mark_of_block(char *block) : _block(block) {}
	~mark_of_block() override { ::free(_block); }
	void reached() override {}

private:
	char *const _block;
};

class suio::mark_of_callback final : public suio::mark
{
public:
	explicit mark_of_callback(const cbv &cb) : _cb(cb) {}
	void reached() override { (*_cb)(); }

private:
	const cbv _cb;
};

class suio::mark_of_str final : public suio::mark
{
public:
	explicit mark_of_str(const str &s) : _str(s) {}
	void reached() override {}

private:
	const str _str;
};

void
suio::add_mark(mark *m)
{
	m->at = _byteno + _resid;
	*_marks_end = m;
	_marks_end = &m->next;
}

/* A callback may call this suio and add marks, so the list must be consistent
 * whenever a callback runs. */
void
suio::run_marks()
{
	while (_marks != nullptr && _marks->at <= _byteno) {
		mark *m = _marks;

		_marks = m->next;
		if (_marks == nullptr)
			_marks_end = &_marks;
		m->reached();
		delete m;
	}
}

void
suio::iovcb(cbv cb)
{
	if (_resid == 0)
		(*cb)();
	else
		add_mark(new mark_of_callback(cb));
}

void
suio::hold_onto(const str &s)
{
	if (_resid > 0)
		add_mark(new mark_of_str(s));
}

/* ---- construction and destruction ---- */

suio::suio()
    : _iov(_few), _count(0), _array(_few), _room(few), _resid(0), _byteno(0), _iovno(0),
      _block(nullptr), _free(nullptr), _limit(nullptr), _marks(nullptr), _marks_end(&_marks),
      _broken(false)
{
}

/* Callbacks that run here may add marks; those are deleted without a call. */
suio::~suio()
{
	clear();
	while (_marks != nullptr) {
		mark *m = _marks;

		_marks = m->next;
		delete m;
	}
	::free(_block);
	if (_array != _few)
		::free(_array);
}

void
suio::clear()
{
	rembytes(_resid);
}

/* ---- iovecs ---- */

/* Make room for one more iovec: at the front, if half of the array is free there. */
void
suio::grow()
{
	size_t gone = _iov - _array;
	iovec *array = _array;

	if (gone < _room / 2) {
		array = static_cast<iovec *>(xmalloc(2 * _room * sizeof *array));
		_room *= 2;
	}
	memmove(array, _iov, _count * sizeof *_iov);
	if (array != _array && _array != _few)
		::free(_array);
	_array = _iov = array;
}

/* Append the bytes; if the last iovec ends at p, extend it. */
void
suio::append(const void *p, size_t n)
{
	char *base = static_cast<char *>(const_cast<void *>(p));

	if (n == 0)
		return;
	_resid += n;
	if (_count > 0 && !_broken) {
		iovec *last = &_iov[_count - 1];

		if (static_cast<char *>(last->iov_base) + last->iov_len == base) {
			last->iov_len += n;
			return;
		}
	}
	_broken = false;
	if (_iov + _count == _array + _room)
		grow();
	_iov[_count].iov_base = base;
	_iov[_count].iov_len = n;
	_count++;
}

void
suio::rembytes(size_t n)
{
	if (n > _resid)
		panic("rembytes of %zu bytes, there are %zu\n", n, _resid);
	_resid -= n;
	_byteno += n;
	while (_count > 0 && n >= _iov->iov_len) {
		n -= _iov->iov_len;
		_iov++;
		_count--;
		_iovno++;
	}
	if (n > 0) {
		_iov->iov_base = static_cast<char *>(_iov->iov_base) + n;
		_iov->iov_len -= n;
	}
	run_marks();
}

/* ---- blocks ---- */

/* The block is full: free it when its bytes have been removed. */
void
suio::retire_block()
{
	if (_block != nullptr && _resid > 0)
		add_mark(new mark_of_block(_block));
	else
		::free(_block);
	_block = _free = _limit = nullptr;
}

/* The first block is small: most buffers hold short messages. */
void
suio::new_block(size_t n)
{
	size_t size = _block == nullptr && _byteno + _resid == 0 ? 256 : blocksize;

	if (n > size)
		size = n;
	if (_resid == 0 && static_cast<size_t>(_limit - _block) >= size) {
		_free = _block;
		return;
	}
	retire_block();
	_block = _free = static_cast<char *>(xmalloc(size));
	_limit = _block + size;
}

char *
suio::getspace(size_t n)
{
	if (static_cast<size_t>(_limit - _free) < n || _block == nullptr)
		new_block(n);
	return _free;
}

char *
suio::getspace_aligned(size_t n)
{
	size_t odd;

	getspace(n + 7);
	odd = reinterpret_cast<uintptr_t>(_free) % 8;
	if (odd != 0)
		_free += 8 - odd;
	return _free;
}

/* ---- adding bytes ---- */

void
suio::copy(const void *p, size_t n)
{
	const char *from = static_cast<const char *>(p);
	size_t room = _limit - _free;

	if (n == 0)
		return;
	if (room > 0 && room < n) {
		memcpy(_free, from, room);
		append(_free, room);
		_free += room;
		from += room;
		n -= room;
	}
	memcpy(getspace(n), from, n);
	append(_free, n);
	_free += n;
}

void
suio::print(const void *p, size_t n)
{
	if (p == _free && _free != _limit) {
		if (n > static_cast<size_t>(_limit - _free))
			panic("print of %zu bytes of a space of %zu\n", n,
			    static_cast<size_t>(_limit - _free));
		append(p, n);
		_free += n;
	} else if (n <= smallbufsize) {
		copy(p, n);
	} else {
		append(p, n);
	}
}

void
suio::copyv(const iovec *iov, size_t cnt, size_t skip)
{
	size_t i, n = iovsize(iov, cnt);
	char *to;

	if (skip > n)
		panic("copyv skips %zu bytes, there are %zu\n", skip, n);
	n -= skip;
	to = getspace(n);
	for (i = 0; i < cnt; i++) {
		size_t over = skip < iov[i].iov_len ? skip : iov[i].iov_len;

		if (iov[i].iov_len > over)
			memcpy(to, static_cast<char *>(iov[i].iov_base) + over,
			    iov[i].iov_len - over);
		to += iov[i].iov_len - over;
		skip -= over;
	}
	append(_free, n);
	_free = to;
}

void
suio::fill(char c, ssize_t n)
{
	if (n <= 0)
		return;
	memset(getspace(n), c, n);
	append(_free, n);
	_free += n;
}

/* A few bytes are copied: keeping a block for them would waste a hundred times their size. */
void
suio::take(suio *uio)
{
	u_int64_t end = _byteno + _resid, begin = uio->_byteno;
	mark *m = uio->_marks;
	bool few_bytes = uio->_resid <= smallbufsize;
	size_t i;

	if (uio == this)
		panic("a suio takes itself\n");
	if (few_bytes && uio->_resid > 0)
		getspace(uio->_resid); /* its mark, if any, must precede the marks taken over */
	for (; m != nullptr; m = m->next)
		m->at = end + (m->at > begin ? m->at - begin : 0);
	if (uio->_marks != nullptr) {
		*_marks_end = uio->_marks;
		_marks_end = uio->_marks_end;
		uio->_marks = nullptr;
		uio->_marks_end = &uio->_marks;
	}
	for (i = 0; i < uio->_count; i++)
		if (few_bytes)
			copy(uio->_iov[i].iov_base, uio->_iov[i].iov_len);
		else
			append(uio->_iov[i].iov_base, uio->_iov[i].iov_len);
	if (!few_bytes && uio->_block != nullptr) {
		add_mark(new mark_of_block(uio->_block));
		uio->_block = uio->_free = uio->_limit = nullptr;
	}
	uio->_byteno += uio->_resid;
	uio->_iovno += uio->_count;
	uio->_iov += uio->_count;
	uio->_count = uio->_resid = 0;
	run_marks();
}

/* ---- access ---- */

size_t
suio::copyout(void *buf, size_t len) const
{
	return iovmgr(_iov, _count).copyout(static_cast<char *>(buf), len);
}

size_t
suio::linelen() const
{
	size_t i, before = 0;

	for (i = 0; i < _count; i++) {
		const char *base = static_cast<const char *>(_iov[i].iov_base);
		const void *end = memchr(base, '\n', _iov[i].iov_len);

		if (end != nullptr)
			return before + (static_cast<const char *>(end) - base) + 1;
		before += _iov[i].iov_len;
	}
	return 0;
}

/* ---- descriptors ---- */

/*
 * Fill the rest of the block first, so that short reads share a block, whatever size the caller
 * asks for. The rest of a long read goes into another block, where the next reads continue.
 */
int
suio::input(int fd, size_t len)
{
	char stack[blocksize];
	char *rest = stack, *block = nullptr;
	size_t room = _limit - _free;
	ssize_t n;

	if (_resid == 0 || room == 0) {
		getspace(len);
		room = _limit - _free;
	}
	if (room > len)
		room = len;
	if (len - room > sizeof stack)
		rest = block = static_cast<char *>(xmalloc(len));

	iovec iov[2] = {{_free, room}, {rest, len - room}};

	do
		n = readv(fd, iov, room < len ? 2 : 1);
	while (n < 0 && errno == EINTR);
	if (n > 0) {
		size_t got = n, first = got < room ? got : room;

		append(_free, first);
		_free += first;
		if (block != nullptr && got > first) {
			retire_block();
			_block = block;
			_free = block + (got - first);
			_limit = block + len;
			append(block, got - first);
			block = nullptr;
		} else {
			copy(stack, got - first);
		}
	}
	::free(block);
	return static_cast<int>(n);
}

int
suio::output(int fd, int cnt)
{
	u_int64_t start = _byteno, last = cnt < 0 ? UINT64_MAX : _iovno + cnt;

	while (_count > 0 && _iovno < last) {
		size_t iovs = _count < iovs_max ? _count : iovs_max;
		ssize_t n;

		if (iovs > last - _iovno)
			iovs = last - _iovno;
		n = writev(fd, _iov, static_cast<int>(iovs));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno != EAGAIN)
			return -1;
		if (n <= 0)
			break;
		rembytes(n);
	}
	return _byteno > start;
}

/* ---- iovmgr ---- */

void
iovmgr::skip(size_t n)
{
	if (n > size())
		panic("iovmgr skips %zu bytes, there are %zu\n", n, size());
	_used += n;
	while (_iov < _end && _used >= _iov->iov_len)
		_used -= (_iov++)->iov_len;
}

size_t
iovmgr::copyout(char *buf, size_t len)
{
	char *to = buf;

	while (_iov < _end && len > 0) {
		size_t n = _iov->iov_len - _used;

		if (n > len)
			n = len;
		if (n > 0)
			memcpy(to, static_cast<const char *>(_iov->iov_base) + _used, n);
		to += n;
		len -= n;
		_used += n;
		if (_used == _iov->iov_len) {
			_iov++;
			_used = 0;
		}
	}
	return to - buf;
}

/* ---- functions ---- */

char *
suio_flatten(const suio *uio)
{
	char *bytes = static_cast<char *>(xmalloc(uio->resid()));

	uio->copyout(bytes);
	return bytes;
}

void
suio_uprintf(suio *uio, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	suio_vuprintf(uio, fmt, ap);
	va_end(ap);
}

void
suio_print(suio *uio, const str &s)
{
	size_t n = s.len();

	uio->print(s.cstr(), n);
	if (n > suio::smallbufsize)
		uio->hold_onto(s);
}

str
suio_getline(suio *uio)
{
	size_t n = uio->linelen();

	if (n == 0)
		return str();

	mstr line(n - 1);

	uio->copyout(line.cstr(), n - 1);
	uio->rembytes(n);
	if (n > 1 && line[n - 2] == '\r')
		line.setlen(n - 2);
	return str(line);
}
