// SPDX-License-Identifier: MIT

// Options, samples and reports: the same options and the same JSON as ../../mb.h.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"runtime"
	"sort"
	"strconv"
	"strings"
)

type options struct {
	cores   int
	colors  []int
	seconds float64
	runs    int
	json    bool
	events  int    // chain: not 0: fixed work instead of a window
	child   string // not empty: this process is one run, of this variant
	poster  int    // the processor from which a cross wake-up is posted
}

// sample is what one run says; fields that do not apply are left out.
type sample struct {
	Value    float64  `json:"value"`
	Fairness *float64 `json:"fairness,omitempty"`
	P99      *float64 `json:"p99,omitempty"`
	IdealPct *float64 `json:"ideal_pct,omitempty"`
	Events   *float64 `json:"events,omitempty"`
	Syscalls *float64 `json:"syscalls,omitempty"`
	cores    int
}

// line is one configuration, as printed.
type line struct {
	Bench   string  `json:"bench"`
	Peer    string  `json:"peer"`
	Variant string  `json:"variant,omitempty"`
	Cores   int     `json:"cores"`
	Colors  int     `json:"colors"`
	Unit    string  `json:"unit"`
	Median  float64 `json:"median"`
	Min     float64 `json:"min"`
	Max     float64 `json:"max"`
	Runs    int     `json:"runs"`

	Fairness *float64 `json:"fairness,omitempty"`
	P99      *float64 `json:"p99,omitempty"`
	IdealPct *float64 `json:"ideal_pct,omitempty"`
	Events   *float64 `json:"events,omitempty"`
	Syscalls *float64 `json:"syscalls,omitempty"`
	Method   string   `json:"method,omitempty"`
}

func fail(what string, err error) {
	fmt.Fprintln(os.Stderr, "go-channel:", what+":", err)
	os.Exit(1)
}

func parse(b *bench, args []string) options {
	o := options{}
	f := flag.NewFlagSet(b.name, flag.ContinueOnError)
	colors := f.String("colors", strconv.Itoa(b.colors), "goroutines (pingpong: pairs), a list")
	version := f.Bool("version", false, "the version of Go")
	f.IntVar(&o.cores, "cores", runtime.NumCPU(), "GOMAXPROCS")
	f.Float64Var(&o.seconds, "seconds", b.seconds, "length of a measured window")
	f.IntVar(&o.runs, "runs", 5, "runs of each configuration, each in a process of its own")
	if b.fixed != nil {
		f.IntVar(&o.events, "events", 0, "fixed work: until each of K has run N/K events")
	}
	f.BoolVar(&o.json, "json", false, "one JSON object a line and configuration")
	f.StringVar(&o.child, "child", "", "one run of this variant (for internal use)")
	f.IntVar(&o.poster, "poster", 0, "the processor of the poster (for internal use)")
	if err := f.Parse(args); err == flag.ErrHelp {
		os.Exit(0)
	} else if err != nil {
		os.Exit(2)
	}
	if *version {
		fmt.Println("go-channel", runtime.Version())
		os.Exit(0)
	}
	for _, s := range strings.Split(*colors, ",") {
		k, err := strconv.Atoi(s)
		if err != nil || k < 1 || k > 10000000 {
			fmt.Fprintln(os.Stderr, "go-channel: bad value for --colors:", s)
			os.Exit(2)
		}
		o.colors = append(o.colors, k)
	}
	if o.cores < 1 || o.runs < 1 || o.events < 0 || f.NArg() > 0 || !(o.seconds > 0 && o.seconds <= 3600) {
		fmt.Fprintln(os.Stderr, "go-channel: bad options")
		os.Exit(2)
	}
	return o
}

// command is this program once more, as the process of one run.
func command(b *bench, o options, variant string, colors int) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		fail("os.Executable", err)
	}
	cmd := exec.Command(self, b.name, "--cores", strconv.Itoa(o.cores), "--colors",
		strconv.Itoa(colors), "--seconds", fmt.Sprint(o.seconds), "--child", variant)
	if o.events > 0 {
		cmd.Args = append(cmd.Args, "--events", strconv.Itoa(o.events))
	}
	cmd.Stderr = os.Stderr
	return cmd
}

