// SPDX-License-Identifier: MIT

// A window of time over counters in shared memory: the process that runs the goroutines has
// them at descriptor 3, and this one reads them. From inside it can not be done: a goroutine
// that keeps time waits for its turn behind all others, which with 65,536 that never block is
// minutes.
package main

import (
	"os"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

const warmup = 100 * time.Millisecond

// A counter is written by one goroutine and read by another process. A plain store, because
// sync/atomic's would be an exchange, which nobody would pay for a count.
type counter struct {
	n uint64
	_ [120]byte
}

func (c *counter) get() uint64 { return atomic.LoadUint64(&c.n) }

func mapped(f *os.File) []counter {
	info, err := f.Stat()
	if err != nil {
		fail("the counters", err)
	}
	m, err := syscall.Mmap(int(f.Fd()), 0, int(info.Size()),
		syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED|syscall.MAP_POPULATE)
	if err != nil {
		fail("mmap", err)
	}
	return unsafe.Slice((*counter)(unsafe.Pointer(&m[0])), len(m)/int(unsafe.Sizeof(counter{})))
}

// sharedCounters makes n counters that a child can have as well.
func sharedCounters(n int) (*os.File, []counter) {
	dir := "/dev/shm"
	if _, err := os.Stat(dir); err != nil {
		dir = ""
	}
	f, err := os.CreateTemp(dir, "counters")
	if err != nil {
		fail("the counters", err)
	}
	os.Remove(f.Name())
	if err = f.Truncate(int64(n) * int64(unsafe.Sizeof(counter{}))); err != nil {
		fail("the counters", err)
	}
	return f, mapped(f)
}

func unshare(f *os.File, c []counter) {
	size := len(c) * int(unsafe.Sizeof(counter{}))
	syscall.Munmap(unsafe.Slice((*byte)(unsafe.Pointer(&c[0])), size))
	f.Close()
}

// childCounters are those that the parent reads.
func childCounters() []counter { return mapped(os.NewFile(3, "counters")) }

// measure counts for the seconds asked, after the warm-up; group counters are taken together.
func measure(c []counter, group int, o options) (s sample) {
	count := func(into []uint64) (total uint64) {
		for i := range c {
			n := c[i].get()
			into[i/group] += n
			total += n
		}
		return
	}
	for count(make([]uint64, len(c)/group)) == 0 {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(warmup)
	first, last := make([]uint64, len(c)/group), make([]uint64, len(c)/group)
	start := time.Now()
	a := count(first)
	time.Sleep(time.Duration(o.seconds * 1e9))
	seconds := time.Since(start).Seconds()
	b := count(last)
	s.Value = float64(b-a) / seconds
	s.Events = number(float64(b - a))
	if len(first) > 1 {
		least, most := ^uint64(0), uint64(0)
		for i := range first {
			n := last[i] - first[i]
			if n < least {
				least = n
			}
			if n > most {
				most = n
			}
		}
		s.Fairness = number(float64(least) / float64(most))
	}
	return
}
