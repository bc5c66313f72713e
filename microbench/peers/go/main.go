// SPDX-License-Identifier: MIT

// The microbenchmarks on Go: an entity is a goroutine that receives from its own buffered
// channel, as its documentation would write it. The work is that of ../bench.cpp.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

const (
	plainVariant = "plain"
	freeVariant  = "free"
	crossVariant = "cross"
	colorVariant = "color object"

	roundsOut = 8
	workS     = 100e-9
)

type bench struct {
	name     string
	unit     string
	variants []string
	colors   int
	seconds  float64
	method   string

	// A window: work starts goroutines that count; perColor counters for each color.
	work     func(o options, counts []counter)
	perColor int
	// A fixed amount of work, if there is such a thing.
	fixed func(o options, variant string) sample
	// Otherwise: a run that measures itself.
	run func(o options, variant string) sample
}

var plain = []string{plainVariant}

var benches = []bench{
	{name: "chain", unit: "events/s", variants: plain, colors: 64, seconds: 1, work: chain,
		perColor: 1, fixed: chainFixed},
	{name: "compat-chain", unit: "events/s", variants: plain, colors: 64, seconds: 1,
		work: compatChain, perColor: 1, fixed: compatChainFixed},
	{name: "pingpong", unit: "hops/s", variants: plain, colors: 1, seconds: 1, work: pingpong,
		perColor: 2},
	{name: "fan", unit: "events/s", variants: plain, colors: 1024, seconds: 1, work: fan,
		perColor: 1},
	{name: "wake", unit: "us", variants: []string{freeVariant, crossVariant}, colors: 1,
		seconds: 2, run: wake},
	{name: "memory", unit: "bytes", variants: []string{colorVariant}, colors: 100000, seconds: 1,
		run: memory, method: "growth of the resident set"},
	{name: "idle", unit: "% of a processor", variants: plain, colors: 64, seconds: 10, run: idle,
		method: "CPU time; system calls by voluntary context switches, a lower bound"},
}

func number(v float64) *float64 { return &v }

func channels(n, size int) []chan int {
	chs := make([]chan int, n)
	for i := range chs {
		chs[i] = make(chan int, size)
	}
	return chs
}

// chain: goroutines wait for start, so that all of them exist before the first runs.
func chain(_ options, counts []counter) {
	start := make(chan int)
	chs := channels(len(counts), 1)
	for i := range chs {
		chs[i] <- 0
		go func(ch chan int, c *counter) {
			<-start
			for v := range ch {
				c.n++
				ch <- v
			}
		}(chs[i], &counts[i])
	}
	close(start)
}

// chainFixed: until each has run its share, the making of the channels and goroutines included.
func chainFixed(o options, _ string) (s sample) {
	k := o.colors[0]
	limit := uint64((o.events + k - 1) / k)
	counts := make([]counter, k)
	begin := time.Now()
	var wg sync.WaitGroup
	wg.Add(k)
	chs := channels(k, 1)
	for i := range chs {
		go func(ch chan int, c *counter) {
			for v := range ch {
				c.n++
				if c.n == limit {
					wg.Done()
					return
				}
				ch <- v
			}
		}(chs[i], &counts[i])
	}
	for _, ch := range chs {
		ch <- 0
	}
	wg.Wait()
	total := float64(limit) * float64(k)
	s.Value = total / time.Since(begin).Seconds()
	s.Events = number(total)
	return
}

// A callback of compat-chain: allocated for each event.
type callback struct {
	c *counter
}

func callbacks(n int) []chan *callback {
	chs := make([]chan *callback, n)
	for i := range chs {
		chs[i] = make(chan *callback, 1)
	}
	return chs
}

func compatChain(_ options, counts []counter) {
	start := make(chan int)
	for i, ch := range callbacks(len(counts)) {
		ch <- &callback{&counts[i]}
		go func(ch chan *callback) {
			<-start
			for cb := range ch {
				cb.c.n++
				ch <- &callback{cb.c}
			}
		}(ch)
	}
	close(start)
}

