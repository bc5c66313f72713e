// SPDX-License-Identifier: MIT

package main

func ticks() uint64
func spin(n uint64)
