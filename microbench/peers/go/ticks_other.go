// SPDX-License-Identifier: MIT

//go:build !amd64

package main

import "time"

var start = time.Now()

func ticks() uint64 { return uint64(time.Since(start)) }

func spin(n uint64) {
	for s := ticks(); ticks()-s < n; {
	}
}