func compatChainFixed(o options, _ string) (s sample) {
	k := o.colors[0]
	limit := uint64((o.events + k - 1) / k)
	counts := make([]counter, k)
	begin := time.Now()
	var wg sync.WaitGroup
	wg.Add(k)
	for i, ch := range callbacks(k) {
		go func(ch chan *callback) {
			for cb := range ch {
				cb.c.n++
				if cb.c.n == limit {
					wg.Done()
					return
				}
				ch <- &callback{cb.c}
			}
		}(ch)
		ch <- &callback{&counts[i]}
	}
	wg.Wait()
	total := float64(limit) * float64(k)
	s.Value = total / time.Since(begin).Seconds()
	s.Events = number(total)
	return
}

func pingpong(_ options, counts []counter) {
	start := make(chan int)
	chs := channels(len(counts), 1)
	for i := range chs {
		go func(in, to chan int, c *counter) {
			<-start
			for v := range in {
				c.n++
				to <- v
			}
		}(chs[i], chs[i^1], &counts[i])
	}
	for i := 0; i < len(chs); i += 2 {
		chs[i] <- 0
	}
	close(start)
}

func fan(_ options, counts []counter) {
	n := uint64(ticksPerSecond() * workS)
	credit := make(chan int, roundsOut)
	chs := channels(len(counts), 2*roundsOut)
	for i := range chs {
		go func(ch chan int, c *counter, last bool) {
			for range ch {
				spin(n)
				c.n++
				if last {
					credit <- 0
				}
			}
		}(chs[i], &counts[i], i == len(chs)-1)
	}
	for i := 0; i < roundsOut; i++ {
		credit <- 0
	}
	go func() {
		for range credit {
			for _, ch := range chs {
				ch <- 0
			}
		}
	}()
}

// ---- wake ----------------------------------------------------------------------------------

func ticksPerSecond() float64 {
	start, n := time.Now(), ticks()
	time.Sleep(50 * time.Millisecond)
	return float64(ticks()-n) / time.Since(start).Seconds()
}

// nap is the blocking call of a foreign thread, not a timer of Go's.
func nap(s float64) {
	ts := syscall.NsecToTimespec(int64(s * 1e9))
	syscall.Nanosleep(&ts, nil)
}

type cpuSet [16]uint64

func processors() (cpus []int) {
	var set cpuSet
	syscall.RawSyscall(syscall.SYS_SCHED_GETAFFINITY, 0, unsafe.Sizeof(set),
		uintptr(unsafe.Pointer(&set)))
	for i := 0; i < len(set)*64; i++ {
		if set[i/64]>>(i%64)&1 != 0 {
			cpus = append(cpus, i)
		}
	}
	return
}

// pin moves the calling thread.
func pin(cpus []int) {
	var set cpuSet
	for _, i := range cpus {
		set[i/64] |= 1 << (i % 64)
	}
	_, _, errno := syscall.RawSyscall(syscall.SYS_SCHED_SETAFFINITY, 0, unsafe.Sizeof(set),
		uintptr(unsafe.Pointer(&set)))
	if errno != 0 {
		fail("sched_setaffinity", errno)
	}
}

func wake(o options, variant string) (s sample) {
	cross := variant == crossVariant
	if cross {
		runtime.GOMAXPROCS(2) // the busy poster needs a P of its own
	}
	hz := ticksPerSecond()
	var hit uint64
	ch := make(chan int, 1)
	go func() {
		for range ch {
			atomic.StoreUint64(&hit, ticks())
		}
	}()
	runtime.LockOSThread()
	if cross {
		// This process was started on the last processor only (runChild); the first is free.
		pin([]int{o.poster})
	}
	debug.SetGCPercent(-1)
	var v []float64
	const warmups = 20
	end := time.Now()
	for i := 0; i < warmups+10 || time.Now().Before(end); i++ {
		if i == warmups {
			end = time.Now().Add(time.Duration(o.seconds * 1e9))
		}
		atomic.StoreUint64(&hit, 0)
		start := ticks()
		ch <- 0
		for cross && atomic.LoadUint64(&hit) == 0 {
		}
		nap(0.001)
		for atomic.LoadUint64(&hit) == 0 {
			nap(0.0002)
		}
		if i >= warmups {
			v = append(v, float64(atomic.LoadUint64(&hit)-start)/hz*1e6)
		}
	}
	sort.Float64s(v)
	s.Value = v[len(v)/2]
	s.P99 = number(v[len(v)*99/100])
	s.Events = number(float64(len(v)))
	return
}