// runChild makes one run that reports for itself.
func runChild(b *bench, o options, variant string, colors int) (s sample) {
	var stdout bytes.Buffer
	var err error
	cmd := command(b, o, variant, colors)
	cmd.Stdout = &stdout
	if variant == crossVariant {
		// The child inherits the affinity of the thread that starts it.
		runtime.LockOSThread()
		cpus := processors()
		cmd.Args = append(cmd.Args, "--poster", strconv.Itoa(cpus[0]))
		pin(cpus[len(cpus)-1:])
		err = cmd.Run()
		pin(cpus)
		runtime.UnlockOSThread()
	} else {
		err = cmd.Run()
	}
	if err != nil {
		fail("a run", err)
	}
	if err = json.Unmarshal(stdout.Bytes(), &s); err != nil {
		fail("the output of a run", err)
	}
	s.cores = o.cores
	if variant == crossVariant {
		s.cores = 1
	}
	return s
}

// runWindow makes one run that is measured from here, see window.go.
func runWindow(b *bench, o options, colors int) sample {
	f, counts := sharedCounters(b.perColor * colors)
	cmd := command(b, o, plainVariant, colors)
	cmd.ExtraFiles = []*os.File{f}
	if err := cmd.Start(); err != nil {
		fail("a run", err)
	}
	s := measure(counts, b.perColor, o)
	cmd.Process.Kill()
	cmd.Wait() // killed: not an error worth a word
	unshare(f, counts)
	s.cores = o.cores
	if b.name == "fan" {
		s.IdealPct = number(s.Value * workS / float64(o.cores) * 100)
	}
	return s
}

func spread(v []float64) (median, min, max float64) {
	sort.Float64s(v)
	n := len(v)
	return (v[(n-1)/2] + v[n/2]) / 2, v[0], v[n-1]
}

// median of a field that every sample has or none.
func median(samples []sample, field func(*sample) *float64) *float64 {
	var v []float64
	for i := range samples {
		p := field(&samples[i])
		if p == nil {
			return nil
		}
		v = append(v, *p)
	}
	m, _, _ := spread(v)
	return &m
}

func report(b *bench, o options, variant string, colors int, samples []sample) {
	var v []float64
	for _, s := range samples {
		v = append(v, s.Value)
	}
	l := line{Bench: b.name, Peer: "go-channel", Cores: samples[0].cores, Colors: colors,
		Unit: b.unit, Runs: len(samples), Method: b.method}
	if o.events > 0 {
		l.Variant = "fixed work"
	} else if variant != plainVariant {
		l.Variant = variant
	}
	l.Median, l.Min, l.Max = spread(v)
	l.Fairness = median(samples, func(s *sample) *float64 { return s.Fairness })
	l.P99 = median(samples, func(s *sample) *float64 { return s.P99 })
	l.IdealPct = median(samples, func(s *sample) *float64 { return s.IdealPct })
	l.Events = median(samples, func(s *sample) *float64 { return s.Events })
	l.Syscalls = median(samples, func(s *sample) *float64 { return s.Syscalls })
	if o.json {
		out, err := json.Marshal(l)
		if err != nil {
			fail("JSON", err)
		}
		fmt.Println(string(out))
		return
	}
	scale, million := 1.0, ""
	if math.Abs(l.Median) >= 1e5 {
		scale, million = 1e-6, "M "
	}
	fmt.Printf("%s %s, go-channel, cores %d, colors %d: %.4g %s%s [%.4g - %.4g], %d run(s)", b.name,
		l.Variant, l.Cores, colors, l.Median*scale, million, b.unit, l.Min*scale, l.Max*scale, l.Runs)
	for _, e := range []struct {
		words string
		value *float64
	}{{"fairness %.3f", l.Fairness}, {"p99 %.2f", l.P99}, {"%.1f %% of the ideal", l.IdealPct},
		{"%.2f switches/s", l.Syscalls}} {
		if e.value != nil {
			fmt.Printf(", "+e.words, *e.value)
		}
	}
	fmt.Println()
}
