/* SPDX-License-Identifier: MIT */
/*
 * precompiled.h: what most tests of dialect "async" include, compiled once for all of them.
 */
#include "async.h"

#include "facts.h"