// ---- memory and idle -----------------------------------------------------------------------

func rss() float64 {
	data, err := os.ReadFile("/proc/self/smaps_rollup")
	if err != nil {
		fail("resident size", err)
	}
	var kb float64
	for _, l := range strings.Split(string(data), "\n") {
		if n, _ := fmt.Sscanf(l, "Rss: %f", &kb); n == 1 {
			break
		}
	}
	return kb * 1024
}

func memory(o options, _ string) (s sample) {
	k := o.colors[0]
	rss()
	before := rss()
	chs := make([]chan int, k)
	done := make(chan int)
	for i := range chs {
		chs[i] = make(chan int, 1)
		go func(i int) {
			for range chs[i] {
				if i+1 < k {
					chs[i+1] <- 0
				} else {
					done <- 0
				}
			}
		}(i)
	}
	chs[0] <- 0
	<-done
	time.Sleep(200 * time.Millisecond)
	s.Value = (rss() - before) / float64(k)
	s.Events = number(float64(k))
	return
}

func cpuSeconds() float64 {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		fail("getrusage", err)
	}
	return float64(r.Utime.Nano()+r.Stime.Nano()) * 1e-9
}

func switches() (total float64) {
	paths, _ := filepath.Glob("/proc/self/task/*/status")
	for _, p := range paths {
		f, err := os.Open(p)
		if err != nil {
			continue
		}
		for in := bufio.NewScanner(f); in.Scan(); {
			var n float64
			if c, _ := fmt.Sscanf(in.Text(), "voluntary_ctxt_switches: %f", &n); c == 1 {
				total += n
			}
		}
		f.Close()
	}
	return
}

func idle(o options, _ string) (s sample) {
	k := o.colors[0]
	var wg sync.WaitGroup
	for _, ch := range channels(k, 1) {
		wg.Add(1)
		go func(ch chan int) {
			for left := 2000000 / k; left > 0; left-- {
				ch <- 0
				<-ch
			}
			wg.Done()
			<-ch
		}(ch)
	}
	wg.Wait()
	runtime.LockOSThread()
	nap(0.3)
	cpu, sw := cpuSeconds(), switches()
	nap(o.seconds)
	s.Value = (cpuSeconds() - cpu) / o.seconds * 100
	s.Syscalls = number((switches() - sw) / o.seconds)
	return
}

// oneRun is what a child process does.
func oneRun(b *bench, o options) {
	runtime.GOMAXPROCS(o.cores)
	run := b.run
	if b.work != nil && o.events == 0 {
		b.work(o, childCounters())
		select {} // until the parent has seen enough
	} else if b.work != nil {
		run = b.fixed
	}
	if err := json.NewEncoder(os.Stdout).Encode(run(o, o.child)); err != nil {
		fail("JSON", err)
	}
}

func series(b *bench, o options, variant string, colors int) {
	var samples []sample
	for r := 0; r < o.runs; r++ {
		if b.work != nil && o.events == 0 {
			samples = append(samples, runWindow(b, o, colors))
		} else {
			samples = append(samples, runChild(b, o, variant, colors))
		}
	}
	report(b, o, variant, colors, samples)
}

func main() {
	var b *bench
	names := []string{}
	for i := range benches {
		names = append(names, benches[i].name)
		if len(os.Args) > 1 && os.Args[1] == benches[i].name {
			b = &benches[i]
		}
	}
	if b == nil {
		fmt.Fprintln(os.Stderr, "usage: go-channel BENCH [options]; BENCH is one of",
			strings.Join(names, " ")+"; BENCH --help tells more")
		if len(os.Args) > 1 && os.Args[1] == "--help" {
			return
		}
		os.Exit(2)
	}
	o := parse(b, os.Args[2:])
	if o.child != "" {
		oneRun(b, o)
		return
	}
	for _, colors := range o.colors {
		for _, variant := range b.variants {
			if variant != crossVariant || runtime.NumCPU() >= 2 {
				series(b, o, variant, colors)
			}
		}
	}
}
